/* SPDX-License-Identifier: PostgreSQL */
/*
 * keys.h
 *		Order-preserving 64-bit keys: unsigned integers that sort as the values do.
 *
 * Values have keys if the comparison function of their operator class is listed in rtscan_key_kind().  The length of a
 * type, and whether it is passed by value, do not tell how its values sort: enums, unsigned types, -0 and NaN of
 * floats, and int4 with a user's operator class would all be sorted wrongly.
 */
#ifndef RTSCAN_KEYS_H
#define RTSCAN_KEYS_H

#include "postgres.h"

/* The encodings of values as keys. */
typedef enum RtscanKeyKind
{
	RTSCAN_KEY_NONE,			/* no keys: the comparison function sorts the values */
	RTSCAN_KEY_BOOL,
	RTSCAN_KEY_CHAR,
	RTSCAN_KEY_INT16,
	RTSCAN_KEY_INT32,			/* int4, date */
	RTSCAN_KEY_INT64,			/* int8, time, timestamp, timestamptz, money */
	RTSCAN_KEY_UINT32,			/* oid */
	RTSCAN_KEY_UINT64,			/* pg_lsn, xid8 */
	RTSCAN_KEY_FLOAT4,
	RTSCAN_KEY_FLOAT8,
	RTSCAN_KEY_MACADDR,
	RTSCAN_KEY_MACADDR8,
	RTSCAN_KEY_TID
} RtscanKeyKind;

/*
 * Return the kind of keys of values that a comparison function (support function 1) compares, or RTSCAN_KEY_NONE if
 * the values have no keys.
 */
extern RtscanKeyKind rtscan_key_kind(Oid comparison_function);

/*
 * Return the kind of keys of the second argument of a function that compares values of two types, if values of both
 * types have equal keys when they are equal.  Returns RTSCAN_KEY_NONE for other functions.
 */
extern RtscanKeyKind rtscan_key_kind_beside(Oid comparison_function);

/*
 * Does rtscan_key_decode() restore every value bit for bit?  Not for floats: -0 becomes 0, and a NaN loses its sign
 * and payload.
 */
static inline bool
rtscan_key_tells_image(RtscanKeyKind kind)
{
	return kind != RTSCAN_KEY_NONE && kind != RTSCAN_KEY_FLOAT4 && kind != RTSCAN_KEY_FLOAT8;
}

/* Return the key of an integer of the kind INT16, INT32 or INT64. */
static inline uint64
rtscan_key_of_integer(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

/* Return the integer of a key of the kind INT16, INT32 or INT64. */
static inline int64
rtscan_integer_of_key(uint64 key)
{
	return (int64) (key ^ (UINT64CONST(1) << 63));
}

/* Return the key of a value of any kind except INT16, INT32 and INT64; called by rtscan_key_encode(). */
extern uint64 rtscan_key_encode_other(RtscanKeyKind kind, Datum value);

/* Return the key of a value.  Two values have equal keys if and only if they are equal. */
static inline uint64
rtscan_key_encode(RtscanKeyKind kind, Datum value)
{
	switch (kind)
	{
		case RTSCAN_KEY_INT16:
			return rtscan_key_of_integer(DatumGetInt16(value));
		case RTSCAN_KEY_INT32:
			return rtscan_key_of_integer(DatumGetInt32(value));
		case RTSCAN_KEY_INT64:
			return rtscan_key_of_integer(DatumGetInt64(value));
		default:
			return rtscan_key_encode_other(kind, value);
	}
}

/* Encode n values. */
extern void rtscan_key_encode_all(RtscanKeyKind kind, const Datum *values, uint32 n, uint64 *keys);

/* Return the value of a key, allocated in the current memory context if its type is passed by reference. */
extern Datum rtscan_key_decode(RtscanKeyKind kind, uint64 key);

/* Decode n keys, as rtscan_key_decode() does. */
extern void rtscan_key_decode_all(RtscanKeyKind kind, const uint64 *keys, uint32 n, Datum *values);

#endif							/* RTSCAN_KEYS_H */
