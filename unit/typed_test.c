/* SPDX-License-Identifier: PostgreSQL */
/*
 * typed_test.c
 *		Test columns of random values: reading them by rows and as typed vectors, against what was written.
 *
 * They are INCLUDE columns, and codes with the dictionary of a key column.  On damaged pages the result is an error or
 * any values.
 */
#include "unit.h"

#include "typed.h"

#include "bits/bits.h"
#include "catalog/pg_type.h"
#include "row/decimal.h"
#include "segment/dictionary.h"
#include "segment/distinct.h"
#include "segment/frames.h"
#include "segment/include.h"
#include "utils/fmgrprotos.h"

#define MOST_ROWS	(3 * RTSCAN_CHUNK_ROWS)
#define BATCH		1024

int			work_mem;

static uint32 rows;
static Datum values[MOST_ROWS];
static uint64 nulls[MOST_ROWS / 64];
static RtscanColumnRows column = {.values = (uint64 *) values, .nulls = nulls};
static RtscanColumn type;
static RtscanSchema *schema;
static RtscanSegment segment;
static RtscanSegmentColumn key;
static RtscanSegmentInclude include;
static RtscanReader reader;
static RtscanValues *read_values;

/* ---------------------------------------------------------------- functions that are not tested here */

Datum
numeric_in(PG_FUNCTION_ARGS)
{
	unit_raise("there are no numerics");
}

Datum
numeric_send(PG_FUNCTION_ARGS)
{
	unit_raise("there are no numerics");
}

Numeric
int64_div_fast_to_numeric(int64 val1, int log10val2)
{
	unit_raise("there are no numerics");
}

/* ---------------------------------------------------------------- values */

/* Return a random value, one of distinct values with a number of bits; rarely an extreme one. */
static Datum
random_value(uint32 distinct, int bits)
{
	uint64		number = unit_below(distinct) * UINT64CONST(0x9E3779B97F4A7C15) >> (64 - bits);

	if (!type.typbyval)
	{
		Size		size = VARHDRSZ + 1 + number % 50;
		text	   *value = palloc0(size);

		SET_VARSIZE(value, size);
		memcpy(VARDATA(value), &number, Min(size - VARHDRSZ, sizeof(number)));
		return PointerGetDatum(value);
	}
	if (unit_one_in(1000) && distinct > 100)
		number = unit_one_in(2) ? (uint64) PG_INT64_MIN : PG_INT64_MAX;
	return type.typlen == 1 ? CharGetDatum((char) number) : type.typlen == 2 ? Int16GetDatum((int16) number) :
		type.typlen == 4 ? Int32GetDatum((int32) number) : (Datum) number;
}

static void
random_type(bool by_value)
{
	static const struct
	{
		Oid			type;
		int16		length;
		RtscanKeyKind key;
	}			types[] = {{BOOLOID, 1, RTSCAN_KEY_BOOL}, {INT2OID, 2, RTSCAN_KEY_INT16},
		{INT4OID, 4, RTSCAN_KEY_INT32}, {INT8OID, 8, RTSCAN_KEY_INT64},
		{OIDOID, 4, RTSCAN_KEY_UINT32}, {PG_LSNOID, 8, RTSCAN_KEY_UINT64}, {FLOAT4OID, 4, RTSCAN_KEY_FLOAT4},
		{FLOAT8OID, 8, RTSCAN_KEY_FLOAT8}};
	uint32		t = unit_below(lengthof(types));

	type = (RtscanColumn) {.typlen = -1, .typalign = TYPALIGN_INT};
	if (!by_value)
		return;
	type = (RtscanColumn) {.typlen = types[t].length, .typbyval = true, .typalign = TYPALIGN_CHAR,
		.key_kind = types[t].key};
	type.exact = rtscan_exact_kind(types[t].type, types[t].length, true, &type.exact_sorts);
}

