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
 * A RANGE or TABLE is used again as long as chunks have the same frame, and a SET for chunks of all segments.
 */
#ifndef RTSCAN_MEMBERS_H
#define RTSCAN_MEMBERS_H

#include "rtscan.h"

#include "segment/frames.h"
#include "segment/integer_set.h"

/* How many rows of a chunk are members. */
typedef enum RtscanMembership
{
	RTSCAN_NO_MEMBERS,			/* no rows */
	RTSCAN_ALL_MEMBERS,			/* all rows */
	RTSCAN_SOME_MEMBERS			/* perhaps some; each row has to be tested */
} RtscanMembership;

/* A set that is prepared for chunks. */
typedef struct RtscanMembers RtscanMembers;

/*
 * Create an RtscanMembers for a set.  The RtscanMembers and its prepared forms are allocated in the current memory
 * context.  The set must stay where it is.
 */
extern RtscanMembers *rtscan_create_members(const RtscanIntegerSet *set);

/*
 * Prepare the set for a chunk of "rows" rows.  Only if the result is RTSCAN_SOME_MEMBERS may rows of the chunk be
 * tested.
 */
extern RtscanMembership rtscan_prepare_members(RtscanMembers *members, const RtscanFrame *frame, uint32 rows);

/* Clear the bits of those rows of a chunk that are not members. */
extern void rtscan_and_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk,
							   uint64 *words);

/*
 * Set are[i] to whether integer i is a member.  The n integers must be of a chunk for which the set is prepared, as
 * rtscan_get_frame_rows() returns them.
 */
extern void rtscan_test_members(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are);

/*
 * Test n integers as rtscan_test_members() does, but return the results as bits.  The bits behind the last result in
 * its word are cleared.
 */
extern void rtscan_find_members(const RtscanMembers *members, const int64 *integers, uint32 n, uint64 *words);

/* Is NULL a member? */
extern bool rtscan_members_have_null(const RtscanMembers *members);

#endif							/* RTSCAN_MEMBERS_H */
