/* SPDX-License-Identifier: PostgreSQL */
/*
 * search.c
 *		Find the rows of an index that match a filter, segments first, then pending lists.
 */
#include "search/scan/search_parts.h"

#include "search/exec/device_aggregate.h"
#include "search/exec/device_members.h"
#include "search/filter/segment_filter.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- begin and end */

/* Count a segment as skipped: no row of it can match. */
static void
count_skipped(RtscanSearch *search, const RtscanEntry *entry)
{
	search->stats.counters.segments++;
	search->stats.counters.skipped_segments++;
	search->stats.counters.chunks_skipped += rtscan_chunks(entry->rows);
}

/* Undo count_skipped() for a segment that is searched after all. */
static void
uncount_skipped(RtscanSearch *search, const RtscanEntry *entry)
{
	search->stats.counters.segments--;
	search->stats.counters.skipped_segments--;
	search->stats.counters.chunks_skipped -= rtscan_chunks(entry->rows);
}

/* qsort comparator: by bound, then by place in the image. */
static int
compare_by_bound(const void *a, const void *b)
{
	const RtscanSegmentScan *left = (const RtscanSegmentScan *) a;
	const RtscanSegmentScan *right = (const RtscanSegmentScan *) b;

	if (left->bound != right->bound)
		return left->bound < right->bound ? -1 : 1;
	return left->entry < right->entry ? -1 : left->entry > right->entry;
}

/* Sort the segments by their bounds.  Each segment counts as skipped until it is taken. */
static void
sort_by_bound(RtscanSearch *search)
{
	const RtscanImage *image = search->image;

	for (int i = 0; i < search->nsegments; i++)
	{
		RtscanSegmentScan *segment = &search->segments[i];
		const RtscanKeyBounds *bounds = rtscan_image_bounds(image, segment->entry - image->entries);

		segment->bound = search->asked.bound(segment->entry, bounds, search->asked.prepare_arg);
		count_skipped(search, segment->entry);
	}
	qsort(search->segments, search->nsegments, sizeof(RtscanSegmentScan), compare_by_bound);
}

/*
 * List the segments to search.  Segments that cannot match are left out: they may be nearly all segments, if the
 * table is in the order of a column of the filter.  A shared search lists all live segments, however, since processes
 * identify segments by their numbers in the list, and the filter may exclude other segments in another process.
 */
static void
list_segments_to_search(RtscanSearch *search)
{
	const RtscanImage *image = search->image;
	bool	   *may_match = palloc(Max(image->nentries, 1) * sizeof(bool));
	int			n = 0;

	for (uint32 i = 0; i < image->nentries; i++)
	{
		may_match[i] = rtscan_entry_is_live(&image->entries[i]) &&
			rtscan_filter_may_match(search->asked.filter, &image->entries[i], rtscan_image_bounds(image, i));
		n += may_match[i] || search->asked.shared;
	}
	search->segments = palloc0(Max(n, 1) * sizeof(RtscanSegmentScan));
	for (uint32 i = 0; i < image->nentries; i++)
		if (may_match[i] || (search->asked.shared && rtscan_entry_is_live(&image->entries[i])))
			search->segments[search->nsegments++] = (RtscanSegmentScan) {.entry = &image->entries[i],
				.skipped = !may_match[i]};
		else if (rtscan_entry_is_live(&image->entries[i]))
			count_skipped(search, &image->entries[i]);
	pfree(may_match);
	if (search->asked.bound)
		sort_by_bound(search);
}

/* Return the executor that should be the fastest for all segments. */
static RtscanExecutor
choose_for_all(const RtscanSearch *search)
{
	return rtscan_choose_executor(search->segments, search->nsegments, rtscan_count_processes(search));
}

/* Return the number of segments that the chosen executor evaluates together. */
static int
segments_of_round(const RtscanSearch *search)
{
	int			regions = 1;

	if (search->choice.executor == RTSCAN_EXECUTOR_CPU)
		return 1;
	for (int i = 0; i < search->nsegments; i++)
	{
		const RtscanSegmentScan *segment = &search->segments[i];

		regions = Max(regions, segment->nregions);
		/* A device aggregate also needs the filter's own region. */
		if (segment->filter.ndisjunctions > 0 && rtscan_may_aggregate_on_device(segment))
			regions = Max(regions, 1 + rtscan_count_alternatives(&segment->filter, RTSCAN_ROUND_REGIONS));
	}
	return Max(Min(RTSCAN_ROUND_SEGMENTS, RTSCAN_ROUND_REGIONS / regions), 1) *
		rtscan_executors[search->choice.executor]->devices();
}

