/* SPDX-License-Identifier: PostgreSQL */
/*
 * round.c
 *		Have executors evaluate a round of segments, and combine the bits of the regions of each segment's filter.
 */
#include "search/exec/round.h"

#include "bits/bits.h"
#include "executor/instrument.h"
#include "search/exec/choice.h"
#include "search/exec/cpu.h"
#include "search/exec/device_aggregate.h"
#include "search/exec/device_members.h"
#include "search/exec/executor.h"
#include "search/filter/residual.h"

static void
begin_segment(RtscanSegmentScan *scan)
{
	scan->progress.lost = scan->progress.left_to_cpu = scan->progress.combined = false;
	scan->filter.region.evaluated = NULL;
	if (scan->asked.agg)
		rtscan_reset_device_agg(scan->asked.agg);
	for (int i = 0; i < scan->nregions; i++)
		scan->regions[i]->evaluated = NULL;
}

/*
 * Has this round, or an earlier one, made a device aggregate of the segment, so that the aggregated rows have no bits?
 */
static bool
is_aggregated(const RtscanSegmentScan *scan)
{
	return scan->asked.agg && scan->asked.agg->made;
}

static int
evaluated_regions(const RtscanSegmentScan *scan)
{
	int			n = 0;

	if (scan->progress.combined)
		return scan->nregions;
	for (int i = 0; i < scan->nregions; i++)
		n += scan->regions[i]->evaluated != NULL;
	return n;
}

bool
rtscan_is_evaluated(const RtscanSegmentScan *scan)
{
	return scan->nregions > 0 && evaluated_regions(scan) == scan->nregions;
}

RtscanRound *
rtscan_create_round(uint32 chunks)
{
	RtscanRound *round = palloc0(sizeof(RtscanRound));

	round->scratch.context = CurrentMemoryContext;
	round->scratch.chunks = chunks;
	return round;
}

RtscanExecutor
rtscan_begin_round(RtscanRound *round, RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
				   RtscanSegmentScan *scans, int nscans, RtscanCounters *counters)
{
	uint64		rays = counters->rays;
	const char *why;

	round->scans = scans;
	round->nscans = nscans;
	round->next = 0;
	round->executor = executor;
	for (int i = 0; i < nscans; i++)
		begin_segment(&scans[i]);
	if (executor == RTSCAN_EXECUTOR_CPU)
		return executor;
	why = rtscan_executors[executor]->evaluate(executor, index, uuid, round, counters);
	if (why && why != rtscan_not_yet)
		rtscan_fall_back(executor, why);
	for (int i = 0; i < nscans; i++)
		if (evaluated_regions(&scans[i]) > 0)
			return executor == RTSCAN_EXECUTOR_RT && counters->rays == rays ? RTSCAN_EXECUTOR_COMPUTE : executor;
	return RTSCAN_EXECUTOR_CPU;
}

/* ---------------------------------------------------------------- scratch */

/* Return the next free row bits.  Decrement scratch->used to free them. */
static RtscanRowBits *
take_scratch_bits(RtscanScratch *scratch)
{
	if (scratch->used == list_length(scratch->all))
	{
		MemoryContext old = MemoryContextSwitchTo(scratch->context);

		scratch->all = lappend(scratch->all, rtscan_bits_create(scratch->context, scratch->chunks));
		MemoryContextSwitchTo(old);
	}
	return list_nth(scratch->all, scratch->used++);
}

