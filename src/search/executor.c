/*
 * executor.c
 *		Choose an executor for a round of segments, and fall back to the CPU.
 */
#include "search/executor.h"

#include "bits/bits.h"
#include "device/device.h"
#include "executor/instrument.h"
#include "search/device_members.h"
#include "search/included.h"
#include "search/stats.h"
#include "search/tally.h"
#include "utils/float.h"

const char	rtscan_not_yet[] = "A column is not on the device.";

const RtscanExecutorMethods *const rtscan_executors[] = {
	&rtscan_cpu_methods, &rtscan_device_methods, &rtscan_device_methods, &rtscan_job_methods
};

/* ---------------------------------------------------------------- choice */

/* Into the server's log, once for each reason in a row. */
static void
log_fallback(RtscanExecutor executor, const char *why)
{
	static const char *logged;

	if (why == logged)
		return;
	logged = why;
	ereport(LOG,
			(errmsg("rtscan's executor \"%s\" cannot evaluate a scan, so the CPU does",
					rtscan_executor_names[executor]),
			 errdetail("%s", why)));
}

void
rtscan_leave_to_cpu(const char *why)
{
	if (rtscan_fallback || rtscan_executor == RTSCAN_EXECUTOR_AUTO || rtscan_executor == RTSCAN_EXECUTOR_CPU)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("rtscan's executor \"%s\" cannot evaluate the scan", rtscan_executor_names[rtscan_executor]),
			 errdetail("%s", why),
			 errhint("Set rtscan.executor to \"auto\", or rtscan.fallback to \"on\", to have the CPU answer.")));
}

/* The executor cannot do it, and the CPU will. */
static void
fall_back(RtscanExecutor executor, const char *why)
{
	rtscan_leave_to_cpu(why);
	log_fallback(executor, why);
	rtscan_count_fallback(executor);
}

/* Why an executor cannot have all that a scan needs at the same time, or NULL. */
static const char *
memory_shortage(const RtscanExecutorMethods *executor, const RtscanSegmentScan *scans, int nscans)
{
	if (!executor->fits(scans, nscans, 1))
		return "The device does not have the memory for all columns of the scan; rtscan.device_memory may limit it.";
	return NULL;
}

/* Add what a region takes where so many rows matter. */
static void
add_price(RtscanCpuPrice *price, const RtscanSegmentScan *scan, const RtscanRegion *region, double within)
{
	RtscanReader reader = scan->reader;
	double		nanoseconds,
				pages,
				random_pages;

	rtscan_cpu_estimate(&reader, region, within, &nanoseconds, &pages, &random_pages);
	if (random_pages > 0)
		price->rows += nanoseconds;
	else
		price->pages += nanoseconds;
}

/* Where all pages are in memory.  Of alternatives those rows matter that the other conditions have left. */
static RtscanCpuPrice
price_regions(const RtscanSegmentScan *scan)
{
	const RtscanRegion *own = &scan->filter.region;
	uint32		rows = scan->reader.segment->header.rows;
	double		left = rows * rtscan_region_fraction(own, rows);
	RtscanCpuPrice price = {0, 0};

	for (int r = 0; r < scan->nregions; r++)
		add_price(&price, scan, scan->regions[r], scan->regions[r] == own ? rows : left);
	return price;
}

static RtscanCpuPrice
price_of(const RtscanSegmentScan *scan)
{
	RtscanCpuPrice price = scan->price;

	if (price.pages + price.rows == 0)
	{
		price = price_regions(scan);
		/* Rows here and there, or values that are looked up, are misses of the cache as well. */
		price.pages += rtscan_tests_nanoseconds(&scan->reader, &scan->filter, true);
	}
	return price;
}

static double
time_of_price(RtscanCpuPrice price, double slowness)
{
	return price.pages * slowness + price.rows;
}

double
rtscan_time_of_cpu(const RtscanSegmentScan *scan)
{
	return time_of_price(price_of(scan), rtscan_cpu_slowness());
}

double
rtscan_time_of_adding_by_cpu(const RtscanSegmentScan *scan, const RtscanAdding *adding)
{
	double		rows = rtscan_expected_rows(scan);

	return rows * adding->row + rtscan_cpu_reading(scan->reader.segment, rows, adding->read);
}

/*
 * Nanoseconds that the CPU takes for those segments that another executor can evaluate, and to add up what is found; or just more than a limit, if it
 * takes more: then nobody asks how much.
 */
