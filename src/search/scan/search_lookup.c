/* SPDX-License-Identifier: PostgreSQL */
/*
 * search_lookup.c
 *		Look the filter of a search up in segments, before they are evaluated.
 */
#include "search/scan/search_parts.h"

#include "search/exec/device_members.h"
#include "search/filter/lookup.h"
#include "search/filter/segment_filter.h"
#include "segment/plain.h"

/*
 * With "auto", lookups are replaced by a device's tests only if the lookups would take the CPU at least this number of
 * nanoseconds in all segments together.  Shorter lookups are always done, since the CPU's cost is better known after a
 * lookup.
 */
#define LEAST_LEFT	30000.0

/* Look the filter up in a segment.  No condition is left to a device's tests. */
static void
look_up_for_cpu(RtscanSearch *search, RtscanSegmentScan *segment)
{
	rtscan_segment_filter(search->asked.filter, &segment->reader, &segment->filter);
	rtscan_list_regions(segment);
	segment->progress.leaves_lookups = false;
	segment->progress.price = (RtscanCpuPrice) {0};
}

void
rtscan_pause_tracing(const RtscanFilter *filter, bool paused)
{
	if (filter->kind == RTSCAN_FILTER_CONDITION && filter->condition.trace)
		filter->condition.trace->paused = paused;
	if (filter->kind == RTSCAN_FILTER_AND || filter->kind == RTSCAN_FILTER_OR)
		for (int i = 0; i < filter->n; i++)
			rtscan_pause_tracing(&filter->parts[i], paused);
}

/* Resume the traces of conditions that were left to a device's tests, and so have not been looked up yet. */
static void
trace_left_conditions(const RtscanSegmentFilter *filter)
{
	for (int i = 0; i < filter->nresiduals; i++)
		if (filter->residuals[i]->trace)
			filter->residuals[i]->trace->paused = false;
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			trace_left_conditions(&filter->disjunctions[i].filters[k]);
}

void
rtscan_look_up_left(RtscanSearch *search, RtscanSegmentScan *segment)
{
	if (!segment->sharing.other)
	{
		rtscan_pause_tracing(search->asked.filter, true);
		trace_left_conditions(&segment->filter);
	}
	look_up_for_cpu(search, segment);
	if (!segment->sharing.other)
		rtscan_pause_tracing(search->asked.filter, false);
}

/*
 * Are a device's tests worth while?  Always if the user has set an executor.  With "auto", only if the CPU would need
 * longer than "test_time" to evaluate the conditions that have not been looked up.
 */
static bool
do_tests_pay(const RtscanSegmentScan *segment, double test_time)
{
	return rtscan_executor != RTSCAN_EXECUTOR_AUTO ||
		rtscan_tests_nanoseconds(&segment->reader, &segment->filter, false) > test_time;
}

/*
 * Look the filter up in a segment, but leave conditions to a device that can test rows for them.  If tests do not
 * pay, or some conditions cannot be tested, look up the conditions on key columns after all.
 */
static void
look_up_for_tests(RtscanSearch *search, RtscanSegmentScan *segment, double test_time)
{
	RtscanReader *reader = &segment->reader;
	bool		listed;

	reader->test_time = test_time;
	rtscan_segment_filter(search->asked.filter, reader, &segment->filter);
	reader->test_time = 0;
	segment->progress.leaves_lookups = rtscan_leaves_lookups(reader, &segment->filter);
	listed = do_tests_pay(segment, test_time) && rtscan_list_members(reader, &segment->filter);
	if (segment->progress.leaves_lookups && !listed)
		rtscan_look_up_left(search, segment);
	else
		rtscan_list_regions(segment);
}

/*
 * Return the nanoseconds that an executor other than the CPU needs to test a segment's rows in place of a lookup; 0
 * if conditions may not be left to tests.  The time is divided by rtscan_cpu_slowness(), to be compared with the CPU's
 * estimated costs.  With "auto", it is at least the segment's share of LEAST_LEFT.
 */
static double
test_time_of(const RtscanSearch *search, const RtscanSegmentScan *segment)
{
	double		test_time = search->choice.tests ? rtscan_test_time(segment) / rtscan_cpu_slowness() : 0;

	if (test_time == 0 || rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		return test_time;
	return Max(test_time, LEAST_LEFT / search->nsegments);
}

/* Look the filter up in a segment, and let the caller prepare the segment if its rows may match. */
static void
look_up_segment(RtscanSearch *search, RtscanSegmentScan *segment)
{
	double		test_time = test_time_of(search, segment);

	if (test_time > 0)
		look_up_for_tests(search, segment, test_time);
	else
		look_up_for_cpu(search, segment);
	if (!segment->filter.region.empty)
		search->asked.prepare(segment, search->asked.prepare_arg);
}

/*
 * Prepare the lookup of the filter's first condition in all segments together, step by step, so that the memory
 * accesses of different segments overlap.  The lookups themselves follow, segment by segment.
 */
static void
approach_segments(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	const RtscanFilter *filter = search->asked.filter;

	if (filter->kind == RTSCAN_FILTER_AND && filter->n > 0)
		filter = &filter->parts[0];
	if (filter->kind != RTSCAN_FILTER_CONDITION)
		return;
	for (RtscanApproachStep step = 0; step < RTSCAN_APPROACH_STEPS; step++)
		for (int i = 0; i < count; i++)
			if (!segments[i].skipped)
				rtscan_condition_approach(&filter->condition, &segments[i].reader, step);
}

void
rtscan_look_up_segments(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	MemoryContext old = MemoryContextSwitchTo(search->context);

	for (int i = 0; i < count; i++)
		if (!segments[i].skipped)
			rtscan_reader_open(&segments[i].reader, search->asked.index, segments[i].entry, false);
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
