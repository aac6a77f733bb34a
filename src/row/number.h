/* SPDX-License-Identifier: PostgreSQL */
/*
 * number.h
 *		Convert values of PostgreSQL's types to numbers of interval arithmetic (bounds.h), and back.
 */
#ifndef RTSCAN_NUMBER_H
#define RTSCAN_NUMBER_H

#include "postgres.h"

#include "row/bounds.h"
#include "row/exact.h"

/* Find how a type calculates; returns false if its values are not numbers. */
extern bool rtscan_number_kind(Oid type, RtscanNumberKind *kind);

/* Return the bounds of a value: two different ones if it is not a double. */
extern RtscanBounds rtscan_bounds_of_value(RtscanNumberKind kind, Datum value);

/*
 * Return the bounds of values whose exact integers (exact.h), which must sort as the values do, are from "least" to
 * "greatest".  scale is that of numerics.
 */
extern RtscanBounds rtscan_bounds_of_exact(RtscanNumberKind kind, RtscanExactKind exact, int scale, int64 least,
										   int64 greatest);

/*
 * Return a value of a kind that is not above a number (or, with upwards, not below it), in the current memory
 * context.  The number may be infinite if the kind has infinity; for kinds of integers it must be in the type's
 * range.
 */
extern Datum rtscan_value_of_number(RtscanNumberKind kind, double number, bool upwards);

#endif							/* RTSCAN_NUMBER_H */
