/* SPDX-License-Identifier: PostgreSQL */
/*
 * keys.c
 *		Encode values as order-preserving 64-bit keys, and decode them.
 */
#include "row/keys.h"

#include <math.h>

#include "storage/itemptr.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/inet.h"

#define SIGN64	UINT64CONST(0x8000000000000000)

RtscanKeyKind
rtscan_key_kind(Oid comparison_function)
{
	switch (comparison_function)
	{
		case F_BTBOOLCMP:
			return RTSCAN_KEY_BOOL;
		case F_BTCHARCMP:
			return RTSCAN_KEY_CHAR;
		case F_BTINT2CMP:
			return RTSCAN_KEY_INT16;
		case F_BTINT4CMP:
		case F_DATE_CMP:
			return RTSCAN_KEY_INT32;
		case F_BTINT8CMP:
		case F_TIME_CMP:
		case F_TIMESTAMP_CMP:
		case F_TIMESTAMPTZ_CMP:
		case F_CASH_CMP:
			return RTSCAN_KEY_INT64;
		case F_BTOIDCMP:
			return RTSCAN_KEY_UINT32;
		case F_PG_LSN_CMP:
		case F_XID8CMP:
			return RTSCAN_KEY_UINT64;
		case F_BTFLOAT4CMP:
			return RTSCAN_KEY_FLOAT4;
		case F_BTFLOAT8CMP:
			return RTSCAN_KEY_FLOAT8;
		case F_MACADDR_CMP:
			return RTSCAN_KEY_MACADDR;
		case F_MACADDR8_CMP:
			return RTSCAN_KEY_MACADDR8;
		case F_BTTIDCMP:
			return RTSCAN_KEY_TID;
		default:
			return RTSCAN_KEY_NONE;
	}
}

RtscanKeyKind
rtscan_key_kind_beside(Oid comparison_function)
{
	switch (comparison_function)
	{
		case F_BTINT42CMP:
		case F_BTINT82CMP:
			return RTSCAN_KEY_INT16;
		case F_BTINT24CMP:
		case F_BTINT84CMP:
			return RTSCAN_KEY_INT32;
		case F_BTINT28CMP:
		case F_BTINT48CMP:
			return RTSCAN_KEY_INT64;
		case F_BTFLOAT84CMP:
			return RTSCAN_KEY_FLOAT4;
		case F_BTFLOAT48CMP:
			return RTSCAN_KEY_FLOAT8;
		default:
			return RTSCAN_KEY_NONE;
	}
}

/*
 * Return the key of a float8.  Positive floats sort as their bits do, negative floats in reverse.  -0 has the key of
 * 0.  All NaNs have the same key, which is greater than the keys of all other values.
 */
static uint64
encode_float8(float8 value)
{
	float8		canonical = isnan(value) ? get_float8_nan() : value + 0.0;
	uint64		bits;

	memcpy(&bits, &canonical, sizeof(bits));
	return (bits & SIGN64) ? ~bits : bits | SIGN64;
}

static float8
decode_float8(uint64 key)
{
	uint64		bits = (key & SIGN64) ? key & ~SIGN64 : ~key;
	float8		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64
encode_macaddr(const macaddr *value)
{
	return ((uint64) value->a << 40) | ((uint64) value->b << 32) | ((uint64) value->c << 24) |
		((uint64) value->d << 16) | ((uint64) value->e << 8) | (uint64) value->f;
}

static Datum
decode_macaddr(uint64 key)
{
	macaddr    *value = palloc(sizeof(macaddr));

	*value = (macaddr) {key >> 40, key >> 32, key >> 24, key >> 16, key >> 8, key};
	return MacaddrPGetDatum(value);
}

static uint64
encode_macaddr8(const macaddr8 *value)
{
	macaddr		front = {value->a, value->b, value->c, value->d, value->e, value->f};

	return (encode_macaddr(&front) << 16) | ((uint64) value->g << 8) | (uint64) value->h;
}

static Datum
decode_macaddr8(uint64 key)
{
	macaddr8   *value = palloc(sizeof(macaddr8));

	*value = (macaddr8) {key >> 56, key >> 48, key >> 40, key >> 32, key >> 24, key >> 16, key >> 8, key};
	return Macaddr8PGetDatum(value);
}

static uint64
encode_tid(ItemPointer value)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(value) << 16) |
		(uint64) ItemPointerGetOffsetNumberNoCheck(value);
}