static double
time_of_cpu(const RtscanExecutorMethods *other, RtscanSegmentScan *scans, int nscans, const RtscanAdding *adding, double limit)
{
	double		slowness = rtscan_cpu_slowness();
	double		time = 0;

	for (int i = 0; i < nscans && time <= limit; i++)
	{
		if (!other->can(&scans[i]))
			continue;
		scans[i].price = price_of(&scans[i]);
		/* What needs no bits takes no time. */
		if (!scans[i].takes_ranks)
			time += time_of_price(scans[i].price, slowness);
		if (adding && rtscan_may_be_tallied(&scans[i]))
			time += rtscan_time_of_adding_by_cpu(&scans[i], adding);
	}
	return time;
}

/*
 * The CPU would take no longer than this if it tested the rows of each segment's narrowest column, of segments that others may evaluate; infinite,
 * if that takes time to find.
 */
static double
most_of_cpu(const RtscanSegmentScan *scans, int nscans, const RtscanAdding *adding)
{
	double		most = 0;

	for (int i = 0; i < nscans; i++)
	{
		const RtscanSegmentFilter *filter = &scans[i].filter;

		if (filter->region.empty || scans[i].reader.segment->header.rows < RTSCAN_CHUNK_ROWS ||
			((scans[i].takes_ranks || rtscan_asks_for_all(&scans[i])) && adding == NULL))
			continue;
		if (filter->region.ncolumns == 0 || filter->ndisjunctions > 0 || filter->nincluded > 0)
			return get_float8_infinity();
		most += rtscan_cpu_most(scans[i].reader.segment, &filter->region);
		if (adding)
			most += filter->region.columns[0].rows * adding->row +
				rtscan_cpu_reading(scans[i].reader.segment, filter->region.columns[0].rows, adding->read);
	}
	return most * Max(rtscan_cpu_slowness(), 1);
}

double
rtscan_expected_rows(const RtscanSegmentScan *scan)
{
	return scan->entry->rows * rtscan_filter_fraction(&scan->filter, scan->entry->rows);
}

/* Nanoseconds: nobody else is asked for less. */
#define LEAST_REQUEST	10000.0

/* To look at a chunk's bits that a device has written, nanoseconds: they are not in the CPU's cache. */
#define COLD_CHUNK		500.0

/* What it takes the CPU to look at the bits that another executor has found, where there are words to look at. */
static double
time_of_looking(const RtscanExecutorMethods *other, const RtscanSegmentScan *scans, int nscans, const RtscanAdding *adding)
{
	double		chunks = 0;

	for (int i = 0; i < nscans; i++)
		if (scans[i].want_bits && other->can(&scans[i]) && !(adding && rtscan_may_be_tallied(&scans[i])))
			chunks += scans[i].reader.segment->chunks;
	return chunks * COLD_CHUNK;
}

/* What the executors but the CPU are expected to take, in nanoseconds. */
typedef struct OtherTimes
{
	double		of[RTSCAN_EXECUTORS];	/* NOT_THERE; or infinite, where there is no telling */
	double		shortest;
	double		longest;		/* that is finite */
} OtherTimes;

#define NOT_THERE		(-1.0)

static OtherTimes
times_of_others(const RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding)
{
	OtherTimes	times = {.shortest = get_float8_infinity(), .longest = 0};

	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
	{
		const RtscanExecutorMethods *executor = rtscan_executors[i];

		times.of[i] = NOT_THERE;
		if (!executor->is_ready())
			continue;
		times.of[i] = executor->estimate(i, scans, nscans, adding ? adding->columns : 0) +
			time_of_looking(executor, scans, nscans, adding) / processes;
		times.shortest = Min(times.shortest, times.of[i]);
		if (!isinf(times.of[i]))
			times.longest = Max(times.longest, times.of[i]);
	}
	return times;
}

/*
 * The executor that is expected to be the fastest for a scan, and to add up what it finds, or NULL: all but the CPU can evaluate the same
 * segments.  Each process has a CPU of its own, about.
 */
