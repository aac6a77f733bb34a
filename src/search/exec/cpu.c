/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu.c
 *		The CPU executor: sieve and refine.
 *
 * A region is evaluated in the cheapest of five ways.
 *
 *	codes		The segment has fewer rows than a chunk, and therefore no sieve: compare all codes.
 *	candidates	Few rows match the narrowest column: find them through its order, and test each
 *				by the other columns' codes.  Rows outside the window (CpuEvaluation) are left out.
 *				If the narrowest column is in heap order, or nearly, it narrows the window to its rows.
 *	sieve		In each open chunk, AND a superset of each column's rows: the sieve vectors of
 *				the nearest boundaries outside its intervals.  A chunk is open unless it is excluded
 *				by a column's constant pages (all zeros or all ones) or, in heap order, ranges of rows.
 *	fill		For a column whose intervals are much narrower than bins: set the bits of their
 *				rows, found through the order, and AND these bits instead of vectors.  Or, if
 *				few rows remain after the vectors of the other columns, test each by a bitmap of
 *				the intervals' codes.
 *	within		The caller needs only a few rows, which it names: test each by its codes.
 *
 * After the sieve, the rows between an interval's ends and the nearest boundaries, the gaps, are
 * still undecided (RTScan's refine step, section 3.4).  Either all rows in gaps are found through
 * the order, and their bits cleared.  Or, if the sieve has left fewer rows than the gaps have, each
 * of the rows left is tested by its codes.
 */
#include "search/exec/cpu_parts.h"

#include "miscadmin.h"
#include "search/exec/executor.h"
#include "utils/float.h"

/* ---------------------------------------------------------------- all rows */

static void
fill_everything(CpuEvaluation *evaluation)
{
	RtscanRowBits *bits = evaluation->bits;

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		bits->counts[chunk] = rtscan_cpu_chunk_rows(evaluation, chunk);
		if (bits->takes_counts)
			bits->filled[chunk] = true;
		else
			rtscan_cpu_set_all(rtscan_bits_fill(bits, chunk), bits->counts[chunk]);
	}
	bits->counted = true;
}

/* ---------------------------------------------------------------- the executor */

CpuEvaluation
rtscan_cpu_prepare(RtscanReader *reader, const RtscanRegion *region,
				   RtscanRowBits *bits, RtscanCounters *counters)
{
	CpuEvaluation evaluation = {
		.reader = reader,
		.bits = bits,
		.counters = counters,
		.rows = reader->segment->header.rows,
		.ncolumns = region->ncolumns,
		.columns = palloc0(Max(region->ncolumns, 1) * sizeof(CpuColumn)),
	};

	for (int i = 0; i < region->ncolumns; i++)
		rtscan_cpu_prepare_column(&evaluation.columns[i], reader, &region->columns[i]);
	rtscan_cpu_find_window(&evaluation);
	return evaluation;
}

/* Test candidates if that is cheaper than the sieve.  Returns whether candidates were tested. */
static bool
test_candidates(CpuEvaluation *evaluation)
{
	double		expected = rtscan_cpu_expected_candidates(evaluation);

	return rtscan_cpu_candidates_are_cheaper(evaluation, expected) && rtscan_cpu_test_candidates(evaluation, expected);
}

static void
trace_vectors(const CpuEvaluation *evaluation)
{
	for (int i = 0; i < evaluation->ncolumns; i++)
		if (!evaluation->columns[i].done)
			rtscan_cpu_trace_bits(evaluation, &evaluation->columns[i], RTSCAN_BY_VECTORS);
}

static void
evaluate_in_cheapest_way(CpuEvaluation *evaluation)
{
	if (evaluation->ncolumns == 0)
		fill_everything(evaluation);
	else if (evaluation->rows < RTSCAN_CHUNK_ROWS)
		rtscan_cpu_scan_codes(evaluation);
	else if (evaluation->nopen == 0)
	{
		evaluation->counters->chunks_skipped += evaluation->bits->chunks;
		trace_vectors(evaluation);
	}
	else if (!test_candidates(evaluation))
	{
		rtscan_cpu_sieve(evaluation);
		rtscan_cpu_refine(evaluation);
		trace_vectors(evaluation);
	}
}

