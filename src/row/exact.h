/*
 * exact.h
 *		Values as 64-bit integers from which they can be made again to the bit.
 *
 * Unlike keys (keys.h), which equal values share, they tell -0 from 0, and NaNs by their payloads.  They sort as values
 * of the types named below do; of other types passed by value, enums say, they only tell one from another.  Floats'
 * are their bits, turned so that they ascend: NaNs with a sign come first, others last.  A numeric's are those of
 * decimal.h.
 */
#ifndef RTSCAN_EXACT_H
#define RTSCAN_EXACT_H

#include "postgres.h"

#include <limits.h>

/* Numbers are on disk. */
typedef enum RtscanExactKind
{
	RTSCAN_EXACT_NONE,
	RTSCAN_EXACT_BYTE,			/* bool, "char" */
	RTSCAN_EXACT_INT16,
	RTSCAN_EXACT_INT32,			/* int4, date */
	RTSCAN_EXACT_INT64,			/* int8, time, timestamp, timestamptz, money */
	RTSCAN_EXACT_UINT32,		/* oid */
	RTSCAN_EXACT_UINT64,		/* pg_lsn, xid8: less 2^63 */
	RTSCAN_EXACT_FLOAT4,
	RTSCAN_EXACT_FLOAT8,
	RTSCAN_EXACT_DECIMAL		/* numeric: 10^scale times the value */
} RtscanExactKind;

/* The kind for values of a base type, NONE if there is none; do the integers sort as the values do? */
extern RtscanExactKind rtscan_exact_kind(Oid type, int16 typlen, bool typbyval, bool *sorts);

/* May values of so many bytes, passed by value or not, be integers of a kind?  (Numerics are nobody's but their type's.) */
extern bool rtscan_exact_kind_fits(RtscanExactKind kind, int16 typlen, bool typbyval);

/* The bits of floats so that they ascend, and back. */
static inline int64
rtscan_turn_float8(int64 bits)
{
	return bits ^ ((bits >> 63) & PG_INT64_MAX);
}

static inline int32
rtscan_turn_float4(int32 bits)
{
	return bits ^ ((bits >> 31) & PG_INT32_MAX);
}

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

/* Of n values; not of numerics. */
extern void rtscan_exact_encode(RtscanExactKind kind, const Datum *values, uint32 n, int64 *exact);
extern void rtscan_exact_decode(RtscanExactKind kind, const int64 *exact, uint32 n, Datum *values);

/* Of n floats: the values; in place, if the arrays are one. */
extern void rtscan_exact_to_doubles(RtscanExactKind kind, const int64 *exact, uint32 n, double *values);

/* May there be a NaN from one exact integer of floats to another? */
extern bool rtscan_exact_has_nan(RtscanExactKind kind, int64 least, int64 greatest);

#endif							/* RTSCAN_EXACT_H */
