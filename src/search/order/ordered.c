/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered.c
 *		Return the rows of an index that match a filter, in an order, some at a time.
 */
#include "search/order/ordered_parts.h"

#include <math.h>

#include "bits/bits.h"
#include "miscadmin.h"
#include "search/order/order_bounds.h"
#include "segment/tidmap.h"
#include "storage/pending.h"
#include "utils/memutils.h"

/*
 * Rows of the first lot.  Each lot is twice as large as the one before, but not larger than the number of wanted rows
 * that are still missing.
 */
#define FIRST_LOT	16

/* ---------------------------------------------------------------- comparing */

int
rtscan_compare_ordered(const RtscanOrdered *ordered, Datum a, bool a_isnull, Datum b, bool b_isnull)
{
	int			result;

	if (a_isnull || b_isnull)
		return a_isnull == b_isnull ? 0 : a_isnull == ordered->order->columns[0].nulls_first ? -1 : 1;
	result = DatumGetInt32(FunctionCall2Coll(ordered->type->compare, ordered->type->collation, a, b));
	return ordered->order->columns[0].descending ? (result < 0) - (result > 0) : result;
}

/*
 * Order rows with equal values: those of segments first, in the order of the image whenever they were opened, then
 * pending ones.
 */
static int
compare_origins(const RtscanOrderedSource *a, const RtscanOrderedSource *b)
{
	if (a->segment == NULL || b->segment == NULL)
		return (a->segment == NULL) - (b->segment == NULL);
	return a->segment->entry < b->segment->entry ? -1 : a->segment->entry > b->segment->entry;
}

/* binaryheap_comparator: the source whose row comes first is on top. */
static int
compare_sources(Datum a, Datum b, void *arg)
{
	const RtscanOrderedSource *left = (const RtscanOrderedSource *) DatumGetPointer(a);
	const RtscanOrderedSource *right = (const RtscanOrderedSource *) DatumGetPointer(b);
	int			result = rtscan_compare_ordered((const RtscanOrdered *) arg, left->value, left->isnull, right->value,
												right->isnull);

	return -(result ? result : compare_origins(left, right));
}

/* qsort_arg_comparator */
static int
compare_pending(const void *a, const void *b, void *arg)
{
	const RtscanOrdered *ordered = (const RtscanOrdered *) arg;
	const RtscanOrderedPending *left = (const RtscanOrderedPending *) a;
	const RtscanOrderedPending *right = (const RtscanOrderedPending *) b;
	int			column = ordered->order->columns[0].column;

	CHECK_FOR_INTERRUPTS();
	return rtscan_compare_ordered(ordered, left->values[column], left->isnull[column], right->values[column],
								  right->isnull[column]);
}

/* ---------------------------------------------------------------- search */

static RtscanOrderedSource *
add_source(RtscanOrdered *ordered, RtscanSegmentScan *segment)
{
	RtscanOrderedSource *source = palloc0(sizeof(RtscanOrderedSource));

	source->ordered = ordered;
	source->segment = segment;
	source->number = list_length(ordered->sources);
	source->values = palloc0(ordered->schema->ncolumns * sizeof(RtscanValues *));
	ordered->sources = lappend(ordered->sources, source);
	return source;
}

/* Return the segments of which more rows will be tested, and mark them; a segment is returned only once. */
static List *
take_tested_segments(RtscanOrdered *ordered)
{
	List	   *tested = NIL;
	ListCell   *cell;

	foreach(cell, ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);

		if (source->stream == NULL || source->searched_again || !rtscan_stream_goes_on(source->stream))
			continue;
		source->searched_again = true;
		tested = lappend(tested, source->segment);
	}
	return tested;
}

static RtscanOrderedSource *
source_of(const RtscanOrdered *ordered, const RtscanEntry *entry)
{
	ListCell   *cell;

	foreach(cell, ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);

		if (source->segment && source->segment->entry == entry)
			return source;
	}
	elog(ERROR, "rtscan: there is no source of a segment that has been searched again");
}

/*
 * RtscanStreamDoubter: search the segments whose rows are tested again, if another executor may find their bits
 * sooner than the CPU ends its tests.
 */
static void
search_again(void *arg)
{
	RtscanOrdered *ordered = (RtscanOrdered *) arg;
	List	   *tested = take_tested_segments(ordered);
	RtscanSearch again;
	const RtscanSegmentScan *segment;
	RtscanRowBits *bits;

	if (tested == NIL || !rtscan_begin_again(&ordered->search, tested, &again))
		return;
	while ((segment = rtscan_next_segment(&again, &bits)) != NULL)
		rtscan_stream_take_bits(source_of(ordered, segment->entry)->stream, rtscan_bits_keep(bits));
	rtscan_end_again(&ordered->search, &again);
}

