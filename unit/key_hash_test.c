/*
 * key_hash_test.c
 *		Keys that differ in few bits, wherever these are, are spread over a hash table as random ones are.
 */
#include "unit.h"

#include "bits/key_hash.h"

#define KEY_BITS	14			/* in which keys differ */
#define KEYS		(1 << KEY_BITS)
#define BUCKETS		KEYS

/* How many buckets no key falls into, by so many bits of the hash from one on. */
static uint32
count_empty(uint64 first, int shift, int from)
{
	static bool used[BUCKETS];
	uint32		empty = 0;

	memset(used, 0, sizeof(used));
	for (uint64 i = 0; i < KEYS; i++)
		used[(rtscan_hash_key(first + (i << shift)) >> from) % BUCKETS] = true;
	for (int bucket = 0; bucket < BUCKETS; bucket++)
		empty += !used[bucket];
	return empty;
}

/* Of random keys 1/e of the buckets stay empty; the deviation is some 0.003 of them. */
static void
test_spread(void **unused)
{
	for (int shift = 0; shift <= 64 - KEY_BITS; shift++)
		for (int from = 0; from <= 64 - KEY_BITS; from++)
			assert_in_range(count_empty(unit_random(), shift, from), BUCKETS * 0.33, BUCKETS * 0.41);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
