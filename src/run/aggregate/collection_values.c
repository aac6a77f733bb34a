/* SPDX-License-Identifier: PostgreSQL */
/*
 * collection_values.c
 *		Turn values into the keys of collections, and back.
 */
#include "run/aggregate/collection_parts.h"

#include <float.h>

#include "catalog/pg_type.h"
#include "row/decimal.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#define SIGN_BIT		(UINT64CONST(1) << 63)
#define MINUS_INFINITY8	((int64) UINT64CONST(0xFFF0000000000000))
#define INFINITY8		INT64CONST(0x7FF0000000000000)
#define MINUS_INFINITY4	((int32) 0xFF800000U)
#define INFINITY4		0x7F800000

/* Powers of ten that are exact. */
static const float8 powers_of_ten[DBL_DIG + 1] = {
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
};

/* The key of a numeric NaN.  No other numeric has a key as large. */
#define NUMERIC_NAN		PG_INT64_MAX

/* Return the precision of numerics with a type modifier, as numeric.c writes it. */
static int
precision_of(int32 typmod)
{
	return (typmod - VARHDRSZ) >> 16 & 0xFFFF;
}

bool
rtscan_can_collect(Oid type, int32 typmod, int *scale)
{
	int			precision = precision_of(typmod);
	bool		sorts;

	*scale = 0;
	if (type != NUMERICOID)
		return rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts) != RTSCAN_EXACT_NONE && sorts;
	/* The type modifier has the scale as numeric.c writes it. */
	*scale = (((typmod - VARHDRSZ) & 0x7FF) ^ 1024) - 1024;
	return typmod >= (int32) VARHDRSZ && *scale >= 0 && *scale <= precision && precision <= RTSCAN_MAX_SCALE;
}

bool
rtscan_numeric_tells_float(int32 typmod)
{
	int			scale;

	return rtscan_can_collect(NUMERICOID, typmod, &scale) && precision_of(typmod) <= DBL_DIG;
}

/*
 * Shift the exact integer of a float so that minus infinity has the least key.  NaNs whose sign bit is set have exact
 * integers below that of minus infinity; when they are shifted, they wrap around to the greatest keys.
 */
static int64
key_of_float(RtscanExactKind kind, int64 exact)
{
	if (kind == RTSCAN_EXACT_FLOAT4)
		return (int64) ((uint32) exact - (uint32) rtscan_turn_float4(MINUS_INFINITY4));
	return (int64) (((uint64) exact - (uint64) rtscan_turn_float8(MINUS_INFINITY8)) ^ SIGN_BIT);
}

void
rtscan_find_float_keys(RtscanCollecting *collecting)
{
	bool		is_float4 = collecting->kind == RTSCAN_EXACT_FLOAT4;

	collecting->zero = key_of_float(collecting->kind, 0);
	collecting->infinity = key_of_float(collecting->kind, is_float4 ? INFINITY4 : INFINITY8);
}

static int64
exact_of_float(RtscanExactKind kind, int64 key)
{
	if (kind == RTSCAN_EXACT_FLOAT4)
		return (int32) ((uint32) key + (uint32) rtscan_turn_float4(MINUS_INFINITY4));
	return (int64) (((uint64) key ^ SIGN_BIT) + (uint64) rtscan_turn_float8(MINUS_INFINITY8));
}

static int64
key_of_numeric(const RtscanCollecting *collecting, Datum value)
{
	RtscanDecimal decimal;

	if (rtscan_decimal_from_numeric(value, &decimal) && decimal.scale == collecting->how.scale &&
		decimal.digits != NUMERIC_NAN)
		return decimal.digits;
	if (!numeric_is_nan(DatumGetNumeric(value)))
		elog(ERROR, "a numeric does not have the scale %d of its column", collecting->how.scale);
	return NUMERIC_NAN;
}

int64
rtscan_key_of(const RtscanCollecting *collecting, Datum value)
{
	int64		exact;

	if (collecting->kind == RTSCAN_EXACT_DECIMAL)
		return key_of_numeric(collecting, value);
	rtscan_exact_encode(collecting->kind, &value, 1, &exact);
	return collecting->floats ? key_of_float(collecting->kind, exact) : exact;
}

Datum
rtscan_key_value(const RtscanCollecting *collecting, int64 key)
{
	int64		exact = collecting->floats ? exact_of_float(collecting->kind, key) : key;
	Datum		value;

	if (collecting->kind != RTSCAN_EXACT_DECIMAL)
		rtscan_exact_decode(collecting->kind, &exact, 1, &value);
	else if (key == NUMERIC_NAN)
		value = DirectFunctionCall1(float8_numeric, Float8GetDatum(get_float8_nan()));
	else
		value = rtscan_numeric_from_decimal((RtscanDecimal) {key, collecting->how.scale});
	return value;
}

float8
rtscan_key_float(const RtscanCollecting *collecting, int64 key)
{
	if (collecting->floats)
		return rtscan_exact_double(collecting->kind, exact_of_float(collecting->kind, key));
	if (collecting->kind != RTSCAN_EXACT_DECIMAL)
		return (float8) key;
	if (key == NUMERIC_NAN)
		return get_float8_nan();
	/* Both numbers are exact, so the quotient is the float8 next to the numeric. */
	return (float8) key / powers_of_ten[collecting->how.scale];
}
