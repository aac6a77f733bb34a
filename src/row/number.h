/* SPDX-License-Identifier: PostgreSQL */
/*
 * number.h
 *		Convert values of PostgreSQL's types to numbers of interval arithmetic (bounds.h), and numbers to values.
 */
#ifndef RTSCAN_NUMBER_H
#define RTSCAN_NUMBER_H

#include "postgres.h"

#include "row/bounds.h"
#include "row/exact.h"

/* Set *kind to the kind of a type's numbers; returns false if the values of the type are not numbers. */
extern bool rtscan_number_kind(Oid type, RtscanNumberKind *kind);

/*
 * Return the bounds of a value.  The two bounds are equal for finite floats, and for integers up to 2^53 (numerics only
 * with the display scale 0).  Other finite values lie between two different bounds.
 */
extern RtscanBounds rtscan_bounds_of_value(RtscanNumberKind kind, Datum value);

/*
 * Return the bounds of all values whose exact integers (exact.h) are from "least" to "greatest".  The exact integers
 * must sort as the values do.  "scale" is the display scale of numerics; other kinds ignore it.
 */
extern RtscanBounds rtscan_bounds_of_exact(RtscanNumberKind kind, RtscanExactKind exact, int scale, int64 least,
										   int64 greatest);

/*
 * Convert a number to a value of a kind, allocated in the current memory context.  If the number is not converted
 * exactly, the result is below it or, if "upwards" is true, above it.  For numerics, only integers up to 2^53 are
 * converted exactly; for kinds of integers, the number is truncated instead.  The number may be infinite if the kind
 * has infinities; for kinds of integers it must be in the type's range.
 */
extern Datum rtscan_value_of_number(RtscanNumberKind kind, double number, bool upwards);

#endif							/* RTSCAN_NUMBER_H */
