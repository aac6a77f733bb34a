/* SPDX-License-Identifier: PostgreSQL */
/*
 * choice.c
 *		Choose an executor for a search by the expected times, and fall back to the CPU.
 */
#include "search/exec/choice.h"

#include "device/device.h"
#include "search/exec/cpu.h"
#include "search/exec/device_members.h"
#include "search/exec/stats.h"
#include "search/exec/tally.h"
#include "search/filter/cost.h"
#include "utils/float.h"

/* ---------------------------------------------------------------- fallback to the CPU */

/* Write the reason to the server's log, unless the last entry had the same one. */
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

void
rtscan_fall_back(RtscanExecutor executor, const char *why)
{
	rtscan_leave_to_cpu(why);
	log_fallback(executor, why);
	rtscan_count_fallback(executor);
}

/* Return the reason if an executor's memory has no room for all that a scan needs, or NULL. */
static const char *
memory_shortage(const RtscanExecutorMethods *executor, const RtscanSegmentScan *scans, int nscans)
{
	if (!executor->fits(scans, nscans, 1))
		return "The device does not have the memory for all columns of the scan; rtscan.device_memory may limit it.";
	return NULL;
}

/* ---------------------------------------------------------------- the CPU's time */

/* Add the cost of evaluating a region if only "within" rows matter. */
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
 * Price a segment's regions, with all pages in memory.  In the regions of alternatives (OR), only the rows that the
 * filter's own region leaves matter.
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
		/* Testing scattered rows and looking values up miss the cache too, so they slow down as pages do. */
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
 * Return the CPU's nanoseconds for the segments that another executor can evaluate, and to add up the rows found.
 * Stops counting above a limit: it does not matter then how much more it is.
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
		/* The CPU reads rows from ranks then, and makes no bits. */
		if (!scans[i].asked.takes_ranks)
			time += time_of_price(scans[i].progress.price, slowness);
		if (adding && rtscan_may_be_tallied(&scans[i]))
			time += rtscan_time_of_adding_by_cpu(&scans[i], adding);
	}
	return time;
}

/*
 * Return an upper bound of the CPU's nanoseconds for the segments that other executors may evaluate: the time to test
 * all rows of each segment's narrowest column.  Infinite if no bound can be found quickly.
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

/* Nanoseconds: if the CPU needs less, "auto" does not estimate other executors. */
#define LEAST_REQUEST	10000.0

/* Nanoseconds to look at a chunk's bits that a device has written, which are not in the CPU's cache. */
#define COLD_CHUNK		500.0

/* Return the CPU's nanoseconds to look at the bits that another executor finds, in segments that need bits. */
static double
time_of_looking(const RtscanExecutorMethods *other, const RtscanSegmentScan *scans, int nscans,
				const RtscanAdding *adding)
{
	double		chunks = 0;

	for (int i = 0; i < nscans; i++)
		if (scans[i].asked.want_bits && other->can(&scans[i]) && !(adding && rtscan_may_be_tallied(&scans[i])))
			chunks += scans[i].reader.segment->chunks;
	return chunks * COLD_CHUNK;
}

/* The expected times, in nanoseconds, of all executors except the CPU. */
typedef struct OtherTimes
{
	double		of[RTSCAN_EXECUTORS];	/* NOT_THERE if it cannot be chosen; infinite if its time is unknown */
	double		shortest;		/* infinite if no time is known */
	double		longest;		/* the longest finite one, or 0 */
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
 * Choose the executor that should be the fastest for a scan and, unless "adding" is NULL, to add up what it finds.
 * The speeds that have been learnt of executors that are not chosen fade a little.
 *
 * All executors except the CPU can evaluate the same segments.  Each process is taken to have a CPU of its own.
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
	/* If the upper bound already beats every device, do not compute the CPU's cost. */
	cpu_time = most < times.shortest ? -1 :
		time_of_cpu(rtscan_executors[RTSCAN_EXECUTOR_COMPUTE], scans, nscans, adding,
					times.longest * processes) / processes;
	best_time = cpu_time;
	for (RtscanExecutor i = RTSCAN_EXECUTOR_COMPUTE; i < RTSCAN_EXECUTORS; i++)
	{
		if (times.of[i] == NOT_THERE)
			continue;
		elog(DEBUG2, "rtscan expects: cpu %s%.3f ms, %s %.3f ms",
			 cpu_time > times.longest ? ">" : "", Max(cpu_time, 0) / 1e6,
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
		rtscan_fall_back(executor, why);
	return RTSCAN_EXECUTOR_CPU;
}

RtscanExecutor
rtscan_choose_adder(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding)
{
	RtscanExecutor executor = fastest_executor(scans, nscans, processes, adding);

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