static Datum
decode_tid(uint64 key)
{
	ItemPointer value = palloc(sizeof(ItemPointerData));

	ItemPointerSet(value, (BlockNumber) (key >> 16), (OffsetNumber) key);
	return PointerGetDatum(value);
}

uint64
rtscan_key_encode_other(RtscanKeyKind kind, Datum value)
{
	switch (kind)
	{
		case RTSCAN_KEY_BOOL:
			return DatumGetBool(value) ? 1 : 0;
		case RTSCAN_KEY_CHAR:
			return (uint8) DatumGetChar(value);
		case RTSCAN_KEY_UINT32:
			return DatumGetUInt32(value);
		case RTSCAN_KEY_UINT64:
			return DatumGetUInt64(value);
		case RTSCAN_KEY_FLOAT4:
			return encode_float8(DatumGetFloat4(value));
		case RTSCAN_KEY_FLOAT8:
			return encode_float8(DatumGetFloat8(value));
		case RTSCAN_KEY_MACADDR:
			return encode_macaddr(DatumGetMacaddrP(value));
		case RTSCAN_KEY_MACADDR8:
			return encode_macaddr8(DatumGetMacaddr8P(value));
		case RTSCAN_KEY_TID:
			return encode_tid((ItemPointer) DatumGetPointer(value));
		default:
			elog(ERROR, "values of key kind %d have no keys", kind);
	}
}

Datum
rtscan_key_decode(RtscanKeyKind kind, uint64 key)
{
	switch (kind)
	{
		case RTSCAN_KEY_BOOL:
			return BoolGetDatum(key != 0);
		case RTSCAN_KEY_CHAR:
			return CharGetDatum((char) key);
		case RTSCAN_KEY_INT16:
			return Int16GetDatum((int16) rtscan_integer_of_key(key));
		case RTSCAN_KEY_INT32:
			return Int32GetDatum((int32) rtscan_integer_of_key(key));
		case RTSCAN_KEY_INT64:
			return Int64GetDatum(rtscan_integer_of_key(key));
		case RTSCAN_KEY_UINT32:
			return UInt32GetDatum((uint32) key);
		case RTSCAN_KEY_UINT64:
			return UInt64GetDatum(key);
		case RTSCAN_KEY_FLOAT4:
			return Float4GetDatum((float4) decode_float8(key));
		case RTSCAN_KEY_FLOAT8:
			return Float8GetDatum(decode_float8(key));
		case RTSCAN_KEY_MACADDR:
			return decode_macaddr(key);
		case RTSCAN_KEY_MACADDR8:
			return decode_macaddr8(key);
		case RTSCAN_KEY_TID:
			return decode_tid(key);
		case RTSCAN_KEY_NONE:
			break;
	}
	elog(ERROR, "values of key kind %d have no keys", kind);
}

/* The two most frequent kinds have loops of their own, which do not call a function for each value. */
void
rtscan_key_encode_all(RtscanKeyKind kind, const Datum *values, uint32 n, uint64 *keys)
{
	if (kind == RTSCAN_KEY_INT32)
		for (uint32 i = 0; i < n; i++)
			keys[i] = rtscan_key_of_integer(DatumGetInt32(values[i]));
	else if (kind == RTSCAN_KEY_INT64)
		for (uint32 i = 0; i < n; i++)
			keys[i] = rtscan_key_of_integer(DatumGetInt64(values[i]));
	else
		for (uint32 i = 0; i < n; i++)
			keys[i] = rtscan_key_encode(kind, values[i]);
}

/* The kinds of signed integers have a loop of their own, which does not call a function for each value. */
void
rtscan_key_decode_all(RtscanKeyKind kind, const uint64 *keys, uint32 n, Datum *values)
{
	if (kind == RTSCAN_KEY_INT16 || kind == RTSCAN_KEY_INT32 || kind == RTSCAN_KEY_INT64)
		for (uint32 i = 0; i < n; i++)
			values[i] = (Datum) rtscan_integer_of_key(keys[i]);
	else
		for (uint32 i = 0; i < n; i++)
			values[i] = rtscan_key_decode(kind, keys[i]);
}
