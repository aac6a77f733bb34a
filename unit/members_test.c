/* SPDX-License-Identifier: PostgreSQL */
/*
 * members_test.c
 *		Test which rows of chunks have integers in a set, against the definition: random frames and sets, all
 *		rows and some.
 *
 * On damaged pages the result is an error or any rows.
 */
#include "unit.h"

#include "members.h"

#define ROUNDS		120
#define MOST_ROWS	(2 * RTSCAN_CHUNK_ROWS)
#define MOST_SPANS	3000

static uint32 rows;
static int64 values[MOST_ROWS];
static uint64 nulls[MOST_ROWS / 64 + 1];
static RtscanFrame frames[2];
static uint32 first_pages[2];
static RtscanFrames stored;
static RtscanSegment segment;
static RtscanReader reader;
static RtscanIntegerSet set;

static bool
is_null(uint32 row)
{
	return (nulls[row / 64] >> (row % 64)) & 1;
}

/* Make random frames, with elements of any width, far from zero or not. */
static void
random_rows(void)
{
	int			bits = unit_below(65);
	uint64		base = unit_one_in(2) ? 0 : unit_random();
	uint32		null = unit_one_in(2) ? 0 : 1 + unit_below(20);

	rows = unit_one_in(3) ? 1 + unit_below(3000) : unit_one_in(2) ? MOST_ROWS - unit_below(100) : RTSCAN_CHUNK_ROWS;
	memset(nulls, 0, sizeof(nulls));
	for (uint32 row = 0; row < rows; row++)
	{
		values[row] = (int64) (base + (unit_random() & (bits == 0 ? 0 : ~UINT64CONST(0) >> (64 - bits))));
		if (bits == 64)
			values[row] /= 2;
		if (null > 0 && unit_one_in(null))
			nulls[row / 64] |= UINT64CONST(1) << (row % 64);
	}
}

static void
write_rows(void)
{
	RtscanAreaWriter *writer = unit_area_writer();
	RtscanIntegers integers = rtscan_integers_in_array(values, nulls, rows);
	uint32		pages;

	assert_true(rtscan_find_frames(&integers, frames));
	stored = (RtscanFrames) {.area = rtscan_write_frames(writer, frames, &integers), .frames = frames,
		.pages = first_pages};
	assert_true(rtscan_frames_are_sane(frames, rows, first_pages, &pages));
	segment = (RtscanSegment) {.chunks = rtscan_chunks(rows)};
	reader = unit_reader(writer, &segment);
	segment.header.rows = rows;
}

static int
compare_spans(const void *a, const void *b)
{
	int64		left = ((const RtscanSpan *) a)->first,
				right = ((const RtscanSpan *) b)->first;

	return left < right ? -1 : left > right;
}

/*
 * Make a random set: of existing values, their neighbours, and random ones; or of values close to each other
 * and to one that may exist.
 */
static void
random_set(void)
{
	RtscanSpan	spans[MOST_SPANS];
	uint32		n = unit_one_in(3) ? unit_below(3) : unit_below(MOST_SPANS);
	uint32		width = unit_bits(20);
	bool		close = unit_one_in(4);
	int64		around = values[unit_below(rows)];

	for (uint32 i = 0; i < n; i++)
	{
		int64		first = close ? Min(around, PG_INT64_MAX - MOST_SPANS * 32) + unit_below(n * 32) :
			unit_one_in(10) ? (int64) unit_random() : values[unit_below(rows)];
		uint64		reach = unit_one_in(2) ? 0 : unit_below(close ? 20 : width + 1);

		spans[i] = (RtscanSpan) {first, first > PG_INT64_MAX - (int64) reach ? PG_INT64_MAX : first + (int64) reach};
	}
	qsort(spans, n, sizeof(RtscanSpan), compare_spans);
	set = (RtscanIntegerSet) {.nulls = unit_one_in(2)};
	for (uint32 i = 0; i < n; i++)
		rtscan_add_span(&set, spans[i].first, spans[i].last);
	for (uint32 i = 1; i < set.n; i++)
		assert_true(set.spans[i].first - 1 > set.spans[i - 1].last);
}

