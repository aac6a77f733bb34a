/* SPDX-License-Identifier: PostgreSQL */
/*
 * integer_set.h
 *		Sets of integers, as spans, and tables that test whether integers are in a set.
 */
#ifndef RTSCAN_INTEGER_SET_H
#define RTSCAN_INTEGER_SET_H

#include "rtscan.h"

/* The integers from "first" to "last", both included. */
typedef struct RtscanSpan
{
	int64		first;
	int64		last;
} RtscanSpan;

/* A set of integers, to which NULL may belong, too. */
typedef struct RtscanIntegerSet
{
	bool		nulls;			/* NULL is in the set */
	uint32		n;				/* number of spans */
	uint32		capacity;		/* number of spans that the array has room for */
	RtscanSpan *spans;			/* in ascending order, with at least one integer between each span and the next */
} RtscanIntegerSet;

/* Allocate room for n spans in an empty set.  Without this call, the room grows when spans are added. */
extern void rtscan_reserve_spans(RtscanIntegerSet *set, uint32 n);

/*
 * Add the integers from "first" to "last", both included.  "first" must not be less than the first integer of the span
 * added last.
 */
extern void rtscan_add_span(RtscanIntegerSet *set, int64 first, int64 last);

/*
 * Replace the integers of a set by those from "least" to "greatest" that the set does not have.  Whether NULL is in
 * the set does not change.
 */
extern void rtscan_complement_set(RtscanIntegerSet *set, int64 least, int64 greatest);

/* Return the number of the first span that does not end before an integer; set->n if all spans do. */
extern uint32 rtscan_find_span(const RtscanIntegerSet *set, int64 integer);

/* Does the set have at most "most" integers? */
extern bool rtscan_has_few_integers(const RtscanIntegerSet *set, uint64 most);

/* Are there at most "most" integers between the spans of the set? */
extern bool rtscan_lacks_few_integers(const RtscanIntegerSet *set, uint64 most);

/* Return the integers between a span and the next one. */
static inline RtscanSpan
rtscan_gap_behind(const RtscanIntegerSet *set, uint32 span)
{
	return (RtscanSpan) {set->spans[span].last + 1, set->spans[span + 1].first - 1};
}

/*
 * A table that tests whether integers are in a set of more than one span.  It has the form that tests fastest:
 *
 *	BITS	for integers that are close to each other: a bit for each, from the first to the last one
 *	HASH	for other integers: a hash table, and in front of it a Bloom filter that rejects most integers that are not
 *			in the set
 *	PLACES	for spans of many integers: the range of the set is cut into places of equal width, and an array has, for
 *			each place, the first span that may have an integer of the place
 *
 *	spans		│ 7 │ 300 .. 320 │ 1000 │			places, of 256 integers each	│ 0 │ 1 │ 2 │ 2 │
 */
typedef struct RtscanIntegerTable RtscanIntegerTable;

/* Make a table in a memory context.  The table refers to the set, which must stay where it is. */
extern RtscanIntegerTable *rtscan_create_integer_table(const RtscanIntegerSet *set, MemoryContext context);

/* Clear the bits of integers that are not in the set.  Only integers whose bits are set are read. */
extern void rtscan_and_integer_table(const RtscanIntegerTable *table, const int64 *integers, uint32 nwords,
									 uint64 *words);

#endif							/* RTSCAN_INTEGER_SET_H */
