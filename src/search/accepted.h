/*
 * accepted.h
 *		What a condition accepts of the integers that a segment stores of an INCLUDEd column.
 */
#ifndef RTSCAN_ACCEPTED_H
#define RTSCAN_ACCEPTED_H

#include "rtscan.h"

#include "search/predicate.h"
#include "segment/members.h"

/*
 * Find what a condition accepts: of codes, or of exact integers, whatever the column has.  That is done where it is cheaper than to
 * compare the values of so many rows; false if it is not, or the column has neither.
 */
extern bool rtscan_accepted_integers(const RtscanCondition *condition, RtscanReader *reader, uint64 rows, RtscanIntegerSet *set);

/* The same of any values that are exact integers: where their keys are those. */
extern bool rtscan_accepted_keys(const RtscanCondition *condition, RtscanIntegerSet *set);

#endif							/* RTSCAN_ACCEPTED_H */
