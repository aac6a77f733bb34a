/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu_parts.c
 *		Prepare the evaluation of a region by the CPU: bins, gaps, and the costs of each way to evaluate.
 */
#include "search/exec/cpu_parts.h"

#include <math.h>

#include "utils/float.h"

/* ---------------------------------------------------------------- runs and gaps */

/*
 * Boundaries that are compared one by one before a binary search: if a column has many intervals, the next boundary is
 * near.
 */
#define NEAR_BOUNDARIES		4

/* Return the number of the last boundary that is not above "rank".  Boundary "from" must not be above "rank" either. */
static uint32
boundary_below(const RtscanSegmentColumn *column, uint32 from, uint32 rank)
{
	const uint32 *boundaries = column->boundaries;
	uint32		bins = column->header.bins;

	for (uint32 i = 0; i < NEAR_BOUNDARIES; i++, from++)
		if (from == bins || boundaries[from + 1] > rank)
			return from;
	return from + rtscan_last_not_above(boundaries + from, bins + 1 - from, rank);
}

/* Find the runs of bins that the intervals touch.  Runs that overlap or touch each other are merged. */
static void
find_runs(CpuColumn *part)
{
	const RtscanIntervals *set = &part->region->intervals;
	const uint32 *boundaries = part->column->boundaries;
	uint32		at = 0;

	part->runs = palloc(Min(set->n, part->column->header.bins) * sizeof(BinRun));
	for (uint32 i = 0; i < set->n; i++)
	{
		BinRun		run;

		run.first = boundary_below(part->column, at, set->items[i].low.rank);
		at = run.end = boundary_below(part->column, run.first, set->items[i].high.rank);
		if (boundaries[run.end] < set->items[i].high.rank)
			run.end++;
		if (part->nruns > 0 && part->runs[part->nruns - 1].end >= run.first)
			part->runs[part->nruns - 1].end = run.end;
		else
			part->runs[part->nruns++] = run;
	}
}

static void
add_gap(CpuColumn *part, uint32 first, uint32 end)
{
	if (first >= end)
		return;
	part->gaps[part->ngaps++] = (RtscanRankRange) {first, end};
	part->gap_rows += end - first;
}

/* Find the gaps: the ranges of ranks that are in the runs but not in the intervals. */
static void
find_gaps(CpuColumn *part)
{
	const RtscanIntervals *set = &part->region->intervals;
	const uint32 *boundaries = part->column->boundaries;
	uint32		i = 0;

	part->gaps = palloc((set->n + part->nruns) * sizeof(RtscanRankRange));
	for (uint32 r = 0; r < part->nruns; r++)
	{
		uint32		at = boundaries[part->runs[r].first];
		uint32		end = boundaries[part->runs[r].end];

		for (; i < set->n && set->items[i].low.rank < end; i++)
		{
			add_gap(part, at, set->items[i].low.rank);
			at = set->items[i].high.rank;
		}
		add_gap(part, at, end);
	}
}