/* Add a segment to the sources; returns the source, or NULL if no row matches. */
static RtscanOrderedSource *
add_segment(RtscanOrdered *ordered, RtscanSegmentScan *segment, RtscanRowBits *bits)
{
	uint64		rows = segment->asked.takes_ranks ? rtscan_filtered_rows(segment, ordered->order) :
		rtscan_bits_count(bits);
	RtscanOrderedSource *source;

	if (rows == 0)
		return NULL;
	source = add_source(ordered, segment);
	source->sees_all = ordered->unchecked || rtscan_sees_all(&ordered->visibility, segment);
	source->bits = segment->asked.takes_ranks ? NULL : rtscan_bits_keep(bits);
	if (source->bits)
		(void) rtscan_bits_fill_all(source->bits);
	source->rows = rows;
	if (!ordered->order->by_heap)
	{
		source->stream = rtscan_open_stream(segment, ordered->schema,
											rtscan_source_values(source, ordered->order->columns[0].column),
											source->bits ? source->bits->words : NULL, ordered->order);
		rtscan_stream_set_doubter(source->stream, search_again, ordered);
	}
	/* Rows that are tested are counted when they are taken. */
	if (source->stream == NULL || !rtscan_stream_is_tested(source->stream))
		ordered->search.stats.rows += rows;
	return source;
}

static void
add_pending_row(RtscanOrdered *ordered, IndexTuple tuple)
{
	int			ncolumns = ordered->schema->ncolumns;
	RtscanOrderedPending *row;

	if (!ordered->unchecked && !rtscan_sees_row(&ordered->visibility, &tuple->t_tid))
		return;
	if (ordered->npending == ordered->capacity)
	{
		ordered->capacity = Max(2 * ordered->capacity, 64);
		ordered->pending = ordered->pending ?
			repalloc_huge(ordered->pending, ordered->capacity * sizeof(RtscanOrderedPending)) :
			palloc(ordered->capacity * sizeof(RtscanOrderedPending));
	}
	row = &ordered->pending[ordered->npending++];
	*row = (RtscanOrderedPending) {tuple->t_tid, palloc(ncolumns * sizeof(Datum)), palloc(ncolumns * sizeof(bool))};
	rtscan_deform_pending(ordered->search.asked.index, ordered->schema, CopyIndexTuple(tuple), row->values,
						  row->isnull);
	ordered->search.stats.rows++;
}

/* RtscanPrepareSegment */
static void
prepare_segment(RtscanSegmentScan *segment, void *arg)
{
	RtscanOrdered *ordered = (RtscanOrdered *) arg;

	if (!ordered->unchecked)
		rtscan_ask_map(&ordered->visibility, segment);
	segment->asked.want_bits = true;
	segment->asked.takes_ranks = ordered->skip == 0 && rtscan_stream_needs_no_bits(segment, ordered->order);
}

static void
search_all(RtscanOrdered *ordered, const RtscanImage *image)
{
	RtscanSearch *search = &ordered->search;
	RtscanSegmentScan *segment;
	RtscanRowBits *bits;
	IndexTuple	tuple;

	rtscan_begin_search(search, image);
	if (!ordered->in_turn)
		while ((segment = rtscan_next_segment(search, &bits)) != NULL)
			(void) add_segment(ordered, segment, bits);
	while ((tuple = rtscan_next_pending(search)) != NULL)
		add_pending_row(ordered, tuple);
}

/* ---------------------------------------------------------------- sources */

/* Set the bound of the source's value, if segments are opened in turn. */
static void
find_bound(RtscanOrderedSource *source)
{
	const RtscanOrdered *ordered = source->ordered;

	if (ordered->in_turn)
		source->bound = rtscan_bound_of_value(&ordered->order->columns[0], ordered->type->key_kind, source->value,
											  source->isnull);
}

static bool
next_pending(RtscanOrderedSource *source)
{
	const RtscanOrdered *ordered = source->ordered;
	int			column = ordered->order->columns[0].column;

	if (++source->row >= ordered->npending)
		return false;
	source->value = ordered->pending[source->row].values[column];
	source->isnull = ordered->pending[source->row].isnull[column];
	find_bound(source);
	return true;
}

/* May there be rows of more than one source? */
static bool
merges(const RtscanOrdered *ordered)
{
	uint64		bound;

	return list_length(ordered->sources) > 1 || rtscan_next_bound(&ordered->search, &bound);
}

/*
 * Go to the next row of a segment.  Its value is looked up if rows are merged with those of other sources, and it
 * differs from the one before.
 */
