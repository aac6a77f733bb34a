/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu_rows.c
 *		Test rows one by one by their codes or values: rows that were found by rank, or that the sieve has left.
 */
#include "search/exec/cpu_parts.h"

#include "bits/bits.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/frames.h"
#include "segment/plain.h"

/* The most intervals that are searched for a code.  If a column has more, a bitmap of its codes is used. */
#define FEW_INTERVALS	16

/* ---------------------------------------------------------------- tests by code or value */

/* A page of codes or values that is pinned. */
typedef struct RowPage
{
	Buffer		buffer;			/* its buffer; invalid if there is no page */
	uint32		number;			/* number of the page in its area */
	const char *payload;		/* its content */
} RowPage;

/* A tester of rows.  Each column keeps its last page pinned, so rows should be tested in ascending order. */
typedef struct RowTester
{
	CpuEvaluation *evaluation;	/* the region that rows are tested for */
	RowPage		pages[INDEX_MAX_KEYS];	/* by column: the page that was read last */
} RowTester;

static const RtscanArea *
tested_area(const RowTester *tester, int i)
{
	return rtscan_cpu_row_area(&tester->evaluation->columns[i]);
}

static void
release_row_page(RowTester *tester, int i)
{
	if (BufferIsValid(tester->pages[i].buffer))
		rtscan_release(tester->evaluation->reader, tester->pages[i].buffer);
	tester->pages[i] = (RowPage) {.buffer = InvalidBuffer};
}

static void
close_tester(RowTester *tester)
{
	for (int i = 0; i < tester->evaluation->ncolumns; i++)
		release_row_page(tester, i);
}

/*
 * Release the pages that columns of a small segment may share.  Otherwise, on a standby, a page that two columns share
 * would be locked twice.
 */
static void
release_shared_pages(RowTester *tester)
{
	for (int i = 0; i < tester->evaluation->ncolumns; i++)
		if (tested_area(tester, i)->kind == RTSCAN_PAGE_SHARED)
			release_row_page(tester, i);
}

static const char *
get_row_page(RowTester *tester, int i, uint32 number)
{
	RowPage    *page = &tester->pages[i];
	const RtscanArea *area = tested_area(tester, i);

	if (BufferIsValid(page->buffer) && page->number == number)
		return page->payload;
	if (area->kind == RTSCAN_PAGE_SHARED)
		release_shared_pages(tester);
	else
		release_row_page(tester, i);
	page->payload = rtscan_get_page(tester->evaluation->reader, area, number, &page->buffer, NULL);
	page->number = number;
	return page->payload;
}

static uint32
row_code(RowTester *tester, int i, uint32 row)
{
	const RtscanColumnHeader *header = &tester->evaluation->columns[i].column->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);

	return rtscan_load_packed(get_row_page(tester, i, row / per_page) + (row % per_page) * header->code_bytes,
							  header->code_bytes);
}

/*
 * Find the first and the last value of each interval of a plain column.  Since intervals begin and end between values,
 * these values bound the interval.  All pages of the tester are released first: on a standby they are locked, and
 * rtscan_plain_at_rank() may have to lock the same pages.
 */
static void
find_value_bounds(RowTester *tester, CpuColumn *part)
{
	const RtscanIntervals *set = &part->region->intervals;
	uint32		nonnull = part->column->header.nonnull;
	int64	   *bounds = palloc(Max(set->n, 1) * 2 * sizeof(int64));

	close_tester(tester);
	for (uint32 i = 0; i < set->n; i++)
	{
		uint32		end = Min(set->items[i].high.rank, nonnull);

		part->has_null |= set->items[i].high.rank > nonnull;
		if (set->items[i].low.rank >= end)
			break;
		rtscan_plain_at_rank(tester->evaluation->reader, part->region->column, set->items[i].low.rank,
							 &bounds[2 * i]);
		rtscan_plain_at_rank(tester->evaluation->reader, part->region->column, end - 1, &bounds[2 * i + 1]);
		part->nbounds++;
		CHECK_FOR_INTERRUPTS();
	}
	part->bounds = bounds;
}