void
rtscan_cpu_prepare_column(CpuColumn *part, RtscanReader *reader, const RtscanRegionColumn *region)
{
	part->region = region;
	part->column = &reader->segment->columns[region->column];
	part->heap_order = (part->column->header.flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	if (part->column->header.bins > 0)
	{
		find_runs(part);
		find_gaps(part);
		for (uint32 r = 0; r < part->nruns; r++)
			rtscan_cpu_find_vectors(part, reader->segment->chunks, &part->runs[r]);
	}
}

/* ---------------------------------------------------------------- where rows can be */

/* Are all of a column's intervals known?  The planner may have looked up only a sample of an array's values. */
static bool
knows_intervals(const CpuColumn *part)
{
	return part->region->stands_for <= 1;
}

static void
close_chunks(CpuEvaluation *evaluation, CpuColumn *part)
{
	for (uint32 chunk = 0; chunk < evaluation->reader->segment->chunks; chunk++)
		if (rtscan_cpu_excludes_chunk(part, chunk))
		{
			evaluation->nopen -= evaluation->open[chunk];
			evaluation->open[chunk] = false;
			part->closes_chunks = true;
		}
}

static void
find_open_chunks(CpuEvaluation *evaluation)
{
	uint32		chunks = evaluation->reader->segment->chunks;

	evaluation->open = palloc(chunks * sizeof(bool));
	memset(evaluation->open, true, chunks * sizeof(bool));
	evaluation->nopen = chunks;
	for (int i = 0; i < evaluation->ncolumns; i++)
		if (knows_intervals(&evaluation->columns[i]))
			close_chunks(evaluation, &evaluation->columns[i]);
}

/* Return the range from the first row of the first open chunk to the last row of the last open chunk. */
static RtscanRankRange
open_window(const CpuEvaluation *evaluation)
{
	uint32		first = 0,
				end = evaluation->reader->segment->chunks;

	if (evaluation->nopen == 0)
		return (RtscanRankRange) {0, 0};
	while (!evaluation->open[first])
		first++;
	while (!evaluation->open[end - 1])
		end--;
	return (RtscanRankRange) {first * RTSCAN_CHUNK_ROWS, Min(end * RTSCAN_CHUNK_ROWS, evaluation->rows)};
}

/* Set the window.  A column in heap order narrows it, because its ranks are row numbers. */
void
rtscan_cpu_find_window(CpuEvaluation *evaluation)
{
	RtscanRankRange window = {0, evaluation->rows};

	if (evaluation->rows >= RTSCAN_CHUNK_ROWS)
	{
		find_open_chunks(evaluation);
		window = open_window(evaluation);
	}
	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const RtscanIntervals *set = &evaluation->columns[i].region->intervals;

		if (!evaluation->columns[i].heap_order || !knows_intervals(&evaluation->columns[i]) || set->n == 0)
			continue;
		window.first = Max(window.first, set->items[0].low.rank);
		window.end = Min(window.end, set->items[set->n - 1].high.rank);
	}
	window.end = Max(window.first, window.end);
	evaluation->window = window;
}

/* ---------------------------------------------------------------- costs */

static double
window_fraction(const CpuEvaluation *evaluation)
{
	return (double) (evaluation->window.end - evaluation->window.first) / Max(evaluation->rows, 1);
}

/*
 * Return an upper bound of the pages that are read to test "rows" rows of the window by a column.  It is 0 for a column
 * in heap order, for which row numbers are tested.
 */
double
rtscan_cpu_row_pages(const CpuEvaluation *evaluation, const CpuColumn *part, double rows)
{
	return part->heap_order ? 0 : Min(rows, 1 + rtscan_cpu_row_area(part)->pages * window_fraction(evaluation));
}

/*
 * Return the number of chunks to sieve: the open chunks or, if these are fewer, the chunks in which a column in
 * heap order has rows.  The latter matters for a column whose intervals are not all known, and which therefore
 * closes no chunks.
 */
static double
chunks_to_sieve(const CpuEvaluation *evaluation)
{
	double		chunks = evaluation->nopen;

	for (int i = 0; i < evaluation->ncolumns; i++)
		if (evaluation->columns[i].heap_order)
			chunks = Min(chunks, 1 + evaluation->columns[i].region->rows / RTSCAN_CHUNK_ROWS);
	return chunks;
}

/* Return an upper bound of the pages of bits that are read to sieve a chunk by a column. */
static uint32
pages_per_chunk(const CpuColumn *part)
{
	uint32		pages = 0;

	if (part->heap_order)
		return 0;
	for (uint32 i = 0; i < part->nruns; i++)
		pages += (part->runs[i].first > 0 ? 3 : 0) +
			(part->runs[i].end < part->column->header.bins ? 3 : 0);
	return pages;
}

/* Return the nanoseconds to set the bits of the intervals' rows one by one. */
static double
fill_cost(const CpuEvaluation *evaluation, const CpuColumn *part)
{
	return part->region->rows * COST_ORDER_ROW + chunks_to_sieve(evaluation) * COST_FILL_CHUNK;
}

