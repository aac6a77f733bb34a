/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered_merge.c
 *		Merge the rows of the sources of an ordered scan.
 */
#include "search/order/ordered_parts.h"

#include "miscadmin.h"
#include "search/order/order_bounds.h"
#include "utils/memutils.h"

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
 * Compare two sources whose next rows have equal values.  Segments come before the pending rows, and are sorted as in
 * the image, in whatever order they were opened.
 */
static int
compare_origins(const RtscanOrderedSource *a, const RtscanOrderedSource *b)
{
	if (a->segment == NULL || b->segment == NULL)
		return (a->segment == NULL) - (b->segment == NULL);
	return a->segment->entry < b->segment->entry ? -1 : a->segment->entry > b->segment->entry;
}

/* binaryheap_comparator: the source whose next row comes first is on top. */
static int
compare_sources(Datum a, Datum b, void *arg)
{
	const RtscanOrderedSource *left = (const RtscanOrderedSource *) DatumGetPointer(a);
	const RtscanOrderedSource *right = (const RtscanOrderedSource *) DatumGetPointer(b);
	int			result = rtscan_compare_ordered((const RtscanOrdered *) arg, left->next.value, left->next.isnull,
												right->next.value, right->next.isnull);

	return -(result ? result : compare_origins(left, right));
}

/* ---------------------------------------------------------------- the next row of a source */

/* Set the bound of the value of a source's next row, if segments are opened in turn. */
static void
find_bound(RtscanOrderedSource *source)
{
	const RtscanOrdered *ordered = source->ordered;

	if (ordered->in_turn)
		source->next.bound = rtscan_bound_of_value(&ordered->order->columns[0], ordered->type->key_kind,
												   source->next.value, source->next.isnull);
}

/* Go to the next pending row; returns false if none is left. */
static bool
next_pending_row(RtscanOrderedSource *source)
{
	const RtscanOrdered *ordered = source->ordered;
	int			column = ordered->order->columns[0].column;

	if (++source->next.row >= ordered->pending.n)
		return false;
	source->next.value = ordered->pending.rows[source->next.row].values[column];
	source->next.isnull = ordered->pending.rows[source->next.row].isnull[column];
	find_bound(source);
	return true;
}

/* Can rows of more than one source be returned, so that they have to be merged? */
static bool
merges(const RtscanOrdered *ordered)
{
	uint64		bound;

	return list_length(ordered->sources) > 1 || rtscan_next_bound(&ordered->search, &bound);
}

/* Look up the value of a segment's next row, given its key. */
static void
look_up_next(RtscanOrderedSource *source, RtscanStreamKey key)
{
	RtscanSourceNext *next = &source->next;
	MemoryContext old;

	next->key = key;
	next->isnull = key.isnull;
	MemoryContextReset(next->context);
	old = MemoryContextSwitchTo(next->context);
	next->value = key.isnull ? (Datum) 0 : rtscan_stream_value(source->stream, key);
	MemoryContextSwitchTo(old);
	find_bound(source);
}

/*
 * Go to the next row of a segment; returns false if none is left.  If sources are merged, look up the value of the
 * row, unless the row before has the same value.  "first" is true for the first row of the segment.
 */
static bool
next_segment_row(RtscanOrderedSource *source, bool first)
{
	RtscanSourceNext *next = &source->next;
	RtscanStreamKey key;

	if (!rtscan_next_of_stream(source->stream, &next->row))
		return false;
	source->ordered->search.stats.rows += rtscan_stream_is_tested(source->stream);
	if (!merges(source->ordered))
		return true;
	key = rtscan_stream_key(source->stream);
	if (first || key.isnull != next->key.isnull || key.number != next->key.number)
		look_up_next(source, key);
	return true;
}

/* Begin to read a source, and go to its first row; returns false if there is none. */
static bool
begin_source(RtscanOrderedSource *source)
{
	source->next.context = AllocSetContextCreate(CurrentMemoryContext, "rtscan ordered value", ALLOCSET_SMALL_SIZES);
	if (source->stream)
		rtscan_begin_stream(source->stream, source->rows, source->passed);
	return source->segment ? next_segment_row(source, true) : next_pending_row(source);
}

