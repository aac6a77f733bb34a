/*
 * interval.h
 *		Sets of half-open intervals of a segment's column: what a predicate becomes.
 *
 * An end is a place in the dictionary (segment/dictionary.h): a code, and the rank at which
 * its rows begin.  So an interval is one of ranks and one of codes, for whoever needs which.
 */
#ifndef RTSCAN_INTERVAL_H
#define RTSCAN_INTERVAL_H

#include "rtscan.h"

#include "segment/dictionary.h"

typedef struct RtscanInterval
{
	RtscanPosition low;
	RtscanPosition high;		/* exclusive */
} RtscanInterval;

/* Not empty, disjoint, not adjacent, ascending. */
typedef struct RtscanIntervals
{
	uint32		n;
	uint32		capacity;
	RtscanInterval *items;
} RtscanIntervals;

/* Have room for more. */
extern void rtscan_intervals_enlarge(RtscanIntervals *set);

/*
 * Add an interval anywhere; call rtscan_intervals_normalize() before the set is used.  One that begins in the last one, or where it ends,
 * becomes part of that: a value that an array has many million times takes no more room than one.
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

extern void rtscan_intervals_normalize(RtscanIntervals *set);

/* What is in both of two normalized sets. */
extern RtscanIntervals rtscan_intervals_intersect(const RtscanIntervals *a, const RtscanIntervals *b);

/* What is before an end and not in a normalized set. */
extern RtscanIntervals rtscan_intervals_complement(const RtscanIntervals *set, RtscanPosition end);

/* Add what is in another set; call rtscan_intervals_normalize() before the set is used. */
extern void rtscan_intervals_add_all(RtscanIntervals *set, const RtscanIntervals *others);

/* Rows in a normalized set. */
extern uint32 rtscan_intervals_rows(const RtscanIntervals *set);

/* Is a code, or a rank, in a normalized set? */
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