/* Return the number of chunks of the largest live segment. */
static uint32
most_chunks(const RtscanImage *image)
{
	uint32		rows = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			rows = Max(rows, image->entries[i].rows);
	return rtscan_chunks(rows);
}

/*
 * Set search->choice.  Unless the filter is looked up late (looks_up_late), first look it up in all segments, since the
 * choice of an executor depends on the regions.
 */
static void
choose_way(RtscanSearch *search)
{
	const RtscanSearchAsked *asked = &search->asked;
	RtscanSearchChoice *choice = &search->choice;

	choice->looks_up_late = asked->bound || (asked->shared && asked->claim == NULL && rtscan_executor_is_cpu());
	choice->tests = asked->may_test && rtscan_filter_may_be_tested(asked->filter);
	if (!choice->looks_up_late)
	{
		rtscan_look_up_segments(search, search->segments, search->nsegments);
		choice->executor = choose_for_all(search);
	}
	choice->round_segments = segments_of_round(search);
}

/* Initialize all members, except "asked" and "segments", which the caller has set, and the prefilter. */
static void
init_search(RtscanSearch *search, const RtscanImage *image)
{
	search->nsegments = 0;
	search->executor = RTSCAN_EXECUTOR_CPU;
	search->stats = (RtscanScanStats) {0};
	search->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan search", ALLOCSET_DEFAULT_SIZES);
	search->short_context = AllocSetContextCreate(search->context, "rtscan search of a segment",
												  ALLOCSET_START_SMALL_SIZES);
	search->image = image;
	search->choice = (RtscanSearchChoice) {.executor = RTSCAN_EXECUTOR_CPU};
	search->progress = (RtscanSearchProgress) {0};
	search->sharing = (RtscanSearchSharing) {0};
	search->pending.reader = NULL;
	search->pending.next_list = 0;
	search->pending.taken_apart = 0;
}

void
rtscan_begin_search(RtscanSearch *search, const RtscanImage *image)
{
	MemoryContext old;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	Assert(search->asked.bound == NULL || search->asked.shared == NULL);
	init_search(search, image);
	search->progress.began = start;
	old = MemoryContextSwitchTo(search->context);
	search->progress.round = rtscan_create_round(most_chunks(image));
	if (!rtscan_filter_is_never(search->asked.filter))
	{
		list_segments_to_search(search);
		choose_way(search);
	}
	MemoryContextSwitchTo(old);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
}

static void
list_everything(RtscanSearch *search, bool wanted)
{
	for (int i = 0; i < search->nsegments; i++)
		rtscan_list_everything(&search->segments[i], wanted);
}

void
rtscan_search_for_device_aggs(RtscanSearch *search, const RtscanAdding *adding)
{
	RtscanSearchChoice *choice = &search->choice;

	if (choice->executor != RTSCAN_EXECUTOR_CPU || rtscan_executor != RTSCAN_EXECUTOR_AUTO || choice->looks_up_late)
		return;
	list_everything(search, true);
	choice->executor = rtscan_choose_adder(search->segments, search->nsegments, rtscan_count_processes(search), adding);
	if (choice->executor == RTSCAN_EXECUTOR_CPU)
		list_everything(search, false);
	choice->round_segments = segments_of_round(search);
}

void
rtscan_search_without_device_aggs(RtscanSearch *search)
{
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || search->choice.executor == RTSCAN_EXECUTOR_CPU)
		return;
	search->choice.executor = choose_for_all(search);
	search->choice.round_segments = segments_of_round(search);
}

void
rtscan_end_search(RtscanSearch *search)
{
	MemoryContextDelete(search->context);
	search->context = NULL;
}

/* ---------------------------------------------------------------- segments */