/* Make a random number of rows, near the ends of chunks, some of them NULL. */
static void
random_rows(void)
{
	uint32		distinct = unit_one_in(4) ? 1 : unit_one_in(3) ? unit_bits(17) + 1 :
		unit_one_in(2) ? RTSCAN_MOST_CODES + unit_below(2) : 1000;
	int			bits = 1 + unit_below(64);
	uint32		null = unit_one_in(2) ? 0 : unit_one_in(5) ? 1 : 2 + unit_below(100);

	rows = unit_one_in(3) ? 1 + unit_below(3000) : (1 + unit_below(2)) * RTSCAN_CHUNK_ROWS - 2 + unit_below(4);
	if (!type.typbyval)
		rows = Min(rows, RTSCAN_CHUNK_ROWS + 1);
	column.null_count = 0;
	memset(nulls, 0, sizeof(nulls));
	for (uint32 row = 0; row < rows; row++)
	{
		values[row] = (Datum) 0;
		if (null > 0 && unit_one_in(null))
		{
			nulls[row / 64] |= UINT64CONST(1) << (row % 64);
			column.null_count++;
		}
		else
			values[row] = random_value(distinct, bits);
	}
}

/* ---------------------------------------------------------------- written */

/* Return the next part of a descriptor. */
static void *
take_part(StringInfo descriptor, Size size)
{
	void	   *part = descriptor->data + descriptor->cursor;

	descriptor->cursor += size;
	assert_true(descriptor->cursor <= descriptor->len);
	return part;
}

static uint32 *
take_firsts(StringInfo descriptor, const RtscanArea *area)
{
	return take_part(descriptor, area->pages * sizeof(uint32));
}

static void
read_descriptor(StringInfo descriptor)
{
	uint32		chunks = rtscan_chunks(rows);
	uint32		pages;

	include = (RtscanSegmentInclude) {
		.header = *(RtscanIncludeHeader *) take_part(descriptor, sizeof(RtscanIncludeHeader))};
	if (include.header.storage == RTSCAN_STORED_PLAIN)
	{
		if (include.header.width == 0)
			include.first_rows = take_firsts(descriptor, &include.header.values);
		return;
	}
	include.frames.area = include.header.values;
	include.frames.frames = take_part(descriptor, chunks * sizeof(RtscanFrame));
	include.frames.pages = palloc(chunks * sizeof(uint32));
	assert_true(rtscan_frames_are_sane(include.frames.frames, rows, include.frames.pages, &pages));
	assert_int_equal(pages, include.header.values.pages);
	if (include.header.storage == RTSCAN_STORED_FRAMES)
		return;
	include.codes = *(RtscanCodesHeader *) take_part(descriptor, sizeof(RtscanCodesHeader));
	assert_true(include.codes.distinct + (column.null_count > 0 ? 1 : 0) <= RTSCAN_MOST_CODES);
	if (include.header.exact == RTSCAN_EXACT_NONE)
		include.first_rows = take_firsts(descriptor, &include.codes.dictionary);
}

static void
open_column(RtscanAreaWriter *writer, bool is_key)
{
	segment = (RtscanSegment) {.chunks = rtscan_chunks(rows), .columns = &key, .includes = &include};
	reader = unit_reader(writer, &segment);
	segment.header.rows = rows;
	schema = palloc0(sizeof(RtscanSchema) + sizeof(RtscanColumn));
	schema->nkeys = is_key ? 1 : 0;
	schema->ncolumns = 1;
	schema->columns[0] = type;
	read_values = rtscan_open_values(&reader, schema, 0);
}

static void
write_include(void)
{
	RtscanAreaWriter *writer = unit_area_writer();
	StringInfoData descriptor;

	RtscanColumnRows copy = column;

	type.key_kind = RTSCAN_KEY_NONE;
	initStringInfo(&descriptor);
	copy.values = palloc(rows * sizeof(uint64));
	memcpy(copy.values, column.values, rows * sizeof(uint64));
	rtscan_write_include(writer, &type, &copy, rows, &descriptor);
	read_descriptor(&descriptor);
	assert_int_equal(descriptor.cursor, descriptor.len);
	open_column(writer, false);
}

typedef struct KeyRow
{
	uint64		key;
	uint32		row;
} KeyRow;

static int
compare_key_rows(const void *a, const void *b)
{
	const KeyRow *left = a,
			   *right = b;

	return left->key < right->key ? -1 : left->key > right->key;
}