/* Return the cost of evaluate_in_cheapest_way(); *by_rows tells whether pages are read at random. */
static CpuCost
cheapest_cost(const CpuEvaluation *evaluation, bool *by_rows)
{
	double		expected = rtscan_cpu_expected_candidates(evaluation);

	*by_rows = false;
	if (evaluation->rows < RTSCAN_CHUNK_ROWS || evaluation->ncolumns == 0)
		return rtscan_cpu_codes_cost(evaluation);
	*by_rows = rtscan_cpu_candidates_are_cheaper(evaluation, expected);
	return *by_rows ? rtscan_cpu_candidates_cost(evaluation, expected) : rtscan_cpu_sieve_cost(evaluation);
}

/* Is testing only "within" rows cheaper than "cost"? */
static bool
should_test_within(const CpuEvaluation *evaluation, double within, CpuCost cost)
{
	return rtscan_cpu_tests_cost(evaluation, within).nanoseconds < cost.nanoseconds;
}

void
rtscan_cpu_evaluate(RtscanReader *reader, const RtscanRegion *region, const RtscanRowBits *within,
					RtscanRowBits *bits, RtscanCounters *counters)
{
	CpuEvaluation evaluation = rtscan_cpu_prepare(reader, region, bits, counters);
	bool		by_rows;

	if (within && should_test_within(&evaluation, rtscan_bits_count(within), cheapest_cost(&evaluation, &by_rows)))
		rtscan_cpu_test_within(&evaluation, within);
	else
		evaluate_in_cheapest_way(&evaluation);
}

void
rtscan_cpu_estimate(RtscanReader *reader, const RtscanRegion *region, double within,
					double *nanoseconds, double *pages, double *random_pages)
{
	CpuEvaluation evaluation = rtscan_cpu_prepare(reader, region, NULL, NULL);
	bool		by_rows;
	CpuCost		cost = cheapest_cost(&evaluation, &by_rows);

	if (should_test_within(&evaluation, within, cost))
	{
		cost = rtscan_cpu_tests_cost(&evaluation, within);
		by_rows = true;
	}
	*nanoseconds = cost.nanoseconds;
	*pages = by_rows ? 0 : cost.pages;
	*random_pages = by_rows ? cost.pages : 0;
}

/* ---------------------------------------------------------------- methods of the executor */

static bool
cpu_is_ready(void)
{
	return true;
}

static bool
cpu_can(const RtscanSegmentScan *scan)
{
	return true;
}

static int
cpu_devices(void)
{
	return 1;
}

/* The CPU needs no memory except shared buffers. */
static bool
cpu_fits(const RtscanSegmentScan *scans, int nscans, double times)
{
	return true;
}

/*
 * Infinity: the CPU is not one of the executors among which rtscan_test_time() chooses.  For the CPU,
 * rtscan_condition_is_long() decides whether to test rows.
 */
static double
cpu_test_time(const RtscanSegmentScan *scan)
{
	return get_float8_infinity();
}

static double
cpu_time_of_adding(RtscanExecutor executor, double searched, double added, double bytes)
{
	return get_float8_infinity();
}

static void
cpu_pass_over(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, bool adding)
{
}

static const char *
cpu_prepare(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid, RtscanSegmentScan *scans, int nscans)
{
	return NULL;
}

/*
 * Do nothing: rtscan_evaluate() evaluates each segment only when its bits are needed, so that the caller finds them in
 * the CPU's cache.
 */
static const char *
cpu_evaluate(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid, struct RtscanRound *round,
			 RtscanCounters *counters)
{
	return NULL;
}

const RtscanExecutorMethods rtscan_cpu_methods = {
	.is_ready = cpu_is_ready,
	.can = cpu_can,
	.devices = cpu_devices,
	.fits = cpu_fits,
	.test_time = cpu_test_time,
	.time_of_adding = cpu_time_of_adding,
	.pass_over = cpu_pass_over,
	.prepare = cpu_prepare,
	.evaluate = cpu_evaluate,
};
