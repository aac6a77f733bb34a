/*
 * decimal.h
 *		Numerics as integers, divided by a power of ten.
 *
 * A numeric shows so many digits after its point: its display scale.  Where a column's
 * numerics have one scale, as a type modifier makes them, and fit, an integer says it all.
 */
#ifndef RTSCAN_DECIMAL_H
#define RTSCAN_DECIMAL_H

#include "postgres.h"

#include "utils/numeric.h"

#define RTSCAN_MAX_SCALE	18

typedef struct RtscanDecimal
{
	int64		digits;			/* value * 10^scale */
	int			scale;
} RtscanDecimal;

/* Returns false where a numeric is no such integer: NaN, infinite, too large. */
extern bool rtscan_decimal_from_numeric(Datum numeric, RtscanDecimal *decimal);

/* Of a value of one of the types that have such integers: int2, int4, int8, numeric. */
extern bool rtscan_decimal_from_datum(Oid type, Datum value, RtscanDecimal *decimal);

/* The numeric, in the current memory context: the same to the bit. */
extern Datum rtscan_numeric_from_decimal(RtscanDecimal decimal);

#endif							/* RTSCAN_DECIMAL_H */
