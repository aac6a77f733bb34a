/* SPDX-License-Identifier: PostgreSQL */
/*
 * job_case.c
 *		Random requests and the columns of their segments, for the test of jobs.
 */
#include "job_case.h"

#include "../table.h"

#define MAX_IN_TABLE	1000

static uint32_t
one_of(const uint32_t *choices, size_t n)
{
	return choices[below(n)];
}

#define ONE_OF(choices)	one_of(choices, sizeof(choices) / sizeof((choices)[0]))

/* Choose the properties that all segments of a case have in common. */
static void
make_shape(Case *test)
{
	static const uint32_t nulls[] = {0, 1, 2, 9, 99, 300, 2000};
	static const uint32_t value_bits[] = {1, 7, 15, 16, 31, 32, 40, 63};
	uint32_t	wanted = (uint32_t) below(MAX_DIGITS + 1);

	test->cells = 1;
	for (; test->ndigits < wanted; test->ndigits++)
	{
		uint32_t	null = ONE_OF(nulls);

		if (test->cells * (null + 1) > MAX_CELLS)
			break;
		test->null[test->ndigits] = null;
		test->dropped[test->ndigits] = below(4) > 0 ? 0 : (uint32_t) below(64);
		test->forms[test->ndigits] = (ColumnForm) below(COLUMN_FORMS);
		test->cells *= null + 1;
	}
	test->room = random_room(test->cells);
	test->nvalues = 1 + (uint32_t) below(MAX_VALUES);
	test->value_bits = ONE_OF(value_bits);
	test->nmeasures = (uint32_t) below(MAX_MEASURES + 1);
	test->header.executor = DEVICE_RTCUDB;
	test->header.build = true;
	test->header.want_bits = below(4) > 0;
	test->header.segments = 1 + (uint32_t) below(MAX_SEGMENTS);
}

/* Make masks of all chunks, whether or not they are used: with most rows, few rows or none. */
static void
make_masks(Case *test)
{
	for (uint32_t i = 0; i < MAX_SEGMENTS * MAX_CHUNKS; i++)
	{
		uint64_t	density = below(3);

		for (uint32_t byte = 0; byte < DEVICE_CHUNK_BYTES; byte++)
			test->masks[i][byte] = (char) (density == 0 ? 0 : density == 1 ? random64() & random64() & random64() :
										   random64() | random64());
	}
}

/* Make a column of a scan, with codes or in heap order. */
static void
make_scan(const Case *test, Column *column, const EvaluateSegment *segment, uint32_t number)
{
	static const uint32_t distincts[] = {0, 1, 2, 30, 255, 300, 5000, 70000};
	ColumnShape shape = {.rows = segment->rows, .nonnull = segment->rows, .heap_order = true};

	if (below(6) > 0)
	{
		make_codes(column, test->cache, segment, number, ONE_OF(distincts));
		return;
	}
	column->resident = calloc(1, sizeof(Resident));
	column->resident->key = cache_column_key(&segment->key, number, COLUMN_KEY);
	column->resident->shape = shape;
	cache_add(test->cache, column->resident);
	for (uint32_t row = 0; row < segment->rows; row++)
		column->numbers[row] = row;
}

/* Make ascending intervals with gaps, of codes or of rows, depending on the column. */
static uint32_t
make_intervals(const Column *column, DeviceInterval *intervals)
{
	bool		heap_order = column->resident->shape.heap_order;
	uint32_t	end = heap_order ? column->resident->shape.rows : column->resident->shape.distinct + 1;
	uint32_t	wanted = below(3) > 0 ? 1 : 1 + (uint32_t) below(MAX_INTERVALS);
	uint32_t	n = 0;

	for (uint32_t first = (uint32_t) below(end); first < end && n < wanted; n++)
	{
		uint32_t	length = 1 + (uint32_t) below(wanted == 1 ? end - first : (end - first) / wanted + 1);

		if (first + length > end)
			length = end - first;
		intervals[n] = heap_order ? (DeviceInterval) {first, first + length, 0, 0} :
			(DeviceInterval) {0, 0, first, first + length};
		first += length + 1 + (uint32_t) below(3);
	}
	return n;
}

/* Make the conditions of a segment.  A segment without conditions has only matching rows. */
static void
make_scans(Case *test, uint32_t s)
{
	EvaluateSegment *segment = &test->segments[s];

	segment->columns = (uint32_t) below(below(2) > 0 ? MAX_SCANS + 1 : 2);
	for (uint32_t c = 0; c < segment->columns; c++)
	{
		EvaluateColumn *wanted = &test->columns[test->header.columns++];

		test->scans[s][c] = new_column();
		make_scan(test, &test->scans[s][c], segment, c);
		wanted->column = c;
		wanted->intervals = make_intervals(&test->scans[s][c], test->intervals + test->header.intervals);
		test->header.intervals += wanted->intervals;
	}
}

