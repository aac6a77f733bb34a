/* SPDX-License-Identifier: PostgreSQL */
/*
 * members.h
 *		Find the rows of a chunk whose integers are in a set, by the elements that are stored in frames
 *		(frames.h).
 *
 * A set consists of exact integers (row/exact.h), or of codes.  The bounds of a chunk often show that all or none
 * of its rows are members.  Otherwise the set is prepared for the chunk's elements, in the form that is tested
 * fastest:
 *
 *	RANGE	one span of elements: two comparisons
 *	TABLE	several spans of elements of at most 16 bits: a byte for each element
 *	SET		all other cases: elements are unpacked to integers, which are looked up in the set (integer_set.h)
 *
 * A RANGE or TABLE is used again for all chunks that have the same frame, and a SET for chunks of all segments.
 */
#ifndef RTSCAN_MEMBERS_H
#define RTSCAN_MEMBERS_H

#include "rtscan.h"

#include "segment/frames.h"
#include "segment/integer_set.h"

/* The rows of a chunk that are members. */
typedef enum RtscanMembership
{
	RTSCAN_NO_MEMBERS,			/* none */
	RTSCAN_ALL_MEMBERS,			/* all */
	RTSCAN_SOME_MEMBERS			/* perhaps some; their elements have to be tested */
} RtscanMembership;

/* A set that is prepared for chunks. */
typedef struct RtscanMembers RtscanMembers;

/*
 * Create members in the current memory context, in which prepared forms are allocated too.  They refer to the set,
 * which must stay where it is.
 */
extern RtscanMembers *rtscan_create_members(const RtscanIntegerSet *set);

/* Prepare the set for a chunk of "rows" rows.  The other functions may be called only if the result is SOME. */
extern RtscanMembership rtscan_prepare_members(RtscanMembers *members, const RtscanFrame *frame, uint32 rows);

/* Clear the bits of a chunk's rows that are not members. */
extern void rtscan_and_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk,
							   uint64 *words);

/* Test n integers of the chunk, as rtscan_get_frame_rows() returns them. */
extern void rtscan_test_members(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are);

/* Test n integers as rtscan_test_members() does, and return bits; those behind the last one are not set. */
extern void rtscan_find_members(const RtscanMembers *members, const int64 *integers, uint32 n, uint64 *words);

/* Is NULL a member? */
extern bool rtscan_members_have_null(const RtscanMembers *members);

#endif							/* RTSCAN_MEMBERS_H */
