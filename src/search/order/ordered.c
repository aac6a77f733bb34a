/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered.c
 *		Return the rows of an index that match a filter, in an order, some at a time.
 */
#include "search/order/ordered_parts.h"

#include <math.h>

#include "bits/bits.h"
#include "miscadmin.h"
#include "segment/tidmap.h"
#include "utils/memutils.h"

/*
 * Number of rows of the first lot, unless the order is by_heap: then it is RTSCAN_CURSOR_ROWS.  The number doubles for
 * each further lot, up to MOST_LOT, or as many as fit into work_mem.  As long as wanted rows are missing, a lot has no
 * more rows than these.
 */
#define FIRST_LOT	16
#define MOST_LOT	65536

/* Memory that a row of a lot takes, and each of its values, unless they are long (is_short()), in bytes. */
#define LOT_ROW_BYTES	64
#define LOT_VALUE_BYTES	24

/* ---------------------------------------------------------------- begin and end */

/* RtscanPrepareSegment: ask for bits or, if no rows are skipped and the stream needs no bits, for rows by rank. */
static void
prepare_for_order(RtscanSegmentScan *segment, void *arg)
{
	RtscanOrdered *ordered = (RtscanOrdered *) arg;

	if (!ordered->unchecked)
		rtscan_ask_map(&ordered->visibility, segment);
	segment->asked.want_bits = true;
	segment->asked.takes_ranks = ordered->skip == 0 && rtscan_stream_needs_no_bits(segment, ordered->order);
}

RtscanOrdered *
rtscan_open_ordered(const RtscanVisibility *visibility, const RtscanImage *image, const RtscanSchema *schema,
					const RtscanFilter *filter, const RtscanOrder *order, uint64 skip)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan ordered rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanOrdered *ordered = palloc0(sizeof(RtscanOrdered));

	ordered->schema = schema;
	ordered->order = order;
	ordered->type = &schema->columns[order->columns[0].column];
	ordered->unchecked = visibility->heap == NULL;
	ordered->visibility = *visibility;
	ordered->context = context;
	ordered->lot.context = AllocSetContextCreate(context, "rtscan ordered lot", ALLOCSET_START_SMALL_SIZES);
	ordered->lot.current_context = AllocSetContextCreate(context, "rtscan ordered rows", ALLOCSET_START_SMALL_SIZES);
	ordered->lot.values = palloc0(schema->ncolumns * sizeof(RtscanLotValues));
	ordered->lot.next_size = Max(Min(order->wanted, order->by_heap ? RTSCAN_CURSOR_ROWS : FIRST_LOT), 1);
	ordered->skip = skip;
	ordered->search.asked = (RtscanSearchAsked) {
		.index = visibility->index,
		.snapshot = visibility->snapshot,
		.schema = schema,
		.filter = filter,
		.prepare = prepare_for_order,
		.prepare_arg = ordered,
	};
	rtscan_open_in_turn(ordered, image);
	rtscan_find_sources(ordered, image);
	if (order->group_columns > 0)
		ordered->first_of_each = rtscan_begin_first_of_each(ordered);
	else if (order->by_heap)
		ordered->first_rows = rtscan_begin_first_rows(ordered);
	else
	{
		ordered->skip = rtscan_skip_rows(ordered, skip);
		rtscan_begin_merge(ordered);
	}
	MemoryContextSwitchTo(old);
	return ordered;
}

void
rtscan_close_ordered(RtscanOrdered *ordered)
{
	rtscan_count_scan(ordered->search.executor, &ordered->search.stats);
	MemoryContextDelete(ordered->context);
}

/* ---------------------------------------------------------------- a lot of rows */

