/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary_test.c
 *		Test writing and looking up dictionaries against arrays of the values and their ranks.
 *
 * Values with keys are packed; the others are texts, which are stored whole.
 */
#include "unit.h"

#include "dictionary.h"
#include "row/keys.h"
#include "utils/builtins.h"

#define MOST_VALUES		30000
#define MOST_TEXT		1500

static uint32 nvalues;
static uint64 values[MOST_VALUES + 1];	/* keys, or Datums */
static uint32 ranks[MOST_VALUES + 1];	/* first rank of each value, and the end */

static RtscanSegmentColumn segment_column;
static RtscanSegment segment = {.columns = &segment_column};

/* ---------------------------------------------------------------- types */

/* Compare in bytea's order: a text that is a prefix of another one comes first. */
static int
compare_texts(const void *a, const void *b)
{
	const void *x = DatumGetPointer(*(const Datum *) a),
			   *y = DatumGetPointer(*(const Datum *) b);
	int			xlen = VARSIZE_ANY_EXHDR(x),
				ylen = VARSIZE_ANY_EXHDR(y),
				order = memcmp(VARDATA_ANY(x), VARDATA_ANY(y), Min(xlen, ylen));

	return order != 0 ? order : xlen - ylen;
}

static Datum
compare_text_datums(PG_FUNCTION_ARGS)
{
	Datum		a = PG_GETARG_DATUM(0),
				b = PG_GETARG_DATUM(1);

	return Int32GetDatum(compare_texts(&a, &b));
}

/* Compare int8 with int8, as a function. */
static Datum
compare_int8_datums(PG_FUNCTION_ARGS)
{
	int64		a = PG_GETARG_INT64(0),
				b = PG_GETARG_INT64(1);

	return Int32GetDatum(a < b ? -1 : a > b);
}

static FmgrInfo text_function = {.fn_addr = compare_text_datums};
static FmgrInfo int8_function = {.fn_addr = compare_int8_datums};

static const RtscanColumn int8_column = {.typlen = 8, .typbyval = true, .typalign = TYPALIGN_DOUBLE,
.compare = &int8_function, .key_kind = RTSCAN_KEY_INT64};
static const RtscanColumn text_column = {.typlen = -1, .typalign = TYPALIGN_INT,
.compare = &text_function, .key_kind = RTSCAN_KEY_NONE};

static const RtscanColumn *type;

static bool
has_keys(void)
{
	return type == &int8_column;
}

static int
compare_values(uint64 a, uint64 b)
{
	return has_keys() ? (a < b ? -1 : a > b) : compare_texts(&a, &b);
}

/* ---------------------------------------------------------------- values */

/*
 * Return a random text, with a short or a long header.  It has only a few different letters, so that many texts
 * begin alike.
 */
static Datum
random_text(void)
{
	uint32		length = unit_one_in(20) ? unit_below(MOST_TEXT) : unit_below(12);
	char	   *text = palloc(VARHDRSZ + length);
	bool		packed = length < 100 && unit_one_in(2);
	char	   *data = text + (packed ? VARHDRSZ_SHORT : VARHDRSZ);

	if (packed)
		SET_VARSIZE_SHORT(text, VARHDRSZ_SHORT + length);
	else
		SET_VARSIZE(text, VARHDRSZ + length);
	for (uint32 i = 0; i < length; i++)
		data[i] = 'a' + unit_below(3);
	return PointerGetDatum(text);
}

static void
make_keys(uint32 n)
{
	int			bits = unit_below(unit_one_in(3) ? 5 : 45);
	uint64		key = unit_bits(63);

	for (nvalues = 0; nvalues < n; nvalues++)
	{
		values[nvalues] = key;
		key += 1 + unit_bits(bits) + (unit_one_in(2000) ? UINT64CONST(1) << 58 : 0);
		if (key < values[nvalues])
			key = values[nvalues] + 1;
	}
}

static void
make_texts(uint32 n)
{
	uint32		kept = 0;

	for (uint32 i = 0; i < n; i++)
		values[i] = (uint64) random_text();
	qsort(values, n, sizeof(uint64), compare_texts);
	for (uint32 i = 0; i < n; i++)
		if (kept == 0 || compare_texts(&values[kept - 1], &values[i]) != 0)
			values[kept++] = values[i];
	nvalues = kept;
}

/* Return how often a value occurs: always once, once except for a few values, or any number of times. */
static uint32
occurrences(int kind)
{
	switch (kind)
	{
		case 0:
			return 1;
		case 1:
			return unit_one_in(300) ? 2 : 1;
		default:
			return 1 + unit_below(kind * 20);
	}
}

