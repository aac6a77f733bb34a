/*
 * members.h
 *		Which rows of a chunk have integers that are in a set: asked of elements as they are stored in frames (frames.h).
 *
 * A set is about exact integers (row/exact.h), or about codes.  The bounds of a chunk often say that all or none of its rows are
 * members.  Else the set is prepared for the chunk's elements, in the form that is asked fastest:
 *
 *	RANGE	one span of elements: two comparisons
 *	TABLE	of elements that have 16 bits at most, a byte each
 *	PLACES	spans of others, and where to look for the one that an element may be in: a hash table that keeps their order
 *
 *	spans		│ 7 │ 300 .. 320 │ 1000 │			places, of 256 elements each	│ 0 │ 1 │ 2 │ 2 │
 *
 * What was prepared is good for all chunks that have the same frame.
 */
#ifndef RTSCAN_MEMBERS_H
#define RTSCAN_MEMBERS_H

#include "rtscan.h"

#include "segment/frames.h"

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

/* Add integers, of which none is before the first of those that were added last. */
extern void rtscan_add_span(RtscanIntegerSet *set, int64 first, int64 last);

/* Have a set's integers from a least to a greatest one be those that were not in it. */
extern void rtscan_complement_set(RtscanIntegerSet *set, int64 least, int64 greatest);

typedef enum RtscanMembership
{
	RTSCAN_NO_MEMBERS,
	RTSCAN_ALL_MEMBERS,
	RTSCAN_SOME_MEMBERS
} RtscanMembership;

typedef struct RtscanMembers RtscanMembers;

/* In the current memory context.  The set must stay where it is. */
extern RtscanMembers *rtscan_create_members(const RtscanIntegerSet *set);

/* Prepare the set for a chunk of so many rows.  The other functions are about SOME of them. */
extern RtscanMembership rtscan_prepare_members(RtscanMembers *members, const RtscanFrame *frame, uint32 rows);

/* Clear the bits of a chunk's rows that are no members. */
extern void rtscan_and_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk,
							   uint64 *words);

/* Which of some integers of the chunk, as rtscan_get_frame_rows() gives them, are members? */
extern void rtscan_test_members(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are);

#endif							/* RTSCAN_MEMBERS_H */