/* Return the source whose next row comes first. */
static RtscanOrderedSource *
first_source(const RtscanOrdered *ordered)
{
	return (RtscanOrderedSource *) DatumGetPointer(binaryheap_first(ordered->heap));
}

/* ---------------------------------------------------------------- segments in turn */

/* RtscanSegmentBound: return the bound of a segment in the order; "arg" is the RtscanOrdered. */
static uint64
bound_of_segment(const RtscanEntry *entry, const RtscanKeyBounds *bounds, void *arg)
{
	return rtscan_bound_of_segment(&((const RtscanOrdered *) arg)->order->columns[0], entry, bounds);
}

/*
 * May the next segment have a row that sorts before the next row of every opened source, or a row whose value equals
 * that of the first of these next rows?
 */
static bool
segment_is_due(const RtscanOrdered *ordered)
{
	uint64		bound;

	return rtscan_next_bound(&ordered->search, &bound) &&
		(binaryheap_empty(ordered->heap) || bound <= first_source(ordered)->next.bound);
}

/* Open the next segment, and go to its first row. */
static void
open_next_segment(RtscanOrdered *ordered)
{
	RtscanRowBits *bits;
	RtscanSegmentScan *segment = rtscan_next_segment(&ordered->search, &bits);
	RtscanOrderedSource *source = bits ? rtscan_add_segment_source(ordered, segment, bits) : NULL;

	Assert(segment);
	CHECK_FOR_INTERRUPTS();
	if (source && begin_source(source))
		binaryheap_add(ordered->heap, PointerGetDatum(source));
}

/*
 * Is it possible and worth while to open segments in turn?  This needs a column with 64-bit keys, since other columns
 * have no bounds.  Segments are not opened in turn if rows are skipped, since rows of all segments are counted for
 * that.  They are also not opened in turn if the user has set an executor other than the CPU: that executor gets all
 * segments at once.
 */
static bool
opens_in_turn(const RtscanOrdered *ordered, const RtscanImage *image)
{
	return ordered->order->few && ordered->type->key_kind != RTSCAN_KEY_NONE && ordered->skip == 0 &&
		(rtscan_executor == RTSCAN_EXECUTOR_AUTO || rtscan_executor == RTSCAN_EXECUTOR_CPU) &&
		rtscan_bounds_are_apart(&ordered->order->columns[0], image);
}

void
rtscan_open_in_turn(RtscanOrdered *ordered, const RtscanImage *image)
{
	ordered->in_turn = opens_in_turn(ordered, image);
	if (ordered->in_turn)
		ordered->search.asked.bound = bound_of_segment;
}

/* ---------------------------------------------------------------- merging */

void
rtscan_begin_merge(RtscanOrdered *ordered)
{
	ListCell   *cell;

	ordered->heap = binaryheap_allocate(ordered->search.nsegments + 1, compare_sources, ordered);
	foreach(cell, ordered->sources)
		if (begin_source(lfirst(cell)))
			binaryheap_add_unordered(ordered->heap, PointerGetDatum(lfirst(cell)));
	binaryheap_build(ordered->heap);
}

/* Take the row that comes first among the next rows of all sources, and go to the next row of its source. */
static RtscanLotRow
take_first(RtscanOrdered *ordered)
{
	RtscanOrderedSource *source = first_source(ordered);
	RtscanLotRow row = {.source = source, .row = source->next.row, .visible = true};

	if (source->segment ? next_segment_row(source, false) : next_pending_row(source))
		binaryheap_replace_first(ordered->heap, PointerGetDatum(source));
	else
		(void) binaryheap_remove_first(ordered->heap);
	return row;
}

uint32
rtscan_merge_rows(RtscanOrdered *ordered, RtscanLotRow *rows, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		while (segment_is_due(ordered))
			open_next_segment(ordered);
		if (binaryheap_empty(ordered->heap))
			return i;
		rows[i] = take_first(ordered);
	}
	return n;
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

void
rtscan_drop_merged_rows(RtscanOrdered *ordered)
{
	if (ordered->skip == 0 || !sees_all(ordered))
		return;
	for (; ordered->skip > 0 && !binaryheap_empty(ordered->heap); ordered->skip--)
	{
		CHECK_FOR_INTERRUPTS();
		(void) take_first(ordered);
	}
}
