/* SPDX-License-Identifier: PostgreSQL */
/*
 * packed_test.c
 *		Test packed integers and other functions of vectors against their definitions; and exact integers of values.
 */
#include "unit.h"

#include "exact.h"
#include "packed.h"

#include <math.h>

#include "catalog/pg_type.h"

#define ROUNDS	30

static const uint32 widths[] = {1, 2, 4, 8, 16, 24, 32, 48, 56, 64};

static uint64
most_of(uint32 bits)
{
	return ~UINT64CONST(0) >> (64 - bits);
}

/* ---------------------------------------------------------------- packing */

static void
test_widths(void **state)
{
	assert_int_equal(rtscan_packed_bits(0), 0);
	for (size_t w = 0; w < lengthof(widths); w++)
	{
		assert_true(rtscan_can_pack(widths[w]));
		assert_int_equal(rtscan_packed_bits(most_of(widths[w])), widths[w]);
		if (widths[w] < 64)
			assert_int_equal(rtscan_packed_bits(most_of(widths[w]) + 1), widths[w + 1]);
		assert_int_equal(rtscan_packed_bytes(rtscan_packed_per_page(widths[w]), widths[w]), RTSCAN_CHUNK_BYTES);
		assert_int_equal(RTSCAN_CHUNK_ROWS % rtscan_packed_per_page(widths[w]), 0);
	}
	for (uint32 bits = 0; bits < 100; bits++)
		if (bits != 0 && rtscan_packed_bits(bits <= 64 ? most_of(bits) : 0) != bits)
			assert_false(rtscan_can_pack(bits));
}

/* A page of n elements, with the bytes after them that may be read. */
typedef struct Packed
{
	uint32		bits;
	uint32		n;
	uint64	   *elements;
	uint64		largest;
	char	   *page;
} Packed;

static Packed
random_page(uint32 bits)
{
	Packed		packed = {.bits = bits};
	uint32		per_page = rtscan_packed_per_page(bits);

	packed.n = unit_one_in(2) ? per_page : 1 + unit_below(per_page);
	packed.elements = malloc(packed.n * sizeof(uint64));
	packed.page = aligned_alloc(64, RTSCAN_CHUNK_BYTES + 64);
	memset(packed.page, 0, RTSCAN_CHUNK_BYTES);
	for (uint32 i = 0; i < packed.n; i++)
	{
		packed.elements[i] = unit_one_in(100) ? most_of(bits) : unit_bits(bits);
		packed.largest = Max(packed.largest, packed.elements[i]);
	}
	rtscan_pack(packed.elements, packed.n, bits, packed.page);
	return packed;
}

static void
free_page(Packed *packed)
{
	free(packed->elements);
	free(packed->page);
}

static void
check_all(const Packed *packed, int64 base)
{
	int64	   *values = malloc(packed->n * sizeof(int64));
	uint32	   *codes = malloc(packed->n * sizeof(uint32));

	assert_int_equal(rtscan_unpack(packed->page, packed->bits, packed->n, base, values), packed->largest);
	for (uint32 i = 0; i < packed->n; i++)
		assert_int_equal(values[i], (int64) ((uint64) base + packed->elements[i]));
	if (packed->bits <= 24)
	{
		assert_int_equal(rtscan_unpack_small(packed->page, packed->bits, packed->n, 7, codes), packed->largest);
		for (uint32 i = 0; i < packed->n; i++)
			assert_int_equal(codes[i], 7 + packed->elements[i]);
	}
	free(values);
	free(codes);
}

static void
check_rows(const Packed *packed, int64 base)
{
	uint32		first_row = unit_below(1000) * 64;
	uint32	   *rows = malloc(packed->n * sizeof(uint32));
	int64	   *values = malloc(packed->n * sizeof(int64));
	uint32	   *codes = malloc(packed->n * sizeof(uint32));
	uint32		dense = 1 + unit_below(20);
	uint32		n = 0;
	uint64		largest = 0;

	for (uint32 i = unit_below(dense); i < packed->n; i += 1 + unit_below(dense))
	{
		largest = Max(largest, packed->elements[i]);
		rows[n++] = first_row + i;
	}
	assert_int_equal(rtscan_unpack_rows(packed->page, packed->bits, first_row, rows, n, base, values), largest);
	for (uint32 i = 0; i < n; i++)
		assert_int_equal(values[i], (int64) ((uint64) base + packed->elements[rows[i] - first_row]));
	if (packed->bits <= 24)
	{
		assert_int_equal(rtscan_unpack_small_rows(packed->page, packed->bits, first_row, rows, n, 7, codes), largest);
		for (uint32 i = 0; i < n; i++)
			assert_int_equal(codes[i], 7 + packed->elements[rows[i] - first_row]);
	}
	free(rows);
	free(values);
	free(codes);
}

static void
test_unpack(void **state)
{
	for (size_t w = 0; w < lengthof(widths); w++)
		for (int round = 0; round < ROUNDS; round++)
		{
			Packed		packed = random_page(widths[w]);
			int64		base = (int64) unit_bits(64);

			check_all(&packed, base);
			check_rows(&packed, base);
			free_page(&packed);
		}
}

/* ---------------------------------------------------------------- NULLs */