static bool
next_of_segment(RtscanOrderedSource *source, bool first)
{
	RtscanStreamKey key;
	MemoryContext old;

	if (!rtscan_next_of_stream(source->stream, &source->row))
		return false;
	source->ordered->search.stats.rows += rtscan_stream_is_tested(source->stream);
	if (!merges(source->ordered))
		return true;
	key = rtscan_stream_key(source->stream);
	if (!first && key.isnull == source->key.isnull && key.number == source->key.number)
		return true;
	source->key = key;
	source->isnull = key.isnull;
	MemoryContextReset(source->context);
	old = MemoryContextSwitchTo(source->context);
	source->value = key.isnull ? (Datum) 0 : rtscan_stream_value(source->stream, key);
	MemoryContextSwitchTo(old);
	find_bound(source);
	return true;
}

static void
add_pending_source(RtscanOrdered *ordered)
{
	RtscanOrderedSource *source;

	if (ordered->npending == 0)
		return;
	if (!ordered->order->by_heap)
		qsort_arg(ordered->pending, ordered->npending, sizeof(RtscanOrderedPending), compare_pending, ordered);
	source = add_source(ordered, NULL);
	source->sees_all = true;
	source->rows = ordered->npending;
	source->row = PG_UINT32_MAX;
}

/* Begin to read a source, and go to its first row; returns false if there is none. */
static bool
begin_source(RtscanOrderedSource *source)
{
	source->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan ordered value", ALLOCSET_SMALL_SIZES);
	if (source->stream)
		rtscan_begin_stream(source->stream, source->rows, source->passed);
	return source->segment ? next_of_segment(source, true) : next_pending(source);
}

static void
begin_merge(RtscanOrdered *ordered)
{
	ListCell   *cell;

	ordered->heap = binaryheap_allocate(ordered->search.nsegments + 1, compare_sources, ordered);
	foreach(cell, ordered->sources)
		if (begin_source(lfirst(cell)))
			binaryheap_add_unordered(ordered->heap, PointerGetDatum(lfirst(cell)));
	binaryheap_build(ordered->heap);
}

/* ---------------------------------------------------------------- segments in turn */

/* RtscanSegmentBound */
static uint64
bound_of_segment(const RtscanEntry *entry, const RtscanKeyBounds *bounds, void *arg)
{
	return rtscan_bound_of_segment(&((const RtscanOrdered *) arg)->order->columns[0], entry, bounds);
}

/* Open the segments that may have a row that sorts before the first known row, or is equal to it. */
static void
open_due_segments(RtscanOrdered *ordered)
{
	uint64		bound;

	while (rtscan_next_bound(&ordered->search, &bound) &&
		   (binaryheap_empty(ordered->heap) ||
			bound <= ((const RtscanOrderedSource *) DatumGetPointer(binaryheap_first(ordered->heap)))->bound))
	{
		RtscanRowBits *bits;
		RtscanSegmentScan *segment = rtscan_next_segment(&ordered->search, &bits);
		RtscanOrderedSource *source = bits ? add_segment(ordered, segment, bits) : NULL;

		Assert(segment);
		CHECK_FOR_INTERRUPTS();
		if (source && begin_source(source))
			binaryheap_add(ordered->heap, PointerGetDatum(source));
	}
}

/*
 * Are segments opened one after another, when their bounds say so?  This needs a column with keys, since other
 * columns have no bounds.  It is not done if rows are skipped, since these are counted in all segments, nor if the
 * user has set an executor other than the CPU: that one gets all segments.
 */
static bool
opens_in_turn(const RtscanOrdered *ordered, const RtscanImage *image)
{
	return ordered->order->few && ordered->type->key_kind != RTSCAN_KEY_NONE && ordered->skip == 0 &&
		(rtscan_executor == RTSCAN_EXECUTOR_AUTO || rtscan_executor == RTSCAN_EXECUTOR_CPU) &&
		rtscan_bounds_are_apart(&ordered->order->columns[0], image);
}

