/* SPDX-License-Identifier: PostgreSQL */
/*
 * gather_test.c
 *		Test gathering the row numbers of set bits: each implementation against a loop over bits.
 */
#include "unit.h"

#include "gather.h"

#define ROUNDS	300

/* Return random words.  Some are all zeros or all ones; in the others a random fraction of the bits is set. */
static uint64 *
random_words(void)
{
	uint64	   *words = calloc(RTSCAN_CHUNK_WORDS, sizeof(uint64));
	uint32		rare = 1 + unit_below(200);

	for (uint32 row = 0; row < RTSCAN_CHUNK_ROWS; row++)
		words[row / 64] |= (uint64) unit_one_in(rare) << row % 64;
	for (uint32 i = 0; i < RTSCAN_CHUNK_WORDS; i++)
		if (unit_one_in(8))
			words[i] = unit_one_in(2) ? 0 : ~UINT64CONST(0);
	return words;
}

static uint32
expected_rows(const uint64 *words, uint32 first_row, uint32 *rows)
{
	uint32		n = 0;

	for (uint32 row = 0; row < RTSCAN_CHUNK_ROWS; row++)
		if (words[row / 64] >> row % 64 & 1)
			rows[n++] = first_row + row;
	return n;
}

/* Gather in parts.  All parts but the last must fill the room they have. */
static void
test_gather_rows(void **unused)
{
	uint32	   *expected = malloc(RTSCAN_CHUNK_ROWS * sizeof(uint32));

	for (int round = 0; round < ROUNDS; round++)
	{
		uint64	   *words = random_words();
		uint32		first_row = unit_below(1000) * RTSCAN_CHUNK_ROWS;
		uint32		n = expected_rows(words, first_row, expected);
		uint32		limit = unit_one_in(3) ? 1 + unit_below(100) : 1 + unit_below(5000);
		uint32	   *rows = malloc(limit * sizeof(uint32));
		RtscanBitPlace place = {0, words[0]};
		uint32		found;

		for (uint32 from = 0; from < n; from += found)
		{
			found = rtscan_gather_rows(words, &place, first_row, rows, limit);
			assert_int_equal(found, Min(limit, n - from));
			assert_memory_equal(rows, expected + from, found * sizeof(uint32));
		}
		assert_int_equal(rtscan_gather_rows(words, &place, first_row, rows, limit), 0);
		free(rows);
		free(words);
	}
	free(expected);
}

static void
test_list_rows(void **unused)
{
	uint32	   *expected = malloc(RTSCAN_CHUNK_ROWS * sizeof(uint32));
	uint32	   *rows = malloc(RTSCAN_LIST_ROOM * sizeof(uint32));

	for (int round = 0; round < ROUNDS; round++)
	{
		uint64	   *words = random_words();
		uint32		n = expected_rows(words, round, expected);

		assert_int_equal(rtscan_list_rows(words, round, rows), n);
		assert_memory_equal(rows, expected, n * sizeof(uint32));
		free(words);
	}
	free(rows);
	free(expected);
}

static void
test_list_places(void **unused)
{
	uint32	   *expected = malloc(RTSCAN_CHUNK_ROWS * sizeof(uint32));
	uint16	   *places = malloc((RTSCAN_CHUNK_ROWS + 16) * sizeof(uint16));

	for (int round = 0; round < ROUNDS; round++)
	{
		uint64	   *words = random_words();
		uint32		from = unit_below(2000);
		uint32		end = from + unit_below(2000);
		uint32		n = expected_rows(words, 0, expected);
		uint32		first = rtscan_find_row(expected, 0, n, from);
		uint32		last = rtscan_find_row(expected, first, n, end);

		assert_int_equal(rtscan_list_places(words, from, end, places), last - first);
		for (uint32 i = first; i < last; i++)
			assert_int_equal(places[i - first], expected[i]);
		free(words);
	}
	free(places);
	free(expected);
}

static void
test_number_rows(void **unused)
{
	uint32		rows[100];

	for (uint32 n = 0; n <= lengthof(rows); n++)
	{
		uint32		first = unit_below(1000000);

		rtscan_number_rows(first, n, rows);
		for (uint32 i = 0; i < n; i++)
			assert_int_equal(rows[i], first + i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather_rows),
		cmocka_unit_test(test_list_rows),
		cmocka_unit_test(test_list_places),
		cmocka_unit_test(test_number_rows),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
