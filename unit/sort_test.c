/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort_test.c
 *		Test sorting a column, by keys and by comparison, against a stable sort of the rows.
 *
 * For comparison, the type's values are integers that compare by their last digits, so that equal values have different
 * images.  The type supports abbreviated keys, abandons them, or does not support them.
 */
#include "unit.h"

#include "sort.h"

#include "access/genam.h"
#include "utils/sortsupport.h"

#define FEW_ROWS	5000
#define MOST_ROWS	150000		/* more than are sorted in the processor's cache */
#define DIGITS		1000		/* number of values that compare as different */

static enum
{
	NO_SUPPORT, PLAIN, ABBREVIATED, GIVEN_UP
}			support_kind;

/* ---------------------------------------------------------------- functions that sort.c calls */

RegProcedure
index_getprocid(Relation index, AttrNumber column, uint16 proc)
{
	return support_kind == NO_SUPPORT ? InvalidOid : 1;
}

static int
compare_digits(Datum a, Datum b, SortSupport support)
{
	return (int) (a % DIGITS) - (int) (b % DIGITS);
}

static int
compare_abbreviated(Datum a, Datum b, SortSupport support)
{
	return a < b ? -1 : a > b;
}

static Datum
abbreviate(Datum value, SortSupport support)
{
	return value % DIGITS / 10;
}

static bool
give_up(int rows, SortSupport support)
{
	return support_kind == GIVEN_UP && rows > 300;
}

Datum
OidFunctionCall1Coll(Oid function, Oid collation, Datum arg)
{
	SortSupport support = (SortSupport) DatumGetPointer(arg);

	support->comparator = compare_digits;
	if (support_kind != PLAIN)
	{
		support->comparator = compare_abbreviated;
		support->abbrev_converter = abbreviate;
		support->abbrev_abort = give_up;
		support->abbrev_full_comparator = compare_digits;
	}
	return 0;
}

void
PrepareSortSupportComparisonShim(Oid function, SortSupport support)
{
	support->comparator = compare_digits;
}

/* ---------------------------------------------------------------- the rows */

typedef struct Row
{
	bool		null;
	uint64		order;			/* key by which the value sorts */
	uint64		value;
	uint32		row;
} Row;

static Row	expected[MOST_ROWS];
static RtscanColumnRows source;

#define WIDEST	((UINT64CONST(1) << 42) - 1)
#define KINDS	11

/*
 * Return a random value: with random bits; with only low or only high bits; one of a few values; the same one
 * except in one row; values as far apart as fit into a word together with a row, and a bit farther; mostly near zero,
 * but some far away; fewer and fewer that are ever larger; ascending.
 */
static uint64
random_value(int kind, uint32 row)
{
	switch (kind)
	{
		case 0:
			return unit_random();
		case 1:
			return unit_bits(20);
		case 2:
			return unit_random() << 40;
		case 3:
			return unit_below(5) * UINT64CONST(0x0101010101);
		case 4:
			return row == 100 ? UINT64CONST(5) << 40 : UINT64CONST(9) << 40;
		case 5:
			return PG_UINT64_MAX - (row == 7 ? 0 : row == 9 ? WIDEST : unit_bits(42));
		case 6:
			return PG_UINT64_MAX - (row == 7 ? 0 : row == 9 ? WIDEST + 1 : unit_bits(42));
		case 7:
			return unit_one_in(1000) ? unit_random() : unit_bits(30);
		case 8:
			return unit_random() >> unit_below(64);
		case 9:
			return unit_below(MOST_ROWS);
		default:
			return row / 3;
	}
}