/* For tests: raise an error if an executor's bits differ from the CPU's.  Aggregated rows are not compared. */
static void
compare_bits(const RtscanSegmentScan *scan, RtscanRowBits *found, RtscanRowBits *expected)
{
	if (rtscan_bits_count(expected) != rtscan_bits_count(found) + found->aggregated)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: segment " UINT64_FORMAT ": "
								 UINT64_FORMAT " rows instead of " UINT64_FORMAT,
								 scan->entry->id, rtscan_bits_count(found), rtscan_bits_count(expected))));
	for (uint32 chunk = 0; found->words && chunk < expected->chunks; chunk++)
	{
		const uint64 *want = expected->filled[chunk] ? rtscan_bits_chunk(expected, chunk) : rtscan_zeros();
		const uint64 *have = found->filled[chunk] ? rtscan_bits_chunk(found, chunk) : rtscan_zeros();
		const uint64 *mask = is_aggregated(scan) ? rtscan_not_in_device_agg(scan->asked.agg, chunk) : rtscan_ones();

		for (uint32 word = 0; word < RTSCAN_CHUNK_WORDS; word++)
			if ((want[word] & mask[word]) != (have[word] & mask[word]))
				ereport(ERROR,
						(errcode(ERRCODE_INTERNAL_ERROR),
						 errmsg_internal("executors differ: segment " UINT64_FORMAT ", chunk %u, word %u: "
										 UINT64_FORMAT " instead of " UINT64_FORMAT,
										 scan->entry->id, chunk, word,
										 have[word] & mask[word], want[word] & mask[word])));
	}
}

static void
compare_region(RtscanScratch *scratch, RtscanSegmentScan *scan, const RtscanRegion *region)
{
	RtscanRowBits *expected = take_scratch_bits(scratch);
	RtscanCounters counters = {0};
	RtscanWay	way;
	ListCell   *cell;

	rtscan_bits_reset(expected, scan->reader.segment->chunks);
	rtscan_cpu_evaluate(&scan->reader, region, NULL, expected, &counters);
	foreach(cell, region->members)
		rtscan_and_residual(&scan->reader, ((RtscanDeviceMembers *) lfirst(cell))->condition, expected, &way);
	compare_bits(scan, region->evaluated, expected);
	scratch->used--;
}

/* ---------------------------------------------------------------- filters */

static void
and_bits(RtscanRowBits *bits, const RtscanRowBits *others)
{
	bits->counted = false;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		if (bits->filled[chunk] && others->filled[chunk])
			rtscan_and(rtscan_bits_chunk(bits, chunk), rtscan_bits_chunk(others, chunk));
		bits->filled[chunk] &= others->filled[chunk];
	}
}

static void
or_bits(RtscanRowBits *bits, const RtscanRowBits *others)
{
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (others->filled[chunk])
			rtscan_or(rtscan_bits_fill(bits, chunk), rtscan_bits_chunk(others, chunk));
}

static void
and_not_bits(RtscanRowBits *bits, const RtscanRowBits *others)
{
	bits->counted = false;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk] && others->filled[chunk])
			rtscan_and_not(rtscan_bits_chunk(bits, chunk), rtscan_bits_chunk(others, chunk));
}

/* A segment whose filter is being evaluated. */
typedef struct Evaluation
{
	RtscanSegmentScan *scan;	/* the segment */
	RtscanReader *reader;		/* its reader */
	RtscanExecutor executor;	/* executor that was chosen for the round */
	RtscanScratch *scratch;		/* row bits for intermediate results */
	RtscanCounters *counters;	/* where work is counted */
	bool		takes_list;		/* the filter is one region, whose rows may be returned as a list */
	bool		takes_counts;	/* all rows match, and only their number is needed */
} Evaluation;

static RtscanRowBits *evaluate_filter(const Evaluation *evaluation, RtscanSegmentFilter *filter,
									  const RtscanRowBits *within, RtscanRowBits *room);

/*
 * Return the rows of a region that another executor has found; NULL if no executor has.  The bits are in memory that
 * the device program can still write to, so they are copied into "room".  If the copy contradicts the program's counts,
 * the region is left to the CPU.
 */
static RtscanRowBits *
take_found(const Evaluation *evaluation, RtscanRegion *region, RtscanRowBits *room)
{
	RtscanRowBits *found = region->evaluated;

	if (found == NULL || found->words == NULL)
		return found;
	if (rtscan_bits_copy(room, found, evaluation->reader->segment->header.rows))
		return room;
	region->evaluated = NULL;
	evaluation->scan->progress.left_to_cpu = true;
	rtscan_fall_back(evaluation->executor, rtscan_wrong_answer());
	return NULL;
}

/*
 * Return the rows of a region: those that another executor has found or, if the region is not evaluated yet, those that
 * the CPU finds.  Bits are stored in "room".  If "within" is not NULL, the bits of rows outside "within" may be wrong.
 */