static RtscanExecutor
fastest_executor(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding)
{
	RtscanExecutor best = RTSCAN_EXECUTOR_CPU;
	OtherTimes	times;
	double		most,
				cpu_time,
				best_time;

	if (rtscan_executor_is_cpu())
		return RTSCAN_EXECUTOR_CPU;
	most = most_of_cpu(scans, nscans, adding) / processes;
	if (most < LEAST_REQUEST)
		return RTSCAN_EXECUTOR_CPU;
	times = times_of_others(scans, nscans, processes, adding);
	/* Of what is little the CPU's time need not be known. */
	cpu_time = most < times.shortest ? -1 :
		time_of_cpu(rtscan_executors[RTSCAN_EXECUTOR_COMPUTE], scans, nscans, adding, times.longest * processes) / processes;
	best_time = cpu_time;
	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
	{
		if (times.of[i] == NOT_THERE)
			continue;
		elog(DEBUG2, "rtscan expects: cpu %s%.3f ms, %s %.3f ms", cpu_time > times.longest ? ">" : "", Max(cpu_time, 0) / 1e6,
			 rtscan_executor_names[i], times.of[i] / 1e6);
		if (times.of[i] < best_time)
		{
			best = i;
			best_time = times.of[i];
		}
		else if (cpu_time != 0)
			rtscan_executors[i]->pass_over(i, scans, nscans, adding != NULL);
	}
	if (best != RTSCAN_EXECUTOR_CPU)
		rtscan_forget_cpu_speed();
	return best;
}

RtscanExecutor
rtscan_choose_executor(RtscanSegmentScan *scans, int nscans, int processes)
{
	RtscanExecutor executor = rtscan_executor;
	const char *why;

	if (executor == RTSCAN_EXECUTOR_AUTO)
		executor = fastest_executor(scans, nscans, processes, NULL);
	if (executor == RTSCAN_EXECUTOR_CPU)
		return executor;
	why = memory_shortage(rtscan_executors[executor], scans, nscans);
	if (why == NULL)
		return executor;
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		fall_back(executor, why);
	return RTSCAN_EXECUTOR_CPU;
}

RtscanExecutor
rtscan_choose_adder(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding)
{
	RtscanExecutor executor = fastest_executor(scans, nscans, processes, adding);

	return memory_shortage(rtscan_executors[executor], scans, nscans) ? RTSCAN_EXECUTOR_CPU : executor;
}

double
rtscan_time_of_adding(double searched, double added, double bytes)
{
	double		shortest = get_float8_infinity();

	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
		if (rtscan_executor == (int) i || (rtscan_executor == RTSCAN_EXECUTOR_AUTO && rtscan_executors[i]->is_ready()))
			shortest = Min(shortest, rtscan_executors[i]->time_of_adding(i, searched, added, bytes));
	return shortest;
}

double
rtscan_test_time(const RtscanSegmentScan *scan)
{
	double		shortest = get_float8_infinity();

	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
		if (rtscan_executor == (int) i || (rtscan_executor == RTSCAN_EXECUTOR_AUTO && rtscan_executors[i]->is_ready()))
			shortest = Min(shortest, rtscan_executors[i]->test_time(scan));
	return isinf(shortest) ? 0 : shortest;
}

bool
rtscan_executor_is_cpu(void)
{
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		return rtscan_executor == RTSCAN_EXECUTOR_CPU;
	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
		if (rtscan_executors[i]->is_ready())
			return false;
	return true;
}

void
rtscan_list_regions(RtscanSegmentScan *scan)
{
	scan->nregions = rtscan_filter_regions(&scan->filter, NULL);
	scan->regions = palloc(Max(scan->nregions, 1) * sizeof(RtscanRegion *));
	rtscan_filter_regions(&scan->filter, scan->regions);
}

bool
rtscan_asks_for_all(const RtscanSegmentScan *scan)
{
	const RtscanSegmentFilter *filter = &scan->filter;

	return !filter->region.empty && filter->region.ncolumns == 0 && filter->ndisjunctions == 0 && filter->nincluded == 0;
}

void
rtscan_list_everything(RtscanSegmentScan *scan, bool wanted)
{
	if (!rtscan_asks_for_all(scan))
		return;
	Assert(scan->looked_up);
	scan->nregions = wanted;
	scan->regions[0] = &scan->filter.region;
}

static void
begin_segment(RtscanSegmentScan *scan)
{
	scan->lost = scan->left_to_cpu = scan->combined = false;
	scan->filter.region.evaluated = NULL;
	if (scan->tally)
		rtscan_reset_tally(scan->tally);
	for (int i = 0; i < scan->nregions; i++)
		scan->regions[i]->evaluated = NULL;
}