static bool
is_member(uint32 row)
{
	if (is_null(row))
		return set.nulls;
	for (uint32 i = 0; i < set.n; i++)
		if (values[row] >= set.spans[i].first && values[row] <= set.spans[i].last)
			return true;
	return false;
}

/* Check the bits of up to 100 integers; those after the last must not be set. */
static void
check_found(const RtscanMembers *members, const int64 *integers, const bool *are)
{
	uint32		n = unit_below(101);
	uint64		found[2] = {PG_UINT64_MAX, PG_UINT64_MAX};

	rtscan_find_members(members, integers, n, found);
	for (uint32 i = 0; i < (n + 63) / 64 * 64; i++)
		assert_int_equal((found[i / 64] >> (i % 64)) & 1, i < n && are[i]);
	for (uint32 i = (n + 63) / 64; i < 2; i++)
		assert_true(found[i] == PG_UINT64_MAX);
}

/* Test the rows of a chunk: most of them by their bits, then some of them one by one. */
static void
ask_chunk(RtscanMembers *members, uint32 chunk, bool check)
{
	uint32		first = chunk * RTSCAN_CHUNK_ROWS,
				n = rtscan_chunk_rows(rows, chunk);
	RtscanMembership membership = rtscan_prepare_members(members, &frames[chunk], n);
	uint64		words[RTSCAN_CHUNK_WORDS] = {0};
	int64		integers[100];
	bool		are[100];
	uint32		some[100];

	for (uint32 i = 0; i < n; i++)
		words[i / 64] |= (uint64) (i % 10 != 3) << (i % 64);
	for (uint32 i = 0; i < 100; i++)
		some[i] = first + (uint64) i * n / 100;
	if (membership == RTSCAN_SOME_MEMBERS)
	{
		rtscan_and_members(members, &reader, &stored, chunk, words);
		rtscan_get_frame_rows(&reader, &stored, some, 100, integers);
		rtscan_test_members(members, integers, 100, are);
		if (check)
			check_found(members, integers, are);
	}
	for (uint32 i = 0; i < n && check; i += set.n > 10 ? 17 : 1)
	{
		bool		has = membership == RTSCAN_SOME_MEMBERS ? (words[i / 64] >> (i % 64)) & 1 :
			membership == RTSCAN_ALL_MEMBERS && i % 10 != 3;

		assert_int_equal(has, i % 10 != 3 && is_member(first + i));
	}
	for (uint32 i = 0; i < 100 && check && membership == RTSCAN_SOME_MEMBERS; i++)
		assert_int_equal(are[i], is_member(some[i]));
}

static void
ask_all(void *check)
{
	RtscanMembers *members = rtscan_create_members(&set);

	for (uint32 chunk = 0; chunk < segment.chunks; chunk++)
		ask_chunk(members, chunk, check != NULL);
}

static void
test_members(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		random_rows();
		write_rows();
		for (int i = 0; i < 3; i++)
		{
			random_set();
			ask_all(&set);
			rtscan_complement_set(&set, PG_INT64_MIN, PG_INT64_MAX);
			ask_all(&set);
		}
		assert_int_equal(unit_pages_at_hand(), 0);
	}
}

static void
test_complement(void **state)
{
	RtscanIntegerSet few = {0};

	rtscan_complement_set(&few, -3, 5);
	assert_int_equal(few.n, 1);
	assert_int_equal(few.spans[0].first, -3);
	assert_int_equal(few.spans[0].last, 5);
	rtscan_complement_set(&few, -3, 5);
	assert_int_equal(few.n, 0);
	rtscan_add_span(&few, PG_INT64_MIN, 3);
	rtscan_add_span(&few, 5, PG_INT64_MAX);
	rtscan_complement_set(&few, PG_INT64_MIN, PG_INT64_MAX);
	assert_int_equal(few.n, 1);
	assert_int_equal(few.spans[0].first, 4);
	assert_int_equal(few.spans[0].last, 4);
}

static void
test_damaged(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		random_rows();
		write_rows();
		random_set();
		if (stored.area.pages > 0)
			unit_damage_page(&reader);
		unit_error(ask_all, NULL);
		unit_forget_pages();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_complement),
		cmocka_unit_test(test_damaged),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
