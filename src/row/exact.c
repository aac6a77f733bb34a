/* SPDX-License-Identifier: PostgreSQL */
/*
 * exact.c
 *		Encode values as exact integers, and decode them.
 */
#include "row/exact.h"

#include <math.h>

#include "catalog/pg_type.h"

RtscanExactKind
rtscan_exact_kind(Oid type, int16 typlen, bool typbyval, bool *sorts)
{
	*sorts = true;
	switch (type)
	{
		case BOOLOID:
		case CHAROID:
			return RTSCAN_EXACT_BYTE;
		case INT2OID:
			return RTSCAN_EXACT_INT16;
		case INT4OID:
		case DATEOID:
			return RTSCAN_EXACT_INT32;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
			return RTSCAN_EXACT_INT64;
		case OIDOID:
			return RTSCAN_EXACT_UINT32;
		case PG_LSNOID:
		case XID8OID:
			return RTSCAN_EXACT_UINT64;
		case FLOAT4OID:
			return RTSCAN_EXACT_FLOAT4;
		case FLOAT8OID:
			return RTSCAN_EXACT_FLOAT8;
		case NUMERICOID:
			return RTSCAN_EXACT_DECIMAL;
	}
	*sorts = false;
	if (!typbyval)
		return RTSCAN_EXACT_NONE;
	return typlen == 1 ? RTSCAN_EXACT_BYTE : typlen == 2 ? RTSCAN_EXACT_INT16 :
		typlen == 4 ? RTSCAN_EXACT_INT32 : RTSCAN_EXACT_INT64;
}

bool
rtscan_exact_kind_fits(RtscanExactKind kind, int16 typlen, bool typbyval)
{
	static const int16 lengths[] = {
		[RTSCAN_EXACT_BYTE] = 1,
		[RTSCAN_EXACT_INT16] = 2,
		[RTSCAN_EXACT_INT32] = 4,
		[RTSCAN_EXACT_INT64] = 8,
		[RTSCAN_EXACT_UINT32] = 4,
		[RTSCAN_EXACT_UINT64] = 8,
		[RTSCAN_EXACT_FLOAT4] = 4,
		[RTSCAN_EXACT_FLOAT8] = 8,
	};

	return typbyval && kind > RTSCAN_EXACT_NONE && kind < RTSCAN_EXACT_DECIMAL && lengths[kind] == typlen;
}

/* Set to[i] for each of n elements.  This is a macro so that each kind has a loop of its own, without a branch. */
#define EACH(expression) \
	do { \
		for (uint32 i = 0; i < n; i++) \
			to[i] = (expression); \
	} while (0)

void
rtscan_exact_encode(RtscanExactKind kind, const Datum *values, uint32 n, int64 *exact)
{
	const Datum *from = values;
	int64	   *to = exact;

	switch (kind)
	{
		case RTSCAN_EXACT_BYTE:
			EACH((uint8) from[i]);
			break;
		case RTSCAN_EXACT_INT16:
			EACH((int16) from[i]);
			break;
		case RTSCAN_EXACT_INT32:
			EACH((int32) from[i]);
			break;
		case RTSCAN_EXACT_INT64:
			EACH((int64) from[i]);
			break;
		case RTSCAN_EXACT_UINT32:
			EACH((uint32) from[i]);
			break;
		case RTSCAN_EXACT_UINT64:
			EACH((int64) (from[i] ^ ((uint64) 1 << 63)));
			break;
		case RTSCAN_EXACT_FLOAT4:
			EACH(rtscan_turn_float4((int32) from[i]));
			break;
		case RTSCAN_EXACT_FLOAT8:
			EACH(rtscan_turn_float8((int64) from[i]));
			break;
		case RTSCAN_EXACT_NONE:
		case RTSCAN_EXACT_DECIMAL:
			elog(ERROR, "values of exact kind %d have no exact integers", kind);
	}
}

/* Each Datum is the same as the one that fetch_att() returns for the value. */
void
rtscan_exact_decode(RtscanExactKind kind, const int64 *exact, uint32 n, Datum *values)
{
	const int64 *from = exact;
	Datum	   *to = values;

	switch (kind)
	{
		case RTSCAN_EXACT_BYTE:
			EACH(CharGetDatum((char) from[i]));
			break;
		case RTSCAN_EXACT_INT16:
			EACH(Int16GetDatum((int16) from[i]));
			break;
		case RTSCAN_EXACT_INT32:
		case RTSCAN_EXACT_UINT32:
			EACH(Int32GetDatum((int32) from[i]));
			break;
		case RTSCAN_EXACT_INT64:
			EACH((Datum) from[i]);
			break;
		case RTSCAN_EXACT_UINT64:
			EACH((Datum) from[i] ^ ((uint64) 1 << 63));
			break;
		case RTSCAN_EXACT_FLOAT4:
			EACH(Int32GetDatum(rtscan_turn_float4((int32) from[i])));
			break;
		case RTSCAN_EXACT_FLOAT8:
			EACH((Datum) rtscan_turn_float8(from[i]));
			break;
		case RTSCAN_EXACT_NONE:
		case RTSCAN_EXACT_DECIMAL:
			elog(ERROR, "values of exact kind %d have no exact integers", kind);
	}
}

void
rtscan_exact_to_doubles(RtscanExactKind kind, const int64 *exact, uint32 n, double *values)
{
	const int64 *from = exact;
	double	   *to = values;

	if (kind == RTSCAN_EXACT_FLOAT4)
		EACH(rtscan_exact_double(RTSCAN_EXACT_FLOAT4, from[i]));
	else
		EACH(rtscan_exact_double(RTSCAN_EXACT_FLOAT8, from[i]));
}

bool
rtscan_exact_has_nan(RtscanExactKind kind, int64 least, int64 greatest)
{
	return rtscan_exact_is_float(kind) &&
		(isnan(rtscan_exact_double(kind, least)) || isnan(rtscan_exact_double(kind, greatest)));
}