static int
evaluated_regions(const RtscanSegmentScan *scan)
{
	int			n = 0;

	if (scan->combined)
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
rtscan_create_round(void)
{
	RtscanRound *round = palloc0(sizeof(RtscanRound));

	round->scratch.context = CurrentMemoryContext;
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
	round->in_hand = NULL;
	for (int i = 0; i < nscans; i++)
		begin_segment(&scans[i]);
	if (executor == RTSCAN_EXECUTOR_CPU)
		return executor;
	why = rtscan_executors[executor]->evaluate(executor, index, uuid, round, counters);
	if (why && why != rtscan_not_yet)
		fall_back(executor, why);
	for (int i = 0; i < nscans; i++)
		if (evaluated_regions(&scans[i]) > 0)
			return executor == RTSCAN_EXECUTOR_RT && counters->rays == rays ? RTSCAN_EXECUTOR_COMPUTE : executor;
	return RTSCAN_EXECUTOR_CPU;
}

/* ---------------------------------------------------------------- scratch */

/* The next ones that are free. */
static RtscanRowBits *
take_scratch(RtscanScratch *scratch)
{
	if (scratch->used == list_length(scratch->all))
	{
		MemoryContext old = MemoryContextSwitchTo(scratch->context);

		scratch->all = lappend(scratch->all, rtscan_bits_create(scratch->context));
		MemoryContextSwitchTo(old);
	}
	return list_nth(scratch->all, scratch->used++);
}

/* For tests: are bits that have been found, but for rows in a tally, those that the CPU comes to? */
static void
compare_bits(const RtscanSegmentScan *scan, RtscanRowBits *found, RtscanRowBits *expected)
{
	if (rtscan_bits_count(expected) != rtscan_bits_count(found) + found->tallied)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: segment " UINT64_FORMAT ": " UINT64_FORMAT " rows instead of " UINT64_FORMAT,
								 scan->entry->id, rtscan_bits_count(found), rtscan_bits_count(expected))));
	for (uint32 chunk = 0; found->words && chunk < expected->chunks; chunk++)
	{
		const uint64 *want = expected->filled[chunk] ? rtscan_bits_chunk(expected, chunk) : rtscan_zeros();
		const uint64 *have = found->filled[chunk] ? rtscan_bits_chunk(found, chunk) : rtscan_zeros();
		const uint64 *mask = scan->tally && scan->tally->made ? rtscan_not_tallied(scan->tally, chunk) : rtscan_ones();

		for (uint32 word = 0; word < RTSCAN_CHUNK_WORDS; word++)
			if ((want[word] & mask[word]) != have[word])
				ereport(ERROR,
						(errcode(ERRCODE_INTERNAL_ERROR),
						 errmsg_internal("executors differ: segment " UINT64_FORMAT ", chunk %u, word %u: "
										 UINT64_FORMAT " instead of " UINT64_FORMAT,
										 scan->entry->id, chunk, word, have[word], want[word])));
	}
}

static void
compare_region(RtscanScratch *scratch, RtscanSegmentScan *scan, const RtscanRegion *region)
{
	RtscanRowBits *expected = take_scratch(scratch);
	RtscanCounters counters = {0};
	RtscanWay	way;
	ListCell   *cell;

	rtscan_bits_reset(expected, scan->reader.segment->chunks);
	rtscan_cpu_evaluate(&scan->reader, region, NULL, expected, &counters);
	foreach(cell, region->members)
		rtscan_and_included(&scan->reader, ((RtscanDeviceMembers *) lfirst(cell))->condition, expected, &way);
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
	RtscanReader *reader;
	RtscanScratch *scratch;
	RtscanCounters *counters;
	bool		takes_list;		/* of all rows of the only region */
	bool		takes_counts;	/* of all rows of the segment */
} Evaluation;

static RtscanRowBits *evaluate_filter(const Evaluation *evaluation, const RtscanSegmentFilter *filter,
									  const RtscanRowBits *within, RtscanRowBits *room);

