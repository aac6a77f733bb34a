/* SPDX-License-Identifier: PostgreSQL */
/*
 * bits_test.c
 *		Test the loops over a chunk's words against their definitions, bit by bit.
 */
#include "unit.h"

#include "bits.h"

#define WORDS	RTSCAN_CHUNK_WORDS
#define ROUNDS	50

/* Allocate words at an address that is or is not aligned to a cache line. */
static uint64 *
new_words(void)
{
	return (uint64 *) aligned_alloc(64, RTSCAN_CHUNK_BYTES + 64) + unit_below(2);
}

static void
free_words(uint64 *words)
{
	free((void *) ((uintptr_t) words & ~(uintptr_t) 63));
}

/* Return random words; some are all zeros or all ones. */
static uint64 *
random_words(void)
{
	uint64	   *words = new_words();

	for (int i = 0; i < WORDS; i++)
		words[i] = unit_one_in(4) ? 0 : unit_one_in(4) ? ~UINT64CONST(0) : unit_random();
	return words;
}

typedef struct Operands
{
	uint64	   *bits;
	uint64	   *before;			/* copy of bits */
	uint64	   *a[6];
} Operands;

static Operands
random_operands(void)
{
	Operands	operands;

	operands.bits = random_words();
	operands.before = new_words();
	memcpy(operands.before, operands.bits, RTSCAN_CHUNK_BYTES);
	for (size_t i = 0; i < lengthof(operands.a); i++)
		operands.a[i] = random_words();
	return operands;
}

static void
free_operands(Operands *operands)
{
	free_words(operands->bits);
	free_words(operands->before);
	for (size_t i = 0; i < lengthof(operands->a); i++)
		free_words(operands->a[i]);
}

static void
test_constant_pages(void **unused)
{
	for (int i = 0; i < WORDS; i++)
	{
		assert_int_equal(rtscan_zeros()[i], 0);
		assert_int_equal(rtscan_ones()[i], ~UINT64CONST(0));
	}
}

/* Call a loop, then compare each word with an expression of the words before the call. */
#define CHECK_LOOP(call, expected) \
	for (int round = 0; round < ROUNDS; round++) \
	{ \
		Operands	o = random_operands(); \
		\
		call; \
		for (int i = 0; i < WORDS; i++) \
			assert_int_equal(o.bits[i], expected); \
		free_operands(&o); \
	}

#define WORD(n)		o.a[n][i]
#define VECTOR(n)	(WORD(n) | (WORD((n) + 1) & WORD((n) + 2)))
#define PAGES(n)	&(RtscanVectorPages) {o.a[n], o.a[(n) + 1], o.a[(n) + 2]}

static void
test_words(void **unused)
{
	CHECK_LOOP(rtscan_and(o.bits, o.a[0]), o.before[i] & WORD(0));
	CHECK_LOOP(rtscan_and_not(o.bits, o.a[0]), o.before[i] & ~WORD(0));
	CHECK_LOOP(rtscan_or(o.bits, o.a[0]), o.before[i] | WORD(0));
}

static void
test_vectors(void **unused)
{
	CHECK_LOOP(rtscan_and_below(o.bits, PAGES(0)), o.before[i] & VECTOR(0));
	CHECK_LOOP(rtscan_and_between(o.bits, PAGES(3), PAGES(0)), o.before[i] & VECTOR(0) & ~VECTOR(3));
}

static void
test_popcount(void **unused)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		uint64	   *words = random_words();
		uint64		expected = 0;

		for (int bit = 0; bit < WORDS * 64; bit++)
			expected += (words[bit / 64] >> (bit % 64)) & 1;
		assert_int_equal(rtscan_popcount(words), expected);
		free_words(words);
	}
}

/* Return a random number of codes, often at the end of a word or chunk. */
static uint32
random_rows(void)
{
	uint32		n = unit_one_in(2) ? 1 + unit_below(200) : 1 + unit_below(RTSCAN_CHUNK_ROWS);

	return unit_one_in(3) ? Min((n + 63) / 64 * 64, RTSCAN_CHUNK_ROWS) : n;
}

/* Test codes of a width.  Only the codes' own bytes may be read; bits of rows after the last do not matter. */
static void
check_codes(int width)
{
	uint32		codes = 1u << (8 * width);
	uint32		n = random_rows();
	uint32		low = unit_one_in(4) ? 0 : unit_below(codes);
	uint32		high = unit_one_in(4) ? codes : low + 1 + unit_below(codes - low);
	uint8	   *bytes = malloc(n * width);
	Operands	o = random_operands();

	for (uint32 row = 0; row < n; row++)
	{
		uint32		code = unit_one_in(4) ? low + unit_below(3) - 1 :
			unit_one_in(4) ? high - unit_below(2) : unit_random();

		memcpy(bytes + row * width, &code, width);
	}
	if (width == 1)
		rtscan_and_codes8(o.bits, bytes, n, low, high);
	else
		rtscan_and_codes16(o.bits, (const uint16 *) bytes, n, low, high);
	for (uint32 row = 0; row < n; row++)
	{
		uint32		code = width == 1 ? bytes[row] : ((const uint16 *) bytes)[row];
		bool		before = (o.before[row / 64] >> (row % 64)) & 1;

		assert_int_equal((o.bits[row / 64] >> (row % 64)) & 1, before && code >= low && code < high);
	}
	for (uint32 w = (n + 63) / 64; w < WORDS; w++)
		assert_int_equal(o.bits[w], o.before[w]);
	free(bytes);
	free_operands(&o);
}

static void
test_codes(void **unused)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		check_codes(1);
		check_codes(2);
	}
}

static void
test_mask_word(void **unused)
{
	for (int round = 0; round < 10000; round++)
	{
		uint64		word = unit_random();
		uint32		base = unit_below(100) * 64;
		uint32		first = base + unit_below(64) - (base > 0 ? unit_below(64) : 0);
		uint32		last = Max(first, base) + 1 + unit_below(unit_one_in(2) ? 64 : 128);
		uint64		expected = 0;

		for (uint32 bit = 0; bit < 64; bit++)
			if (base + bit >= first && base + bit < last)
				expected |= word & (UINT64CONST(1) << bit);
		if (first < base + 64)
			assert_int_equal(rtscan_mask_word(word, base, first, last), expected);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant_pages),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_popcount),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_mask_word),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
