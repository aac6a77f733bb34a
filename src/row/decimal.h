/* SPDX-License-Identifier: PostgreSQL */
/*
 * decimal.h
 *		Represent numerics as integers, divided by a power of ten.
 *
 * The display scale of a numeric is the number of digits that it shows after its decimal point.  A type modifier, for
 * example, gives all numerics of a column the same scale.  Integers then represent these numerics bit for bit, if the
 * integers fit into 64 bits.
 */
#ifndef RTSCAN_DECIMAL_H
#define RTSCAN_DECIMAL_H

#include "postgres.h"

#include "utils/numeric.h"

/* The largest display scale: 10^18 is the largest power of ten that an int64 can hold. */
#define RTSCAN_MAX_SCALE	18

/* A numeric: an integer, and a scale. */
typedef struct RtscanDecimal
{
	int64		digits;			/* the numeric's value times 10^scale */
	int			scale;			/* display scale: digits after the decimal point */
} RtscanDecimal;

/*
 * Convert a numeric to *decimal.  Returns false for NaN and infinities, for a display scale above RTSCAN_MAX_SCALE,
 * and if the digits do not fit into 64 bits or go beyond the display scale.
 */
extern bool rtscan_decimal_from_numeric(Datum numeric, RtscanDecimal *decimal);

/* Convert a value of type int2, int4, int8 or numeric.  Returns false only if a numeric cannot be converted. */
extern bool rtscan_decimal_from_datum(Oid type, Datum value, RtscanDecimal *decimal);

/* Return the numeric from which the decimal was made, bit for bit, allocated in the current memory context. */
extern Datum rtscan_numeric_from_decimal(RtscanDecimal decimal);

#endif							/* RTSCAN_DECIMAL_H */