static RtscanRowBits *
rows_of_region(const Evaluation *evaluation, RtscanRegion *region, const RtscanRowBits *within, RtscanRowBits *room)
{
	RtscanRowBits *found = take_found(evaluation, region, room);

	if (found)
	{
		for (int i = 0; i < region->ncolumns; i++)
			if (region->columns[i].traces != NIL)
				rtscan_trace_ways(region->columns[i].traces, RTSCAN_BY_DEVICE,
								  rtscan_bits_count(found) + found->aggregated);
		return found;
	}
	rtscan_bits_reset(room, evaluation->reader->segment->chunks);
	room->takes_list = evaluation->takes_list;
	rtscan_cpu_evaluate(evaluation->reader, region, within, room, evaluation->counters);
	return room;
}

/* Set in "room" the bits of the rows in "within", or of all rows if "within" is NULL. */
static void
begin_bits(const Evaluation *evaluation, const RtscanRowBits *within, RtscanRowBits *room)
{
	const RtscanRegion everything = {.ncolumns = 0};

	rtscan_bits_reset(room, evaluation->reader->segment->chunks);
	room->takes_counts = evaluation->takes_counts;
	if (within)
		or_bits(room, within);
	else
		rtscan_cpu_evaluate(evaluation->reader, &everything, NULL, room, evaluation->counters);
}

/*
 * Set in "room" the bits of the rows that match any alternative.  If "within" is not NULL, the bits of rows outside
 * "within" may be wrong.  Alternatives that test INCLUDEd columns are evaluated last, and only for rows that match no
 * earlier alternative.
 */
static void
evaluate_disjunction(const Evaluation *evaluation, const RtscanDisjunction *disjunction, const RtscanRowBits *within,
					 RtscanRowBits *room)
{
	int			used = evaluation->scratch->used;
	RtscanRowBits *one = take_scratch_bits(evaluation->scratch);
	RtscanRowBits *left = NULL;

	rtscan_bits_reset(room, evaluation->reader->segment->chunks);
	for (int i = 0; i < disjunction->n; i++)
		if (!rtscan_filter_asks_included(&disjunction->filters[i]))
			or_bits(room, evaluate_filter(evaluation, &disjunction->filters[i], within, one));
	for (int i = 0; i < disjunction->n; i++)
		if (rtscan_filter_asks_included(&disjunction->filters[i]))
		{
			if (left == NULL)
				left = take_scratch_bits(evaluation->scratch);
			begin_bits(evaluation, within, left);
			and_not_bits(left, room);
			or_bits(room, evaluate_filter(evaluation, &disjunction->filters[i], left, one));
		}
	evaluation->scratch->used = used;
}

/*
 * Clear the bits of rows that match no alternative, and return "bits".  If "bits" is NULL, it represents all rows, and
 * the result is in "room".
 */
static RtscanRowBits *
and_disjunction(const Evaluation *evaluation, const RtscanDisjunction *disjunction, const RtscanRowBits *within,
				RtscanRowBits *bits, RtscanRowBits *room)
{
	RtscanRowBits *other;

	if (bits == NULL)
	{
		evaluate_disjunction(evaluation, disjunction, within, room);
		return room;
	}
	other = take_scratch_bits(evaluation->scratch);
	evaluate_disjunction(evaluation, disjunction, bits, other);
	and_bits(bits, other);
	evaluation->scratch->used--;
	return bits;
}

/*
 * Return the rows that match a filter.  Their bits are in "room".  But if another executor has only counted the rows,
 * its counts are returned unchanged.  If "within" is not NULL, the bits of rows outside "within" may be wrong.
 */