static bool
bounds_have(const CpuColumn *part, int64 value)
{
	uint32		low = 0,
				high = part->nbounds;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (value < part->bounds[2 * middle])
			high = middle;
		else if (value > part->bounds[2 * middle + 1])
			low = middle + 1;
		else
			return true;
	}
	return false;
}

/* Return the exact integer of a row whose chunk has more than one value. */
static int64
row_value(RowTester *tester, int i, uint32 row)
{
	const RtscanFrames *frames = &tester->evaluation->columns[i].column->values.frames;
	uint32		chunk = row / RTSCAN_CHUNK_ROWS;
	const RtscanFrame *frame = &frames->frames[chunk];
	RtscanFramePlace place = rtscan_frame_place(frames, row);
	uint64		element = rtscan_packed_element(get_row_page(tester, i, place.page), frame->bits, place.element);

	rtscan_check_frame(tester->evaluation->reader, frames, chunk, place.page, element);
	return rtscan_frame_value(frame, element);
}

static bool
value_matches(RowTester *tester, int i, uint32 row)
{
	CpuColumn  *part = &tester->evaluation->columns[i];
	const RtscanFrame *frame = &part->column->values.frames.frames[row / RTSCAN_CHUNK_ROWS];
	int64		value;

	if (part->bounds == NULL)
		find_value_bounds(tester, part);
	value = frame->bits == 0 ? rtscan_frame_only_value(frame) : row_value(tester, i, row);
	if (frame->nulls > 0 && value == rtscan_frame_marker(frame))
		return part->has_null;
	return bounds_have(part, value);
}

static bool
row_matches(RowTester *tester, int i, uint32 row)
{
	CpuColumn  *part = &tester->evaluation->columns[i];
	uint32		code;

	if (part->heap_order)
		return rtscan_intervals_have_rank(&part->region->intervals, row);
	if (rtscan_is_plain(&part->column->header))
		return value_matches(tester, i, row);
	code = row_code(tester, i, row);
	if (part->region->intervals.n <= FEW_INTERVALS)
		return rtscan_intervals_have_code(&part->region->intervals, code);
	return code <= part->column->header.distinct && rtscan_bit_is_set(rtscan_cpu_members(part), code);
}

/* ---------------------------------------------------------------- candidates */

static int
compare_uint32(const void *a, const void *b)
{
	uint32		left = *(const uint32 *) a,
				right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

/* The candidates: rows to test. */
typedef struct Candidates
{
	RtscanRankRange window;		/* range of rows; rows outside are no candidates */
	uint32		n;				/* number of rows */
	uint32	   *rows;			/* the rows; there is room for the rows of the narrowest column, and no more */
} Candidates;

/* RankRowsFunction: append the rows that are in the window, without branches. */
static void
append_candidates(const uint32 *rows, uint32 n, void *arg)
{
	Candidates *candidates = (Candidates *) arg;
	RtscanRankRange window = candidates->window;

	for (uint32 i = 0; i < n; i++)
	{
		candidates->rows[candidates->n] = rows[i];
		candidates->n += rows[i] - window.first < window.end - window.first;
	}
}

/* Find the rows of the narrowest column that are in the window. */
static Candidates
find_candidate_rows(CpuEvaluation *evaluation)
{
	const CpuColumn *part = &evaluation->columns[0];
	const RtscanIntervals *set = &part->region->intervals;
	Candidates	found = {
		.window = evaluation->window,
		.rows = palloc(Max(part->region->rows, 1) * sizeof(uint32))
	};

	for (uint32 i = 0; i < set->n; i++)
	{
		if (part->heap_order)
			for (uint32 row = Max(set->items[i].low.rank, found.window.first);
				 row < Min(set->items[i].high.rank, found.window.end); row++)
				found.rows[found.n++] = row;
		else
			rtscan_cpu_visit_ranks(evaluation, part, set->items[i].low.rank, set->items[i].high.rank,
								   append_candidates, &found);
	}
	return found;
}

static void
sort_candidates(const CpuEvaluation *evaluation, Candidates *found)
{
	if (!evaluation->columns[0].heap_order)
		qsort(found->rows, found->n, sizeof(uint32), compare_uint32);
}

/* Trace the columns by which "rows" rows were tested, one column after another. */
static void
trace_tests(const CpuEvaluation *evaluation, uint64 rows)
{
	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const CpuColumn *part = &evaluation->columns[i];

		if (part->decided)
			continue;
		rows -= part->rejected;
		rtscan_cpu_trace(part, RTSCAN_BY_TESTS, rows);
	}
}

