/* SPDX-License-Identifier: PostgreSQL */
/*
 * decimal.c
 *		Convert numerics to integers with a scale, and these integers back to numerics.
 */
#include "row/decimal.h"

#include "compat.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"

/* The format of numeric_send(), since a numeric's internal format is private to numeric.c. */
typedef struct NumericMessage
{
	uint16		ndigits;		/* number of elements of "digits" */
	uint16		weight;			/* exponent of the first digit, to the base BASE, as a signed integer */
	uint16		sign;			/* SIGN_POSITIVE, SIGN_NEGATIVE, or the code of NaN or an infinity */
	uint16		scale;			/* display scale */
	uint16		digits[FLEXIBLE_ARRAY_MEMBER];	/* digits in base 10,000 */
} NumericMessage;

#define BASE			10000
#define BASE_DIGITS		4
#define SIGN_POSITIVE	0x0000
#define SIGN_NEGATIVE	0x4000

static const int32 powers[BASE_DIGITS] = {1, 10, 100, 1000};

/* Append a digit to a value that is negative or zero: value = value * base - digit.  Returns false on overflow. */
static bool
append_digit(int64 *value, int32 base, int32 digit)
{
	return !pg_mul_s64_overflow(*value, base, value) && !pg_sub_s64_overflow(*value, digit, value);
}

/* Return digit i of the message, from 0; 0 if the message does not have it. */
static int32
digit_of(const NumericMessage *message, int i)
{
	return i >= 0 && i < pg_ntoh16(message->ndigits) ? pg_ntoh16(message->digits[i]) : 0;
}

/*
 * Set *value to the digits up to the display scale, as a negative integer: an int64 can represent one more negative
 * integer than positive ones.  Returns false if the digits do not fit, or if the numeric has digits beyond the display
 * scale.
 */
static bool
read_digits(const NumericMessage *message, int scale, int64 *value)
{
	int			whole = (int16) pg_ntoh16(message->weight) + 1 + scale / BASE_DIGITS;
	int32		power = powers[scale % BASE_DIGITS];
	int32		part = BASE / power;

	*value = 0;
	for (int i = 0; i < whole; i++)
		if (!append_digit(value, BASE, digit_of(message, i)))
			return false;
	return digit_of(message, whole) % part == 0 && pg_ntoh16(message->ndigits) <= Max(whole, 0) + 1 &&
		append_digit(value, power, digit_of(message, whole) / part);
}

bool
rtscan_decimal_from_numeric(Datum numeric, RtscanDecimal *decimal)
{
	Numeric		plain = DatumGetNumeric(numeric);
	bytea	   *bytes = DatumGetByteaP(DirectFunctionCall1(numeric_send, NumericGetDatum(plain)));
	NumericMessage *message = (NumericMessage *) VARDATA(bytes);
	uint16		sign = pg_ntoh16(message->sign);
	bool		fits = sign == SIGN_POSITIVE || sign == SIGN_NEGATIVE;

	decimal->scale = pg_ntoh16(message->scale);
	fits = fits && decimal->scale <= RTSCAN_MAX_SCALE && read_digits(message, decimal->scale, &decimal->digits);
	if (fits && sign == SIGN_POSITIVE)
		fits = !pg_sub_s64_overflow(0, decimal->digits, &decimal->digits);
	pfree(bytes);
	if ((Pointer) plain != DatumGetPointer(numeric))
		pfree(plain);
	return fits;
}

bool
rtscan_decimal_from_datum(Oid type, Datum value, RtscanDecimal *decimal)
{
	if (type == NUMERICOID)
		return rtscan_decimal_from_numeric(value, decimal);
	decimal->scale = 0;
	decimal->digits = type == INT2OID ? DatumGetInt16(value) : type == INT4OID ? DatumGetInt32(value)
		: DatumGetInt64(value);
	return true;
}

Datum
rtscan_numeric_from_decimal(RtscanDecimal decimal)
{
	return NumericGetDatum(int64_div_fast_to_numeric(decimal.digits, decimal.scale));
}
