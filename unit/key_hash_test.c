/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_hash_test.c
 *		Test that keys that differ in a few bits, at any position, are spread over a hash table like random keys.
 */
#include "unit.h"

#include "bits/key_hash.h"

#define KEY_BITS	14			/* number of bits in which keys differ */
#define KEYS		(1 << KEY_BITS)
#define BUCKETS		KEYS

/* Return the number of buckets without keys, if the bucket is KEY_BITS bits of the hash, from bit from on. */
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

/* With random keys a fraction 1/e of the buckets is empty, with a deviation of about 0.003. */
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
