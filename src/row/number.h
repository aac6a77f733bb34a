/*
 * number.h
 *		Values of PostgreSQL's types as numbers of interval arithmetic (bounds.h), and back.
 */
#ifndef RTSCAN_NUMBER_H
#define RTSCAN_NUMBER_H

#include "postgres.h"

#include "row/bounds.h"
#include "row/exact.h"

/* How a type calculates; false if it has no numbers. */
extern bool rtscan_number_kind(Oid type, RtscanNumberKind *kind);

/* A value: what a double does not have lies between bounds. */
extern RtscanBounds rtscan_bounds_of_value(RtscanNumberKind kind, Datum value);

/* Those of exact integers (exact.h) from a least to a greatest one, that sort as their values do; of numerics with a scale. */
extern RtscanBounds rtscan_bounds_of_exact(RtscanNumberKind kind, RtscanExactKind exact, int scale, int64 least, int64 greatest);

/*
 * A value of a kind that is not above a number or, upwards, not below it, in the current memory context.  The number may be infinite
 * where the kind has that; whole ones are in the type's range.
 */
extern Datum rtscan_value_of_number(RtscanNumberKind kind, double number, bool upwards);

#endif							/* RTSCAN_NUMBER_H */