static RtscanRowBits *
evaluate_filter(const Evaluation *evaluation, RtscanSegmentFilter *filter, const RtscanRowBits *within,
				RtscanRowBits *room)
{
	RtscanRowBits *bits = NULL;

	if (filter->region.ncolumns > 0 || filter->region.evaluated)
		bits = rows_of_region(evaluation, &filter->region, within, room);
	for (int i = 0; i < filter->ndisjunctions; i++)
		bits = and_disjunction(evaluation, &filter->disjunctions[i], within, bits, room);
	if (bits == NULL)
	{
		begin_bits(evaluation, filter->nresiduals > 0 ? within : NULL, room);
		bits = room;
	}
	else if (within && filter->nresiduals > 0)
		and_bits(bits, within);
	if (filter->region.needless != NIL)
		rtscan_trace_ways(filter->region.needless, RTSCAN_BY_NOTHING, rtscan_bits_count(bits) + bits->aggregated);
	for (int i = 0; i < filter->nresiduals; i++)
	{
		RtscanWay	way = RTSCAN_BY_DEVICE_TESTS;

		if (!rtscan_is_tested(&filter->region))
			evaluation->counters->refined_rows +=
				rtscan_and_residual(evaluation->reader, filter->residuals[i], bits, &way);
		if (filter->residuals[i]->trace)
			rtscan_trace_way(filter->residuals[i]->trace, way, rtscan_bits_count(bits) + bits->aggregated);
	}
	return bits;
}

/* Return the rows of a filter whose regions another executor has combined; NULL if its answer is wrong. */
static RtscanRowBits *
take_combined(const Evaluation *evaluation, RtscanRowBits *room)
{
	RtscanSegmentScan *scan = evaluation->scan;
	RtscanRowBits *bits = take_found(evaluation, &scan->filter.region, room);
	uint64		rows;
	ListCell   *cell;

	scan->progress.combined = bits != NULL;
	if (bits == NULL)
		return NULL;
	rows = rtscan_bits_count(bits) + bits->aggregated;
	rtscan_trace_ways(scan->filter.region.needless, RTSCAN_BY_NOTHING, rows);
	for (int i = 0; i < scan->nregions; i++)
	{
		for (int c = 0; c < scan->regions[i]->ncolumns; c++)
			rtscan_trace_ways(scan->regions[i]->columns[c].traces, RTSCAN_BY_DEVICE, rows);
		foreach(cell, scan->regions[i]->members)
			rtscan_trace_way(((RtscanDeviceMembers *) lfirst(cell))->condition->trace, RTSCAN_BY_DEVICE_TESTS, rows);
	}
	return bits;
}

static void
compare_combined(const Evaluation *evaluation, RtscanSegmentScan *scan)
{
	RtscanCounters counters = {0};
	Evaluation	of_cpu = {
		.scan = scan,
		.reader = evaluation->reader,
		.scratch = evaluation->scratch,
		.counters = &counters
	};
	RtscanRowBits *found = scan->filter.region.evaluated;

	scan->filter.region.evaluated = NULL;
	compare_bits(scan, found, evaluate_filter(&of_cpu, &scan->filter, NULL, take_scratch_bits(evaluation->scratch)));
	scan->filter.region.evaluated = found;
	evaluation->scratch->used--;
}

/*
 * Record that the CPU evaluates a segment's filter, or a part of the filter.  Raises an error if rtscan_leave_to_cpu()
 * does.
 */
static void
leave_segment_to_cpu(RtscanSegmentScan *scan, const char *why)
{
	scan->progress.left_to_cpu = true;
	rtscan_leave_to_cpu(why);
}

/*
 * The speed of memory is not learnt from an evaluation whose pages are estimated to need fewer nanoseconds than this.
 */
#define LEAST_PRICE		20000.0

/*
 * Does the CPU's time for a segment tell how fast memory is?  It does if the CPU evaluates all regions, no condition is
 * on an INCLUDEd column, and most of the estimated time, and at least LEAST_PRICE, is for pages.
 */
static bool
tells_cpu_speed(const RtscanSegmentScan *scan)
{
	const RtscanCpuPrice *price = &scan->progress.price;

	return price->pages >= LEAST_PRICE && price->pages >= price->rows &&
		evaluated_regions(scan) == 0 && !rtscan_filter_asks_included(&scan->filter);
}

/*
 * Have the CPU evaluate a filter, except for regions that another executor has evaluated.  If no page had to be read
 * into shared buffers, learn from the time how fast memory is.
 */
