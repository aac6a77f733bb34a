/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered_sources.c
 *		Find the sources of an ordered scan: segments with matching rows, and the pending rows.
 */
#include "search/order/ordered_parts.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* The dictionaries that are kept for one column take at most work_mem in all segments together. */
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

uint64
rtscan_count_source_rows(const RtscanOrdered *ordered)
{
	uint64		rows = 0;
	ListCell   *cell;

	foreach(cell, ordered->sources)
		rows += ((const RtscanOrderedSource *) lfirst(cell))->rows;
	return rows;
}

/* ---------------------------------------------------------------- segments */

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

/*
 * Return the segments whose streams will test more rows, and set searched_again for them, so that no segment is
 * returned twice.
 */
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

/* Return the source of a segment, given its entry in the directory. */
static RtscanOrderedSource *
source_of_entry(const RtscanOrdered *ordered, const RtscanEntry *entry)
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
 * RtscanStreamDoubter: search again all segments whose rows are still tested, for the bits of their matching rows.
 * This is done if "auto" expects an executor other than the CPU to find the bits sooner than the CPU would.
 */
static void
search_tested_again(void *arg)
{
	RtscanOrdered *ordered = (RtscanOrdered *) arg;
	List	   *tested = take_tested_segments(ordered);
	RtscanSearch again;
	const RtscanSegmentScan *segment;
	RtscanRowBits *bits;

	if (tested == NIL || !rtscan_begin_again(&ordered->search, tested, &again))
		return;
	while ((segment = rtscan_next_segment(&again, &bits)) != NULL)
		rtscan_stream_take_bits(source_of_entry(ordered, segment->entry)->stream, rtscan_bits_keep(bits));
	rtscan_end_again(&ordered->search, &again);
}

/* Open the stream of a segment. */
static void
open_source_stream(RtscanOrderedSource *source)
{
	RtscanOrdered *ordered = source->ordered;
	RtscanValues *values = rtscan_source_values(source, ordered->order->columns[0].column);
	const uint64 *words = source->bits ? source->bits->words : NULL;

	source->stream = rtscan_open_stream(source->segment, ordered->schema, values, words, ordered->order);
	rtscan_stream_set_doubter(source->stream, search_tested_again, ordered);
}

RtscanOrderedSource *
rtscan_add_segment_source(RtscanOrdered *ordered, RtscanSegmentScan *segment, RtscanRowBits *bits)
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
		open_source_stream(source);
	/* Rows that are tested are counted by next_segment_row(). */
	if (source->stream == NULL || !rtscan_stream_is_tested(source->stream))
		ordered->search.stats.rows += rows;
	return source;
}

/* ---------------------------------------------------------------- pending rows */

static void
make_room_for_pending(RtscanOrderedPending *pending)
{
	if (pending->n < pending->capacity)
		return;
	pending->capacity = Max(2 * pending->capacity, 64);
	pending->rows = pending->rows ? repalloc_huge(pending->rows, pending->capacity * sizeof(RtscanPendingRow)) :
		palloc(pending->capacity * sizeof(RtscanPendingRow));
}

/* Add a pending row that matches, if the snapshot sees it. */
static void
add_pending_row(RtscanOrdered *ordered, IndexTuple tuple)
{
	int			ncolumns = ordered->schema->ncolumns;
	RtscanPendingRow *row;

	if (!ordered->unchecked && !rtscan_sees_row(&ordered->visibility, &tuple->t_tid))
		return;
	make_room_for_pending(&ordered->pending);
	row = &ordered->pending.rows[ordered->pending.n++];
	*row = (RtscanPendingRow) {tuple->t_tid, palloc(ncolumns * sizeof(Datum)), palloc(ncolumns * sizeof(bool))};
	rtscan_deform_pending(ordered->search.asked.index, ordered->schema, CopyIndexTuple(tuple), row->values,
						  row->isnull);
	ordered->search.stats.rows++;
}

/* qsort_arg_comparator of pending rows, by the order's first column; "arg" is the RtscanOrdered. */
static int
compare_pending(const void *a, const void *b, void *arg)
{
	const RtscanOrdered *ordered = (const RtscanOrdered *) arg;
	const RtscanPendingRow *left = (const RtscanPendingRow *) a;
	const RtscanPendingRow *right = (const RtscanPendingRow *) b;
	int			column = ordered->order->columns[0].column;

	CHECK_FOR_INTERRUPTS();
	return rtscan_compare_ordered(ordered, left->values[column], left->isnull[column], right->values[column],
								  right->isnull[column]);
}

/* Make a source of the pending rows, if there are any. */
static void
add_pending_source(RtscanOrdered *ordered)
{
	RtscanOrderedSource *source;

	if (ordered->pending.n == 0)
		return;
	if (!ordered->order->by_heap)
		qsort_arg(ordered->pending.rows, ordered->pending.n, sizeof(RtscanPendingRow), compare_pending, ordered);
	source = add_source(ordered, NULL);
	source->sees_all = true;
	source->rows = ordered->pending.n;
	source->next.row = PG_UINT32_MAX;
}

/* ---------------------------------------------------------------- search */

void
rtscan_find_sources(RtscanOrdered *ordered, const RtscanImage *image)
{
	RtscanSearch *search = &ordered->search;
	RtscanSegmentScan *segment;
	RtscanRowBits *bits;
	IndexTuple	tuple;

	rtscan_begin_search(search, image);
	if (!ordered->in_turn)
		while ((segment = rtscan_next_segment(search, &bits)) != NULL)
			(void) rtscan_add_segment_source(ordered, segment, bits);
	while ((tuple = rtscan_next_pending(search)) != NULL)
		add_pending_row(ordered, tuple);
	add_pending_source(ordered);
}
