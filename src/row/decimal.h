/* SPDX-License-Identifier: PostgreSQL */
/*
 * decimal.h
 *		Represent numerics as integers, divided by a power of ten.
 *
 * The display scale of a numeric is the number of digits that it shows after its decimal point.  If all numerics of
 * a column have the same scale, as a type modifier ensures, and fit into 64 bits, then integers represent them
 * completely.
 */
#ifndef RTSCAN_DECIMAL_H
#define RTSCAN_DECIMAL_H

#include "postgres.h"

#include "utils/numeric.h"

/* The largest display scale: 10^18 is the largest power of ten that an int64 can hold. */
#define RTSCAN_MAX_SCALE	18

/* A numeric as an integer and a scale. */
typedef struct RtscanDecimal
{
	int64		digits;			/* value * 10^scale */
	int			scale;			/* display scale: digits after the decimal point */
} RtscanDecimal;

/* Convert a numeric.  Returns false if it cannot be represented: NaN, infinity, too large, or too many digits. */
extern bool rtscan_decimal_from_numeric(Datum numeric, RtscanDecimal *decimal);

/* Convert a value of type int2, int4, int8 or numeric.  Returns false as rtscan_decimal_from_numeric() does. */
extern bool rtscan_decimal_from_datum(Oid type, Datum value, RtscanDecimal *decimal);

/* Return the numeric, bit for bit the one that was converted, in the current memory context. */
extern Datum rtscan_numeric_from_decimal(RtscanDecimal decimal);

#endif							/* RTSCAN_DECIMAL_H */
