/* SPDX-License-Identifier: PostgreSQL */
/*
 * interval.h
 *		Sets of half-open intervals: the rows of a segment that a condition on a key column accepts.
 *
 * Each end of an interval is a place in the dictionary (segment/dictionary.h): a code, and the first rank that has the
 * code.  So an interval can be used as an interval of ranks or of codes.
 */
#ifndef RTSCAN_INTERVAL_H
#define RTSCAN_INTERVAL_H

#include "rtscan.h"

#include "segment/dictionary.h"

typedef struct RtscanInterval
{
	RtscanPosition low;			/* first place in the interval */
	RtscanPosition high;		/* first place behind the interval */
} RtscanInterval;

/* Return the one of two positions that is before the other. */
static inline RtscanPosition
rtscan_earlier_position(RtscanPosition a, RtscanPosition b)
{
	return a.rank < b.rank ? a : b;
}

/* Return the one of two positions that is behind the other. */
static inline RtscanPosition
rtscan_later_position(RtscanPosition a, RtscanPosition b)
{
	return a.rank > b.rank ? a : b;
}

/* A set of intervals.  In a normalized set they ascend, none is empty, and no two overlap or touch. */
typedef struct RtscanIntervals
{
	uint32		n;				/* number of intervals */
	uint32		capacity;		/* number of intervals that there is room for */
	RtscanInterval *items;		/* the intervals */
} RtscanIntervals;

/* Make room for more intervals. */
extern void rtscan_intervals_enlarge(RtscanIntervals *set);

/*
 * Add an interval.  Intervals may be added in any order, and may overlap.  Call rtscan_intervals_normalize() before the
 * set is used.  If the interval begins in the interval added last, or directly behind it, the last one is extended
 * instead.  So a value that occurs a million times in a condition's array takes no more memory than a value that occurs
 * once.
 */
static inline void
rtscan_intervals_add(RtscanIntervals *set, RtscanPosition low, RtscanPosition high)
{
	RtscanInterval *last = set->n > 0 ? &set->items[set->n - 1] : NULL;

	if (low.rank >= high.rank)
		return;
	if (last && low.rank >= last->low.rank && low.rank <= last->high.rank)
	{
		if (high.rank > last->high.rank)
			last->high = high;
		return;
	}
	if (set->n == set->capacity)
		rtscan_intervals_enlarge(set);
	set->items[set->n++] = (RtscanInterval) {low, high};
}

/* Normalize a set. */
extern void rtscan_intervals_normalize(RtscanIntervals *set);

/* Return the intersection of two normalized sets. */
extern RtscanIntervals rtscan_intervals_intersect(const RtscanIntervals *a, const RtscanIntervals *b);

/* Return the ranks before "end" that are not in a normalized set. */
extern RtscanIntervals rtscan_intervals_complement(const RtscanIntervals *set, RtscanPosition end);

/* Add all intervals of another set.  Call rtscan_intervals_normalize() before the set is used. */
extern void rtscan_intervals_add_all(RtscanIntervals *set, const RtscanIntervals *others);

/* Return the number of rows in a normalized set. */
extern uint32 rtscan_intervals_rows(const RtscanIntervals *set);

/* Is a code in a normalized set? */
static inline bool
rtscan_intervals_have_code(const RtscanIntervals *set, uint32 code)
{
	uint32		low = 0,
				high = set->n;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (code < set->items[middle].low.code)
			high = middle;
		else if (code >= set->items[middle].high.code)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

/* Is a rank in a normalized set? */
static inline bool
rtscan_intervals_have_rank(const RtscanIntervals *set, uint32 rank)
{
	uint32		low = 0,
				high = set->n;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (rank < set->items[middle].low.rank)
			high = middle;
		else if (rank >= set->items[middle].high.rank)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

#endif							/* RTSCAN_INTERVAL_H */
