/*
 * integer_set.h
 *		Sets of integers: as spans, and to be asked about many integers.
 */
#ifndef RTSCAN_INTEGER_SET_H
#define RTSCAN_INTEGER_SET_H

#include "rtscan.h"

/* Integers from a first to a last one. */
typedef struct RtscanSpan
{
	int64		first;
	int64		last;
} RtscanSpan;

typedef struct RtscanIntegerSet
{
	bool		nulls;			/* it has NULL */
	uint32		n;
	uint32		capacity;
	RtscanSpan *spans;			/* ascending, something between each and the next */
} RtscanIntegerSet;

/* Have room for so many spans in an empty set, if it is known how many there may be. */
extern void rtscan_reserve_spans(RtscanIntegerSet *set, uint32 n);

/* Add integers, of which none is before the first of those that were added last. */
extern void rtscan_add_span(RtscanIntegerSet *set, int64 first, int64 last);

/* Have a set's integers from a least to a greatest one be those that were not in it. */
extern void rtscan_complement_set(RtscanIntegerSet *set, int64 least, int64 greatest);

/* The first span that is not before an integer. */
extern uint32 rtscan_find_span(const RtscanIntegerSet *set, int64 integer);

/* Are there so many integers in it at most?  Or between its spans? */
extern bool rtscan_has_few_integers(const RtscanIntegerSet *set, uint64 most);
extern bool rtscan_lacks_few_integers(const RtscanIntegerSet *set, uint64 most);

/* What is between a span and the next. */
static inline RtscanSpan
rtscan_gap_behind(const RtscanIntegerSet *set, uint32 span)
{
	return (RtscanSpan) {set->spans[span].last + 1, set->spans[span + 1].first - 1};
}

/*
 * Of more than one span, in the form that is asked fastest:
 *
 *	BITS	integers that are close to each other: a bit for each from the first to the last one
 *	HASH	integers, a hash table; before it is asked, some bits, which few others have all of
 *	PLACES	spans of many integers, and where to look for the one that an integer may be in: a hash table that keeps their order
 *
 *	spans		│ 7 │ 300 .. 320 │ 1000 │			places, of 256 integers each	│ 0 │ 1 │ 2 │ 2 │
 */
typedef struct RtscanIntegerTable RtscanIntegerTable;

/* The set must stay where it is. */
extern RtscanIntegerTable *rtscan_create_integer_table(const RtscanIntegerSet *set, MemoryContext context);

/* Clear the bits of integers that are not in it; only those are there that a bit is set of. */
extern void rtscan_and_integer_table(const RtscanIntegerTable *table, const int64 *integers, uint32 nwords, uint64 *words);

#endif							/* RTSCAN_INTEGER_SET_H */
