/* SPDX-License-Identifier: PostgreSQL */
/*
 * value_set.h
 *		Find the integers that a condition accepts, among those that a segment stores for an INCLUDE column or a plain
 *		key column.
 */
#ifndef RTSCAN_VALUE_SET_H
#define RTSCAN_VALUE_SET_H

#include "rtscan.h"

#include "row/exact.h"
#include "search/filter/predicate.h"
#include "segment/members.h"

/*
 * Find the codes or exact integers that a condition accepts, depending on which of the two the segment stores for the
 * column.  Returns false if the segment stores neither, or if the condition must be evaluated for the value of each
 * row.  Also returns false if evaluating the condition for "rows" rows is cheaper.
 */
extern bool rtscan_find_value_set(const RtscanCondition *condition, RtscanReader *reader, uint64 rows,
								  RtscanIntegerSet *set);

/* Do keys of kind "keys" differ from exact integers of kind "exact" only in the sign bit (rtscan_integer_of_key())? */
extern bool rtscan_keys_are_exact(RtscanKeyKind keys, RtscanExactKind exact);

/* Can rtscan_value_set_members() find the exact integers of this kind that a condition accepts? */
extern bool rtscan_accepts_integers(const RtscanCondition *condition, RtscanExactKind exact);

/* Does a condition accept exactly the integers of its values' keys? */
extern bool rtscan_accepts_keys(const RtscanCondition *condition, RtscanExactKind exact);

/*
 * Return the exact integers of a kind that a condition accepts, or NULL if they cannot be found.  The result is the
 * same for all segments, and belongs to the condition.
 */
extern RtscanMembers *rtscan_value_set_members(const RtscanCondition *condition, RtscanExactKind exact);

#endif							/* RTSCAN_VALUE_SET_H */