/* If a device has not tested rows for the conditions that were left to it, look these conditions up. */
static void
take_back_tests(RtscanSearch *search, RtscanSegmentScan *segment)
{
	MemoryContext old;

	if (!segment->progress.leaves_lookups || segment->progress.combined || segment->filter.region.empty ||
		!rtscan_leaves_lookups(&segment->reader, &segment->filter))
		return;
	old = MemoryContextSwitchTo(search->context);
	rtscan_look_up_left(search, segment);
	MemoryContextSwitchTo(old);
}

/* Begin a round: evaluate "count" segments together, as far as the chosen executor can. */
static void
begin_round(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	RtscanExecutor executor;

	if (!segments[0].looked_up)
		rtscan_look_up_segments(search, segments, count);
	executor = rtscan_begin_round(search->progress.round, search->choice.executor, search->asked.index,
								  &search->image->meta.uuid, segments, count, &search->stats.counters);
	search->executor = Max(search->executor, executor);
	for (int i = 0; i < count; i++)
		take_back_tests(search, &segments[i]);
}

/* Take the next segments and begin a round of them; returns false if no segment is left. */
static bool
take_round(RtscanSearch *search)
{
	int			limit = search->choice.round_segments;
	int			count;

	if (search->asked.shared)
		limit = rtscan_take_segments(search);
	count = Min(search->nsegments - search->progress.next_segment, limit);
	if (count == 0)
		return false;
	begin_round(search, search->segments + search->progress.next_segment, count);
	search->progress.next_segment += count;
	return true;
}

/*
 * Take the next segment; returns NULL if none is left.  If the segment's bits are lost, the rest of the round is
 * evaluated again.
 */
static RtscanSegmentScan *
take_next_segment(RtscanSearch *search)
{
	RtscanRound *round = search->progress.round;
	RtscanSegmentScan *segment;

	if (search->nsegments == 0 || (round->next == round->nscans && !take_round(search)))
		return NULL;
	if (round->scans[round->next].progress.lost)
		begin_round(search, round->scans + round->next, round->nscans - round->next);
	segment = &round->scans[round->next++];
	if (search->asked.bound)
		uncount_skipped(search, segment->entry);
	search->stats.counters.segments++;
	search->stats.counters.skipped_segments += segment->skipped;
	return segment;
}

/*
 * Find the bits of a segment's matching rows, except dead rows.  Returns NULL if no row matches, or if the segment is
 * left out since only the CPU would evaluate it (leaves_cpu).
 */
static RtscanRowBits *
find_segment_bits(RtscanSearch *search, RtscanSegmentScan *segment)
{
	static RtscanRowBits none;	/* returned for a segment that takes_ranks; the caller does not read it */
	RtscanCounters *counters = &search->stats.counters;
	RtscanRowBits *bits;

	if (search->choice.leaves_cpu && !rtscan_is_evaluated(segment))
		return NULL;
	search->progress.evaluated++;
	segment->asked.takes_ranks &= search->choice.executor == RTSCAN_EXECUTOR_CPU;
	if (segment->asked.takes_ranks)
		bits = &none;
	else if ((bits = rtscan_evaluate(search->progress.round, segment, counters)))
		rtscan_bits_remove_dead(search->asked.index, segment->entry, search->asked.snapshot, bits);
	counters->cpu_segments += segment->progress.left_to_cpu || segment->asked.takes_ranks;
	counters->pages_read += segment->reader.pages_read;
	return bits;
}

/*
 * Take and evaluate segments until one has matching rows, and return that segment.  If segments are ordered by bounds,
 * return the next segment even if it has no matching rows.  Returns NULL if no segment is left.
 */
static RtscanSegmentScan *
next_own_segment(RtscanSearch *search, RtscanRowBits **bits)
{
	RtscanSegmentScan *segment;

	do
	{
		MemoryContextReset(search->short_context);
		segment = take_next_segment(search);
		if (segment == NULL)
			return NULL;
		*bits = find_segment_bits(search, segment);
		/* No row matches, so other processes need not take chunks of the segment. */
		if (*bits == NULL && search->asked.shares_chunks)
			rtscan_take_all_chunks(search, segment);
	} while (*bits == NULL && search->asked.bound == NULL);
	return segment;
}

/*
 * Evaluate a segment of another process, to share its chunks.  Only the other process counts the segment in its
 * statistics and traces.
 */