/* Take the first row of all sources. */
static RtscanLotRow
take_first(RtscanOrdered *ordered)
{
	RtscanOrderedSource *source = (RtscanOrderedSource *) DatumGetPointer(binaryheap_first(ordered->heap));
	RtscanLotRow		row = {.source = source, .row = source->row, .visible = true};

	if (source->segment ? next_of_segment(source, false) : next_pending(source))
		binaryheap_replace_first(ordered->heap, PointerGetDatum(source));
	else
		(void) binaryheap_remove_first(ordered->heap);
	return row;
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
	ordered->lot_context = AllocSetContextCreate(context, "rtscan ordered lot", ALLOCSET_START_SMALL_SIZES);
	ordered->lot = Max(Min(order->wanted, order->by_heap ? RTSCAN_CURSOR_ROWS : FIRST_LOT), 1);
	ordered->search = (RtscanSearch) {
		.asked = {
			.index = visibility->index,
			.snapshot = visibility->snapshot,
			.schema = schema,
			.filter = filter,
			.prepare = prepare_segment,
			.prepare_arg = ordered,
		},
	};
	ordered->skip = skip;
	ordered->in_turn = opens_in_turn(ordered, image);
	if (ordered->in_turn)
		ordered->search.asked.bound = bound_of_segment;
	search_all(ordered, image);
	add_pending_source(ordered);
	if (order->by_heap)
		ordered->first_rows = rtscan_begin_first_rows(ordered);
	else
	{
		ordered->skip = rtscan_skip_rows(ordered, skip);
		begin_merge(ordered);
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

/* qsort: by source, then row. */
static int
compare_places(const void *a, const void *b)
{
	const RtscanLotRow *left = *(RtscanLotRow *const *) a;
	const RtscanLotRow *right = *(RtscanLotRow *const *) b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* Return the end of the rows of by_place that are in the same chunk of the same source as the one at "first". */
static uint32
end_of_chunk(const RtscanOrdered *ordered, uint32 first)
{
	const RtscanLotRow *row = ordered->by_place[first];
	uint32		end = first + 1;

	while (end < ordered->n && ordered->by_place[end]->source == row->source &&
		   ordered->by_place[end]->row / RTSCAN_CHUNK_ROWS == row->row / RTSCAN_CHUNK_ROWS)
		end++;
	return end;
}

/* Find the TIDs of those of some rows of a chunk that the snapshot sees. */
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

/* Are the TIDs of a source's rows found only on request?  They are if the snapshot is known to see the rows. */
static bool
finds_later(const RtscanOrdered *ordered, const RtscanOrderedSource *source)
{
	return source->segment && (source->sees_all || ordered->first_rows);
}

/* Find the TIDs of the current rows: either of sources that find them on request ("later"), or of the others. */
static void
find_tids(RtscanOrdered *ordered, bool later)
{
	for (uint32 first = 0, end; first < ordered->n; first = end)
	{
		RtscanOrderedSource *source = ordered->by_place[first]->source;

		end = end_of_chunk(ordered, first);
		if (finds_later(ordered, source) != later)
			continue;
		if (source->segment)
			find_tids_of_chunk(ordered, ordered->by_place + first, end - first);
		else
			for (uint32 i = first; i < end; i++)
				ordered->by_place[i]->tid = ordered->pending[ordered->by_place[i]->row].tid;
	}
}

static void
sort_by_place(RtscanOrdered *ordered)
{
	for (uint32 i = 0; i < ordered->n; i++)
	{
		ordered->rows[i].place = i;
		ordered->by_place[i] = &ordered->rows[i];
	}
	qsort(ordered->by_place, ordered->n, sizeof(RtscanLotRow *), compare_places);
}

/* Drop the rows that the snapshot does not see. */
static void
keep_visible(RtscanOrdered *ordered)
{
	uint32		n = 0;

	for (uint32 i = 0; i < ordered->n; i++)
		if (ordered->rows[i].visible)
			ordered->rows[n++] = ordered->rows[i];
	ordered->n = n;
}

/*
 * Make room for a number of rows, not for the largest lot: a thousand partitions may be merged, of each of which few
 * rows are wanted.
 */
static void
make_room(RtscanOrdered *ordered, uint32 rows)
{
	if (rows <= ordered->room)
		return;
	if (ordered->rows)
	{
		pfree(ordered->rows);
		pfree(ordered->by_place);
	}
	ordered->rows = palloc(rows * sizeof(RtscanLotRow));
	ordered->by_place = palloc(rows * sizeof(RtscanLotRow *));
	ordered->room = rows;
}

static uint32
merge_rows(RtscanOrdered *ordered, RtscanLotRow *rows, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		open_due_segments(ordered);
		if (binaryheap_empty(ordered->heap))
			return i;
		rows[i] = take_first(ordered);
	}
	return n;
}

static uint32
rows_of_lot(const RtscanOrdered *ordered)
{
	double		missing = ordered->order->wanted - ordered->taken;

	return missing > 0 && missing < ordered->lot ? (uint32) ceil(missing) : ordered->lot;
}

/* Take the rows of the next lot, whether or not the snapshot sees them; returns false if none are left. */
static bool
take_lot(RtscanOrdered *ordered)
{
	uint32		rows = rows_of_lot(ordered);

	make_room(ordered, rows);
	ordered->n = ordered->first_rows ? rtscan_next_first_rows(ordered->first_rows, ordered->rows, rows) :
		merge_rows(ordered, ordered->rows, rows);
	ordered->taken += ordered->n;
	ordered->lot = Min(2 * ordered->lot, RTSCAN_CURSOR_ROWS);
	return ordered->n > 0;
}

/* Is the snapshot known to see all rows of all sources? */
static bool
sees_all(const RtscanOrdered *ordered)
{
	ListCell   *cell;

	foreach(cell, ordered->sources)
		if (!((const RtscanOrderedSource *) lfirst(cell))->sees_all)
			return false;
	return true;
}

/* Drop the rows that are still to be skipped, if the snapshot is known to see all rows. */
static void
drop_rows(RtscanOrdered *ordered)
{
	if (ordered->skip == 0 || !sees_all(ordered))
		return;
	for (; ordered->skip > 0 && !binaryheap_empty(ordered->heap); ordered->skip--)
	{
		CHECK_FOR_INTERRUPTS();
		(void) take_first(ordered);
	}
}

/* Drop the first of the current rows, as far as rows are still to be skipped. */
static void
drop_rows_at_hand(RtscanOrdered *ordered)
{
	uint32		n = (uint32) Min(ordered->skip, ordered->n);

	ordered->n -= n;
	ordered->skip -= n;
	memmove(ordered->rows, ordered->rows + n, ordered->n * sizeof(RtscanLotRow));
}

uint32
rtscan_next_ordered(RtscanOrdered *ordered)
{
	MemoryContext old = MemoryContextSwitchTo(ordered->context);

	MemoryContextReset(ordered->lot_context);
	drop_rows(ordered);
	ordered->n = 0;
	while (ordered->n == 0 && take_lot(ordered))
	{
		CHECK_FOR_INTERRUPTS();
		sort_by_place(ordered);
		find_tids(ordered, false);
		keep_visible(ordered);
		drop_rows_at_hand(ordered);
		sort_by_place(ordered);
	}
	MemoryContextSwitchTo(old);
	return ordered->n;
}

/* ---------------------------------------------------------------- the current rows */

void
rtscan_ordered_tids(RtscanOrdered *ordered, ItemPointerData *tids)
{
	find_tids(ordered, true);
	for (uint32 i = 0; i < ordered->n; i++)
		tids[i] = ordered->rows[i].tid;
}

/* The kept dictionaries of a column, of all segments together, take no more than work_mem. */
RtscanValues *
rtscan_source_values(RtscanOrderedSource *source, int column)
{
	RtscanOrdered *ordered = source->ordered;

	if (source->values[column] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(ordered->context);

		source->values[column] = rtscan_open_values(&source->segment->reader, ordered->schema, column);
		rtscan_let_values_take(source->values[column], (Size) work_mem * 1024 / ordered->search.nsegments);
		MemoryContextSwitchTo(old);
	}
	return source->values[column];
}

/* Get a column's values of some current rows: of one chunk, or pending ones. */
static void
get_values(RtscanOrdered *ordered, RtscanLotRow **lot, uint32 n, int column, Datum *datums, bool *isnull)
{
	RtscanOrderedSource *source = lot[0]->source;
	uint32		rows[RTSCAN_CURSOR_ROWS];
	Datum		found[RTSCAN_CURSOR_ROWS];
	bool		found_null[RTSCAN_CURSOR_ROWS];

	for (uint32 i = 0; i < n; i++)
	{
		rows[i] = lot[i]->row;
		if (source->segment == NULL)
		{
			found[i] = ordered->pending[rows[i]].values[column];
			found_null[i] = ordered->pending[rows[i]].isnull[column];
		}
	}
	if (source->segment)
		rtscan_get_values(rtscan_source_values(source, column), rows, n, found, found_null);
	for (uint32 i = 0; i < n; i++)
	{
		datums[lot[i]->place] = found[i];
		isnull[lot[i]->place] = found_null[i];
	}
}

void
rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(ordered->lot_context);

	for (uint32 first = 0, end; first < ordered->n; first = end)
	{
		end = end_of_chunk(ordered, first);
		get_values(ordered, ordered->by_place + first, end - first, column, datums, isnull);
	}
	MemoryContextSwitchTo(old);
}

const RtscanSearch *
rtscan_ordered_search(const RtscanOrdered *ordered)
{
	return &ordered->search;
}

uint64
rtscan_ordered_heap_fetches(const RtscanOrdered *ordered)
{
	return ordered->visibility.heap_fetches;
}
