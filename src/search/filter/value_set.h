/* SPDX-License-Identifier: PostgreSQL */
/*
 * value_set.h
 *		Find the integers that a condition accepts of those that a segment stores of an INCLUDE or plain key column.
 */
#ifndef RTSCAN_VALUE_SET_H
#define RTSCAN_VALUE_SET_H

#include "rtscan.h"

#include "row/exact.h"
#include "search/filter/predicate.h"
#include "segment/members.h"

/*
 * Find the codes or exact integers that a condition accepts, whichever the segment stores of its column.  Returns
 * false if it stores neither, or if it is cheaper to compare the values of "rows" rows.
 */
extern bool rtscan_find_value_set(const RtscanCondition *condition, RtscanReader *reader, uint64 rows,
								  RtscanIntegerSet *set);

/* Are keys of this kind, but for the sign bit, the exact integers of that kind (rtscan_integer_of_key())? */
extern bool rtscan_keys_are_exact(RtscanKeyKind keys, RtscanExactKind exact);

/* Can rtscan_value_set_members() tell what a condition accepts of exact integers of this kind? */
extern bool rtscan_accepts_integers(const RtscanCondition *condition, RtscanExactKind exact);

/* Are the exact integers that a condition accepts those of its values' keys, and no others? */
extern bool rtscan_accepts_keys(const RtscanCondition *condition, RtscanExactKind exact);

/*
 * Return the exact integers of a kind that a condition accepts, or NULL if that cannot be told.  The result is the
 * same for all segments, and belongs to the condition.
 */
extern RtscanMembers *rtscan_value_set_members(const RtscanCondition *condition, RtscanExactKind exact);

#endif							/* RTSCAN_VALUE_SET_H */