/*
 * Append the words of a set or a map, in which about half or three quarters of the bits are set.  Returns their
 * position.
 */
static uint32_t
make_words(Case *test, uint64_t n)
{
	uint32_t	first = test->header.words;
	bool		half = below(2) > 0;

	for (uint64_t i = 0; i < n; i++)
		test->words[test->header.words++] = (uint32_t) (random64() | (half ? 0 : random64()));
	return first;
}

/*
 * Append a table of fewer than "limit" integers, most of them below "limit", the rest up to "reach".  In a map
 * ("numbers"), each has a number of at most highest + 1.  Returns the table's position.
 */
static uint32_t
make_table(Case *test, uint32_t *slot_bits, uint64_t reach, uint32_t limit, bool numbers, uint64_t highest)
{
	uint32_t	n = (uint32_t) below(limit < MAX_IN_TABLE ? limit : MAX_IN_TABLE);
	uint32_t	first = test->header.words;

	*slot_bits = device_slot_bits(n);
	test->header.words += (uint32_t) device_table_words(*slot_bits, numbers);
	device_clear_table(test->words + first, *slot_bits);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	slot = device_add_to_table(test->words + first, *slot_bits,
											   below(8) > 0 && reach >= limit ? below(limit) : below(reach + 1));

		if (numbers)
			*device_number_in_slot(test->words + first, *slot_bits, slot) = (uint32_t) below(highest + 2);
	}
	return first;
}

/*
 * Return a random "reach" of a set or a map (../protocol.h): its last position, or the index of its last breakpoint.
 * Often it is less than "limit", so that some of the column's integers may be greater than the reach.
 */
static uint32_t
random_reach(uint32_t limit)
{
	return (uint32_t) below(below(2) > 0 && limit < MAX_REACH ? limit : MAX_REACH);
}

/* Return a random reach of a table, which may be far above "limit". */
static uint64_t
random_far_reach(uint32_t limit)
{
	return below(2) > 0 ? random_reach(limit) : UINT64_MAX - 1 - below(2);
}

/*
 * Make a segment's sets of members, and columns of values near the sets' integers.  A set has all integers up to its
 * reach, or bits, or a table.
 */
static void
make_members(Case *test, uint32_t s)
{
	static const uint32_t limits[] = {1, 2, 5, 100, 5000};
	EvaluateSegment *segment = &test->segments[s];

	segment->members = (uint32_t) below(MAX_MEMBERS + 1);
	for (uint32_t m = 0; m < segment->members; m++)
	{
		Column	   *column = &test->member_columns[s][m];
		EvaluateMembers *members = &test->members[test->header.members++];
		uint32_t	limit = ONE_OF(limits);

		*column = new_column();
		make_values(column, test->cache, segment, FIRST_MEMBERS + m, random_form(), limit);
		*members = (EvaluateMembers) {
			.column = FIRST_MEMBERS + m, .form = column->resident->shape.form, .null = (uint32_t) below(2),
			.words = DEVICE_NO_WORDS, .shift = below(2) > 0 ? below(limit) : -below(limit),
			.reach = random_reach(limit)};
		if (below(3) > 0)
			members->words = make_words(test, device_set_words(members->reach));
		else if (below(2) > 0)
		{
			members->reach = random_far_reach(limit);
			members->words = make_table(test, &members->slot_bits, members->reach, limit, false, 0);
			members->lacks = (uint32_t) below(3);
		}
	}
}

/* Give a digit a map: a table, breakpoints, or numbers of 8, 16 or 32 bits. */
static void
make_map(Case *test, AggDigit *digit)
{
	digit->shift = below(2) > 0 ? below(digit->null + 1) : -below(digit->null + 1);
	if (below(4) == 0)
	{
		digit->map_bits = 32;
		digit->reach = random_far_reach(digit->null + 1);
		digit->map = make_table(test, &digit->slot_bits, digit->reach, digit->null + 1, true, digit->null);
		return;
	}
	digit->map_bits = 8 << below(4);
	digit->reach = random_reach(digit->null + 1);
	digit->map = test->header.words;
	test->header.words += (uint32_t) device_map_words(digit->reach, digit->map_bits);
	for (uint32_t i = 0; i <= digit->reach && digit->map_bits == DEVICE_BREAKPOINT_BITS; i++)
	{
		uint64_t	breakpoint = below(8) == 0 ? UINT64_MAX - below(3) : below((uint64_t) digit->null + 2);

		memcpy(test->words + digit->map + 2 * i, &breakpoint, sizeof(breakpoint));
	}
	for (uint32_t i = 0; i <= digit->reach && digit->map_bits != DEVICE_BREAKPOINT_BITS; i++)
		set_bits((char *) (test->words + digit->map), (uint64_t) i * digit->map_bits, digit->map_bits,
				 below((uint64_t) digit->null + 2));
}

