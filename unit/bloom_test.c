/* SPDX-License-Identifier: PostgreSQL */
/*
 * bloom_test.c
 *		Test that a Bloom filter never says that it lacks a key that was added, and rarely fails to say so of others.
 */
#include "unit.h"

#include "bits/bloom.h"

#define MOST_STEP	50			/* greatest step between keys, as a power of two */
#define KEYS	20000
#define OTHERS	20000

static RtscanBloom *
create_bloom(uint32 nwords)
{
	RtscanBloom *bloom = calloc(1, offsetof(RtscanBloom, words) + nwords * sizeof(uint64));

	bloom->nwords = nwords;
	return bloom;
}

/*
 * Keys of one kind: random, or in equal steps from a random first one.  Keys that were not added are between
 * the others and after them, or random.
 */
typedef struct Keys
{
	uint64		first;
	uint64		step;			/* 0: random keys */
} Keys;

static uint64
key_of(const Keys *keys, uint64 i)
{
	return keys->step > 0 ? keys->first + i * keys->step : unit_random();
}

static uint32
count_untold(const Keys *keys, uint32 keys_a_word)
{
	RtscanBloom *bloom = create_bloom(KEYS / keys_a_word + 1);
	uint64	   *added = malloc(KEYS * sizeof(uint64));
	uint32		untold = 0;

	for (uint32 i = 0; i < KEYS; i++)
	{
		added[i] = key_of(keys, 2 * (uint64) i);
		rtscan_bloom_add(bloom, added[i]);
	}
	for (uint32 i = 0; i < KEYS; i++)
		assert_false(rtscan_bloom_lacks(bloom, added[i]));
	for (uint32 i = 0; i < OTHERS; i++)
		untold += !rtscan_bloom_lacks(bloom, key_of(keys, 2 * (uint64) i + 1));
	free(added);
	free(bloom);
	return untold;
}

/* False positives must not be much more frequent than bloom.h says. */
static void
test_bloom(void **unused)
{
	for (int step = -1; step <= MOST_STEP; step++)
	{
		const Keys	keys = {unit_random(), step < 0 ? 0 : UINT64CONST(1) << step};

		assert_in_range(count_untold(&keys, 8), 0, OTHERS / 16);
		assert_in_range(count_untold(&keys, 16), 0, OTHERS / 5);
	}
}

/* A filter of one word accepts all keys, although it can hardly tell them apart. */
static void
test_one_word(void **unused)
{
	RtscanBloom *bloom = create_bloom(1);

	assert_true(rtscan_bloom_lacks(bloom, 0));
	for (int i = 0; i < 1000; i++)
	{
		uint64		key = unit_random();

		rtscan_bloom_add(bloom, key);
		assert_false(rtscan_bloom_lacks(bloom, key));
	}
	free(bloom);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bloom),
		cmocka_unit_test(test_one_word),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