static RtscanRowBits *
evaluate_regions(const Evaluation *evaluation, RtscanSegmentScan *scan, RtscanRowBits *room)
{
	const RtscanCpuPrice *price = &scan->progress.price;
	bool		learns = tells_cpu_speed(scan);
	int64		read = pgBufferUsage.shared_blks_read;
	instr_time	start,
				end;
	RtscanRowBits *bits;

	INSTR_TIME_SET_CURRENT(start);
	bits = evaluate_filter(evaluation, &scan->filter, NULL, room);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	if (learns && pgBufferUsage.shared_blks_read == read)
		rtscan_note_cpu_speed(price->pages, Max(INSTR_TIME_GET_DOUBLE(end) * 1e9 - price->rows, 0));
	return bits;
}

/*
 * Record whether a part of a segment's filter is left to the CPU.  leave_segment_to_cpu() may raise an error with the
 * reason.
 */
static void
check_evaluated(RtscanSegmentScan *scan)
{
	int			evaluated = evaluated_regions(scan);

	if (!scan->progress.combined && rtscan_filter_asks_included(&scan->filter) && rtscan_has_untested(&scan->filter))
		leave_segment_to_cpu(scan, "The scan has conditions on INCLUDEd columns, which only the CPU evaluates.");
	if (evaluated == scan->nregions)
		return;
	/* All rows match, and only their device aggregate was left undone. */
	if (rtscan_asks_for_all(scan))
	{
		scan->progress.left_to_cpu = true;
		return;
	}
	leave_segment_to_cpu(scan, evaluated > 0 ? "The scan has more alternatives (OR) than a device evaluates together."
						 : "A segment has too few rows for a device, so only the CPU evaluates it.");
}

/* For tests: compare what another executor has found in a segment with what the CPU finds. */
static void
compare_segment(const Evaluation *evaluation, RtscanSegmentScan *scan)
{
	if (scan->progress.combined)
	{
		compare_combined(evaluation, scan);
		return;
	}
	for (int i = 0; i < scan->nregions; i++)
		if (scan->regions[i]->evaluated)
			compare_region(evaluation->scratch, scan, scan->regions[i]);
}

/* Begin to evaluate a segment of a round, with all scratch bits free. */
static Evaluation
begin_evaluation(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters)
{
	const RtscanSegmentAsked *asked = &scan->asked;

	round->scratch.used = 0;
	return (Evaluation) {
		.scan = scan,
		.reader = &scan->reader,
		.executor = round->executor,
		.scratch = &round->scratch,
		.counters = counters,
		.takes_list = asked->takes_list && scan->filter.nresiduals == 0 && scan->filter.ndisjunctions == 0 &&
			!is_aggregated(scan),
		.takes_counts = !asked->want_bits && scan->entry->dead == InvalidBlockNumber && rtscan_asks_for_all(scan) &&
			asked->agg == NULL,
	};
}

RtscanRowBits *
rtscan_evaluate(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters)
{
	Evaluation	evaluation = begin_evaluation(round, scan, counters);
	RtscanRowBits *room,
			   *bits = NULL;

	if (scan->filter.region.empty)
	{
		counters->chunks_skipped += rtscan_chunks(scan->entry->rows);
		return NULL;
	}
	check_evaluated(scan);
	if (rtscan_debug_compare_executors)
		compare_segment(&evaluation, scan);
	room = take_scratch_bits(&round->scratch);
	if (scan->progress.combined)
		bits = take_combined(&evaluation, room);
	if (bits == NULL)
		bits = evaluate_regions(&evaluation, scan, room);
	/* This round has aggregated rows, or an earlier round did so before the executor failed. */
	if (is_aggregated(scan))
		rtscan_leave_out_aggregated(scan->asked.agg, bits);
	return bits;
}

RtscanRowBits *
rtscan_evaluate_filter(RtscanRound *round, RtscanSegmentScan *scan, RtscanSegmentFilter *filter,
					   const RtscanRowBits *bits, RtscanCounters *counters)
{
	Evaluation	evaluation = {
		.scan = scan,
		.reader = &scan->reader,
		.executor = round->executor,
		.scratch = &round->scratch,
		.counters = counters
	};
	RtscanRowBits *both = take_scratch_bits(&round->scratch);

	leave_segment_to_cpu(scan, RTSCAN_FILTER_IS_CPUS);
	both = evaluate_filter(&evaluation, filter, bits, both);
	and_bits(both, bits);
	round->scratch.used--;
	return both;
}
