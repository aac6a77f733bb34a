/* SPDX-License-Identifier: PostgreSQL */
/*
 * exact.h
 *		Exact integers: 64-bit integers that represent values bit for bit.
 *
 * Keys (keys.h) are the same for equal values.  Exact integers, however, distinguish equal values that have different
 * images: -0 from 0, and NaNs with different payloads.
 *
 * For the types that RtscanExactKind names, exact integers sort as the values do.  For other types that are passed by
 * value, such as enums, different values have different exact integers, in no particular order.  The exact integer of a
 * float consists of its bits, turned so that greater floats have greater integers; NaNs with a sign sort first, other
 * NaNs last.  The exact integer of a numeric is described in decimal.h.
 */
#ifndef RTSCAN_EXACT_H
#define RTSCAN_EXACT_H

#include "postgres.h"

#include <limits.h>

/* The encodings of values as exact integers.  These numbers are stored on disk. */
typedef enum RtscanExactKind
{
	RTSCAN_EXACT_NONE,			/* no exact integers */
	RTSCAN_EXACT_BYTE,			/* bool, "char" */
	RTSCAN_EXACT_INT16,
	RTSCAN_EXACT_INT32,			/* int4, date */
	RTSCAN_EXACT_INT64,			/* int8, time, timestamp, timestamptz, money */
	RTSCAN_EXACT_UINT32,		/* oid */
	RTSCAN_EXACT_UINT64,		/* pg_lsn, xid8: the value minus 2^63 */
	RTSCAN_EXACT_FLOAT4,
	RTSCAN_EXACT_FLOAT8,
	RTSCAN_EXACT_DECIMAL		/* numeric: 10^scale times the value */
} RtscanExactKind;

/*
 * Return the kind of exact integers of a base type, or RTSCAN_EXACT_NONE if it has none.  *sorts tells whether the
 * integers sort as the values do.
 */
extern RtscanExactKind rtscan_exact_kind(Oid type, int16 typlen, bool typbyval, bool *sorts);

/*
 * Can a type with "typlen" and "typbyval" have exact integers of a kind?  False for RTSCAN_EXACT_DECIMAL, since only
 * the type numeric itself has exact integers of that kind.
 */
extern bool rtscan_exact_kind_fits(RtscanExactKind kind, int16 typlen, bool typbyval);

/* Are values of a kind floats? */
static inline bool
rtscan_exact_is_float(RtscanExactKind kind)
{
	return kind == RTSCAN_EXACT_FLOAT4 || kind == RTSCAN_EXACT_FLOAT8;
}

/* Turn the bits of a float8 into its exact integer, or the exact integer back into the bits. */
static inline int64
rtscan_turn_float8(int64 bits)
{
	return bits ^ ((bits >> 63) & PG_INT64_MAX);
}

/* Turn the bits of a float4 into its exact integer, or the exact integer back into the bits. */
static inline int32
rtscan_turn_float4(int32 bits)
{
	return bits ^ ((bits >> 31) & PG_INT32_MAX);
}

/* Return the float, as a double, of an exact integer of the kind FLOAT4 or FLOAT8. */
static inline double
rtscan_exact_double(RtscanExactKind kind, int64 exact)
{
	int64		bits = rtscan_turn_float8(exact);
	int32		bits4 = rtscan_turn_float4((int32) exact);
	double		value;
	float		value4;

	memcpy(&value, &bits, sizeof(value));
	memcpy(&value4, &bits4, sizeof(value4));
	return kind == RTSCAN_EXACT_FLOAT4 ? value4 : value;
}

/* Encode n values of any kind but DECIMAL. */
extern void rtscan_exact_encode(RtscanExactKind kind, const Datum *values, uint32 n, int64 *exact);

/* Decode n exact integers of any kind but DECIMAL. */
extern void rtscan_exact_decode(RtscanExactKind kind, const int64 *exact, uint32 n, Datum *values);

/* Decode n exact integers of the kind FLOAT4 or FLOAT8 as doubles.  Both arrays may be the same. */
extern void rtscan_exact_to_doubles(RtscanExactKind kind, const int64 *exact, uint32 n, double *values);

/* Can exact integers from "least" to "greatest" include a NaN?  False if the kind is not of floats. */
extern bool rtscan_exact_has_nan(RtscanExactKind kind, int64 least, int64 greatest);

#endif							/* RTSCAN_EXACT_H */