static RtscanRowBits *
evaluate_shared(RtscanSearch *search, RtscanSegmentScan *segment)
{
	RtscanCounters counters = search->stats.counters;
	RtscanRound *round = search->progress.round;
	RtscanRowBits *bits;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	segment->sharing.other = true;
	rtscan_pause_tracing(search->asked.filter, true);
	begin_round(search, segment, 1);
	round->next++;
	bits = find_segment_bits(search, segment);
	rtscan_pause_tracing(search->asked.filter, false);
	search->stats.counters = counters;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
	return bits;
}

/* Evaluate the next segment of another process whose chunks can be shared; returns NULL if there is none. */
static RtscanSegmentScan *
next_shared_segment(RtscanSearch *search, RtscanRowBits **bits)
{
	int			i;

	while ((i = rtscan_wait_for_segment(search)) >= 0)
	{
		MemoryContextReset(search->short_context);
		*bits = evaluate_shared(search, &search->segments[i]);
		if (*bits)
			return &search->segments[i];
	}
	return NULL;
}

bool
rtscan_next_bound(const RtscanSearch *search, uint64 *bound)
{
	if (search->asked.bound == NULL || search->progress.next_segment == search->nsegments)
		return false;
	*bound = search->segments[search->progress.next_segment].bound;
	return true;
}

RtscanSegmentScan *
rtscan_next_segment(RtscanSearch *search, RtscanRowBits **bits)
{
	MemoryContext old;
	RtscanSegmentScan *segment;
	instr_time	start,
				end;

	*bits = NULL;
	if (search->asked.shared == NULL && search->progress.next_segment == search->nsegments &&
		search->progress.round->next == search->progress.round->nscans)
		return NULL;
	INSTR_TIME_SET_CURRENT(start);
	old = MemoryContextSwitchTo(search->short_context);
	segment = next_own_segment(search, bits);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
	if (segment == NULL && search->asked.shares_chunks)
		segment = next_shared_segment(search, bits);
	MemoryContextSwitchTo(old);
	return segment;
}

/* ---------------------------------------------------------------- searching again */

/*
 * Choose an executor for the second search.  Reads rtscan.executor again, since it may have been set after the first
 * search began.
 */
static RtscanExecutor
choose_again(RtscanSearch *again)
{
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || rtscan_executor_is_cpu())
		return RTSCAN_EXECUTOR_CPU;
	/* For the comparison of executors, use a device however slow it is. */
	if (rtscan_debug_compare_executors)
		return RTSCAN_EXECUTOR_COMPUTE;
	return rtscan_choose_executor(again->segments, again->nsegments, 1);
}

bool
rtscan_begin_again(const RtscanSearch *search, const List *segments, RtscanSearch *again)
{
	MemoryContext old = MemoryContextSwitchTo(search->context);
	ListCell   *cell;

	Assert(search->asked.shared == NULL);
	*again = *search;
	again->choice.leaves_cpu = true;
	again->asked.bound = NULL;
	again->segments = palloc(Max(list_length(segments), 1) * sizeof(RtscanSegmentScan));
	again->nsegments = again->progress.next_segment = 0;
	foreach(cell, segments)
	{
		RtscanSegmentScan *segment = &again->segments[again->nsegments++];

		*segment = *(const RtscanSegmentScan *) lfirst(cell);
		segment->asked.takes_ranks = false;
		segment->reader.pages_read = 0;
		rtscan_list_regions(segment);
	}
	again->progress.round = rtscan_create_round(search->progress.round->scratch.chunks);
	again->choice.executor = choose_again(again);
	again->choice.round_segments = segments_of_round(again);
	MemoryContextSwitchTo(old);
	return again->choice.executor != RTSCAN_EXECUTOR_CPU;
}

/* Counts of segments are not added, since the first search has counted the same segments. */
void
rtscan_end_again(RtscanSearch *search, const RtscanSearch *again)
{
	RtscanCounters before = search->stats.counters;

	search->executor = again->executor;
	search->stats = again->stats;
	search->stats.counters.segments = before.segments;
	search->stats.counters.skipped_segments = before.skipped_segments;
	search->stats.counters.cpu_segments = before.cpu_segments;
}
