/*
 * members.h
 *		Which rows of a chunk have integers that are in a set: asked of elements as they are stored in frames (frames.h).
 *
 * A set is about exact integers (row/exact.h), or about codes.  The bounds of a chunk often say that all or none of its rows are
 * members.  Else the set is prepared for the chunk's elements, in the form that is asked fastest:
 *
 *	RANGE	one span of elements: two comparisons
 *	TABLE	of elements that have 16 bits at most, a byte each
 *	SET		others, as integers: the set itself is asked (integer_set.h)
 *
 * What was prepared is good for all chunks that have the same frame; and the set that is asked itself, for chunks of all segments.
 */
#ifndef RTSCAN_MEMBERS_H
#define RTSCAN_MEMBERS_H

#include "rtscan.h"

#include "segment/frames.h"
#include "segment/integer_set.h"

typedef enum RtscanMembership
{
	RTSCAN_NO_MEMBERS,
	RTSCAN_ALL_MEMBERS,
	RTSCAN_SOME_MEMBERS
} RtscanMembership;

typedef struct RtscanMembers RtscanMembers;

/* In the current memory context, in which what is prepared is as well.  The set must stay where it is. */
extern RtscanMembers *rtscan_create_members(const RtscanIntegerSet *set);

/* Prepare the set for a chunk of so many rows.  The other functions are about SOME of them. */
extern RtscanMembership rtscan_prepare_members(RtscanMembers *members, const RtscanFrame *frame, uint32 rows);

/* Clear the bits of a chunk's rows that are no members. */
extern void rtscan_and_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk,
							   uint64 *words);

/* Which of some integers of the chunk, as rtscan_get_frame_rows() gives them, are members? */
extern void rtscan_test_members(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are);

/* The same as bits; those behind the last are not set. */
extern void rtscan_find_members(const RtscanMembers *members, const int64 *integers, uint32 n, uint64 *words);

/* Is NULL one? */
extern bool rtscan_members_have_null(const RtscanMembers *members);

#endif							/* RTSCAN_MEMBERS_H */