/* Make distinct values in order, and their ranks. */
static void
make_values(const RtscanColumn *of)
{
	uint32		n = unit_one_in(4) ? unit_below(3) : unit_below(unit_one_in(4) ? MOST_VALUES : 2000);
	int			kind = unit_below(6);

	type = of;
	if (has_keys())
		make_keys(n);
	else
		make_texts(n);
	ranks[0] = 0;
	for (uint32 i = 0; i < nvalues; i++)
		ranks[i + 1] = ranks[i] + occurrences(kind);
}

static RtscanReader
write_dictionary(void)
{
	RtscanAreaWriter *areas = unit_area_writer();
	RtscanDictionaryWriter *writer = rtscan_dictionary_writer(areas, type);

	segment_column.header = (RtscanColumnHeader) {.nonnull = ranks[nvalues]};
	for (uint32 i = 0; i < nvalues; i++)
		rtscan_dictionary_add(writer, values[i], ranks[i]);
	rtscan_dictionary_end(writer, ranks[nvalues], &segment_column.header);
	assert_int_equal(segment_column.header.distinct, nvalues);
	return unit_reader(areas, &segment);
}

/* ---------------------------------------------------------------- lookups */

static RtscanProbe
make_probe(uint64 value)
{
	RtscanProbe probe = {.column = type, .has_key = has_keys(), .key = value, .compare = type->compare, .value = value};

	/* Look up by the comparison, as for a value of another type. */
	if (has_keys() && unit_one_in(2))
	{
		probe.has_key = false;
		probe.value = rtscan_key_decode(type->key_kind, value);
	}
	return probe;
}

/* Return a random value: one in the dictionary, one next to it, or any value. */
static uint64
random_probe(void)
{
	uint64		near = nvalues > 0 ? values[unit_below(nvalues)] : 0;

	if (!has_keys())
		return nvalues > 0 && unit_one_in(2) ? near : (uint64) random_text();
	return unit_one_in(4) ? unit_random() : unit_one_in(8) ? 0 : unit_one_in(8) ? PG_UINT64_MAX :
		near + unit_below(3) - 1;
}

static void
check_find(RtscanReader *reader)
{
	uint64		value = random_probe();
	bool		after = unit_one_in(2);
	RtscanProbe probe = make_probe(value);
	RtscanPosition position;
	uint32		code = 0;

	while (code < nvalues && compare_values(values[code], value) < (after ? 1 : 0))
		code++;
	assert_true(rtscan_dictionary_find(reader, 0, &probe, after, &position));
	assert_int_equal(position.code, code);
	assert_int_equal(position.rank, ranks[code]);
}

/* Ascending probes: anywhere, close to each other, or some of them several times. */
#define MOST_PROBES	5000

static uint64 probes[MOST_PROBES];
static uint32 nprobes;

static int
compare_probes(const void *a, const void *b)
{
	return compare_values(*(const uint64 *) a, *(const uint64 *) b);
}

static void
random_probes(void)
{
	uint32		most = 1 + unit_below(unit_one_in(2) ? MOST_PROBES : 50);
	bool		close = has_keys() && unit_one_in(2);
	uint32		apart = 1 + unit_below(12);

	for (nprobes = 0; nprobes < most; nprobes++)
		probes[nprobes] = !close || nprobes == 0 ? random_probe() : probes[nprobes - 1] + 1 + unit_below(apart);
	for (uint32 i = 1; i < nprobes && unit_one_in(3); i += 1 + unit_below(1000))
		probes[i] = probes[i - 1];
	qsort(probes, nprobes, sizeof(uint64), compare_probes);
}

/* Return the first code, from code on, whose value is not less than the probe. */
static uint32
code_of(uint32 code, uint64 probe)
{
	while (code < nvalues && compare_values(values[code], probe) < 0)
		code++;
	return code;
}

static bool
is_there(uint32 code, uint64 probe)
{
	return code < nvalues && compare_values(values[code], probe) == 0;
}

/* The probe expected next, and a code whose value is not greater. */
typedef struct Expected
{
	uint32		probe;
	uint32		code;
} Expected;

static void
pass_those_not_there(Expected *expected)
{
	for (; expected->probe < nprobes; expected->probe++)
	{
		expected->code = code_of(expected->code, probes[expected->probe]);
		if (is_there(expected->code, probes[expected->probe]))
			return;
	}
}

/* RtscanFoundVisitor that checks what was found. */
static void
check_found(const RtscanFound *found, uint32 n, void *arg)
{
	Expected   *expected = arg;

	for (uint32 i = 0; i < n; i++)
	{
		pass_those_not_there(expected);
		assert_int_equal(found[i].value, expected->probe);
		assert_int_equal(found[i].place.code, expected->code);
		assert_int_equal(found[i].place.rank, ranks[expected->code]);
		assert_int_equal(found[i].behind.code, expected->code + 1);
		assert_int_equal(found[i].behind.rank, ranks[expected->code + 1]);
		expected->probe++;
	}
}

