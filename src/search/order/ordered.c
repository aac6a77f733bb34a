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
 * each further lot, up to RTSCAN_CURSOR_ROWS.  As long as wanted rows are missing, a lot has no more rows than these.
 */
#define FIRST_LOT	16

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
	if (order->by_heap)
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
 * Return the end of the run of elements of by_place that begins at "first", and whose rows are in one chunk of one
 * source.
 */
static uint32
end_of_lot_chunk(const RtscanLot *lot, uint32 first)
{
	const RtscanLotRow *row = lot->by_place[first];
	uint32		end = first + 1;

	while (end < lot->n && lot->by_place[end]->source == row->source &&
		   lot->by_place[end]->row / RTSCAN_CHUNK_ROWS == row->row / RTSCAN_CHUNK_ROWS)
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
	if (!source->sees_all && ordered->first_rows == NULL)
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
	return source->segment && (source->sees_all || ordered->first_rows);
}

/*
 * Find the TIDs of some of the current rows.  If "later" is true, these are the rows of sources whose TIDs are found
 * only on request (finds_later()); if false, all other rows.
 */
static void
find_lot_tids(RtscanOrdered *ordered, bool later)
{
	RtscanLot  *lot = &ordered->lot;

	for (uint32 first = 0, end; first < lot->n; first = end)
	{
		RtscanOrderedSource *source = lot->by_place[first]->source;

		end = end_of_lot_chunk(lot, first);
		if (finds_later(ordered, source) != later)
			continue;
		if (source->segment)
			find_tids_of_chunk(ordered, lot->by_place + first, end - first);
		else
			for (uint32 i = first; i < end; i++)
				lot->by_place[i]->tid = ordered->pending.rows[lot->by_place[i]->row].tid;
	}
}

/* Set the place of each row of a lot, and sort by_place by source and row number. */
static void
sort_lot_by_place(RtscanLot *lot)
{
	for (uint32 i = 0; i < lot->n; i++)
	{
		lot->rows[i].place = i;
		lot->by_place[i] = &lot->rows[i];
	}
	qsort(lot->by_place, lot->n, sizeof(RtscanLotRow *), compare_lot_places);
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

/* Take the rows of the next lot, whether or not the snapshot sees them; returns false if none are left. */
static bool
take_lot(RtscanOrdered *ordered)
{
	RtscanLot  *lot = &ordered->lot;
	uint32		rows = rows_of_next_lot(ordered);

	make_room_for_lot(lot, rows);
	lot->n = ordered->first_rows ? rtscan_next_first_rows(ordered->first_rows, lot->rows, rows) :
		rtscan_merge_rows(ordered, lot->rows, rows);
	lot->taken += lot->n;
	lot->next_size = Min(2 * lot->next_size, RTSCAN_CURSOR_ROWS);
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

uint32
rtscan_next_ordered(RtscanOrdered *ordered)
{
	MemoryContext old = MemoryContextSwitchTo(ordered->context);

	MemoryContextReset(ordered->lot.context);
	rtscan_drop_merged_rows(ordered);
	ordered->lot.n = 0;
	while (ordered->lot.n == 0 && take_lot(ordered))
	{
		CHECK_FOR_INTERRUPTS();
		sort_lot_by_place(&ordered->lot);
		find_lot_tids(ordered, false);
		keep_visible_in_lot(&ordered->lot);
		drop_first_of_lot(ordered);
		sort_lot_by_place(&ordered->lot);
	}
	MemoryContextSwitchTo(old);
	return ordered->lot.n;
}

/* ---------------------------------------------------------------- the current rows */

void
rtscan_ordered_tids(RtscanOrdered *ordered, ItemPointerData *tids)
{
	find_lot_tids(ordered, true);
	for (uint32 i = 0; i < ordered->lot.n; i++)
		tids[i] = ordered->lot.rows[i].tid;
}

/* Get a column's values of n current rows, which are in one chunk of a segment, or are pending rows. */
static void
get_values_of_chunk(RtscanOrdered *ordered, RtscanLotRow **lot, uint32 n, int column, Datum *datums, bool *isnull)
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
		datums[lot[i]->place] = found[i];
		isnull[lot[i]->place] = found_null[i];
	}
}

void
rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull)
{
	RtscanLot  *lot = &ordered->lot;
	MemoryContext old = MemoryContextSwitchTo(lot->context);

	for (uint32 first = 0, end; first < lot->n; first = end)
	{
		end = end_of_lot_chunk(lot, first);
		get_values_of_chunk(ordered, lot->by_place + first, end - first, column, datums, isnull);
	}
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
