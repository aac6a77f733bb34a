/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain_test.c
 *		Test writing and looking up plain columns against the sorted values that they are made of.
 */
#include "unit.h"

#include "plain.h"

#include "catalog/pg_type.h"
#include "segment/dictionary.h"
#include "segment/frames.h"

#define MOST_ROWS	(2 * RTSCAN_CHUNK_ROWS)

static RtscanColumn type;
/* A key and its row. */
typedef struct Element
{
	uint64		value;
	uint32		row;
} Element;

static Element elements[MOST_ROWS];
static uint32 order[MOST_ROWS];
static uint64 starts[MOST_ROWS / 64 + 1];
static uint64 values[MOST_ROWS];
static uint64 nulls[MOST_ROWS / 64 + 1];
static RtscanColumnRows source = {.values = values, .nulls = nulls};	/* input of the sort */
static RtscanSortedColumn column = {.type = &type, .source = &source, .order = order, .starts = starts,
	.identical = true};
static RtscanSegment segment;
static RtscanFinger fingers[RTSCAN_FINGERS];
static RtscanSegmentColumn stored;
static RtscanReader reader;

/* ---------------------------------------------------------------- columns */

/* Choose a random type whose keys compare like its values. */
static void
random_type(void)
{
	static const struct
	{
		Oid			type;
		int16		length;
		RtscanKeyKind key;
	}			types[] = {{INT4OID, 4, RTSCAN_KEY_INT32}, {INT8OID, 8, RTSCAN_KEY_INT64},
		{OIDOID, 4, RTSCAN_KEY_UINT32},
		{PG_LSNOID, 8, RTSCAN_KEY_UINT64}, {FLOAT8OID, 8, RTSCAN_KEY_FLOAT8}};
	uint32		t = unit_below(lengthof(types));

	type = (RtscanColumn) {.typlen = types[t].length, .typbyval = true, .typalign = TYPALIGN_CHAR,
		.key_kind = types[t].key};
	type.exact = rtscan_exact_kind(types[t].type, types[t].length, true, &type.exact_sorts);
}

/* Return a key that has a value; for floats, neither NaN nor -0. */
static uint64
random_key(int bits)
{
	uint64		number = unit_random() >> (64 - bits);
	double		real = (double) (int64) number / 7;
	Datum		value = type.key_kind == RTSCAN_KEY_FLOAT8 ? Float8GetDatum(real) :
		type.typlen == 4 ? Int32GetDatum((int32) number) : (Datum) number;

	return rtscan_key_encode(type.key_kind, value);
}

