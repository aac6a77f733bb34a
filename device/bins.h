/*
 * bins.h
 *		From a column's exact set of ranks to bins of its sieve, and what lies between them.
 *
 * A column of a segment has bins by boundaries X_0 = 0 < X_1 < ... < X_n = rows; bin i has
 * the ranks X_i .. X_{i+1} - 1.  A predicate's exact set E is approximated by runs of bins,
 * whose rows the sieve's vectors give at once (src/segment/sieve.h); the rows of the
 * difference, in the runs or in E but not in both, are those that need an exact test:
 *
 *		boundaries  |       |       |       |       |
 *		exact             [--------------)    [)
 *		superset    [-------------------------------)
 *		difference  [-----)              [----)[----) all in the run
 *		nearest             [---------------)
 *		difference        [-)            [--) [)      the middle one in the run
 *
 * The caller gives the outputs' arrays; capacity, which each function asserts, is what it
 * says below.
 */
#ifndef RTSCAN_BINS_H
#define RTSCAN_BINS_H

#include <stdbool.h>
#include <stdint.h>

/* Bits that numbers up to the largest have. */
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

/* Ranges that are not empty, disjoint, not adjacent, and ascending. */
typedef struct RangeSet
{
	uint32_t	n;
	uint32_t	capacity;		/* of ranges, if a function writes them */
	Range	   *ranges;
} RangeSet;

typedef struct Bins
{
	uint32_t	n;
	const uint32_t *boundaries; /* n + 1 */
} Bins;

/*
 * The bins that the exact set touches, as runs.  No set of bins that contains it is smaller.
 * Capacity: exact->n.
 */
extern void bins_superset(const Bins *bins, const RangeSet *exact, RangeSet *runs);

/*
 * For each end of the exact set the boundary nearest to it, the upper one of two (RTScan's
 * positive and negative selection).  Runs can be larger or smaller than the set, and vanish.
 * Capacity: exact->n.
 */
extern void bins_nearest(const Bins *bins, const RangeSet *exact, RangeSet *runs);

/* The ranks of runs of bins.  Capacity: runs->n. */
extern void bins_ranks(const Bins *bins, const RangeSet *runs, RangeSet *ranks);

/*
 * The ranks that are in one set and not in the other; in_approximate, with as many items,
 * says of each range in which.  Ranges can then be adjacent, where one set ends and the
 * other begins.  If in_approximate is NULL, such ranges are one.
 * Capacity: approximate->n + exact->n.
 */
extern void bins_difference(const RangeSet *approximate, const RangeSet *exact,
							RangeSet *difference, bool *in_approximate);

#endif							/* RTSCAN_BINS_H */
