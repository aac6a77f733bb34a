/* SPDX-License-Identifier: PostgreSQL */
/*
 * search.c
 *		Find the rows of an index that match a filter, segments first, then pending lists.
 */
#include "search/scan/search.h"

#include "search/exec/device_members.h"
#include "search/exec/tally.h"
#include "search/filter/lookup.h"
#include "search/filter/segment_filter.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- begin and end */

/*
 * Prepare the lookup of the filter's first condition in all segments together, step by step, so that their memory
 * accesses overlap.  The lookups themselves follow, segment by segment.
 */
static void
approach_segments(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	const RtscanFilter *filter = search->filter;

	if (filter->kind == RTSCAN_FILTER_AND && filter->n > 0)
		filter = &filter->parts[0];
	if (filter->kind != RTSCAN_FILTER_CONDITION)
		return;
	for (RtscanApproachStep step = 0; step < RTSCAN_APPROACH_STEPS; step++)
		for (int i = 0; i < count; i++)
			if (!segments[i].skipped)
				rtscan_condition_approach(&filter->condition, &segments[i].reader, step);
}

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

/* qsort_comparator */
static int
compare_by_bound(const void *a, const void *b)
{
	const RtscanSegmentScan *left = (const RtscanSegmentScan *) a;
	const RtscanSegmentScan *right = (const RtscanSegmentScan *) b;

	if (left->bound != right->bound)
		return left->bound < right->bound ? -1 : 1;
	return left->entry < right->entry ? -1 : left->entry > right->entry;
}

/* Sort the segments by their bounds.  Each counts as skipped until it is taken. */
static void
sort_by_bound(RtscanSearch *search)
{
	const RtscanImage *image = search->image;

	for (int i = 0; i < search->nsegments; i++)
	{
		RtscanSegmentScan *segment = &search->segments[i];

		segment->bound = search->bound(segment->entry, rtscan_image_bounds(image, segment->entry - image->entries),
									   search->prepare_arg);
		count_skipped(search, segment->entry);
	}
	qsort(search->segments, search->nsegments, sizeof(RtscanSegmentScan), compare_by_bound);
}

/*
 * List the segments to search.  Those that cannot match are left out: if the table is in the order of a column of the
 * filter, they may be far more than the others.  Processes that share a search list all live segments, since they
 * identify segments by their numbers in the list, and the filter may exclude other segments in another process.
 */
static void
list_segments(RtscanSearch *search)
{
	const RtscanImage *image = search->image;
	bool	   *may_match = palloc(Max(image->nentries, 1) * sizeof(bool));
	int			n = 0;

	for (uint32 i = 0; i < image->nentries; i++)
	{
		may_match[i] = rtscan_entry_is_live(&image->entries[i]) &&
			rtscan_filter_may_match(search->filter, &image->entries[i], rtscan_image_bounds(image, i));
		n += may_match[i] || search->shared;
	}
	search->segments = palloc0(Max(n, 1) * sizeof(RtscanSegmentScan));
	for (uint32 i = 0; i < image->nentries; i++)
		if (may_match[i] || (search->shared && rtscan_entry_is_live(&image->entries[i])))
			search->segments[search->nsegments++] = (RtscanSegmentScan) {.entry = &image->entries[i],
				.skipped = !may_match[i]};
		else if (rtscan_entry_is_live(&image->entries[i]))
			count_skipped(search, &image->entries[i]);
	pfree(may_match);
	if (search->bound)
		sort_by_bound(search);
}

/* Look the filter up in a segment for evaluation by the CPU: no condition is left to a device's tests. */
static void
look_up_for_cpu(RtscanSearch *search, RtscanSegmentScan *segment)
{
	rtscan_segment_filter(search->filter, &segment->reader, &segment->filter);
	rtscan_list_regions(segment);
	segment->progress.leaves_lookups = false;
	segment->progress.price = (RtscanCpuPrice) {0};
}

static void
pause_tracing(const RtscanFilter *filter, bool paused)
{
	if (filter->kind == RTSCAN_FILTER_CONDITION && filter->condition.trace)
		filter->condition.trace->paused = paused;
	if (filter->kind == RTSCAN_FILTER_AND || filter->kind == RTSCAN_FILTER_OR)
		for (int i = 0; i < filter->n; i++)
			pause_tracing(&filter->parts[i], paused);
}

