/* SPDX-License-Identifier: PostgreSQL */
/*
 * interval_test.c
 *		Test sets of intervals against sets with a flag for each rank.
 *
 * The column has few ranks, and codes begin at some of them.  The ends of intervals are at the beginnings of codes.
 */
#include "unit.h"

#include "interval.h"

#define MOST_CODES	40
#define MOST_RANKS	(MOST_CODES * 4)

static uint32 ncodes;
static uint32 ranks[MOST_CODES + 1];	/* rank at which each code begins, and the end */

typedef bool Flags[MOST_RANKS];

static void
random_column(void)
{
	ncodes = 1 + unit_below(MOST_CODES);
	ranks[0] = 0;
	for (uint32 code = 0; code < ncodes; code++)
		ranks[code + 1] = ranks[code] + 1 + (unit_one_in(2) ? unit_below(4) : 0);
}

static RtscanPosition
position(uint32 code)
{
	return (RtscanPosition) {code, ranks[code]};
}

/* Make random intervals in any order, some of them empty, overlapping or touching, and the flags of their union. */
static RtscanIntervals
random_set(Flags flags)
{
	RtscanIntervals set = {0, 0, NULL};

	memset(flags, 0, sizeof(Flags));
	for (uint32 n = unit_below(8); n > 0; n--)
	{
		RtscanPosition low = position(unit_below(ncodes + 1));
		uint32		more = unit_below(unit_one_in(2) ? 4 : ncodes + 1);
		RtscanPosition high = position(unit_one_in(8) ? unit_below(ncodes + 1) : Min(low.code + more, ncodes));

		rtscan_intervals_add(&set, low, high);
		for (uint32 rank = low.rank; rank < high.rank; rank++)
			flags[rank] = true;
	}
	rtscan_intervals_normalize(&set);
	return set;
}

static void
check_set(const RtscanIntervals *set, const Flags flags)
{
	uint32		rows = 0;

	for (uint32 i = 0; i < set->n; i++)
	{
		assert_true(set->items[i].low.rank < set->items[i].high.rank);
		assert_int_equal(set->items[i].low.rank, ranks[set->items[i].low.code]);
		assert_int_equal(set->items[i].high.rank, ranks[set->items[i].high.code]);
		if (i > 0)
			assert_true(set->items[i - 1].high.rank < set->items[i].low.rank);
	}
	for (uint32 rank = 0; rank < ranks[ncodes]; rank++)
	{
		assert_int_equal(rtscan_intervals_have_rank(set, rank), flags[rank]);
		rows += flags[rank];
	}
	for (uint32 code = 0; code < ncodes; code++)
		assert_int_equal(rtscan_intervals_have_code(set, code), flags[ranks[code]]);
	assert_int_equal(rtscan_intervals_rows(set), rows);
}

static void
test_sets(void **unused)
{
	for (int round = 0; round < 5000; round++)
	{
		Flags		flags;
		RtscanIntervals set;

		random_column();
		set = random_set(flags);
		check_set(&set, flags);
	}
}

static void
test_intersections(void **unused)
{
	for (int round = 0; round < 5000; round++)
	{
		Flags		a,
					b;
		RtscanIntervals left,
					right,
					both;

		random_column();
		left = random_set(a);
		right = random_set(b);
		both = rtscan_intervals_intersect(&left, &right);
		check_set(&left, a);
		check_set(&right, b);
		for (uint32 rank = 0; rank < MOST_RANKS; rank++)
			a[rank] = a[rank] && b[rank];
		check_set(&both, a);
	}
}

/* Test the same interval, parts of it, and what follows it, many times. */
static void
test_duplicates(void **unused)
{
	RtscanIntervals set = {0, 0, NULL};
	Flags		flags = {0};

	do
		random_column();
	while (ncodes < 3);
	for (int i = 0; i < 100000; i++)
		rtscan_intervals_add(&set, position(1), position(2));
	assert_int_equal(set.n, 1);
	for (int i = 0; i < 100000; i++)
		rtscan_intervals_add(&set, position(1 + i % 2), position(3));
	assert_int_equal(set.n, 1);
	assert_true(set.capacity <= 4);
	for (uint32 rank = ranks[1]; rank < ranks[3]; rank++)
		flags[rank] = true;
	check_set(&set, flags);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_intersections),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
