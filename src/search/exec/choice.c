/* SPDX-License-Identifier: PostgreSQL */
/*
 * choice.c
 *		Choose an executor for a search by the expected times, and fall back to the CPU.
 */
#include "search/exec/choice.h"

#include "device/device.h"
#include "search/exec/cpu.h"
#include "search/exec/device_aggregate.h"
#include "search/exec/device_members.h"
#include "search/exec/stats.h"
#include "search/filter/cost.h"
#include "utils/float.h"

/* ---------------------------------------------------------------- fallback to the CPU */

/* Write the reason to the server's log, unless it is the reason that this backend logged last. */
static void
log_fallback(RtscanExecutor executor, const char *why)
{
	static const char *logged;

	if (why == logged)
		return;
	logged = why;
	ereport(LOG,
			(errmsg("rtscan's executor \"%s\" cannot evaluate a scan, so the CPU evaluates it",
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

void
rtscan_fall_back(RtscanExecutor executor, const char *why)
{
	rtscan_leave_to_cpu(why);
	log_fallback(executor, why);
	rtscan_count_fallback(executor);
}

/* Return an error message if an executor's memory has no room for all columns of a scan, else NULL. */
static const char *
memory_shortage(const RtscanExecutorMethods *executor, const RtscanSegmentScan *scans, int nscans)
{
	if (!executor->fits(scans, nscans, 1))
		return "The device does not have enough memory for all columns of the scan, or rtscan.device_memory is set too low.";
	return NULL;
}

/* ---------------------------------------------------------------- the CPU's time */

/* Add to *price the cost of evaluating a region if the bits of only "within" rows are needed. */
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

/*
 * Price a segment's regions, as if all pages were in memory.  Regions of alternatives (OR) are evaluated only within
 * the rows that the filter's own region has left.
 */
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
	RtscanCpuPrice price = scan->progress.price;

	if (price.pages + price.rows == 0)
	{
		price = price_regions(scan);
		/* Tests of scattered rows and lookups of values miss the cache, so slow memory makes them slower, too. */
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
 * Return the CPU's nanoseconds to evaluate the segments that "other" can evaluate and, unless "adding" is NULL, to add
 * up their rows.  Stops at the first segment with which the sum exceeds "limit", since a larger sum would not change
 * the choice.
 */
static double
time_of_cpu(const RtscanExecutorMethods *other, RtscanSegmentScan *scans, int nscans, const RtscanAdding *adding,
			double limit)
{
	double		slowness = rtscan_cpu_slowness();
	double		time = 0;

	for (int i = 0; i < nscans && time <= limit; i++)
	{
		if (!other->can(&scans[i]))
			continue;
		scans[i].progress.price = price_of(&scans[i]);
		/* If the caller takes ranks, the CPU reads rows by rank, and makes no bits. */
		if (!scans[i].asked.takes_ranks)
			time += time_of_price(scans[i].progress.price, slowness);
		if (adding && rtscan_may_aggregate_on_device(&scans[i]))
			time += rtscan_time_of_adding_by_cpu(&scans[i], adding);
	}
	return time;
}

/*
 * Return an upper bound of the CPU's nanoseconds for the segments that other executors may evaluate: the time to test
 * every row in the intervals of each segment's narrowest column.  Returns infinity if no bound is quick to find: if a
 * filter has disjunctions, residuals or no column, or if its narrowest column is not in heap order and has no order.
 */
static double
most_of_cpu(const RtscanSegmentScan *scans, int nscans, const RtscanAdding *adding)
{
	double		most = 0;

	for (int i = 0; i < nscans; i++)
	{
		const RtscanSegmentFilter *filter = &scans[i].filter;

		if (filter->region.empty || scans[i].reader.segment->header.rows < RTSCAN_CHUNK_ROWS ||
			((scans[i].asked.takes_ranks || rtscan_asks_for_all(&scans[i])) && adding == NULL))
			continue;
		if (filter->region.ncolumns == 0 || filter->ndisjunctions > 0 || filter->nresiduals > 0)
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

/* ---------------------------------------------------------------- the fastest executor */

/* If the CPU needs fewer nanoseconds than this, "auto" does not estimate other executors. */
#define LEAST_REQUEST	10000.0

/* Nanoseconds to look at a chunk's bits that a device has written, which are not in the CPU's cache. */
#define COLD_CHUNK		500.0

/* Return the CPU's nanoseconds to read the bits that "other" finds in the segments whose callers need bits. */
static double
time_of_looking(const RtscanExecutorMethods *other, const RtscanSegmentScan *scans, int nscans,
				const RtscanAdding *adding)
{
	double		chunks = 0;

	for (int i = 0; i < nscans; i++)
		if (scans[i].asked.want_bits && other->can(&scans[i]) && !(adding && rtscan_may_aggregate_on_device(&scans[i])))
			chunks += scans[i].reader.segment->chunks;
	return chunks * COLD_CHUNK;
}

/* The expected times of all executors for a scan, in nanoseconds. */
typedef struct Estimates
{
	double		cpu;			/* the CPU's time; 0 if no other executor can evaluate a segment; CPU_IS_FASTEST if
								 * it is shorter than all in others[] */
	double		others[RTSCAN_EXECUTORS];	/* by executor, without the CPU: its time; NOT_THERE if it cannot be
											 * chosen; infinite if its time is unknown */
	double		shortest;		/* shortest time in others[]; infinite if no time is known */
	double		longest;		/* longest finite time in others[], or 0 */
} Estimates;

#define CPU_IS_FASTEST	(-1.0)
#define NOT_THERE		(-1.0)

/* Estimate the time of each executor except the CPU.  All of them can evaluate the same segments. */
static void
estimate_others(Estimates *estimates, const RtscanSegmentScan *scans, int nscans, int processes,
				const RtscanAdding *adding)
{
	estimates->shortest = get_float8_infinity();
	estimates->longest = 0;
	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
	{
		const RtscanExecutorMethods *executor = rtscan_executors[i];
		double		time;

		estimates->others[i] = NOT_THERE;
		if (!executor->is_ready())
			continue;
		time = executor->estimate(i, scans, nscans, adding ? adding->columns : 0) +
			time_of_looking(executor, scans, nscans, adding) / processes;
		estimates->others[i] = time;
		estimates->shortest = Min(estimates->shortest, time);
		if (!isinf(time))
			estimates->longest = Max(estimates->longest, time);
	}
}

/*
 * Estimate the times of all executors.  "most" is an upper bound of the CPU's time, in nanoseconds; if it is below the
 * times of all other executors, the CPU's time is not computed.  The CPU's time is divided by "processes", as if each
 * process had a CPU of its own.
 */
static Estimates
estimate_all(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding, double most)
{
	Estimates	estimates;

	estimate_others(&estimates, scans, nscans, processes, adding);
	estimates.cpu = most < estimates.shortest ? CPU_IS_FASTEST :
		time_of_cpu(rtscan_executors[RTSCAN_EXECUTOR_COMPUTE], scans, nscans, adding,
					estimates.longest * processes) / processes;
	return estimates;
}

static void
log_estimates(const Estimates *estimates)
{
	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
		if (estimates->others[i] != NOT_THERE)
			elog(DEBUG2, "rtscan expects: cpu %s%.3f ms, %s %.3f ms",
				 estimates->cpu > estimates->longest ? ">" : "", Max(estimates->cpu, 0) / 1e6,
				 rtscan_executor_names[i], estimates->others[i] / 1e6);
}

/* Return the executor with the shortest time.  Among equal times, prefers the CPU, then the first executor. */
static RtscanExecutor
pick(const Estimates *estimates)
{
	RtscanExecutor best = RTSCAN_EXECUTOR_CPU;
	double		best_time = estimates->cpu;

	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
		if (estimates->others[i] != NOT_THERE && estimates->others[i] < best_time)
		{
			best = i;
			best_time = estimates->others[i];
		}
	return best;
}

/*
 * Let the measured speed of each executor that is too slow return a little towards its initial value, so that the
 * executor gets another chance.  An executor is too slow if the CPU, or an executor before it in the list, is estimated
 * to be at least as fast.  If the CPU was not chosen, its measured speed returns a little, too.  Nothing changes if the
 * CPU's estimate is 0.
 */
static void
learn_from_choice(const Estimates *estimates, RtscanExecutor chosen, const RtscanSegmentScan *scans, int nscans,
				  bool adding)
{
	double		shortest = estimates->cpu;

	if (chosen != RTSCAN_EXECUTOR_CPU)
		rtscan_forget_cpu_speed();
	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS && estimates->cpu != 0; i++)
	{
		if (estimates->others[i] == NOT_THERE)
			continue;
		if (estimates->others[i] < shortest)
			shortest = estimates->others[i];
		else
			rtscan_executors[i]->pass_over(i, scans, nscans, adding);
	}
}

/*
 * Choose the executor with the shortest expected time to evaluate a scan and, unless "adding" is NULL, to add up the
 * rows found.  Moves the measured speeds of executors that were too slow towards their initial values
 * (learn_from_choice()).
 */
static RtscanExecutor
choose_fastest(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding)
{
	Estimates	estimates;
	RtscanExecutor chosen;
	double		most;

	if (rtscan_executor_is_cpu())
		return RTSCAN_EXECUTOR_CPU;
	most = most_of_cpu(scans, nscans, adding) / processes;
	if (most < LEAST_REQUEST)
		return RTSCAN_EXECUTOR_CPU;
	estimates = estimate_all(scans, nscans, processes, adding, most);
	log_estimates(&estimates);
	chosen = pick(&estimates);
	learn_from_choice(&estimates, chosen, scans, nscans, adding != NULL);
	return chosen;
}

RtscanExecutor
rtscan_choose_executor(RtscanSegmentScan *scans, int nscans, int processes)
{
	RtscanExecutor executor = rtscan_executor;
	const char *why;

	if (executor == RTSCAN_EXECUTOR_AUTO)
		executor = choose_fastest(scans, nscans, processes, NULL);
	if (executor == RTSCAN_EXECUTOR_CPU)
		return executor;
	why = memory_shortage(rtscan_executors[executor], scans, nscans);
	if (why == NULL)
		return executor;
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		rtscan_fall_back(executor, why);
	return RTSCAN_EXECUTOR_CPU;
}

RtscanExecutor
rtscan_choose_adder(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding)
{
	RtscanExecutor executor = choose_fastest(scans, nscans, processes, adding);

	return memory_shortage(rtscan_executors[executor], scans, nscans) ? RTSCAN_EXECUTOR_CPU : executor;
}

/* ---------------------------------------------------------------- times for the planner and for lookups */

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