static void
make_digits(Case *test, uint32_t s)
{
	EvaluateSegment *segment = &test->segments[s];
	uint64_t	stride = 1;

	segment->digits = test->ndigits;
	for (uint32_t d = 0; d < test->ndigits; d++)
	{
		Column	   *column = &test->digit_columns[s][d];
		uint32_t	null = test->null[d];

		*column = new_column();
		if (test->forms[d] != COLUMN_KEY)
			make_values(column, test->cache, segment, FIRST_DIGIT + d, test->forms[d],
						digit_limit(null, test->dropped[d]));
		else
			make_codes(column, test->cache, segment, FIRST_DIGIT + d, null);
		test->digits[test->header.digits++] = (AggDigit) {
			.column = FIRST_DIGIT + d, .form = test->forms[d], .null = null, .map = DEVICE_NO_WORDS, .stride = stride,
			.shift = column->shift,
			.dropped = test->forms[d] == COLUMN_KEY ? 0 : test->dropped[d]};
		if (test->forms[d] != COLUMN_KEY && test->dropped[d] == 0 && below(3) > 0)
			make_map(test, &test->digits[test->header.digits - 1]);
		stride *= null + 1;
	}
}

/* Make a segment's measures.  The first segment determines their kinds. */
static void
make_measures(Case *test, uint32_t s)
{
	for (uint32_t v = 0; v < test->nvalues; v++)
	{
		test->values[s][v] = new_column();
		make_values(&test->values[s][v], test->cache, &test->segments[s], FIRST_VALUE + v, random_form(),
					UINT64_C(1) << test->value_bits);
	}
	test->segments[s].measures = test->nmeasures;
	for (uint32_t m = 0; m < test->nmeasures; m++)
	{
		AggMeasure *measure = &test->measures[test->header.measures++];

		*measure = s > 0 ? test->measures[m] :
			(AggMeasure) {.column = FIRST_VALUE + (uint32_t) below(test->nvalues),
				.kind = (uint32_t) below(AGG_KINDS)};
		measure->form = test->values[s][measure->column - FIRST_VALUE].resident->shape.form;
		measure->shift = test->values[s][measure->column - FIRST_VALUE].shift;
	}
}

static void
make_segment(Case *test, uint32_t s)
{
	static const uint32_t rows[] = {1, 31, 4097, DEVICE_CHUNK_ROWS - 1, DEVICE_CHUNK_ROWS, DEVICE_CHUNK_ROWS + 1,
		130000, MAX_ROWS};
	EvaluateSegment *segment = &test->segments[s];

	segment->key.segment = test->number * MAX_SEGMENTS + s;
	segment->rows = ONE_OF(rows);
	make_scans(test, s);
	make_members(test, s);
	/* Without digits and measures, no segment of the request has an aggregate. */
	if (test->nmeasures == 0 && test->ndigits == 0)
		return;
	segment->cells = test->cells;
	segment->entries = test->room;
	segment->joins = s > 0 && below(2) > 0;
	segment->aggregated[0] = (uint32_t) random64();
	segment->partly[0] = test->header.want_bits ? segment->aggregated[0] & (uint32_t) random64() : 0;
	make_digits(test, s);
	make_measures(test, s);
}

void
make_case(Case *test, Cache *cache, uint64_t number)
{
	memset(test, 0, sizeof(*test));
	test->cache = cache;
	test->number = number;
	make_shape(test);
	make_masks(test);
	for (uint32_t s = 0; s < test->header.segments; s++)
		make_segment(test, s);
}

void
free_case(Case *test)
{
	for (uint32_t s = 0; s < test->header.segments; s++)
	{
		for (uint32_t c = 0; c < MAX_SCANS; c++)
			free_column(&test->scans[s][c]);
		for (uint32_t d = 0; d < MAX_DIGITS; d++)
			free_column(&test->digit_columns[s][d]);
		for (uint32_t v = 0; v < MAX_VALUES; v++)
			free_column(&test->values[s][v]);
		for (uint32_t m = 0; m < MAX_MEMBERS; m++)
			free_column(&test->member_columns[s][m]);
	}
	cache_evict_all(test->cache);
}