static RtscanProbes
make_probes(void)
{
	return (RtscanProbes) {
		.column = type,
		.n = nprobes,
		.keys = has_keys() ? probes : NULL,
		.compare = type->compare,
		.values = probes,
	};
}

static void
check_find_all(RtscanReader *reader)
{
	Expected	expected = {0, 0};
	RtscanProbes all;

	random_probes();
	all = make_probes();
	assert_true(rtscan_dictionary_find_all(reader, 0, &all, check_found, &expected));
	pass_those_not_there(&expected);
	assert_int_equal(expected.probe, nprobes);
}

static uint32 visited;

static void
visit(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	assert_int_equal(code, visited++);
	assert_int_equal(compare_values(value, values[code]), 0);
	assert_int_equal(first_rank, ranks[code]);
	assert_int_equal(end_rank, ranks[code + 1]);
}

static void
check_visit(RtscanReader *reader)
{
	uint32		first = unit_below(nvalues + 1),
				last = first + unit_below(nvalues - first + 1);

	visited = first;
	assert_true(rtscan_dictionary_visit(reader, 0, type, first, last, visit, NULL));
	assert_int_equal(visited, last);
}

static void
check_rank(RtscanReader *reader)
{
	uint32		code = unit_below(nvalues);
	uint32		rank = ranks[code] + unit_below(ranks[code + 1] - ranks[code]);

	assert_int_equal(rtscan_code_at_rank(reader, 0, type, rank), code);
}

static void
check_dictionary(const RtscanColumn *of)
{
	RtscanReader reader;

	make_values(of);
	reader = write_dictionary();
	for (int i = 0; i < 50; i++)
	{
		check_find(&reader);
		check_visit(&reader);
		if (nvalues > 0)
			check_rank(&reader);
	}
	check_find_all(&reader);
	assert_int_equal(unit_pages_at_hand(), 0);
}

static void
test_packed(void **unused)
{
	for (int round = 0; round < 200; round++)
		check_dictionary(&int8_column);
}

static void
test_whole(void **unused)
{
	for (int round = 0; round < 100; round++)
		check_dictionary(&text_column);
}

/* ---------------------------------------------------------------- damaged pages */

static void
ignore_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	if (!has_keys())
		assert_true(rtscan_value_size(type, value) <= RTSCAN_CHUNK_BYTES);
}

/*
 * RtscanFoundVisitor for damaged pages: each probe is found at most once, in ascending order, and codes are in
 * the dictionary.
 */
static void
limit_found(const RtscanFound *found, uint32 n, void *arg)
{
	uint32	   *next = arg;

	for (uint32 i = 0; i < n; i++)
	{
		assert_true(found[i].value >= *next && found[i].value < nprobes);
		assert_true(found[i].place.code < nvalues);
		assert_true(found[i].behind.code <= nvalues && found[i].behind.rank <= ranks[nvalues]);
		*next = found[i].value + 1;
	}
}

static void
use_damaged(void *arg)
{
	RtscanReader *reader = (RtscanReader *) arg;
	RtscanProbe probe = make_probe(random_probe());
	RtscanProbes all;
	RtscanPosition position;
	uint32		next = 0;

	if (rtscan_dictionary_find(reader, 0, &probe, unit_one_in(2), &position))
	{
		assert_true(position.code <= nvalues);
		assert_true(position.rank <= ranks[nvalues]);
	}
	random_probes();
	all = make_probes();
	(void) rtscan_dictionary_find_all(reader, 0, &all, limit_found, &next);
	(void) rtscan_dictionary_visit(reader, 0, type, 0, nvalues, ignore_value, NULL);
	if (nvalues > 0)
		(void) rtscan_code_at_rank(reader, 0, type, unit_below(ranks[nvalues]));
}

/*
 * Test damaged pages.  Whatever they contain, no other memory may be accessed: the result is an error, or a
 * position in the dictionary.
 */
static void
test_damage(void **unused)
{
	uint32		errors = 0;

	for (int round = 0; round < 300; round++)
	{
		RtscanReader reader;

		make_values(unit_one_in(2) ? &int8_column : &text_column);
		reader = write_dictionary();
		for (int i = 0; i < 10 && nvalues > 0; i++)
		{
			unit_damage_page(&reader);
			errors += unit_error(use_damaged, &reader) != NULL;
			unit_forget_pages();
		}
	}
	assert_true(errors > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_damage),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
