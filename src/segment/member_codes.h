/* SPDX-License-Identifier: PostgreSQL */
/*
 * member_codes.h
 *		Find the codes of a key column whose values are in a set of exact integers.
 *
 * One lookup in a dictionary takes as long as visiting dozens of its entries, so for large sets it is faster to
 * test all entries of the dictionary.
 */
#ifndef RTSCAN_MEMBER_CODES_H
#define RTSCAN_MEMBER_CODES_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/members.h"

/*
 * Return an array of bits in the current memory context.  It has a bit for each code, including the code of NULL.  The
 * bit is set if the code's value is in the set.  At least one more bit follows, which is not set.  The column must not
 * be plain, and its keys must be exact integers with the sign bit inverted.  "members" must be prepared for a frame of
 * all 64-bit integers without NULLs.
 */
extern uint64 *rtscan_member_codes(const RtscanMembers *members, RtscanReader *reader, int column,
								   const RtscanColumn *type);

#endif							/* RTSCAN_MEMBER_CODES_H */