/* Write codes and dictionary, as segment/encode.c does. */
static void
write_key(void)
{
	RtscanAreaWriter *writer = unit_area_writer();
	RtscanDictionaryWriter *dictionary = rtscan_dictionary_writer(writer, &type);
	KeyRow	   *sorted = palloc(rows * sizeof(KeyRow));
	uint32	   *codes = palloc(rows * sizeof(uint32));
	uint32		n = 0,
				code = 0;
	RtscanPacker packer;

	key = (RtscanSegmentColumn) {.header = {.flags = RTSCAN_COLUMN_IDENTICAL}};
	for (uint32 row = 0; row < rows; row++)
		if (!rtscan_row_is_null(&column, row))
		{
			/* Keys do not preserve -0 and the images of NaNs. */
			uint64		value = rtscan_key_encode(type.key_kind, values[row]);

			values[row] = rtscan_key_decode(type.key_kind, value);
			sorted[n++] = (KeyRow) {value, row};
		}
	qsort(sorted, n, sizeof(KeyRow), compare_key_rows);
	for (uint32 rank = 0; rank < n; rank++)
	{
		if (rank == 0 || sorted[rank].key != sorted[rank - 1].key)
		{
			rtscan_dictionary_add(dictionary, sorted[rank].key, rank);
			code++;
		}
		codes[sorted[rank].row] = code - 1;
	}
	rtscan_dictionary_end(dictionary, n, &key.header);
	key.header.nonnull = n;
	key.header.code_bytes = code < 256 ? 1 : code < 65536 ? 2 : 3;
	packer = rtscan_packer(writer, RTSCAN_PAGE_CODES, key.header.code_bytes);
	for (uint32 row = 0; row < rows; row++)
		rtscan_packer_add(&packer, rtscan_row_is_null(&column, row) ? code : codes[row]);
	key.header.codes = rtscan_packer_end(&packer);
	open_column(writer, true);
}

/* ---------------------------------------------------------------- read */

static bool
is_null(uint32 row)
{
	return rtscan_row_is_null(&column, row);
}

static bool
same(Datum a, Datum b)
{
	if (type.typbyval)
		return a == b || (type.exact == RTSCAN_EXACT_UINT32 && (uint32) a == (uint32) b);
	return VARSIZE_ANY(a) == VARSIZE_ANY(b) && memcmp(DatumGetPointer(a), DatumGetPointer(b), VARSIZE_ANY(a)) == 0;
}

static int64
exact_of(Datum value)
{
	int64		exact;

	rtscan_exact_encode(type.exact, &value, 1, &exact);
	return exact;
}

/* Return random rows of one chunk. */
static uint32
random_batch(uint32 *numbers)
{
	uint32		chunk = unit_below(segment.chunks);
	uint32		dense = 1 + unit_below(50);
	uint32		end = chunk * RTSCAN_CHUNK_ROWS + rtscan_chunk_rows(rows, chunk);
	uint32		n = 0;

	for (uint32 row = chunk * RTSCAN_CHUNK_ROWS + unit_below(rtscan_chunk_rows(rows, chunk));
		 row < end && n < BATCH; row += 1 + unit_below(dense))
		numbers[n++] = row;
	return n;
}

static void
read_rows(bool check)
{
	uint32		numbers[BATCH];
	Datum		datums[BATCH];
	bool		isnull[BATCH];
	uint32		n = random_batch(numbers);

	rtscan_get_values(read_values, numbers, n, datums, isnull);
	for (uint32 i = 0; i < n && check; i++)
	{
		assert_int_equal(isnull[i], is_null(numbers[i]));
		assert_true(isnull[i] || same(datums[i], values[numbers[i]]));
	}
}

static void
random_bits(uint64 *bits, uint32 chunk)
{
	uint32		n = rtscan_chunk_rows(rows, chunk);
	uint32		sparse = unit_one_in(4) ? 1 : 1 + unit_bits(12);

	memset(bits, 0, RTSCAN_CHUNK_BYTES);
	for (uint32 i = unit_below(sparse); i < n; i += 1 + unit_below(sparse))
		bits[i / 64] |= UINT64CONST(1) << (i % 64);
}

/* Check the value of an element; if elements are codes, the value in the dictionary. */
static void
check_element(const RtscanTyped *typed, uint32 i, uint32 row)
{
	bool		isnull = typed->nulls && ((typed->nulls[i / 64] >> (i % 64)) & 1);
	Datum		value;

	assert_int_equal(isnull, is_null(row));
	switch (typed->kind)
	{
		case RTSCAN_TYPED_INTEGERS:
			assert_int_equal(typed->integers[i], isnull ? 0 : exact_of(values[row]));
			break;
		case RTSCAN_TYPED_DOUBLES:
			value = type.typlen == 4 ? Float8GetDatum(DatumGetFloat4(values[row])) : values[row];
			assert_true(isnull ? typed->doubles[i] == 0 : memcmp(&typed->doubles[i], &value, sizeof(Datum)) == 0);
			break;
		case RTSCAN_TYPED_CODES:
			assert_int_equal(typed->codes[i] == rtscan_code_count(read_values) - 1, isnull);
			if (!isnull && unit_one_in(100))
			{
				rtscan_get_values_of_codes(read_values, &typed->codes[i], 1, &value);
				assert_true(same(value, values[row]));
			}
			break;
		case RTSCAN_TYPED_DATUMS:
			assert_true(isnull || same(typed->datums[i], values[row]));
			break;
	}
}