/* Keep in rows[] only the rows that are in the intervals of all columns after the first.  Returns their number. */
static uint32
keep_matching(CpuEvaluation *evaluation, uint32 *rows, uint32 n)
{
	RowTester	tester = {.evaluation = evaluation};
	uint32		kept = 0;

	if (evaluation->ncolumns == 1)
		return n;
	for (uint32 k = 0; k < n; k++)
	{
		int			i = 1;

		if (k % 256 == 0)
			CHECK_FOR_INTERRUPTS();
		while (i < evaluation->ncolumns && row_matches(&tester, i, rows[k]))
			i++;
		if (i == evaluation->ncolumns)
			rows[kept++] = rows[k];
		else
			evaluation->columns[i].rejected++;
	}
	close_tester(&tester);
	return kept;
}

static void
set_bits_of_rows(CpuEvaluation *evaluation, const uint32 *rows, uint32 n)
{
	for (uint32 k = 0; k < n; k++)
		rtscan_cpu_set_row(rows[k] % RTSCAN_CHUNK_ROWS,
						   rtscan_bits_fill(evaluation->bits, rows[k] / RTSCAN_CHUNK_ROWS));
}

static uint32
count_chunks(const uint32 *rows, uint32 n)
{
	uint32		chunks = 0;

	for (uint32 k = 0; k < n; k++)
		chunks += k == 0 || rows[k] / RTSCAN_CHUNK_ROWS != rows[k - 1] / RTSCAN_CHUNK_ROWS;
	return chunks;
}

bool
rtscan_cpu_test_candidates(CpuEvaluation *evaluation, double expected)
{
	Candidates	found = find_candidate_rows(evaluation);
	uint32	   *rows = found.rows;
	uint32		kept;

	if (found.n > expected && !rtscan_cpu_candidates_are_cheaper(evaluation, found.n))
	{
		pfree(rows);
		return false;
	}
	sort_candidates(evaluation, &found);
	rtscan_cpu_trace(&evaluation->columns[0], RTSCAN_BY_ORDER, found.n);
	evaluation->columns[0].decided = true;
	kept = keep_matching(evaluation, rows, found.n);
	trace_tests(evaluation, found.n);
	evaluation->counters->refined_rows += evaluation->columns[0].region->rows;
	evaluation->counters->chunks_read += count_chunks(rows, kept);
	if (evaluation->bits->takes_list)
	{
		evaluation->bits->list = rows;
		evaluation->bits->listed = kept;
		return true;
	}
	set_bits_of_rows(evaluation, rows, kept);
	pfree(rows);
	return true;
}

/* ---------------------------------------------------------------- tests of single rows */

struct RtscanRowTest
{
	RtscanRegion region;		/* the columns that are tested */
	CpuEvaluation evaluation;	/* the state of testing */
	MemoryContext context;		/* memory for bounds and bitmaps, which are created when first needed */
};

RtscanRowTest *
rtscan_create_row_test(RtscanReader *reader, const RtscanRegion *region, int but_for)
{
	RtscanRowTest *test = palloc0(sizeof(RtscanRowTest));

	test->region.columns = palloc(Max(region->ncolumns, 1) * sizeof(RtscanRegionColumn));
	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column != but_for)
			test->region.columns[test->region.ncolumns++] = region->columns[i];
	test->context = CurrentMemoryContext;
	test->evaluation = rtscan_cpu_prepare(reader, &test->region, NULL, NULL);
	return test;
}

