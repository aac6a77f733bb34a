/*
 * accepted.h
 *		What a condition accepts of the integers that a segment stores of a column, one INCLUDEd or a plain one.
 */
#ifndef RTSCAN_ACCEPTED_H
#define RTSCAN_ACCEPTED_H

#include "rtscan.h"

#include "row/exact.h"
#include "search/filter/predicate.h"
#include "segment/members.h"

/*
 * Find what a condition accepts: of codes, or of exact integers, whatever the column has.  That is done where it is cheaper than to
 * compare the values of so many rows; false if it is not, or the column has neither.
 */
extern bool rtscan_accepted_integers(const RtscanCondition *condition, RtscanReader *reader, uint64 rows, RtscanIntegerSet *set);

/* Are keys of a kind the exact integers of another, but for the sign (rtscan_integer_of_key())? */
extern bool rtscan_keys_are_exact(RtscanKeyKind keys, RtscanExactKind exact);

/* Can that be told?  And are these the condition's keys, and no others? */
extern bool rtscan_accepts_integers(const RtscanCondition *condition, RtscanExactKind exact);
extern bool rtscan_accepts_keys(const RtscanCondition *condition, RtscanExactKind exact);

/* What a condition accepts of exact integers of a kind, or NULL. */
extern RtscanMembers *rtscan_accepted_members(const RtscanCondition *condition, RtscanExactKind exact);

#endif							/* RTSCAN_ACCEPTED_H */
