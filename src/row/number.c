/* SPDX-License-Identifier: PostgreSQL */
/*
 * number.c
 *		Convert values of PostgreSQL's types to numbers, and numbers to values.
 */
#include "row/number.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "row/decimal.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* All integers from -EXACT_DOUBLES to EXACT_DOUBLES are exact as doubles. */
#define EXACT_DOUBLES	(INT64CONST(1) << DBL_MANT_DIG)

/* The size of a buffer for the text of a double, in bytes. */
#define NUMBER_SIZE		64

bool
rtscan_number_kind(Oid type, RtscanNumberKind *kind)
{
	switch (type)
	{
		case INT2OID:
			*kind = RTSCAN_NUMBER_INT16;
			return true;
		case INT4OID:
			*kind = RTSCAN_NUMBER_INT32;
			return true;
		case INT8OID:
			*kind = RTSCAN_NUMBER_INT64;
			return true;
		case DATEOID:
			*kind = RTSCAN_NUMBER_DATE;
			return true;
		case FLOAT4OID:
			*kind = RTSCAN_NUMBER_FLOAT4;
			return true;
		case FLOAT8OID:
			*kind = RTSCAN_NUMBER_FLOAT8;
			return true;
		case NUMERICOID:
			*kind = RTSCAN_NUMBER_NUMERIC;
			return true;
		default:
			return false;
	}
}

/* ---------------------------------------------------------------- values as numbers */

/* Return bounds of an exact number that has been rounded, once or twice, to the double "number". */
static RtscanBounds
around(double number)
{
	return (RtscanBounds) {
		.low = rtscan_just_below(rtscan_just_below(number)),
		.high = rtscan_just_above(rtscan_just_above(number)),
	};
}

static RtscanBounds
bounds_of_integer(int64 value)
{
	RtscanBounds bounds = around((double) value);

	if (value <= EXACT_DOUBLES && value >= -EXACT_DOUBLES)
		return (RtscanBounds) {.low = (double) value, .high = (double) value, .grid = 1};
	bounds.grid = 1;
	return bounds;
}

static RtscanBounds
bounds_of_decimal(int64 digits, int scale)
{
	return scale == 0 ? bounds_of_integer(digits) : around((double) digits / pow(10, scale));
}

static RtscanBounds
bounds_of_numeric(Datum value)
{
	RtscanDecimal decimal;
	double		number;

	if (rtscan_decimal_from_numeric(value, &decimal))
		return bounds_of_decimal(decimal.digits, decimal.scale);
	number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
	if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)))
		return rtscan_bounds_of(number);
	return isinf(number) ? rtscan_bounds_of_kind(RTSCAN_NUMBER_NUMERIC) : around(number);
}

static RtscanBounds
bounds_of_date(DateADT date)
{
	if (DATE_NOT_FINITE(date))
		return rtscan_bounds_of(DATE_IS_NOBEGIN(date) ? -INFINITY : INFINITY);
	return bounds_of_integer(date);
}

RtscanBounds
rtscan_bounds_of_value(RtscanNumberKind kind, Datum value)
{
	switch (kind)
	{
		case RTSCAN_NUMBER_INT16:
			return bounds_of_integer(DatumGetInt16(value));
		case RTSCAN_NUMBER_INT32:
			return bounds_of_integer(DatumGetInt32(value));
		case RTSCAN_NUMBER_INT64:
			return bounds_of_integer(DatumGetInt64(value));
		case RTSCAN_NUMBER_DATE:
			return bounds_of_date(DatumGetDateADT(value));
		case RTSCAN_NUMBER_FLOAT4:
			return rtscan_bounds_of(DatumGetFloat4(value));
		case RTSCAN_NUMBER_FLOAT8:
			return rtscan_bounds_of(DatumGetFloat8(value));
		default:
			return bounds_of_numeric(value);
	}
}

static RtscanBounds
bounds_of_one_exact(RtscanNumberKind kind, RtscanExactKind exact, int scale, int64 value)
{
	if (kind == RTSCAN_NUMBER_NUMERIC)
		return bounds_of_decimal(value, scale);
	if (kind == RTSCAN_NUMBER_DATE)
		return bounds_of_date((DateADT) value);
	return rtscan_number_is_float(kind) ? rtscan_bounds_of(rtscan_exact_double(exact, value))
		: bounds_of_integer(value);
}

RtscanBounds
rtscan_bounds_of_exact(RtscanNumberKind kind, RtscanExactKind exact, int scale, int64 least, int64 greatest)
{
	RtscanBounds low = bounds_of_one_exact(kind, exact, scale, least);
	RtscanBounds high = bounds_of_one_exact(kind, exact, scale, greatest);

	if (low.special != 0 || high.special != 0)
		return rtscan_bounds_of_kind(kind);
	if (rtscan_number_is_float(kind))
		low.grid = low.low > 0 || high.high < 0 ? rtscan_grid_of(kind, Min(fabs(low.low), fabs(high.high)))
			: rtscan_bounds_of_kind(kind).grid;
	low.high = high.high;
	return low;
}

/* ---------------------------------------------------------------- numbers as values */

static Datum
float4_of_number(double number, bool upwards)
{
	float		value = (float) number;

	if (upwards ? value < number : value > number)
		value = nextafterf(value, upwards ? INFINITY : -INFINITY);
	return Float4GetDatum(value);
}

/*
 * Print the number with 17 digits, which distinguish a double from the next one, and are exact for integers up to
 * EXACT_DOUBLES.  A number of greater magnitude, or one that is not an integer, is first moved by two doubles, upwards
 * or downwards, so that rounding to 17 digits does not move the result across the number.
 */
static Datum
numeric_of_number(double number, bool upwards)
{
	char		text[NUMBER_SIZE];

	if (isfinite(number) && (fabs(number) > EXACT_DOUBLES || number != floor(number)))
		number = upwards ? rtscan_just_above(rtscan_just_above(number)) : rtscan_just_below(rtscan_just_below(number));
	if (isinf(number))
		strlcpy(text, number > 0 ? "Infinity" : "-Infinity", sizeof(text));
	else
		snprintf(text, sizeof(text), "%.17g", number);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

static int64
integer_of_number(double number)
{
	return number >= 0x1p63 ? PG_INT64_MAX : number < -0x1p63 ? PG_INT64_MIN : (int64) number;
}

Datum
rtscan_value_of_number(RtscanNumberKind kind, double number, bool upwards)
{
	switch (kind)
	{
		case RTSCAN_NUMBER_INT16:
			return Int16GetDatum((int16) number);
		case RTSCAN_NUMBER_INT32:
			return Int32GetDatum((int32) number);
		case RTSCAN_NUMBER_INT64:
			return Int64GetDatum(integer_of_number(number));
		case RTSCAN_NUMBER_DATE:
			return DateADTGetDatum(!isinf(number) ? (DateADT) number : number > 0 ? DATEVAL_NOEND : DATEVAL_NOBEGIN);
		case RTSCAN_NUMBER_FLOAT4:
			return float4_of_number(number, upwards);
		case RTSCAN_NUMBER_FLOAT8:
			return Float8GetDatum(number);
		default:
			return numeric_of_number(number, upwards);
	}
}
