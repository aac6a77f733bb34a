/* SPDX-License-Identifier: PostgreSQL */
/*
 * bins.c
 *		Round ranges of ranks to bins, and compute the difference between exact and rounded ranges.
 */
#include "bins.h"

#include <assert.h>
#include <stddef.h>

/* ---------------------------------------------------------------- boundaries */

/* Return the index of the last boundary that is not above a rank. */
static uint32_t
boundary_below(const Bins *bins, uint32_t rank)
{
	uint32_t	low = 0,
				high = bins->n + 1;

	while (high - low > 1)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (bins->boundaries[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Return the index of the first boundary that is not below a rank. */
static uint32_t
boundary_above(const Bins *bins, uint32_t rank)
{
	uint32_t	below = boundary_below(bins, rank);

	return bins->boundaries[below] < rank ? below + 1 : below;
}

static uint32_t
boundary_nearest(const Bins *bins, uint32_t rank)
{
	uint32_t	below = boundary_below(bins, rank);
	uint32_t	above = boundary_above(bins, rank);

	return rank - bins->boundaries[below] < bins->boundaries[above] - rank ? below : above;
}

/* ---------------------------------------------------------------- runs */

/*
 * Append the run of bins first .. end - 1, unless it is empty.  From call to call, neither "first" nor "end"
 * decreases.  A run that touches or overlaps the last run extends the last run.
 */
static void
add_run(RangeSet *runs, uint32_t first, uint32_t end)
{
	if (first == end)
		return;
	if (runs->n > 0 && runs->ranges[runs->n - 1].end >= first)
		runs->ranges[runs->n - 1].end = end;
	else
		runs->ranges[runs->n++] = (Range) {first, end};
}

void
bins_superset(const Bins *bins, const RangeSet *exact, RangeSet *runs)
{
	assert(runs->capacity >= exact->n);
	runs->n = 0;
	for (uint32_t i = 0; i < exact->n; i++)
		add_run(runs, boundary_below(bins, exact->ranges[i].first),
				boundary_above(bins, exact->ranges[i].end));
}

void
bins_nearest(const Bins *bins, const RangeSet *exact, RangeSet *runs)
{
	assert(runs->capacity >= exact->n);
	runs->n = 0;
	for (uint32_t i = 0; i < exact->n; i++)
		add_run(runs, boundary_nearest(bins, exact->ranges[i].first),
				boundary_nearest(bins, exact->ranges[i].end));
}

void
bins_ranks(const Bins *bins, const RangeSet *runs, RangeSet *ranks)
{
	assert(ranks->capacity >= runs->n);
	ranks->n = runs->n;
	for (uint32_t i = 0; i < runs->n; i++)
		ranks->ranges[i] = (Range) {bins->boundaries[runs->ranges[i].first],
			bins->boundaries[runs->ranges[i].end]};
}

/* ---------------------------------------------------------------- difference */

/*
 * Return the i-th edge of a set, or UINT32_MAX after the last one.  Edges with an even index begin a range, and
 * edges with an odd index end one.  So a rank is inside a range if an odd number of edges are not above it.
 */
static uint32_t
edge_at(const RangeSet *set, uint32_t i)
{
	if (i / 2 == set->n)
		return UINT32_MAX;
	return i % 2 == 0 ? set->ranges[i / 2].first : set->ranges[i / 2].end;
}

static void
add_difference(RangeSet *difference, bool *in_approximate, Range range, bool approximate)
{
	if (in_approximate != NULL)
		in_approximate[difference->n] = approximate;
	else if (difference->n > 0 && difference->ranges[difference->n - 1].end == range.first)
	{
		difference->ranges[difference->n - 1].end = range.end;
		return;
	}
	difference->ranges[difference->n++] = range;
}

/*
 * Together, the two sets have 2 * (approximate->n + exact->n) edges (edge_at()).  Each range of the result begins at
 * one edge and ends at another, and no edge is used twice, although two edges can be equal.  So the result has at most
 * approximate->n + exact->n ranges.
 */
void
bins_difference(const RangeSet *approximate, const RangeSet *exact,
				RangeSet *difference, bool *in_approximate)
{
	uint32_t	a = 0,			/* number of edges passed in "approximate"; e: in "exact" */
				e = 0,
				at = 0;

	assert(difference->capacity >= approximate->n + exact->n);
	difference->n = 0;
	while (a < 2 * approximate->n || e < 2 * exact->n)
	{
		uint32_t	next_a = edge_at(approximate, a);
		uint32_t	next_e = edge_at(exact, e);
		uint32_t	next = next_a < next_e ? next_a : next_e;

		if (a % 2 != e % 2)
			add_difference(difference, in_approximate, (Range) {at, next}, a % 2 == 1);
		a += next_a == next;
		e += next_e == next;
		at = next;
	}
}