/* Resume the traces of conditions that were left to tests, and so have not been looked up. */
static void
trace_left(const RtscanSegmentFilter *filter)
{
	for (int i = 0; i < filter->nresiduals; i++)
		if (filter->residuals[i]->trace)
			filter->residuals[i]->trace->paused = false;
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			trace_left(&filter->disjunctions[i].filters[k]);
}

/*
 * Look the filter up again, now including the conditions that were left to tests.  Conditions that were looked up
 * before are not traced a second time.
 */
static void
look_up_left(RtscanSearch *search, RtscanSegmentScan *segment)
{
	if (!segment->sharing.other)
	{
		pause_tracing(search->filter, true);
		trace_left(&segment->filter);
	}
	look_up_for_cpu(search, segment);
	if (!segment->sharing.other)
		pause_tracing(search->filter, false);
}

/* Are a device's tests worth while?  Always if the user has set an executor; "auto" wants to save time by them. */
static bool
do_tests_pay(const RtscanSegmentScan *segment, double test_time)
{
	return rtscan_executor != RTSCAN_EXECUTOR_AUTO ||
		rtscan_tests_nanoseconds(&segment->reader, &segment->filter, false) > test_time;
}

/*
 * Look the filter up, but leave conditions to a device that can test rows for them.  If tests do not pay, or some
 * conditions cannot be tested, conditions on key columns are looked up after all.
 */
static void
look_up_for_tests(RtscanSearch *search, RtscanSegmentScan *segment, double test_time)
{
	RtscanReader *reader = &segment->reader;
	bool		listed;

	reader->test_time = test_time;
	rtscan_segment_filter(search->filter, reader, &segment->filter);
	reader->test_time = 0;
	segment->progress.leaves_lookups = rtscan_leaves_lookups(reader, &segment->filter);
	listed = do_tests_pay(segment, test_time) && rtscan_list_members(reader, &segment->filter);
	if (segment->progress.leaves_lookups && !listed)
		look_up_left(search, segment);
	else
		rtscan_list_regions(segment);
}

/*
 * "auto" leaves lookups to tests only if they would take the CPU at least this number of nanoseconds in all segments:
 * after the lookups, the CPU's cost is better known.
 */
#define LEAST_LEFT	30000.0

/*
 * Return the nanoseconds that another executor needs to test a segment's rows instead of a lookup; 0 if none can.
 * They are scaled like the CPU's estimated costs, with which they are compared.
 */