static void
random_rows(uint32 n, bool by_key)
{
	int			kind = unit_below(KINDS);
	uint32		nulls_in = unit_one_in(2) ? 0 : 1 + unit_below(10);

	source.null_count = 0;
	source.values = palloc(Max(n, 1) * sizeof(uint64));
	source.nulls = palloc0((n / 64 + 1) * sizeof(uint64));
	for (uint32 row = 0; row < n; row++)
	{
		bool		null = nulls_in > 0 && unit_one_in(nulls_in);
		uint64		value = random_value(kind, row);

		source.values[row] = value;
		source.nulls[row / 64] |= (uint64) null << (row % 64);
		source.null_count += null;
		expected[row] = (Row) {null, by_key ? value : value % DIGITS, value, row};
	}
}

/* Compare: NULLs last, equal values in row order. */
static int
compare_rows(const void *a, const void *b)
{
	const Row  *x = a,
			   *y = b;

	if (x->null != y->null)
		return x->null - y->null;
	if (!x->null && x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* ---------------------------------------------------------------- the tests */

static void
check_rank(const RtscanSortedColumn *column, uint32 rank, uint32 *distinct, bool *identical)
{
	const Row  *row = &expected[rank];
	bool		starts = !row->null && (rank == 0 || row[-1].order != row->order);

	assert_int_equal(column->order[rank], row->row);
	assert_int_equal(rtscan_starts_value(column, rank), starts);
	*distinct += starts;
	if (row->null)
		return;
	assert_int_equal(rtscan_value_at(column, rank), row->value);
	if (!starts)
		*identical = *identical && row->value == row[-1].value;
}

/* Check that a row has an image of its own exactly if its value differs from that of the first equal row. */
static void
check_image(const Row *row, uint64 value)
{
	bool		none = (source.nulls[row->row / 64] >> row->row % 64) & 1;

	assert_int_equal(none, row->value == value);
	if (!none)
		assert_int_equal(source.values[row->row], row->value);
}

static void
check_column(RtscanSortedColumn *column, uint32 n)
{
	uint32		distinct = 0;
	uint64		value = 0;
	bool		heap_order = true,
				identical = true;

	qsort(expected, n, sizeof(Row), compare_rows);
	assert_int_equal(column->rows, n);
	assert_int_equal(column->nonnull, n - source.null_count);
	for (uint32 rank = 0; rank < n; rank++)
	{
		check_rank(column, rank, &distinct, &identical);
		heap_order = heap_order && expected[rank].row == rank;
	}
	assert_int_equal(column->distinct, distinct);
	assert_int_equal(column->heap_order, heap_order);
	assert_int_equal(column->identical, identical);
	assert_int_equal(column->has_images, !identical);
	if (identical)
		return;
	rtscan_take_images(column);
	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		if (rtscan_starts_value(column, rank))
			value = expected[rank].value;
		check_image(&expected[rank], value);
	}
}

static void
check_sort(bool by_key, uint32 n)
{
	RtscanSchema *schema = palloc0(offsetof(RtscanSchema, columns) + sizeof(RtscanColumn));
	RtscanRows	rows = {.schema = schema, .rows = n, .columns = &source};
	FmgrInfo	compare = {.fn_oid = 1};

	schema->columns[0] = (RtscanColumn) {.typlen = 8, .typbyval = true, .typalign = TYPALIGN_DOUBLE,
		.compare = &compare,
		.key_kind = by_key ? RTSCAN_KEY_UINT64 : RTSCAN_KEY_NONE};
	random_rows(n, by_key);
	check_column(rtscan_sort_column(NULL, &rows, 0), n);
}

static uint32
few_rows(void)
{
	return unit_bits(12) + unit_below(FEW_ROWS - 4096);
}

static void
test_keys(void **unused)
{
	for (int round = 0; round < 300; round++)
		check_sort(true, few_rows());
}

static void
test_many_keys(void **unused)
{
	for (int round = 0; round < 30; round++)
		check_sort(true, MOST_ROWS - unit_below(MOST_ROWS / 2));
}

static void
test_comparison(void **unused)
{
	for (int round = 0; round < 400; round++)
	{
		support_kind = round % 4;
		check_sort(false, few_rows());
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_comparison),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