static int
compare_elements(const void *a, const void *b)
{
	const Element *left = a,
			   *right = b;

	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* Make the rows of which the sorted column consists. */
static void
make_source(void)
{
	bool		keys = rtscan_key_tells_image(type.key_kind);

	memset(nulls, 0, sizeof(nulls));
	for (uint32 rank = 0; rank < column.rows; rank++)
	{
		const Element *element = &elements[rank];

		order[rank] = element->row;
		if (rank >= column.nonnull)
			nulls[element->row / 64] |= UINT64CONST(1) << (element->row % 64);
		values[element->row] = rank >= column.nonnull ? 0 : keys ? element->value :
			(uint64) rtscan_key_decode(type.key_kind, element->value);
	}
	source.null_count = column.rows - column.nonnull;
}

/* Make a column of NULLs, runs of equal values, and many different values. */
static void
random_column(void)
{
	int			bits = 20 + unit_below(45);
	uint32		null = unit_one_in(2) ? 0 : 2 + unit_below(20);
	uint32		run = unit_one_in(2) ? 0 : 10;
	uint64		repeated = random_key(bits);
	uint32		n = 0,
				first_null;

	column.rows = RTSCAN_CHUNK_ROWS + 10000 + unit_below(MOST_ROWS - RTSCAN_CHUNK_ROWS - 10000);
	first_null = column.rows;
	for (uint32 row = column.rows; row-- > 0;)
		if (null > 0 && unit_one_in(null))
			elements[--first_null] = (Element) {0, row};
	for (uint32 row = 0, at = first_null; row < column.rows; row++)
		if (at < column.rows && elements[at].row == row)
			at++;
		else
			elements[n++] = (Element) {run > 0 && unit_one_in(run) ? repeated : random_key(bits), row};
	assert_int_equal(n, first_null);
	qsort(elements, n, sizeof(Element), compare_elements);
	column.nonnull = n;
	column.distinct = 0;
	memset(starts, 0, sizeof(starts));
	make_source();
	for (uint32 rank = 0; rank < n; rank++)
		if (rank == 0 || elements[rank].value != elements[rank - 1].value)
		{
			starts[rank / 64] |= UINT64CONST(1) << (rank % 64);
			column.distinct++;
		}
}

/* Write the column as encode.c does.  Returns false if it is not to be plain. */
static bool
write_column(void)
{
	RtscanPlain *plain = rtscan_choose_plain(&column);
	RtscanAreaWriter *areas = unit_area_writer();
	RtscanPacker packer;
	StringInfoData descriptor;
	uint32		pages;

	if (plain == NULL)
		return false;
	initStringInfo(&descriptor);
	memset(fingers, 0, sizeof(fingers));
	stored = (RtscanSegmentColumn) {.header = {.flags = RTSCAN_COLUMN_PLAIN, .nonnull = column.nonnull},
		.fingers = fingers};
	rtscan_write_sparse_dictionary(areas, &column, &stored.header);
	packer = rtscan_packer(areas, RTSCAN_PAGE_ORDER, 3);
	for (uint32 rank = 0; rank < column.rows; rank++)
		rtscan_packer_add(&packer, elements[rank].row);
	stored.header.order = rtscan_packer_end(&packer);
	rtscan_write_plain(areas, plain, &descriptor);
	memcpy(&stored.values.header, descriptor.data, sizeof(RtscanIncludeHeader));
	stored.values.frames.area = stored.values.header.values;
	stored.values.frames.frames = (RtscanFrame *) (descriptor.data + sizeof(RtscanIncludeHeader));
	stored.values.frames.pages = palloc(rtscan_chunks(column.rows) * sizeof(uint32));
	assert_true(rtscan_frames_are_sane(stored.values.frames.frames, column.rows, stored.values.frames.pages, &pages));
	segment = (RtscanSegment) {.chunks = rtscan_chunks(column.rows), .columns = &stored};
	reader = unit_reader(areas, &segment);
	segment.header.rows = column.rows;
	return true;
}

static void
random_plain(void)
{
	do
	{
		random_type();
		random_column();
	} while (!write_column());
}

/* ---------------------------------------------------------------- lookups */

static uint32
rank_of(uint64 key, bool after)
{
	uint32		low = 0,
				high = column.nonnull;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (after ? elements[middle].value <= key : elements[middle].value < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return a random key: an existing one, a neighbour of one, or any key. */
static uint64
random_probe(void)
{
	uint64		key = elements[unit_below(column.nonnull)].value;

	return unit_one_in(3) ? key : unit_one_in(2) ? key + unit_below(3) - 1 : unit_bits(64);
}

static void
look_up(void *arg)
{
	bool		check = arg != NULL;
	RtscanProbe probe = {.column = &type, .has_key = true, .key = random_probe()};
	bool		after = unit_one_in(2);
	RtscanPosition position;

	rtscan_dictionary_find(&reader, 0, &probe, after, &position);
	assert_true(position.rank <= column.nonnull);
	if (!check)
		return;
	assert_int_equal(position.rank, rank_of(probe.key, after));
	assert_int_equal(position.code, position.rank);
}

static void
test_find(void **state)
{
	for (int round = 0; round < 8; round++)
	{
		random_plain();
		/* A reader that does not trust the pages has fingers of its own. */
		reader.trusts = round % 2 == 0;
		for (int i = 0; i < 3000; i++)
			look_up(&reader);
		assert_int_equal(unit_pages_at_hand(), 0);
	}
}

/* Look up both ends of a range, each in its own place.  Returns the number of pages read. */
static uint64
look_ends_up(uint64 low, uint64 high)
{
	uint64		before = reader.pages_read;

	for (int end = 0; end < 2; end++)
	{
		RtscanProbe probe = {.column = &type, .has_key = true, .key = end == 0 ? low : high};
		RtscanPosition position;

		assert_true(rtscan_dictionary_find(&reader, 0, &probe, end == 1, &position));
		assert_int_equal(position.rank, rank_of(probe.key, end == 1));
	}
	return reader.pages_read - before;
}

/* Test that the ends looked up last are found again mostly without reading a page. */
static void
test_find_again(void **state)
{
	uint64		first = 0,
				again = 0;

	for (int round = 0; round < 8; round++)
	{
		random_plain();
		for (int i = 0; i < 500; i++)
		{
			uint64		low = elements[unit_below(column.nonnull)].value;
			uint64		high = elements[unit_below(column.nonnull)].value;

			first += look_ends_up(low, high);
			again += look_ends_up(low, high);
		}
		assert_int_equal(unit_pages_at_hand(), 0);
	}
	assert_true(again < first / 8);
}

static int
compare_uint64(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a,
				right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* Ascending probes, some of them several times. */
#define MOST_PROBES	2000

static uint64 probes[MOST_PROBES];
static int	nprobes;

static void
random_probes(void)
{
	nprobes = unit_below(MOST_PROBES + 1);
	for (int i = 0; i < nprobes; i++)
		probes[i] = i > 0 && unit_one_in(10) ? probes[i - 1] : random_probe();
	qsort(probes, nprobes, sizeof(uint64), compare_uint64);
}

/* RtscanFoundVisitor that checks the ranks of the next probe that exists. */
static void
check_found(const RtscanFound *found, uint32 n, void *arg)
{
	int		   *next = arg;

	assert_int_equal(n, 1);
	assert_true(found->place.rank < found->behind.rank && found->behind.rank <= column.nonnull);
	if (next == NULL)
		return;
	while (*next < nprobes && rank_of(probes[*next], false) == rank_of(probes[*next], true))
		(*next)++;
	assert_true(*next < nprobes);
	assert_int_equal(found->value, *next);
	assert_int_equal(found->place.rank, rank_of(probes[*next], false));
	assert_int_equal(found->place.code, found->place.rank);
	assert_int_equal(found->behind.rank, rank_of(probes[*next], true));
	assert_int_equal(found->behind.code, found->behind.rank);
	(*next)++;
}

static void
look_all_up(void *arg)
{
	static const Datum values[MOST_PROBES];
	const RtscanProbes all = {.column = &type, .n = nprobes, .keys = probes, .values = values};

	assert_true(rtscan_dictionary_find_all(&reader, 0, &all, check_found, arg));
}

static void
test_find_all(void **state)
{
	for (int round = 0; round < 8; round++)
	{
		random_plain();
		for (int i = 0; i < 10; i++)
		{
			int			next = 0;

			random_probes();
			look_all_up(&next);
			for (; next < nprobes; next++)
				assert_int_equal(rank_of(probes[next], false), rank_of(probes[next], true));
		}
		assert_int_equal(unit_pages_at_hand(), 0);
	}
}

/* RtscanDictionaryVisitor that checks values one after another, from a rank on. */
static void
check_visit(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	uint32	   *next = arg;

	assert_int_equal(code, *next);
	assert_int_equal(first_rank, *next);
	assert_int_equal(value, elements[first_rank].value);
	assert_int_equal(end_rank, rank_of(value, true));
	*next = end_rank;
}

static void
test_visit(void **state)
{
	for (int round = 0; round < 4; round++)
	{
		random_plain();
		for (int i = 0; i < 200; i++)
		{
			uint32		first = rank_of(elements[unit_below(column.nonnull)].value, false);
			uint32		last = first + unit_below(100);
			uint32		next = first;

			last = Min(last, column.nonnull);
			assert_true(rtscan_plain_visit(&reader, 0, &type, first, last, check_visit, &next));
			assert_true(next >= last);
		}
		assert_int_equal(unit_pages_at_hand(), 0);
	}
}

static void
test_codes(void **state)
{
	for (int round = 0; round < 4; round++)
	{
		uint32	   *codes;

		random_plain();
		codes = rtscan_plain_codes(&reader, 0);
		for (uint32 rank = 0; rank < column.rows; rank++)
			assert_int_equal(codes[elements[rank].row],
							 rank < column.nonnull ? rank_of(elements[rank].value, false) : column.nonnull);
	}
}

static void
test_choice(void **state)
{
	random_type();
	do
		random_column();
	while (column.distinct <= 0xFFFF);
	column.identical = false;
	assert_null(rtscan_choose_plain(&column));
	column.identical = true;
	column.heap_order = true;
	assert_null(rtscan_choose_plain(&column));
	column.heap_order = false;
	type.key_kind = RTSCAN_KEY_NONE;
	assert_null(rtscan_choose_plain(&column));
}

static void
read_codes(void *arg)
{
	pfree(rtscan_plain_codes(&reader, 0));
}

static void
test_damage(void **state)
{
	uint32		errors = 0;

	for (int round = 0; round < 3; round++)
	{
		random_plain();
		for (int i = 0; i < 100; i++)
		{
			unit_damage_page(&reader);
			for (int k = 0; k < 20; k++)
			{
				errors += unit_error(look_up, NULL) != NULL;
				unit_forget_pages();
			}
			if (i % 20 == 0)
				errors += unit_error(read_codes, NULL) != NULL;
			random_probes();
			errors += unit_error(look_all_up, NULL) != NULL;
			unit_forget_pages();
		}
	}
	assert_true(errors > 0);
}

/* Read a row's value from damaged pages.  It must be one that the chunk can have. */
static void
read_row(void *arg)
{
	uint32		row = *(uint32 *) arg;
	const RtscanFrame *frame = &stored.values.frames.frames[row / RTSCAN_CHUNK_ROWS];
	int64		value;

	assert_true(rtscan_get_frame_row(&reader, &stored.values.frames, row, &value));
	assert_true((uint64) value - (uint64) frame->least <= rtscan_frame_largest(frame));
}

static void
test_damaged_rows(void **state)
{
	uint32		errors = 0;

	/* Few rows may all have pages that are not damaged. */
	for (int round = 0; round < 3 || (errors == 0 && round < 30); round++)
	{
		random_plain();
		for (int i = 0; i < 100; i++)
			unit_damage_page(&reader);
		for (uint32 row = 0; row < column.rows; row++)
			errors += unit_error(read_row, &row) != NULL;
		unit_forget_pages();
	}
	assert_true(errors > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_again),
		cmocka_unit_test(test_find_all),
		cmocka_unit_test(test_visit),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_damaged_rows),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