/* Return the nanoseconds to test "rows" rows by a bitmap of a column's codes. */
static double
codes_cost(const CpuEvaluation *evaluation, const CpuColumn *part, double rows)
{
	return rows * COST_CODE_ROW + rtscan_cpu_row_pages(evaluation, part, rows) * COST_PAGE;
}

/* Is setting the bits of the intervals' rows one by one cheaper than reading vectors and clearing gaps? */
bool
rtscan_cpu_fill_is_cheaper(const CpuEvaluation *evaluation, const CpuColumn *part)
{
	if (part->heap_order || part->column->header.order.pages == 0)
		return false;
	return fill_cost(evaluation, part) <
		chunks_to_sieve(evaluation) * pages_per_chunk(part) * COST_PAGE + part->gap_rows * COST_ORDER_ROW;
}

/* Is testing "rows" rows by their codes cheaper than setting the bits of all rows of the intervals? */
bool
rtscan_cpu_codes_are_cheaper(const CpuEvaluation *evaluation, const CpuColumn *part, double rows)
{
	if (rtscan_is_plain(&part->column->header))
		return false;
	return codes_cost(evaluation, part, rows) < fill_cost(evaluation, part);
}

/* Return the cost of comparing all codes, in a segment without a sieve. */
CpuCost
rtscan_cpu_codes_cost(const CpuEvaluation *evaluation)
{
	CpuCost		cost = {0, 0};

	for (int i = 0; i < evaluation->ncolumns; i++)
		cost.pages += rtscan_cpu_row_area(&evaluation->columns[i])->pages;
	cost.nanoseconds = cost.pages * COST_PAGE;
	return cost;
}

/*
 * Return the nanoseconds to list the rows of a column's intervals, and to sort "sorted" of these rows.  The rows of a
 * column in heap order are listed in ascending order, and are not sorted.
 */
static double
list_cost(const CpuColumn *part, double sorted)
{
	return part->region->rows * COST_ORDER_ROW +
		(part->heap_order || sorted < 2 ? 0 : sorted * log2(sorted) * COST_COMPARISON);
}

/*
 * Return the cost of testing "rows" rows by the codes of the column number "column" and of all columns after it.  The
 * rows are in the window if "of_window" is true, else anywhere in the segment.
 */
static CpuCost
tests_cost(const CpuEvaluation *evaluation, int column, double rows, bool of_window)
{
	CpuCost		cost = {0, 0};

	for (int i = column; i < evaluation->ncolumns; i++)
	{
		const CpuColumn *part = &evaluation->columns[i];

		cost.pages += of_window ? rtscan_cpu_row_pages(evaluation, part, rows) :
			Min(rows, rtscan_cpu_row_area(part)->pages);
		cost.nanoseconds += rows * COST_TEST_ROW;
	}
	cost.nanoseconds += cost.pages * COST_PAGE;
	return cost;
}

/* Return the cost of testing "rows" rows, anywhere in the segment, by all columns. */
CpuCost
rtscan_cpu_tests_cost(const CpuEvaluation *evaluation, double rows)
{
	return tests_cost(evaluation, 0, rows, false);
}

/*
 * Estimate how many of the rows in the narrowest column's intervals are in the window, as if columns were independent.
 * If this column is in heap order, or has closed chunks, all of its rows are assumed to be in the window.
 */
double
rtscan_cpu_expected_candidates(const CpuEvaluation *evaluation)
{
	const CpuColumn *narrowest = &evaluation->columns[0];
	const RtscanRankRange *window = &evaluation->window;

	if (evaluation->ncolumns == 0)
		return 0;
	if (narrowest->heap_order || narrowest->closes_chunks)
		return Min(narrowest->region->rows, window->end - window->first);
	return narrowest->region->rows * window_fraction(evaluation);
}

/*
 * Return the cost of candidates: of listing the narrowest column's rows, and of testing "left" of these rows by the
 * other columns' codes.  If the rows cannot be listed, because the column is not in heap order and has no order, the
 * cost has 0 pages.
 */
