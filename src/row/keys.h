/*
 * keys.h
 *		Order-preserving 64-bit keys: unsigned integers that sort as the values do.
 *
 * A type has keys if its comparison function is on a list of functions whose order we
 * know; never because of its length or because it is passed by value: enums, unsigned
 * types, floats' -0 and NaN, and a user's operator class on int4 are the traps.
 */
#ifndef RTSCAN_KEYS_H
#define RTSCAN_KEYS_H

#include "postgres.h"

typedef enum RtscanKeyKind
{
	RTSCAN_KEY_NONE,			/* sorted by the comparison function */
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

/* The kind of keys for values compared by a function (support function 1), by its OID. */
extern RtscanKeyKind rtscan_key_kind(Oid comparison_function);

/*
 * Functions that compare one type with another whose values have the same keys as numbers of the first would: the kind of those;
 * NONE for others.
 */
extern RtscanKeyKind rtscan_key_kind_beside(Oid comparison_function);

/* Does rtscan_key_decode() give back any value's image?  Of floats there are -0, and NaNs with a payload. */
static inline bool
rtscan_key_tells_image(RtscanKeyKind kind)
{
	return kind != RTSCAN_KEY_NONE && kind != RTSCAN_KEY_FLOAT4 && kind != RTSCAN_KEY_FLOAT8;
}

/* The same of an integer of the kinds INT16, INT32 and INT64, and back. */
static inline uint64
rtscan_key_of_integer(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

static inline int64
rtscan_integer_of_key(uint64 key)
{
	return (int64) (key ^ (UINT64CONST(1) << 63));
}

/* The key of a value.  Two values have equal keys if and only if they are equal. */
extern uint64 rtscan_key_encode_other(RtscanKeyKind kind, Datum value);

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

/* The keys of so many values. */
extern void rtscan_key_encode_all(RtscanKeyKind kind, const Datum *values, uint32 n, uint64 *keys);

/* A value of a key; allocated in the current memory context where passed by reference. */
extern Datum rtscan_key_decode(RtscanKeyKind kind, uint64 key);
extern void rtscan_key_decode_all(RtscanKeyKind kind, const uint64 *keys, uint32 n, Datum *values);

#endif							/* RTSCAN_KEYS_H */
