/* SPDX-License-Identifier: PostgreSQL */
/*
 * bins_test.c
 *		Test ../bins.h on all boundaries and all sets of up to MAX_ROWS ranks, against a loop over ranks.
 *
 * Sets are bit masks here, and their ranges are the runs of ones.
 */
#include "../bins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS	9

typedef struct Case
{
	uint32_t	rows;
	uint32_t	boundary_mask;	/* a bit for each of the ranks 1 .. rows - 1 that is a boundary */
	uint32_t	exact_mask;
	uint32_t	boundaries[MAX_ROWS + 1];
	Bins		bins;
	RangeSet   *exact;
} Case;

static unsigned long ncases = 0;

static void
fail(const Case *test, const char *what)
{
	printf("rows %u, boundaries %x, exact %x: %s\n",
		   test->rows, test->boundary_mask, test->exact_mask, what);
	exit(1);
}

/* ---------------------------------------------------------------- sets */

/* Allocate a set with room for exactly "capacity" ranges, so that the address sanitizer detects writes beyond them. */
static RangeSet *
new_set(uint32_t capacity)
{
	RangeSet   *set = malloc(sizeof(RangeSet));

	*set = (RangeSet) {.capacity = capacity, .ranges = malloc(capacity * sizeof(Range))};
	return set;
}

static void
free_set(RangeSet *set)
{
	free(set->ranges);
	free(set);
}

/* Return the runs of ones of a mask. */
static RangeSet *
mask_ranges(uint32_t mask)
{
	RangeSet   *set = new_set(MAX_ROWS);

	for (uint32_t rank = 0; rank < MAX_ROWS; rank++)
	{
		if (!(mask & (1u << rank)))
			continue;
		if (rank == 0 || !(mask & (1u << (rank - 1))))
			set->ranges[set->n++].first = rank;
		set->ranges[set->n - 1].end = rank + 1;
	}
	return set;
}

static bool
equal(const RangeSet *a, const RangeSet *b)
{
	return a->n == b->n &&
		(a->n == 0 || memcmp(a->ranges, b->ranges, a->n * sizeof(Range)) == 0);
}

static void
expect(const Case *test, const RangeSet *set, uint32_t mask, const char *what)
{
	RangeSet   *expected = mask_ranges(mask);

	if (!equal(set, expected))
		fail(test, what);
	free_set(expected);
}

/* ---------------------------------------------------------------- expected results */

static uint32_t
range_mask(uint32_t first, uint32_t end)
{
	return ((1u << end) - 1) & ~((1u << first) - 1);
}

/* Return a mask of the bins that contain a rank of the exact set. */
static uint32_t
touched_bins(const Case *test)
{
	uint32_t	mask = 0;

	for (uint32_t bin = 0; bin < test->bins.n; bin++)
		if (test->exact_mask & range_mask(test->boundaries[bin], test->boundaries[bin + 1]))
			mask |= 1u << bin;
	return mask;
}

static uint32_t
nearest_boundary(const Case *test, uint32_t rank)
{
	uint32_t	best = 0;

	for (uint32_t i = 1; i <= test->bins.n; i++)
		if (abs((int) test->boundaries[i] - (int) rank) <= abs((int) test->boundaries[best] - (int) rank))
			best = i;
	return best;
}

/* Return a mask of the bins between the boundaries nearest to the ends of each range. */
static uint32_t
nearest_bins(const Case *test)
{
	uint32_t	mask = 0;

	for (uint32_t i = 0; i < test->exact->n; i++)
		mask |= range_mask(nearest_boundary(test, test->exact->ranges[i].first),
						   nearest_boundary(test, test->exact->ranges[i].end));
	return mask;
}

static uint32_t
bins_to_ranks(const Case *test, uint32_t bin_mask)
{
	uint32_t	mask = 0;

	for (uint32_t bin = 0; bin < test->bins.n; bin++)
		if (bin_mask & (1u << bin))
			mask |= range_mask(test->boundaries[bin], test->boundaries[bin + 1]);
	return mask;
}

