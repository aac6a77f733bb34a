/* SPDX-License-Identifier: PostgreSQL */
/*
 * masks_test.c
 *		Test aggregates of the elements whose bits are set against their definition; and lists of the positions of bits.
 */
#include "unit.h"

#include "gather.h"
#include "masks.h"

#define ROUNDS	300
#define MOST	1024

/* Elements of some width, or integers, with a bit each.  They lie at the end of their memory. */
typedef struct Masked
{
	uint32		n;
	uint64		bits[MOST / 64];
	char	   *memory;
	char	   *page;
	int64	   *integers;
} Masked;

static bool
is_set(const Masked *masked, uint32 i)
{
	return (masked->bits[i / 64] >> i % 64) & 1;
}

/* Make random elements of 8, 16 or 32 bits, or integers of 64 bits. */
static Masked
random_elements(uint32 width)
{
	Masked		masked = {.n = unit_below(MOST + 1)};
	Size		bytes = masked.n * width / 8;

	for (uint32 i = 0; i < MOST / 64; i++)
		masked.bits[i] = unit_one_in(4) ? 0 : unit_one_in(4) ? ~UINT64CONST(0) : unit_random();
	masked.page = masked.memory = malloc(Max(bytes, 1));
	masked.integers = (int64 *) masked.page;
	for (uint32 i = 0; i < masked.n; i++)
	{
		uint64		element = unit_random();

		memcpy(masked.page + i * width / 8, &element, width / 8);
	}
	return masked;
}

static void
test_integers(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		Masked		masked = random_elements(64);
		int64		least = PG_INT64_MAX;
		int64		greatest = PG_INT64_MIN;
		__int128	sum = 0;
		int64		upper;
		uint64		lower;

		for (uint32 i = 0; i < masked.n; i++)
			if (is_set(&masked, i))
			{
				sum += masked.integers[i];
				least = Min(least, masked.integers[i]);
				greatest = Max(greatest, masked.integers[i]);
			}
		rtscan_masked_sum(masked.integers, masked.bits, masked.n, &upper, &lower);
		assert_true(((__int128) upper << 32) + lower == sum);
		assert_true(rtscan_masked_outermost(masked.integers, masked.bits, masked.n, false) == least);
		assert_true(rtscan_masked_outermost(masked.integers, masked.bits, masked.n, true) == greatest);
		free(masked.memory);
	}
}

static void
check_packed(const Masked *masked, uint32 width)
{
	uint64		most = ~UINT64CONST(0) >> (64 - width);
	uint64		least = most;
	uint64		greatest = 0;
	uint64		largest = 0;
	uint64		sum = 0;
	uint64		found;

	for (uint32 i = 0; i < masked->n; i++)
	{
		uint64		element = 0;

		memcpy(&element, masked->page + i * width / 8, width / 8);
		largest = Max(largest, element);
		sum += is_set(masked, i) ? element : 0;
		least = is_set(masked, i) ? Min(least, element) : least;
		greatest = is_set(masked, i) ? Max(greatest, element) : greatest;
	}
	assert_true(rtscan_masked_packed_sum(masked->page, width, masked->bits, masked->n, &found) == largest);
	assert_true(found == sum);
	assert_true(rtscan_masked_packed_outermost(masked->page, width, masked->bits, masked->n, false, &found) == largest);
	assert_true(found == least);
	assert_true(rtscan_masked_packed_outermost(masked->page, width, masked->bits, masked->n, true, &found) == largest);
	assert_true(found == greatest);
}

static void
test_packed(void **state)
{
	for (uint32 width = 8; width <= 32; width *= 2)
		for (int round = 0; round < ROUNDS; round++)
		{
			Masked		masked = random_elements(width);

			assert_true(rtscan_can_mask_packed(width));
			check_packed(&masked, width);
			free(masked.memory);
		}
}

static void
test_bits(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		Masked		masked = random_elements(8);
		uint32		from = unit_below(masked.n + 1);
		uint32		n = masked.n - from;
		uint64	   *copy = malloc(MOST / 8);
		uint16		places[MOST];
		uint32		listed = rtscan_list_places(masked.bits, from, masked.n, places);
		uint32		count = 0;

		rtscan_copy_bits(masked.bits, from, n, copy);
		for (uint32 i = 0; i < n; i++)
		{
			assert_int_equal((copy[i / 64] >> i % 64) & 1, is_set(&masked, from + i));
			if (is_set(&masked, from + i))
				assert_int_equal(places[count++], from + i);
		}
		assert_int_equal(listed, count);
		assert_int_equal(rtscan_count_first(copy, n), count);
		free(copy);
		free(masked.memory);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_bits),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