static double
test_time_of(const RtscanSearch *search, const RtscanSegmentScan *segment)
{
	double		test_time = search->tests ? rtscan_test_time(segment) / rtscan_cpu_slowness() : 0;

	if (test_time == 0 || rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		return test_time;
	return Max(test_time, LEAST_LEFT / search->nsegments);
}

static void
look_up_segment(RtscanSearch *search, RtscanSegmentScan *segment)
{
	double		test_time = test_time_of(search, segment);

	if (test_time > 0)
		look_up_for_tests(search, segment, test_time);
	else
		look_up_for_cpu(search, segment);
	if (!segment->filter.region.empty)
		search->prepare(segment, search->prepare_arg);
}

/* Look the filter up in some segments.  Functions written by users may be called here, but not during evaluation. */
static void
look_up_segments(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	MemoryContext old = MemoryContextSwitchTo(search->context);

	for (int i = 0; i < count; i++)
		if (!segments[i].skipped)
			rtscan_reader_open(&segments[i].reader, search->index, segments[i].entry, false);
	if (count > 1)
		approach_segments(search, segments, count);
	for (int i = 0; i < count; i++)
	{
		if (segments[i].skipped)
			segments[i].filter.region.empty = true;
		else
			look_up_segment(search, &segments[i]);
		segments[i].looked_up = true;
	}
	MemoryContextSwitchTo(old);
}

static void
look_up_all(RtscanSearch *search)
{
	look_up_segments(search, search->segments, search->nsegments);
	search->chosen = rtscan_choose_executor(search->segments, search->nsegments, rtscan_count_processes(search));
}

/* Return the number of segments that the chosen executor evaluates together. */
static int
segments_of_round(const RtscanSearch *search)
{
	int			regions = 1;

	if (search->chosen == RTSCAN_EXECUTOR_CPU)
		return 1;
	for (int i = 0; i < search->nsegments; i++)
	{
		const RtscanSegmentScan *segment = &search->segments[i];

		regions = Max(regions, segment->nregions);
		/* A tally also needs the filter's own region. */
		if (segment->filter.ndisjunctions > 0 && rtscan_may_be_tallied(segment))
			regions = Max(regions, 1 + rtscan_count_alternatives(&segment->filter, RTSCAN_ROUND_REGIONS));
	}
	return Max(Min(RTSCAN_ROUND_SEGMENTS, RTSCAN_ROUND_REGIONS / regions), 1) *
		rtscan_executors[search->chosen]->devices();
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

void
rtscan_begin_search(RtscanSearch *search, const RtscanImage *image)
{
	MemoryContext old;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	Assert(search->bound == NULL || search->shared == NULL);
	search->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan search", ALLOCSET_DEFAULT_SIZES);
	search->short_context = AllocSetContextCreate(search->context, "rtscan search of a segment",
												  ALLOCSET_START_SMALL_SIZES);
	old = MemoryContextSwitchTo(search->context);
	search->executor = RTSCAN_EXECUTOR_CPU;
	memset(&search->stats, 0, sizeof(search->stats));
	search->image = image;
	search->leaves_cpu = false;
	search->nsegments = 0;
	search->next_segment = 0;
	search->first_to_share = 0;
	search->part = 0;
	search->evaluated = 0;
	search->began = start;
	search->pending = NULL;
	search->next_list = 0;
	search->taken_apart = 0;
	search->round = rtscan_create_round(most_chunks(image));
	if (!rtscan_filter_is_never(search->filter))
	{
		list_segments(search);
		search->looks_up_late = search->bound || (search->shared && search->claim == NULL && rtscan_executor_is_cpu());
		search->chosen = RTSCAN_EXECUTOR_CPU;
		search->tests = search->may_test && rtscan_filter_may_be_tested(search->filter);
		if (!search->looks_up_late)
			look_up_all(search);
		search->round_segments = segments_of_round(search);
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
rtscan_search_for_tallies(RtscanSearch *search, const RtscanAdding *adding)
{
	if (search->chosen != RTSCAN_EXECUTOR_CPU || rtscan_executor != RTSCAN_EXECUTOR_AUTO || search->looks_up_late)
		return;
	list_everything(search, true);
	search->chosen = rtscan_choose_adder(search->segments, search->nsegments, rtscan_count_processes(search), adding);
	if (search->chosen == RTSCAN_EXECUTOR_CPU)
		list_everything(search, false);
	search->round_segments = segments_of_round(search);
}

void
rtscan_search_without_tallies(RtscanSearch *search)
{
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || search->chosen == RTSCAN_EXECUTOR_CPU)
		return;
	search->chosen = rtscan_choose_executor(search->segments, search->nsegments, rtscan_count_processes(search));
	search->round_segments = segments_of_round(search);
}

void
rtscan_end_search(RtscanSearch *search)
{
	MemoryContextDelete(search->context);
	search->context = NULL;
}

/* ---------------------------------------------------------------- segments */

/* Look up after all the conditions that were left to a device, if it has not tested rows for them. */
static void
take_back_tests(RtscanSearch *search, RtscanSegmentScan *segment)
{
	MemoryContext old;

	if (!segment->progress.leaves_lookups || segment->progress.combined || segment->filter.region.empty ||
		!rtscan_leaves_lookups(&segment->reader, &segment->filter))
		return;
	old = MemoryContextSwitchTo(search->context);
	look_up_left(search, segment);
	MemoryContextSwitchTo(old);
}

/* Begin to evaluate some segments together: the chosen executor does as much as it can. */
static void
begin_round(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	RtscanExecutor executor;

	if (!segments[0].looked_up)
		look_up_segments(search, segments, count);
	executor = rtscan_begin_round(search->round, search->chosen, search->index, &search->image->meta.uuid,
								  segments, count, &search->stats.counters);
	search->executor = Max(search->executor, executor);
	for (int i = 0; i < count; i++)
		take_back_tests(search, &segments[i]);
}

/* Take the next segments and begin a round of them; returns false if there are none left. */
static bool
take_segments(RtscanSearch *search)
{
	int			limit = search->round_segments;
	int			count;

	if (search->shared)
		limit = rtscan_take_segments(search);
	count = Min(search->nsegments - search->next_segment, limit);
	if (count == 0)
		return false;
	begin_round(search, search->segments + search->next_segment, count);
	search->next_segment += count;
	return true;
}

/* Take the next segment, or return NULL.  If its bits have been lost, the rest of the round is evaluated again. */
static RtscanSegmentScan *
take_segment(RtscanSearch *search)
{
	RtscanRound *round = search->round;
	RtscanSegmentScan *segment;

	if (search->nsegments == 0 || (round->next == round->nscans && !take_segments(search)))
		return NULL;
	if (round->scans[round->next].progress.lost)
		begin_round(search, round->scans + round->next, round->nscans - round->next);
	segment = &round->scans[round->next++];
	if (search->bound)
		uncount_skipped(search, segment->entry);
	search->stats.counters.segments++;
	search->stats.counters.skipped_segments += segment->skipped;
	return segment;
}

static RtscanRowBits *
evaluate(RtscanSearch *search, RtscanSegmentScan *segment)
{
	static RtscanRowBits none;	/* for a segment that takes_ranks; the caller does not read it */
	RtscanCounters *counters = &search->stats.counters;
	RtscanRowBits *bits;

	if (search->leaves_cpu && !rtscan_is_evaluated(segment))
		return NULL;
	search->evaluated++;
	segment->asked.takes_ranks &= search->chosen == RTSCAN_EXECUTOR_CPU;
	bits = segment->asked.takes_ranks ? &none : rtscan_evaluate(search->round, segment, counters);
	if (bits && !segment->asked.takes_ranks)
		rtscan_bits_remove_dead(search->index, segment->entry, search->snapshot, bits);
	counters->cpu_segments += segment->progress.left_to_cpu || segment->asked.takes_ranks;
	counters->pages_read += segment->reader.pages_read;
	return bits;
}

/*
 * Evaluate this process's next segment that has matching rows or, if segments are ordered by bounds, its next
 * segment.  Returns NULL if none is left.
 */
static RtscanSegmentScan *
next_own_segment(RtscanSearch *search, RtscanRowBits **bits)
{
	RtscanSegmentScan *segment;

	do
	{
		MemoryContextReset(search->short_context);
		segment = take_segment(search);
		if (segment == NULL)
			return NULL;
		*bits = evaluate(search, segment);
		/* There is nothing to share. */
		if (*bits == NULL && search->shares_chunks)
			rtscan_take_all_chunks(search, segment);
	} while (*bits == NULL && search->bound == NULL);
	return segment;
}

/* Evaluate a segment that another process has evaluated.  It is counted only there. */
static RtscanRowBits *
evaluate_shared(RtscanSearch *search, RtscanSegmentScan *segment)
{
	RtscanCounters counters = search->stats.counters;
	RtscanRowBits *bits;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	segment->sharing.other = true;
	pause_tracing(search->filter, true);
	begin_round(search, segment, 1);
	bits = evaluate(search, &search->round->scans[search->round->next++]);
	pause_tracing(search->filter, false);
	search->stats.counters = counters;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
	return bits;
}

/* Evaluate the next segment of another process that has rows to share; returns NULL if there is none. */
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
	if (search->bound == NULL || search->next_segment == search->nsegments)
		return false;
	*bound = search->segments[search->next_segment].bound;
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
	if (search->shared == NULL && search->next_segment == search->nsegments &&
		search->round->next == search->round->nscans)
		return NULL;
	INSTR_TIME_SET_CURRENT(start);
	old = MemoryContextSwitchTo(search->short_context);
	segment = next_own_segment(search, bits);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
	if (segment == NULL && search->shares_chunks)
		segment = next_shared_segment(search, bits);
	MemoryContextSwitchTo(old);
	return segment;
}

/* ---------------------------------------------------------------- searching again */

/* Choose an executor for the second search; rtscan.executor may have been set since the first one began. */
static RtscanExecutor
choose_again(RtscanSearch *again)
{
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || rtscan_executor_is_cpu())
		return RTSCAN_EXECUTOR_CPU;
	/* Compare the executors on all segments, however slow the device is. */
	if (rtscan_debug_compare_executors)
		return RTSCAN_EXECUTOR_COMPUTE;
	return rtscan_choose_executor(again->segments, again->nsegments, 1);
}

bool
rtscan_begin_again(const RtscanSearch *search, const List *segments, RtscanSearch *again)
{
	MemoryContext old = MemoryContextSwitchTo(search->context);
	ListCell   *cell;

	Assert(search->shared == NULL);
	*again = *search;
	again->leaves_cpu = true;
	again->bound = NULL;
	again->segments = palloc(Max(list_length(segments), 1) * sizeof(RtscanSegmentScan));
	again->nsegments = again->next_segment = 0;
	foreach(cell, segments)
	{
		RtscanSegmentScan *segment = &again->segments[again->nsegments++];

		*segment = *(const RtscanSegmentScan *) lfirst(cell);
		segment->asked.takes_ranks = false;
		segment->reader.pages_read = 0;
		rtscan_list_regions(segment);
	}
	again->round = rtscan_create_round(search->round->scratch.chunks);
	again->chosen = choose_again(again);
	again->round_segments = segments_of_round(again);
	MemoryContextSwitchTo(old);
	return again->chosen != RTSCAN_EXECUTOR_CPU;
}

/* The counts of segments stay, since the first search has counted them. */
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

/* ---------------------------------------------------------------- pending lists */

/* Does a pending row match?  The prefilter has not decided it. */
static bool
pending_row_matches(const RtscanSearch *search, IndexTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	rtscan_deform_pending(search->index, search->schema, tuple, values, isnull);
	return rtscan_filter_matches(search->filter, values, isnull);
}

static bool
check_pending_row(RtscanSearch *search, IndexTuple tuple)
{
	RtscanVerdict verdict = rtscan_key_prefilter(&search->prefilter, tuple);
	MemoryContext old;
	bool		matches;

	search->stats.pending_rows++;
	if (verdict == RTSCAN_REJECTED)
		return false;
	if (++search->taken_apart % 256 == 0)
		MemoryContextReset(search->short_context);
	old = MemoryContextSwitchTo(search->short_context);
	matches = verdict == RTSCAN_ACCEPTED || pending_row_matches(search, tuple);
	if (matches)
		rtscan_check_pending_tid(search->index, tuple);
	MemoryContextSwitchTo(old);
	return matches;
}

/* Open the next list of the image, sealed ones first; returns false if none is left. */
static bool
open_next_list(RtscanSearch *search)
{
	const RtscanImage *image = search->image;

	for (; search->next_list < (int) image->nentries; search->next_list++)
		if (rtscan_entry_is_sealed_list(&image->entries[search->next_list]))
		{
			RtscanListRef list = rtscan_entry_list(&image->entries[search->next_list++]);

			rtscan_pending_open(search->pending, search->index, &list);
			return true;
		}
	if (search->next_list++ > (int) image->nentries)
		return false;
	rtscan_pending_open(search->pending, search->index, &image->meta.open);
	return true;
}

/* Begin with the pending lists, unless another process has taken them. */
static void
begin_pending(RtscanSearch *search)
{
	const RtscanListRef none = {.head = InvalidBlockNumber};

	search->pending = MemoryContextAlloc(search->context, sizeof(RtscanPendingReader));
	rtscan_pending_open(search->pending, search->index, &none);
	rtscan_key_prefilter_init(&search->prefilter, search->schema, search->filter);
	if (rtscan_filter_is_never(search->filter) || (search->shared && !rtscan_take_pending(search)))
		search->next_list = (int) search->image->nentries + 1;
}

IndexTuple
rtscan_next_pending(RtscanSearch *search)
{
	IndexTuple	tuple;

	if (search->pending == NULL)
		begin_pending(search);
	do
	{
		tuple = rtscan_pending_next(search->pending);
	} while (tuple ? !check_pending_row(search, tuple) : open_next_list(search));
	return tuple;
}