CpuCost
rtscan_cpu_candidates_cost(const CpuEvaluation *evaluation, double left)
{
	const CpuColumn *narrowest = &evaluation->columns[0];
	double		n = narrowest->region->rows;
	double		pages = 1 + n / RTSCAN_ORDER_PER_PAGE;
	CpuCost		cost = tests_cost(evaluation, 1, left, true);

	if (!narrowest->heap_order && narrowest->column->header.order.pages == 0)
		return (CpuCost) {0, 0};
	cost.pages += pages;
	cost.nanoseconds += list_cost(narrowest, left) + pages * COST_PAGE;
	return cost;
}

/* Return the cost of reading a column's vectors for "chunks" chunks, and of clearing the column's gaps. */
static CpuCost
vectors_cost(const CpuColumn *part, double chunks)
{
	CpuCost		cost = {.pages = part->gap_rows / RTSCAN_ORDER_PER_PAGE + chunks * pages_per_chunk(part)};

	cost.nanoseconds = part->gap_rows * COST_ORDER_ROW + cost.pages * COST_PAGE;
	return cost;
}

/*
 * Return the cost of a column that is not sieved: of setting the bits of its rows or, if cheaper, of testing the "left"
 * rows that remain.
 */
static CpuCost
cost_of_rows(const CpuEvaluation *evaluation, const CpuColumn *part, double left)
{
	if (rtscan_cpu_codes_are_cheaper(evaluation, part, left))
		return (CpuCost) {codes_cost(evaluation, part, left), rtscan_cpu_row_pages(evaluation, part, left)};
	return (CpuCost) {
		.nanoseconds = fill_cost(evaluation, part) + part->region->rows / RTSCAN_ORDER_PER_PAGE * COST_PAGE,
		.pages = part->region->rows / RTSCAN_ORDER_PER_PAGE,
	};
}

static void
add_cost(CpuCost *cost, CpuCost more)
{
	cost->nanoseconds += more.nanoseconds;
	cost->pages += more.pages;
}

/* Return the cost of the sieve, including filled columns and the refine step. */
CpuCost
rtscan_cpu_sieve_cost(const CpuEvaluation *evaluation)
{
	double		chunks = chunks_to_sieve(evaluation);
	double		left = evaluation->rows;
	CpuCost		cost = {chunks * COST_CHUNK_BITS, 0};

	for (int i = 0; i < evaluation->ncolumns; i++)
		if (!rtscan_cpu_fill_is_cheaper(evaluation, &evaluation->columns[i]))
		{
			add_cost(&cost, vectors_cost(&evaluation->columns[i], chunks));
			left *= (double) evaluation->columns[i].region->rows / evaluation->rows;
		}
	for (int i = 0; i < evaluation->ncolumns; i++)
		if (rtscan_cpu_fill_is_cheaper(evaluation, &evaluation->columns[i]))
		{
			add_cost(&cost, cost_of_rows(evaluation, &evaluation->columns[i], left));
			left *= (double) evaluation->columns[i].region->rows / evaluation->rows;
		}
	return cost;
}

double
rtscan_cpu_most(const RtscanSegment *segment, const RtscanRegion *region)
{
	const RtscanColumnHeader *narrowest = &segment->columns[region->columns[0].column].header;
	double		n = region->columns[0].rows;

	if ((narrowest->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0 && narrowest->order.pages == 0)
		return get_float8_infinity();
	return n * (COST_ORDER_ROW + log2(n + 1) * COST_COMPARISON + (region->ncolumns - 1) * COST_TEST_ROW) +
		(1 + region->ncolumns * n) * COST_PAGE;
}

/*
 * Is testing candidates cheaper than the sieve?  "left" is the number of candidates, which are tested by the codes of
 * all columns except the narrowest.
 */
bool
rtscan_cpu_candidates_are_cheaper(const CpuEvaluation *evaluation, double left)
{
	CpuCost		candidates = rtscan_cpu_candidates_cost(evaluation, left);

	return candidates.pages > 0 && candidates.nanoseconds < rtscan_cpu_sieve_cost(evaluation).nanoseconds;
}