/* The rows of a region: those that another executor has found, or else into the room.  Not within others they do not matter. */
static RtscanRowBits *
evaluate_region(const Evaluation *evaluation, const RtscanRegion *region, const RtscanRowBits *within, RtscanRowBits *room)
{
	if (region->evaluated)
	{
		for (int i = 0; i < region->ncolumns; i++)
			if (region->columns[i].traces != NIL)
				rtscan_trace_ways(region->columns[i].traces, RTSCAN_BY_DEVICE,
								  rtscan_bits_count(region->evaluated) + region->evaluated->tallied);
		return region->evaluated;
	}
	rtscan_bits_reset(room, evaluation->reader->segment->chunks);
	room->takes_list = evaluation->takes_list;
	rtscan_cpu_evaluate(evaluation->reader, region, within, room, evaluation->counters);
	return room;
}

/* All rows, or those that others have, into the room. */
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
 * The rows of any alternative, into the room; of those that are not within others it does not matter whether they are there.
 * INCLUDEd columns come last, and are only asked about rows that no other alternative has.
 */
static void
evaluate_disjunction(const Evaluation *evaluation, const RtscanDisjunction *disjunction, const RtscanRowBits *within,
					 RtscanRowBits *room)
{
	int			used = evaluation->scratch->used;
	RtscanRowBits *one = take_scratch(evaluation->scratch);
	RtscanRowBits *left = NULL;

	rtscan_bits_reset(room, evaluation->reader->segment->chunks);
	for (int i = 0; i < disjunction->n; i++)
		if (!rtscan_filter_asks_included(&disjunction->filters[i]))
			or_bits(room, evaluate_filter(evaluation, &disjunction->filters[i], within, one));
	for (int i = 0; i < disjunction->n; i++)
		if (rtscan_filter_asks_included(&disjunction->filters[i]))
		{
			if (left == NULL)
				left = take_scratch(evaluation->scratch);
			begin_bits(evaluation, within, left);
			and_not_bits(left, room);
			or_bits(room, evaluate_filter(evaluation, &disjunction->filters[i], left, one));
		}
	evaluation->scratch->used = used;
}

/* Take out the rows that no alternative has; NULL: of all rows, in the room. */
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
	other = take_scratch(evaluation->scratch);
	evaluate_disjunction(evaluation, disjunction, bits, other);
	and_bits(bits, other);
	evaluation->scratch->used--;
	return bits;
}

/* The rows that match, in the room or where they are already; those that are not within others do not matter. */
static RtscanRowBits *
evaluate_filter(const Evaluation *evaluation, const RtscanSegmentFilter *filter, const RtscanRowBits *within,
				RtscanRowBits *room)
{
	RtscanRowBits *bits = NULL;

	if (filter->region.ncolumns > 0 || filter->region.evaluated)
		bits = evaluate_region(evaluation, &filter->region, within, room);
	for (int i = 0; i < filter->ndisjunctions; i++)
		bits = and_disjunction(evaluation, &filter->disjunctions[i], within, bits, room);
	if (bits == NULL)
	{
		begin_bits(evaluation, filter->nincluded > 0 ? within : NULL, room);
		bits = room;
	}
	else if (within && filter->nincluded > 0)
		and_bits(bits, within);
	if (filter->region.needless != NIL)
		rtscan_trace_ways(filter->region.needless, RTSCAN_BY_NOTHING, rtscan_bits_count(bits) + bits->tallied);
	for (int i = 0; i < filter->nincluded; i++)
	{
		RtscanWay	way = RTSCAN_BY_DEVICE_TESTS;

		if (!rtscan_is_tested(&filter->region))
			evaluation->counters->refined_rows += rtscan_and_included(evaluation->reader, filter->included[i], bits, &way);
		if (filter->included[i]->trace)
			rtscan_trace_way(filter->included[i]->trace, way, rtscan_bits_count(bits) + bits->tallied);
	}
	return bits;
}

/* Another executor has combined the filter's regions. */
static RtscanRowBits *
take_combined(const RtscanSegmentScan *scan)
{
	RtscanRowBits *bits = scan->filter.region.evaluated;
	uint64		rows = rtscan_bits_count(bits) + bits->tallied;
	ListCell   *cell;

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
	Evaluation	of_cpu = {.reader = evaluation->reader, .scratch = evaluation->scratch, .counters = &counters};
	RtscanRowBits *found = scan->filter.region.evaluated;

	scan->filter.region.evaluated = NULL;
	compare_bits(scan, found, evaluate_filter(&of_cpu, &scan->filter, NULL, take_scratch(evaluation->scratch)));
	scan->filter.region.evaluated = found;
	evaluation->scratch->used--;
}