bool
rtscan_row_passes(RtscanRowTest *test, uint32 row)
{
	RowTester	tester = {.evaluation = &test->evaluation};
	MemoryContext old = MemoryContextSwitchTo(test->context);
	int			i = 0;

	while (i < test->evaluation.ncolumns && row_matches(&tester, i, row))
		i++;
	close_tester(&tester);
	MemoryContextSwitchTo(old);
	return i == test->evaluation.ncolumns;
}

double
rtscan_row_test_time(const RtscanRegion *region)
{
	return region->ncolumns * (COST_PAGE + COST_TEST_ROW);
}

/* ---------------------------------------------------------------- refine */

/* Clear the bits of the rows in *word that do not match.  "base" is the row of the word's first bit. */
static void
test_survivors_of_word(RowTester *tester, uint64 *word, uint32 base)
{
	CpuEvaluation *evaluation = tester->evaluation;

	for (uint64 left = *word; left != 0; left &= left - 1)
	{
		int			bit = pg_rightmost_one_pos64(left);

		for (int i = 0; i < evaluation->ncolumns; i++)
			if (!evaluation->columns[i].decided && !row_matches(tester, i, base + bit))
			{
				*word &= ~(UINT64CONST(1) << bit);
				evaluation->columns[i].rejected++;
				break;
			}
	}
}

static void
test_survivors(CpuEvaluation *evaluation, uint64 survivors)
{
	RowTester	tester = {.evaluation = evaluation};

	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
	{
		uint64	   *words = rtscan_bits_chunk(evaluation->bits, chunk);

		if (!evaluation->bits->filled[chunk])
			continue;
		CHECK_FOR_INTERRUPTS();
		for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
			if (words[w] != 0)
				test_survivors_of_word(&tester, &words[w], chunk * RTSCAN_CHUNK_ROWS + w * 64);
	}
	close_tester(&tester);
	evaluation->counters->refined_rows += survivors;
}

void
rtscan_cpu_test_within(CpuEvaluation *evaluation, const RtscanRowBits *within)
{
	for (uint32 chunk = 0; chunk < within->chunks; chunk++)
		if (within->filled[chunk])
		{
			memcpy(rtscan_bits_fill(evaluation->bits, chunk), rtscan_bits_chunk(within, chunk), RTSCAN_CHUNK_BYTES);
			evaluation->counters->chunks_read++;
		}
	test_survivors(evaluation, rtscan_bits_count(within));
	trace_tests(evaluation, rtscan_bits_count(within));
}

/*
 * Return the nanoseconds to test the "survivors" rows that the sieve has left.  Each test is assumed to read another
 * page, until all pages have been read.
 */
static double
survivor_cost(const CpuEvaluation *evaluation, double survivors)
{
	double		cost = 0;

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const CpuColumn *part = &evaluation->columns[i];

		if (part->ngaps > 0)
			cost += rtscan_cpu_row_pages(evaluation, part, survivors) * COST_PAGE + survivors * COST_TEST_ROW;
	}
	return cost;
}

/*
 * Estimate the number of rows that the sieve has left, as if columns were independent.  If testing so many rows is too
 * slow, rtscan_cpu_refine() does not even count the rows that are left.
 */
static double
expected_survivors(const CpuEvaluation *evaluation)
{
	double		expected = evaluation->rows;

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const CpuColumn *part = &evaluation->columns[i];

		expected *= (double) (part->region->rows + part->gap_rows) / evaluation->rows;
	}
	return expected;
}

void
rtscan_cpu_refine(CpuEvaluation *evaluation)
{
	double		gap_rows = 0;

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		gap_rows += evaluation->columns[i].gap_rows;
		evaluation->columns[i].decided = evaluation->columns[i].ngaps == 0;
	}
	if (gap_rows == 0)
		return;
	if (survivor_cost(evaluation, expected_survivors(evaluation)) < gap_rows * COST_ORDER_ROW)
	{
		uint64		survivors = rtscan_bits_count(evaluation->bits);

		if (survivor_cost(evaluation, survivors) < gap_rows * COST_ORDER_ROW)
		{
			test_survivors(evaluation, survivors);
			return;
		}
	}
	rtscan_cpu_clear_gaps(evaluation);
}
