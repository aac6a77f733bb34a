/* SPDX-License-Identifier: PostgreSQL */
/*
 * decimal_test.c
 *		Test numerics as integers: any numeric, in the formats of tables and of numeric_send(), against 128-bit
 *		arithmetic.
 */
#include "unit.h"

#include "decimal.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"

#define BASE			10000
#define BASE_DIGITS		4
#define MOST_SCALE		(RTSCAN_MAX_SCALE + 4)
#define MOST_PLACES		12		/* base-10000 digits before the point, and after it */
#define SIGN_NEGATIVE	0x4000
#define SIGN_NAN		0xC000
#define SIGN_INFINITE	0xD000

typedef __int128 int128_t;

static Datum make_stored(uint16 sign, int weight, int scale, int ndigits, const int *digits);

static RtscanDecimal converted;

Numeric
int64_div_fast_to_numeric(int64 val1, int log10val2)
{
	converted = (RtscanDecimal) {val1, log10val2};
	return (Numeric) &converted;
}

/* The parts of the numeric that was made last, for numeric_send(). */
typedef struct Made
{
	uint16		head[4];		/* number of digits, weight, sign, scale */
	uint16		digits[MOST_PLACES];
} Made;

static Made made;

/* Whether the format is that of tables is tried with zeros only. */
Datum
numeric_in(PG_FUNCTION_ARGS)
{
	return make_stored(0, 0, 0, 0, NULL);
}

Datum
numeric_send(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(Made));
	uint16	   *words = (uint16 *) VARDATA(bytes);

	SET_VARSIZE(bytes, VARHDRSZ + sizeof(made.head) + made.head[0] * sizeof(uint16));
	for (int i = 0; i < 4; i++)
		words[i] = pg_hton16(made.head[i]);
	for (int i = 0; i < made.head[0]; i++)
		words[4 + i] = pg_hton16(made.digits[i]);
	return PointerGetDatum(bytes);
}

/* Make a numeric as tables have them: with a header of one or four bytes, and one of numerics that is short or long. */
static Datum
make_stored(uint16 sign, int weight, int scale, int ndigits, const int *digits)
{
	bool		is_short = sign <= SIGN_NEGATIVE && scale <= 63 && weight >= -64 && weight <= 63 && unit_one_in(2);
	uint16		words[2 + MOST_PLACES];
	int			n = 0;
	bool		has_byte = unit_one_in(2);
	Size		size;
	char	   *bytes = palloc(VARHDRSZ + sizeof(words));

	made = (Made) {{ndigits, (uint16) weight, sign, scale}, {0}};
	if (is_short)
		words[n++] = 0x8000 | (sign == SIGN_NEGATIVE ? 0x2000 : 0) | scale << 7 | (weight & 0x7F);
	else
	{
		words[n++] = sign | (sign <= SIGN_NEGATIVE ? scale : 0);
		words[n++] = (uint16) weight;
	}
	for (int i = 0; i < ndigits; i++)
		words[n++] = made.digits[i] = digits[i];
	size = n * sizeof(uint16);
	if (has_byte)
		SET_VARSIZE_SHORT(bytes, VARHDRSZ_SHORT + size);
	else
		SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(bytes + (has_byte ? VARHDRSZ_SHORT : VARHDRSZ), words, size);
	return PointerGetDatum(bytes);
}