static void
read_typed(bool check)
{
	static uint64 bits[RTSCAN_CHUNK_WORDS];
	static uint32 room[RTSCAN_LIST_ROOM];
	uint32		chunk = unit_below(segment.chunks);
	bool		codes = unit_one_in(2);
	RtscanSelection selection;
	RtscanTyped typed;

	random_bits(bits, chunk);
	selection = rtscan_select_rows(&reader, chunk, bits, (RtscanSelect) unit_below(3), room);
	rtscan_get_typed(read_values, &selection, codes, &typed);
	if (!check)
		return;
	assert_int_equal(typed.n, selection.n);
	assert_int_equal(selection.wanted, rtscan_popcount(bits));
	assert_int_equal(typed.kind == RTSCAN_TYPED_CODES, codes && rtscan_has_codes(read_values));
	assert_int_equal(selection.n, selection.rows ? selection.wanted : rtscan_chunk_rows(rows, chunk));
	for (uint32 i = 0; i < typed.n; i++)
	{
		uint32		place = selection.rows ? selection.rows[i] - chunk * RTSCAN_CHUNK_ROWS : i;

		if ((bits[place / 64] >> (place % 64)) & 1)
			check_element(&typed, i, chunk * RTSCAN_CHUNK_ROWS + place);
	}
}

static void
check_bounds(void)
{
	for (uint32 chunk = 0; chunk < segment.chunks; chunk++)
	{
		RtscanChunkBounds bounds = rtscan_chunk_bounds(read_values, chunk);
		uint32		first = chunk * RTSCAN_CHUNK_ROWS;
		int64		least = PG_INT64_MAX,
					greatest = PG_INT64_MIN;
		uint32		null = 0;

		if (bounds.kind == RTSCAN_EXACT_NONE)
			continue;
		for (uint32 row = first; row < first + rtscan_chunk_rows(rows, chunk); row++)
			if (is_null(row))
				null++;
			else
			{
				least = Min(least, exact_of(values[row]));
				greatest = Max(greatest, exact_of(values[row]));
			}
		assert_int_equal(bounds.nulls, null);
		if (null < rtscan_chunk_rows(rows, chunk))
		{
			assert_int_equal(bounds.least, least);
			assert_int_equal(bounds.greatest, greatest);
		}
	}
}

static void
read_all(void)
{
	for (int i = 0; i < 8; i++)
	{
		read_rows(true);
		read_typed(true);
	}
	assert_int_equal(unit_pages_at_hand(), 0);
}

/* ---------------------------------------------------------------- tests */

/* Set work_mem so that a dictionary fits in memory or not. */
static void
random_memory(void)
{
	work_mem = unit_one_in(3) ? 0 : 100000;
}

static void
test_include(void **state)
{
	uint32		stored[3] = {0};

	for (int round = 0; round < 150; round++)
	{
		random_memory();
		random_type(!unit_one_in(4));
		random_rows();
		write_include();
		stored[include.header.storage]++;
		read_all();
		check_bounds();
	}
	for (size_t i = 0; i < lengthof(stored); i++)
		assert_true(stored[i] > 0);
}

static void
test_key(void **state)
{
	for (int round = 0; round < 60; round++)
	{
		random_memory();
		random_type(true);
		random_rows();
		write_key();
		read_all();
	}
}

static void
read_damaged(void *arg)
{
	read_rows(false);
	read_typed(false);
}

static void
test_damage(void **state)
{
	uint32		errors = 0;

	for (int round = 0; round < 60; round++)
	{
		random_memory();
		random_type(!unit_one_in(3));
		random_rows();
		if (type.typbyval && unit_one_in(3))
			write_key();
		else
			write_include();
		if (segment.header.pages == 0)
			continue;
		for (int i = 0; i < 10; i++)
		{
			unit_damage_page(&reader);
			errors += unit_error(read_damaged, NULL) != NULL;
			unit_forget_pages();
		}
	}
	assert_true(errors > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_damage),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