/* qsort comparator of pointers to rows: by source, then by row number. */
static int
compare_lot_places(const void *a, const void *b)
{
	const RtscanLotRow *left = *(RtscanLotRow *const *) a;
	const RtscanLotRow *right = *(RtscanLotRow *const *) b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/*
 * Return how many of n rows, which are sorted by source and row number, are in one chunk of one source with the first
 * row; at most RTSCAN_CURSOR_ROWS.
 */
static uint32
rows_in_chunk(RtscanLotRow *const *rows, uint32 n)
{
	uint32		end = 1;

	while (end < Min(n, RTSCAN_CURSOR_ROWS) && rows[end]->source == rows[0]->source &&
		   rows[end]->row / RTSCAN_CHUNK_ROWS == rows[0]->row / RTSCAN_CHUNK_ROWS)
		end++;
	return end;
}

/* Find out which of n rows of a chunk the snapshot sees, and set the TIDs of those rows. */
static void
find_tids_of_chunk(RtscanOrdered *ordered, RtscanLotRow **rows, uint32 n)
{
	RtscanOrderedSource *source = rows[0]->source;
	uint32		chunk = rows[0]->row / RTSCAN_CHUNK_ROWS;
	uint64		words[RTSCAN_CHUNK_WORDS] = {0};
	ItemPointerData tids[RTSCAN_CURSOR_ROWS];
	uint32		next = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		bit = rows[i]->row - chunk * RTSCAN_CHUNK_ROWS;

		words[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
	if (!source->sees_all && !ordered->order->by_heap)
		rtscan_clear_invisible_in_chunk(&ordered->visibility, source->segment, chunk, words);
	rtscan_collect_tids(&source->segment->reader, chunk, words, tids);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		bit = rows[i]->row - chunk * RTSCAN_CHUNK_ROWS;

		rows[i]->visible = rtscan_bit_is_set(words, bit);
		if (rows[i]->visible)
			rows[i]->tid = tids[next++];
	}
}

/*
 * Are the TIDs of a source's rows found only when the caller requests them?  Yes for a segment, if the snapshot is
 * known to see the rows that are returned.
 */
static bool
finds_later(const RtscanOrdered *ordered, const RtscanOrderedSource *source)
{
	return source->segment && (source->sees_all || ordered->order->by_heap);
}

/*
 * Find the TIDs of some rows of the lot.  If "later" is true, these are the rows of sources whose TIDs are found only
 * on request (finds_later()); if false, all other rows.
 */
static void
find_lot_tids(RtscanOrdered *ordered, bool later)
{
	RtscanLot  *lot = &ordered->lot;

	for (uint32 first = 0, n; first < lot->n; first += n)
	{
		RtscanOrderedSource *source = lot->by_place[first]->source;

		n = rows_in_chunk(lot->by_place + first, lot->n - first);
		if (finds_later(ordered, source) != later)
			continue;
		if (source->segment)
			find_tids_of_chunk(ordered, lot->by_place + first, n);
		else
			for (uint32 i = first; i < first + n; i++)
				lot->by_place[i]->tid = ordered->pending.rows[lot->by_place[i]->row].tid;
	}
}

/* Store pointers to n rows in "sorted", sorted by source and row number. */
static void
sort_by_place(RtscanLotRow *rows, uint32 n, RtscanLotRow **sorted)
{
	for (uint32 i = 0; i < n; i++)
		sorted[i] = &rows[i];
	qsort(sorted, n, sizeof(RtscanLotRow *), compare_lot_places);
}

/* Set the place of each row of a lot, and sort by_place by source and row number. */
static void
sort_lot_by_place(RtscanLot *lot)
{
	for (uint32 i = 0; i < lot->n; i++)
		lot->rows[i].place = i;
	sort_by_place(lot->rows, lot->n, lot->by_place);
}

/* Drop the rows of a lot that the snapshot does not see. */
static void
keep_visible_in_lot(RtscanLot *lot)
{
	uint32		n = 0;

	for (uint32 i = 0; i < lot->n; i++)
		if (lot->rows[i].visible)
			lot->rows[n++] = lot->rows[i];
	lot->n = n;
}

/*
 * Allocate arrays for "rows" rows.  They are not allocated for the largest lot from the beginning: a plan may merge a
 * thousand partitions, and want few rows of each.
 */
static void
make_room_for_lot(RtscanLot *lot, uint32 rows)
{
	if (rows <= lot->capacity)
		return;
	if (lot->rows)
	{
		pfree(lot->rows);
		pfree(lot->by_place);
	}
	lot->rows = palloc(rows * sizeof(RtscanLotRow));
	lot->by_place = palloc(rows * sizeof(RtscanLotRow *));
	lot->capacity = rows;
}

/* Return the number of rows to take for the next lot. */
static uint32
rows_of_next_lot(const RtscanOrdered *ordered)
{
	const RtscanLot *lot = &ordered->lot;
	double		missing = ordered->order->wanted - lot->taken;

	return missing > 0 && missing < lot->next_size ? (uint32) ceil(missing) : lot->next_size;
}

/* Return the most rows that a lot may have, so that the values of all columns fit into work_mem. */
static uint32
most_lot_rows(const RtscanOrdered *ordered)
{
	uint64		bytes = LOT_ROW_BYTES + ordered->schema->ncolumns * LOT_VALUE_BYTES;

	return (uint32) Min(Max(work_mem * (uint64) 1024 / bytes, RTSCAN_CURSOR_ROWS), MOST_LOT);
}

/* Take the rows of the next lot, whether or not the snapshot sees them; returns false if none are left. */
static bool
take_lot(RtscanOrdered *ordered)
{
	RtscanLot  *lot = &ordered->lot;
	uint32		rows = rows_of_next_lot(ordered);

	make_room_for_lot(lot, rows);
	if (ordered->first_of_each)
		lot->n = rtscan_next_first_of_each(ordered->first_of_each, lot->rows, rows);
	else if (ordered->first_rows)
		lot->n = rtscan_next_first_rows(ordered->first_rows, lot->rows, rows);
	else
		lot->n = rtscan_merge_rows(ordered, lot->rows, rows);
	lot->taken += lot->n;
	lot->next_size = Min(2 * lot->next_size, most_lot_rows(ordered));
	return lot->n > 0;
}

/* Drop the first rows of the lot that are still to be skipped. */
static void
drop_first_of_lot(RtscanOrdered *ordered)
{
	RtscanLot  *lot = &ordered->lot;
	uint32		n = (uint32) Min(ordered->skip, lot->n);

	lot->n -= n;
	ordered->skip -= n;
	memmove(lot->rows, lot->rows + n, lot->n * sizeof(RtscanLotRow));
}

/* Forget the values of the lot. */
static void
forget_lot(RtscanOrdered *ordered)
{
	RtscanLot  *lot = &ordered->lot;

	MemoryContextReset(lot->context);
	memset(lot->values, 0, ordered->schema->ncolumns * sizeof(RtscanLotValues));
	lot->has_tids = false;
	lot->n = lot->first = lot->current = 0;
}

/* Go to the next lot that has rows.  It has no rows if none are left. */
static void
next_lot(RtscanOrdered *ordered)
{
	RtscanLot  *lot = &ordered->lot;

	forget_lot(ordered);
	rtscan_drop_merged_rows(ordered);
	while (lot->n == 0 && take_lot(ordered))
	{
		uint32		taken = lot->n;

		CHECK_FOR_INTERRUPTS();
		sort_lot_by_place(lot);
		find_lot_tids(ordered, false);
		keep_visible_in_lot(lot);
		drop_first_of_lot(ordered);
		if (lot->n < taken)
			sort_lot_by_place(lot);
	}
}

uint32
rtscan_next_ordered(RtscanOrdered *ordered)
{
	RtscanLot  *lot = &ordered->lot;
	MemoryContext old = MemoryContextSwitchTo(ordered->context);

	MemoryContextReset(lot->current_context);
	lot->first += lot->current;
	if (lot->first == lot->n)
		next_lot(ordered);
	lot->current = Min(lot->n - lot->first, RTSCAN_CURSOR_ROWS);
	lot->sorted_current = false;
	MemoryContextSwitchTo(old);
	return lot->current;
}

/* ---------------------------------------------------------------- the current rows */

void
rtscan_ordered_tids(RtscanOrdered *ordered, ItemPointerData *tids)
{
	RtscanLot  *lot = &ordered->lot;

	if (!lot->has_tids)
		find_lot_tids(ordered, true);
	lot->has_tids = true;
	for (uint32 i = 0; i < lot->current; i++)
		tids[i] = lot->rows[lot->first + i].tid;
}

/*
 * Get a column's values of n rows, which are in one chunk of a segment, or are pending rows.  The arrays begin with the
 * row at place "first" in the lot.
 */
static void
get_values_of_chunk(RtscanOrdered *ordered, RtscanLotRow *const *lot, uint32 n, int column, uint32 first,
					Datum *datums, bool *isnull)
{
	RtscanOrderedSource *source = lot[0]->source;
	uint32		rows[RTSCAN_CURSOR_ROWS];
	Datum		found[RTSCAN_CURSOR_ROWS];
	bool		found_null[RTSCAN_CURSOR_ROWS];

	for (uint32 i = 0; i < n; i++)
		rows[i] = lot[i]->row;
	if (source->segment)
		rtscan_get_values(rtscan_source_values(source, column), rows, n, found, found_null);
	else
		for (uint32 i = 0; i < n; i++)
		{
			found[i] = ordered->pending.rows[rows[i]].values[column];
			found_null[i] = ordered->pending.rows[rows[i]].isnull[column];
		}
	for (uint32 i = 0; i < n; i++)
	{
		datums[lot[i]->place - first] = found[i];
		isnull[lot[i]->place - first] = found_null[i];
	}
}

/* Get a column's values of n rows, which are sorted by source and row number. */
static void
get_values(RtscanOrdered *ordered, RtscanLotRow *const *rows, uint32 n, int column, uint32 first, Datum *datums,
		   bool *isnull)
{
	for (uint32 i = 0, some; i < n; i += some)
	{
		CHECK_FOR_INTERRUPTS();
		some = rows_in_chunk(rows + i, n - i);
		get_values_of_chunk(ordered, rows + i, some, column, first, datums, isnull);
	}
}

/* Are the values of a column so short that those of a whole lot fit into memory?  A numeric(p, s) is. */
static bool
is_short(const RtscanSchema *schema, int column)
{
	const RtscanColumn *type = &schema->columns[column];

	return type->typbyval || type->typlen > 0 ||
		(type->numeric && TupleDescAttr(schema->tupdesc, column)->atttypmod >= 0);
}

/* Return a column's values of all rows of the lot. */
static const RtscanLotValues *
values_of_lot(RtscanOrdered *ordered, int column)
{
	RtscanLot  *lot = &ordered->lot;
	RtscanLotValues *values = &lot->values[column];

	if (values->datums)
		return values;
	values->datums = palloc(lot->n * sizeof(Datum));
	values->isnull = palloc(lot->n * sizeof(bool));
	get_values(ordered, lot->by_place, lot->n, column, 0, values->datums, values->isnull);
	return values;
}

/* Get the values of a column whose values are not short. */
static void
get_current_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull)
{
	RtscanLot  *lot = &ordered->lot;

	if (!lot->sorted_current)
		sort_by_place(lot->rows + lot->first, lot->current, lot->by_place_current);
	lot->sorted_current = true;
	get_values(ordered, lot->by_place_current, lot->current, column, lot->first, datums, isnull);
}

void
rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull)
{
	RtscanLot  *lot = &ordered->lot;
	bool		whole = is_short(ordered->schema, column);
	MemoryContext old = MemoryContextSwitchTo(whole ? lot->context : lot->current_context);

	if (whole)
	{
		const RtscanLotValues *values = values_of_lot(ordered, column);

		memcpy(datums, values->datums + lot->first, lot->current * sizeof(Datum));
		memcpy(isnull, values->isnull + lot->first, lot->current * sizeof(bool));
	}
	else
		get_current_values(ordered, column, datums, isnull);
	MemoryContextSwitchTo(old);
}

const RtscanSearch *
rtscan_ordered_search(const RtscanOrdered *ordered)
{
	return &ordered->search;
}

const RtscanHeapWork *
rtscan_ordered_heap_work(const RtscanOrdered *ordered)
{
	return &ordered->visibility.check.work;
}
