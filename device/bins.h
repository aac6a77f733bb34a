/* SPDX-License-Identifier: PostgreSQL */
/*
 * bins.h
 *		Approximate a column's exact set of ranks by bins of its sieve, and compute the difference.
 *
 * The bins of a segment's column have the boundaries X_0 = 0 < X_1 < ... < X_n = rows; bin i has
 * the ranks X_i .. X_{i+1} - 1.  The exact set E of a predicate is approximated by runs of bins,
 * whose rows can be read from the sieve's vectors (src/segment/sieve.h).  The rows of the
 * difference, which are in the runs or in E but not in both, need an exact test:
 *
 *		boundaries  |       |       |       |       |
 *		exact             [--------------)    [)
 *		superset    [-------------------------------)
 *		difference  [-----)              [----)[----) all in the run
 *		nearest             [---------------)
 *		difference        [-)            [--) [)      the middle one in the run
 *
 * The caller provides the arrays for the outputs.  Their capacity, which each function asserts,
 * is given below.
 */
#ifndef RTSCAN_BINS_H
#define RTSCAN_BINS_H

#include <stdbool.h>
#include <stdint.h>

/* Return the number of bits that are needed for numbers up to largest, at least 1. */
static inline uint32_t
bits_of(uint64_t largest)
{
	return largest == 0 ? 1 : 64 - (uint32_t) __builtin_clzll(largest);
}

/* Ranks, or bins, first .. end - 1. */
typedef struct Range
{
	uint32_t	first;
	uint32_t	end;
} Range;

/* Ranges in ascending order.  No range is empty, no two overlap, and only ranges of bins_difference() may touch. */
typedef struct RangeSet
{
	uint32_t	n;
	uint32_t	capacity;		/* number of elements of the array "ranges"; only needed if a function writes the set */
	Range	   *ranges;
} RangeSet;

typedef struct Bins
{
	uint32_t	n;
	const uint32_t *boundaries; /* boundaries [n + 1] */
} Bins;

/*
 * Find the runs of all bins that intersect the exact set: the smallest set of bins that contains the exact set.
 * Capacity: exact->n.
 */
extern void bins_superset(const Bins *bins, const RangeSet *exact, RangeSet *runs);

/*
 * Move each end of each exact range to the nearest boundary, or to the upper one if two are equally near (positive
 * and negative selection in the RTScan paper).  A run can be larger or smaller than its exact range.  Runs that
 * become empty are left out.  Capacity: exact->n.
 */
extern void bins_nearest(const Bins *bins, const RangeSet *exact, RangeSet *runs);

/* Convert runs of bins to ranks.  Capacity: runs->n. */
extern void bins_ranks(const Bins *bins, const RangeSet *runs, RangeSet *ranks);

/*
 * Find the ranges of ranks that are in exactly one of the two sets.  "in_approximate" is NULL or an array of the
 * same length as difference->ranges.  It receives for each range whether the range is in the approximate set.  Two
 * ranges can then touch, where one set ends and the other begins.  If in_approximate is NULL, touching ranges are
 * joined.  Capacity: approximate->n + exact->n.
 */
extern void bins_difference(const RangeSet *approximate, const RangeSet *exact,
							RangeSet *difference, bool *in_approximate);

#endif							/* RTSCAN_BINS_H */