/* A segment, or a part of what is asked of it, is the CPU's. */
static void
leave_segment_to_cpu(RtscanSegmentScan *scan, const char *why)
{
	scan->left_to_cpu = true;
	rtscan_leave_to_cpu(why);
}

/* What takes less than this says little of how fast memory is; nanoseconds. */
#define LEAST_PRICE		20000.0

/* By the CPU, as far as nobody else has; it learns how long pages take that are in memory. */
static RtscanRowBits *
evaluate_regions(const Evaluation *evaluation, RtscanSegmentScan *scan, RtscanRowBits *room)
{
	bool		learns = scan->price.pages >= LEAST_PRICE && scan->price.pages >= scan->price.rows && evaluated_regions(scan) == 0 &&
		!rtscan_filter_asks_included(&scan->filter);
	int64		read = pgBufferUsage.shared_blks_read;
	instr_time	start,
				end;
	RtscanRowBits *bits;

	INSTR_TIME_SET_CURRENT(start);
	bits = evaluate_filter(evaluation, &scan->filter, NULL, room);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	if (learns && pgBufferUsage.shared_blks_read == read)
		rtscan_note_cpu_speed(scan->price.pages, Max(INSTR_TIME_GET_DOUBLE(end) * 1e9 - scan->price.rows, 0));
	return bits;
}

/* See what the CPU has to do. */
static void
check_evaluated(RtscanSegmentScan *scan)
{
	int			evaluated = evaluated_regions(scan);

	if (!scan->combined && rtscan_filter_asks_included(&scan->filter) && rtscan_has_untested(&scan->filter))
		leave_segment_to_cpu(scan, "It has conditions on INCLUDEd columns, which only the CPU evaluates.");
	if (evaluated == scan->nregions)
		return;
	/* There is nothing to evaluate, only to add up. */
	if (rtscan_asks_for_all(scan))
	{
		scan->left_to_cpu = true;
		return;
	}
	leave_segment_to_cpu(scan, evaluated > 0 ? "It has more alternatives (OR) than a device evaluates together."
						 : "A segment has few rows, and only the CPU evaluates such ones.");
}

RtscanRowBits *
rtscan_evaluate(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters)
{
	Evaluation	evaluation = {.reader = &scan->reader, .scratch = &round->scratch, .counters = counters};
	RtscanRowBits *room,
			   *bits;

	evaluation.takes_list = scan->takes_list && scan->filter.nincluded == 0 && scan->filter.ndisjunctions == 0 &&
		!(scan->tally && scan->tally->made);
	evaluation.takes_counts = !scan->want_bits && scan->entry->dead == InvalidBlockNumber && rtscan_asks_for_all(scan) && scan->tally == NULL;
	round->scratch.used = 0;
	round->in_hand = NULL;
	if (scan->filter.region.empty)
	{
		counters->chunks_skipped += rtscan_chunks(scan->entry->rows);
		return NULL;
	}
	check_evaluated(scan);
	if (rtscan_debug_compare_executors && scan->combined)
		compare_combined(&evaluation, scan);
	for (int i = 0; i < scan->nregions && rtscan_debug_compare_executors && !scan->combined; i++)
		if (scan->regions[i]->evaluated)
			compare_region(&round->scratch, scan, scan->regions[i]);
	room = take_scratch(&round->scratch);
	bits = scan->combined ? take_combined(scan) : evaluate_regions(&evaluation, scan, room);
	if (bits != room)
		round->in_hand = bits;
	else if (scan->tally && scan->tally->made)
		/* The CPU has evaluated what another executor had tallied before it failed. */
		rtscan_leave_out_tallied(scan->tally, bits);
	return bits;
}

RtscanRowBits *
rtscan_evaluate_filter(RtscanRound *round, RtscanSegmentScan *scan, const RtscanSegmentFilter *filter,
					   const RtscanRowBits *bits, RtscanCounters *counters)
{
	Evaluation	evaluation = {.reader = &scan->reader, .scratch = &round->scratch, .counters = counters};
	RtscanRowBits *both = take_scratch(&round->scratch);

	leave_segment_to_cpu(scan, RTSCAN_FILTER_IS_CPUS);
	both = evaluate_filter(&evaluation, filter, bits, both);
	and_bits(both, bits);
	round->scratch.used--;
	return both;
}