static void
test_markers(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		uint32		n = 1 + unit_below(1000);
		int64		marker = (int64) unit_bits(64);
		int64	   *values = malloc(n * sizeof(int64));
		int64	   *again = malloc(n * sizeof(int64));
		int64	   *before = malloc(n * sizeof(int64));
		bool	   *marked = malloc(n);
		uint64	   *bits = malloc((n + 63) / 64 * sizeof(uint64));

		for (uint32 i = 0; i < n; i++)
			before[i] = values[i] = again[i] = unit_one_in(3) ? marker : (int64) unit_bits(64);
		rtscan_take_markers(values, n, marker, marked);
		rtscan_take_marker_bits(again, n, marker, bits);
		for (uint32 i = 0; i < n; i++)
		{
			assert_int_equal(marked[i], before[i] == marker);
			assert_int_equal((bits[i / 64] >> (i % 64)) & 1, before[i] == marker);
			assert_int_equal(values[i], before[i] == marker ? 0 : before[i]);
			assert_int_equal(again[i], values[i]);
		}
		assert_true(n % 64 == 0 || bits[n / 64] >> (n % 64) == 0);
		free(values);
		free(again);
		free(before);
		free(marked);
		free(bits);
	}
}

static void
test_codes(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		uint32		n = 1 + unit_below(1000);
		uint32	   *codes = malloc(n * sizeof(uint32));
		uint64	   *bits = malloc((n + 63) / 64 * sizeof(uint64));
		uint32		one = unit_below(5);

		for (uint32 i = 0; i < n; i++)
			codes[i] = unit_below(5);
		rtscan_find_code(codes, n, one, bits);
		rtscan_replace_code(codes, n, one, 99);
		for (uint32 i = 0; i < n; i++)
			assert_int_equal((bits[i / 64] >> (i % 64)) & 1, codes[i] == 99);
		assert_true(n % 64 == 0 || bits[n / 64] >> (n % 64) == 0);
		free(codes);
		free(bits);
	}
}

/* ---------------------------------------------------------------- exact integers */

/* Any bits are a value, which must come back as fetch_att() would return it. */
static void
test_exact(void **state)
{
	static const struct
	{
		Oid			type;
		int16		length;
	}			types[] = {{BOOLOID, 1}, {CHAROID, 1}, {INT2OID, 2}, {INT4OID, 4}, {DATEOID, 4}, {INT8OID, 8},
		{TIMESTAMPOID, 8},
		{OIDOID, 4}, {PG_LSNOID, 8}, {FLOAT4OID, 4}, {FLOAT8OID, 8}, {ANYENUMOID, 4}, {ANYELEMENTOID, 8},
		{ANYELEMENTOID, 2}};

	for (size_t t = 0; t < lengthof(types); t++)
	{
		bool		sorts;
		RtscanExactKind kind = rtscan_exact_kind(types[t].type, types[t].length, true, &sorts);

		assert_true(rtscan_exact_kind_fits(kind, types[t].length, true));
		assert_false(rtscan_exact_kind_fits(kind, types[t].length, false));
		assert_false(rtscan_exact_kind_fits(kind, types[t].length + 1, true));
		for (int i = 0; i < 1000; i++)
		{
			uint64		bits = unit_random();
			Datum		value = types[t].length == 1 ? CharGetDatum((char) bits) :
				types[t].length == 2 ? Int16GetDatum((int16) bits) :
				types[t].length == 4 ? Int32GetDatum((int32) bits) : (Datum) bits;
			Datum		again;
			int64		exact;

			rtscan_exact_encode(kind, &value, 1, &exact);
			rtscan_exact_decode(kind, &exact, 1, &again);
			assert_int_equal(again, value);
		}
	}
	assert_int_equal(rtscan_exact_kind(TEXTOID, -1, false, &(bool) {false}), RTSCAN_EXACT_NONE);
	assert_false(rtscan_exact_kind_fits(RTSCAN_EXACT_DECIMAL, -1, false));
	assert_false(rtscan_exact_kind_fits((RtscanExactKind) 200, 8, true));
}

static int64
exact_float(double value, bool narrow)
{
	Datum		datum = narrow ? Float4GetDatum((float) value) : Float8GetDatum(value);
	int64		exact;

	rtscan_exact_encode(narrow ? RTSCAN_EXACT_FLOAT4 : RTSCAN_EXACT_FLOAT8, &datum, 1, &exact);
	return exact;
}

static void
test_floats_ascend(void **state)
{
	static const double floats[] = {-INFINITY, -1e30, -1.5, -1e-30, -0.0, 0.0, 1e-30, 1.0, 1.5, 1e30, INFINITY, NAN};

	for (int narrow = 0; narrow < 2; narrow++)
	{
		RtscanExactKind kind = narrow ? RTSCAN_EXACT_FLOAT4 : RTSCAN_EXACT_FLOAT8;

		for (size_t i = 0; i < lengthof(floats); i++)
		{
			int64		exact = exact_float(floats[i], narrow);
			double		again;

			if (i > 0)
				assert_true(exact_float(floats[i - 1], narrow) < exact);
			rtscan_exact_to_doubles(kind, &exact, 1, &again);
			assert_true(isnan(floats[i]) ? isnan(again) : again == (narrow ? (float) floats[i] : floats[i]));
			assert_int_equal(rtscan_exact_has_nan(kind, exact_float(-1, narrow), exact), isnan(floats[i]));
		}
		assert_true(rtscan_exact_has_nan(kind, exact_float(-NAN, narrow), exact_float(1, narrow)));
		assert_int_equal(exact_float(0.0, narrow), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_unpack),
		cmocka_unit_test(test_markers),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_floats_ascend),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