/* ---------------------------------------------------------------- checks */

/* Check that the ranges with the mark "mark" are the runs of ones of "mask"; so no two of these ranges are adjacent. */
static void
check_marked(const Case *test, const RangeSet *difference, const bool *marks, bool mark, uint32_t mask)
{
	RangeSet   *marked = new_set(difference->n);

	for (uint32_t i = 0; i < difference->n; i++)
		if (marks[i] == mark)
			marked->ranges[marked->n++] = difference->ranges[i];
	expect(test, marked, mask, mark ? "difference in the runs" : "difference in the exact set");
	free_set(marked);
}

static void
check_difference(const Case *test, const RangeSet *ranks, uint32_t approximate)
{
	uint32_t	capacity = ranks->n + test->exact->n;
	RangeSet   *difference = new_set(capacity);
	bool	   *marks = malloc(capacity * sizeof(bool));

	bins_difference(ranks, test->exact, difference, NULL);
	expect(test, difference, approximate ^ test->exact_mask, "difference");

	bins_difference(ranks, test->exact, difference, marks);
	for (uint32_t i = 1; i < difference->n; i++)
		if (difference->ranges[i].first < difference->ranges[i - 1].end)
			fail(test, "order of the difference");
	check_marked(test, difference, marks, true, approximate & ~test->exact_mask);
	check_marked(test, difference, marks, false, test->exact_mask & ~approximate);
	free(marks);
	free_set(difference);
}

static void
check_runs(const Case *test, const RangeSet *runs, uint32_t bin_mask, const char *what)
{
	RangeSet   *ranks = new_set(runs->n);

	expect(test, runs, bin_mask, what);
	bins_ranks(&test->bins, runs, ranks);
	expect(test, ranks, bins_to_ranks(test, bin_mask), "ranks of runs");
	check_difference(test, ranks, bins_to_ranks(test, bin_mask));
	free_set(ranks);
}

static void
check_case(const Case *test)
{
	RangeSet   *runs = new_set(test->exact->n);

	bins_superset(&test->bins, test->exact, runs);
	check_runs(test, runs, touched_bins(test), "superset");
	bins_nearest(&test->bins, test->exact, runs);
	check_runs(test, runs, nearest_bins(test), "nearest");
	free_set(runs);
	ncases++;
}

/* ---------------------------------------------------------------- cases */

static void
set_boundaries(Case *test)
{
	test->bins = (Bins) {.boundaries = test->boundaries};
	test->boundaries[0] = 0;
	for (uint32_t rank = 1; rank <= test->rows; rank++)
		if (rank == test->rows || test->boundary_mask & (1u << rank))
			test->boundaries[++test->bins.n] = rank;
}

/* Check the difference between the exact set and every possible set, not only sets of whole bins. */
static void
check_any_difference(const Case *test)
{
	for (uint32_t approximate = 0; approximate < 1u << test->rows; approximate++)
	{
		RangeSet   *ranks = mask_ranges(approximate);

		check_difference(test, ranks, approximate);
		free_set(ranks);
		ncases++;
	}
}

static void
check_rows(uint32_t rows)
{
	Case		test = {.rows = rows};

	for (test.exact_mask = 0; test.exact_mask < 1u << rows; test.exact_mask++)
	{
		test.exact = mask_ranges(test.exact_mask);
		for (test.boundary_mask = 0; test.boundary_mask < 1u << rows; test.boundary_mask += 2)
		{
			set_boundaries(&test);
			check_case(&test);
		}
		check_any_difference(&test);
		free_set(test.exact);
	}
}

int
main(void)
{
	for (uint32_t rows = 0; rows <= MAX_ROWS; rows++)
		check_rows(rows);
	printf("ok %lu cases\n", ncases);
	return 0;
}