static int128_t
power_of_ten(int n)
{
	int128_t	power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* Make the numeric magnitude / 10^scale.  As in PostgreSQL, its base-10000 digits have no zeros at either end. */
static Datum
make_numeric(bool negative, int128_t magnitude, int scale)
{
	int			places = (scale + BASE_DIGITS - 1) / BASE_DIGITS;
	int			digits[MOST_PLACES];
	int			first = 0,
				end = MOST_PLACES;
	int128_t	left = magnitude * power_of_ten(places * BASE_DIGITS - scale);

	for (int i = MOST_PLACES - 1; i >= 0; i--, left /= BASE)
		digits[i] = left % BASE;
	while (first < end && digits[first] == 0)
		first++;
	while (end > first && digits[end - 1] == 0)
		end--;
	return make_stored(negative && magnitude != 0 ? SIGN_NEGATIVE : 0,
					   first == end ? 0 : MOST_PLACES - places - 1 - first, scale, end - first, digits + first);
}

/* Return a random magnitude, often near the limits of int64. */
static int128_t
random_magnitude(void)
{
	if (unit_one_in(4))
		return (int128_t) PG_INT64_MAX - 2 + unit_below(5);
	if (unit_one_in(8))
		return power_of_ten(unit_below(22));
	return (int128_t) unit_bits(64) * (unit_one_in(4) ? unit_bits(10) : 1);
}

static void
test_numerics(void **unused)
{
	for (int round = 0; round < 200000; round++)
	{
		int			scale = unit_below(MOST_SCALE + 1);
		bool		negative = unit_one_in(2);
		int128_t	magnitude = random_magnitude();
		int128_t	value = negative ? -magnitude : magnitude;
		Datum		datum = make_numeric(negative, magnitude, scale);
		bool		fits = scale <= RTSCAN_MAX_SCALE && value >= PG_INT64_MIN && value <= PG_INT64_MAX;
		RtscanDecimal decimal;

		assert_int_equal(rtscan_decimal_from_numeric(datum, &decimal), fits);
		if (fits)
		{
			assert_int_equal(decimal.digits, (int64) value);
			assert_int_equal(decimal.scale, scale);
			(void) rtscan_numeric_from_decimal(decimal);
			assert_memory_equal(&converted.digits, &decimal.digits, sizeof(int64));
			assert_int_equal(converted.scale, scale);
		}
		pfree(DatumGetPointer(datum));
	}
}

static void
test_no_numbers(void **unused)
{
	RtscanDecimal decimal;

	assert_false(rtscan_decimal_from_numeric(make_stored(SIGN_NAN, 0, 0, 0, NULL), &decimal));
	assert_false(rtscan_decimal_from_numeric(make_stored(SIGN_INFINITE, 0, 0, 0, NULL), &decimal));
}

/* Test weights that do not fit in 64 bits. */
static void
test_far_digits(void **unused)
{
	const int	one[] = {1};
	RtscanDecimal decimal;

	assert_false(rtscan_decimal_from_numeric(make_stored(0, 5, 0, 1, one), &decimal));
	assert_false(rtscan_decimal_from_numeric(make_stored(0, 4000, 2, 1, one), &decimal));
}

/* Test more digits than the scale shows, which PostgreSQL does not produce. */
static void
test_hidden_digits(void **unused)
{
	const int	five_hundredths[] = {500};
	RtscanDecimal decimal;

	assert_true(rtscan_decimal_from_numeric(make_stored(0, -1, 2, 1, five_hundredths), &decimal));
	assert_int_equal(decimal.digits, 5);
	assert_false(rtscan_decimal_from_numeric(make_stored(0, -1, 1, 1, five_hundredths), &decimal));
}

static void
test_integers(void **unused)
{
	RtscanDecimal decimal;

	for (int round = 0; round < 1000; round++)
	{
		int64		value = unit_random();

		assert_true(rtscan_decimal_from_datum(INT8OID, Int64GetDatum(value), &decimal));
		assert_int_equal(decimal.digits, value);
		assert_true(rtscan_decimal_from_datum(INT4OID, Int32GetDatum((int32) value), &decimal));
		assert_int_equal(decimal.digits, (int32) value);
		assert_true(rtscan_decimal_from_datum(INT2OID, Int16GetDatum((int16) value), &decimal));
		assert_int_equal(decimal.digits, (int16) value);
		assert_int_equal(decimal.scale, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numerics),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_far_digits),
		cmocka_unit_test(test_hidden_digits),
		cmocka_unit_test(test_integers),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
