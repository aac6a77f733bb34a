/* SPDX-License-Identifier: PostgreSQL */
/*
 * job_test.c
 *		Test the counts, bits and tallies of RTCUDB's job (../make_job.h) on a device, against a loop over rows.
 *
 *	job_test [device]
 *
 * Sets and maps, which all executors share, are tested as well.  Requests are evaluated as the program does, with
 * several segments at a time.  Columns lie in memory of the host.
 */
#include "../evaluate.h"

#include <stdio.h>
#include <string.h>

#include "../table.h"
#include "columns.h"

#define CASES			24
#define MAX_SEGMENTS	3
#define MAX_SCANS		5
#define MAX_INTERVALS	40
#define MAX_DIGITS		3
#define MAX_MEASURES	12
#define MAX_VALUES		3		/* measured columns */
#define MAX_CELLS		3000
#define FIRST_DIGIT		MAX_SCANS
#define FIRST_VALUE		(FIRST_DIGIT + MAX_DIGITS)
#define MAX_MEMBERS		2		/* columns with sets of members */
#define FIRST_MEMBERS	(FIRST_VALUE + MAX_VALUES)
#define MAX_REACH		5000	/* of a set or a map */
#define MAX_IN_TABLE	1000
#define MAX_SET_WORDS	(MAX_SEGMENTS * (MAX_MEMBERS + MAX_DIGITS) * 2 * (MAX_REACH + 1))
#define MAX_WORDS		(MAX_SEGMENTS * MAX_CELLS * (1 + MAX_MEASURES))
#define MAX_ANSWER		(MAX_SEGMENTS * (1 + MAX_CELLS * (2 + MAX_MEASURES)))
#define RESULTS_SIZE	(65536 + MAX_ANSWER * sizeof(uint64_t) + MAX_SEGMENTS * MAX_CHUNKS * DEVICE_CHUNK_BYTES)
#define AREA_SIZE		(RESULTS_SIZE + MAX_SET_WORDS * sizeof(uint32_t))

/* A request, and the columns of its segments. */
typedef struct Case
{
	EvaluateHeader header;
	EvaluateSegment segments[MAX_SEGMENTS];
	EvaluateColumn columns[MAX_SEGMENTS * MAX_SCANS];
	DeviceInterval intervals[MAX_SEGMENTS * MAX_SCANS * MAX_INTERVALS];
	EvaluateMembers members[MAX_SEGMENTS * MAX_MEMBERS];
	uint32_t	words[MAX_SET_WORDS];
	TallyDigit	digits[MAX_SEGMENTS * MAX_DIGITS];
	TallyMeasure measures[MAX_SEGMENTS * MAX_MEASURES];
	Column		scans[MAX_SEGMENTS][MAX_SCANS];
	Column		digit_columns[MAX_SEGMENTS][MAX_DIGITS];
	Column		values[MAX_SEGMENTS][MAX_VALUES];
	Column		member_columns[MAX_SEGMENTS][MAX_MEMBERS];

	/* These members are the same for all segments. */
	uint32_t	ndigits;
	uint32_t	null[MAX_DIGITS];
	uint32_t	dropped[MAX_DIGITS];
	ColumnForm	forms[MAX_DIGITS];
	uint32_t	cells;
	uint32_t	room;
	uint32_t	nvalues;
	uint32_t	value_bits;
	uint32_t	nmeasures;
} Case;

static Context context;
static Cache cache;
static Evaluator evaluator;
static Memory results;
static Case current;
static ChunkCount expected_counts[MAX_SEGMENTS * MAX_CHUNKS];
static char masks[MAX_SEGMENTS * MAX_CHUNKS][DEVICE_CHUNK_BYTES];	/* of partly tallied chunks */
static char expected_bits[MAX_SEGMENTS * MAX_CHUNKS][DEVICE_CHUNK_BYTES];
static uint64_t expected_words[MAX_WORDS];
static unsigned long ncases = 0;

/* ---------------------------------------------------------------- cases */

static uint32_t
one_of(const uint32_t *choices, size_t n)
{
	return choices[below(n)];
}

#define ONE_OF(choices)	one_of(choices, sizeof(choices) / sizeof((choices)[0]))

/* Choose what all segments have in common. */
static void
make_shape(void)
{
	static const uint32_t nulls[] = {0, 1, 2, 9, 99, 300, 2000};
	static const uint32_t value_bits[] = {1, 7, 15, 16, 31, 32, 40, 63};
	uint32_t	wanted = (uint32_t) below(MAX_DIGITS + 1);

	memset(&current, 0, sizeof(current));
	current.cells = 1;
	for (; current.ndigits < wanted; current.ndigits++)
	{
		uint32_t	null = ONE_OF(nulls);

		if (current.cells * (null + 1) > MAX_CELLS)
			break;
		current.null[current.ndigits] = null;
		current.dropped[current.ndigits] = below(4) > 0 ? 0 : (uint32_t) below(64);
		current.forms[current.ndigits] = (ColumnForm) below(COLUMN_FORMS);
		current.cells *= null + 1;
	}
	current.room = random_room(current.cells);
	current.nvalues = 1 + (uint32_t) below(MAX_VALUES);
	current.value_bits = ONE_OF(value_bits);
	current.nmeasures = (uint32_t) below(MAX_MEASURES + 1);
	current.header.executor = DEVICE_RTCUDB;
	current.header.build = true;
	current.header.want_bits = below(4) > 0;
	current.header.segments = 1 + (uint32_t) below(MAX_SEGMENTS);
}

/* Make a column of a scan, with codes or in heap order. */
static void
make_scan(Column *column, const EvaluateSegment *segment, uint32_t number)
{
	static const uint32_t distincts[] = {0, 1, 2, 30, 255, 300, 5000, 70000};
	ColumnShape shape = {.rows = segment->rows, .nonnull = segment->rows, .heap_order = true};

	if (below(6) > 0)
	{
		make_codes(column, &cache, segment, number, ONE_OF(distincts));
		return;
	}
	column->resident = calloc(1, sizeof(Resident));
	column->resident->key = cache_column_key(&segment->key, number, COLUMN_KEY);
	column->resident->shape = shape;
	cache_add(&cache, column->resident);
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

/* Make the conditions of a segment.  Without any, all rows match. */
static void
make_scans(uint32_t s)
{
	EvaluateSegment *segment = &current.segments[s];

	segment->columns = (uint32_t) below(below(2) > 0 ? MAX_SCANS + 1 : 2);
	for (uint32_t c = 0; c < segment->columns; c++)
	{
		EvaluateColumn *wanted = &current.columns[current.header.columns++];

		current.scans[s][c] = new_column();
		make_scan(&current.scans[s][c], segment, c);
		wanted->column = c;
		wanted->intervals = make_intervals(&current.scans[s][c], current.intervals + current.header.intervals);
		current.header.intervals += wanted->intervals;
	}
}

/*
 * Append the words of a set or a map, in which about half or three quarters of the bits are set.  Returns their
 * position.
 */
static uint32_t
make_words(uint64_t n)
{
	uint32_t	first = current.header.words;
	bool		half = below(2) > 0;

	for (uint64_t i = 0; i < n; i++)
		current.words[current.header.words++] = (uint32_t) (random64() | (half ? 0 : random64()));
	return first;
}

/* Append a table of up to limit integers, far apart or near.  Returns its position. */
static uint32_t
make_table(uint32_t *slot_bits, uint64_t reach, uint32_t limit, bool numbers, uint64_t highest)
{
	uint32_t	n = (uint32_t) below(limit < MAX_IN_TABLE ? limit : MAX_IN_TABLE);
	uint32_t	first = current.header.words;

	*slot_bits = device_slot_bits(n);
	current.header.words += (uint32_t) device_table_words(*slot_bits, numbers);
	device_clear_table(current.words + first, *slot_bits);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	slot = device_add_to_table(current.words + first, *slot_bits,
											   below(8) > 0 && reach >= limit ? below(limit) : below(reach + 1));

		if (numbers)
			*device_number_in_slot(current.words + first, *slot_bits, slot) = (uint32_t) below(highest + 2);
	}
	return first;
}

/* Return the reach of a set or a map for integers below limit: some may be beyond it. */
static uint32_t
random_reach(uint32_t limit)
{
	return (uint32_t) below(below(2) > 0 && limit < MAX_REACH ? limit : MAX_REACH);
}

/* Return the reach of a table, which may be far beyond limit. */
static uint64_t
random_far_reach(uint32_t limit)
{
	return below(2) > 0 ? random_reach(limit) : UINT64_MAX - 1 - below(2);
}

/* Make a segment's sets of members, which can have all integers or none, and values near the sets' integers. */
static void
make_members(uint32_t s)
{
	static const uint32_t limits[] = {1, 2, 5, 100, 5000};
	EvaluateSegment *segment = &current.segments[s];

	segment->members = (uint32_t) below(MAX_MEMBERS + 1);
	for (uint32_t m = 0; m < segment->members; m++)
	{
		Column	   *column = &current.member_columns[s][m];
		EvaluateMembers *members = &current.members[current.header.members++];
		uint32_t	limit = ONE_OF(limits);

		*column = new_column();
		make_values(column, &cache, segment, FIRST_MEMBERS + m, random_form(), limit);
		*members = (EvaluateMembers) {
			.column = FIRST_MEMBERS + m, .form = column->resident->shape.form, .null = (uint32_t) below(2),
			.words = DEVICE_NO_WORDS, .shift = below(2) > 0 ? below(limit) : -below(limit),
			.reach = random_reach(limit)};
		if (below(3) > 0)
			members->words = make_words(device_set_words(members->reach));
		else if (below(2) > 0)
		{
			members->reach = random_far_reach(limit);
			members->words = make_table(&members->slot_bits, members->reach, limit, false, 0);
			members->lacks = (uint32_t) below(3);
		}
	}
}

/* Give a digit of integers a map. */
static void
make_map(TallyDigit *digit)
{
	digit->shift = below(2) > 0 ? below(digit->null + 1) : -below(digit->null + 1);
	if (below(4) == 0)
	{
		digit->map_bits = 32;
		digit->reach = random_far_reach(digit->null + 1);
		digit->map = make_table(&digit->slot_bits, digit->reach, digit->null + 1, true, digit->null);
		return;
	}
	digit->map_bits = 8 << below(4);
	digit->reach = random_reach(digit->null + 1);
	digit->map = current.header.words;
	current.header.words += (uint32_t) device_map_words(digit->reach, digit->map_bits);
	for (uint32_t i = 0; i <= digit->reach && digit->map_bits == DEVICE_BREAKPOINT_BITS; i++)
	{
		uint64_t	breakpoint = below(8) == 0 ? UINT64_MAX - below(3) : below((uint64_t) digit->null + 2);

		memcpy(current.words + digit->map + 2 * i, &breakpoint, sizeof(breakpoint));
	}
	for (uint32_t i = 0; i <= digit->reach && digit->map_bits != DEVICE_BREAKPOINT_BITS; i++)
		set_bits((char *) (current.words + digit->map), (uint64_t) i * digit->map_bits, digit->map_bits,
				 below((uint64_t) digit->null + 2));
}

static void
make_digits(uint32_t s)
{
	EvaluateSegment *segment = &current.segments[s];
	uint64_t	stride = 1;

	segment->digits = current.ndigits;
	for (uint32_t d = 0; d < current.ndigits; d++)
	{
		Column	   *column = &current.digit_columns[s][d];
		uint32_t	null = current.null[d];

		*column = new_column();
		if (current.forms[d] != COLUMN_KEY)
			make_values(column, &cache, segment, FIRST_DIGIT + d, current.forms[d],
						digit_limit(null, current.dropped[d]));
		else
			make_codes(column, &cache, segment, FIRST_DIGIT + d, null);
		current.digits[current.header.digits++] = (TallyDigit) {
			.column = FIRST_DIGIT + d, .form = current.forms[d], .null = null, .map = DEVICE_NO_WORDS, .stride = stride,
			.shift = column->shift,
			.dropped = current.forms[d] == COLUMN_KEY ? 0 : current.dropped[d]};
		if (current.forms[d] != COLUMN_KEY && current.dropped[d] == 0 && below(3) > 0)
			make_map(&current.digits[current.header.digits - 1]);
		stride *= null + 1;
	}
}

/* Make a segment's measures.  The first segment determines their kinds. */
static void
make_measures(uint32_t s)
{
	for (uint32_t v = 0; v < current.nvalues; v++)
	{
		current.values[s][v] = new_column();
		make_values(&current.values[s][v], &cache, &current.segments[s], FIRST_VALUE + v, random_form(),
					UINT64_C(1) << current.value_bits);
	}
	current.segments[s].measures = current.nmeasures;
	for (uint32_t m = 0; m < current.nmeasures; m++)
	{
		TallyMeasure *measure = &current.measures[current.header.measures++];

		*measure = s > 0 ? current.measures[m] :
			(TallyMeasure) {.column = FIRST_VALUE + (uint32_t) below(current.nvalues),
				.kind = (uint32_t) below(TALLY_KINDS)};
		measure->form = current.values[s][measure->column - FIRST_VALUE].resident->shape.form;
		measure->shift = current.values[s][measure->column - FIRST_VALUE].shift;
	}
}

static void
make_segment(uint32_t s)
{
	static const uint32_t rows[] = {1, 31, 4097, DEVICE_CHUNK_ROWS - 1, DEVICE_CHUNK_ROWS, DEVICE_CHUNK_ROWS + 1,
		130000, MAX_ROWS};
	EvaluateSegment *segment = &current.segments[s];

	segment->key.segment = ncases * MAX_SEGMENTS + s;
	segment->rows = ONE_OF(rows);
	make_scans(s);
	make_members(s);
	/* Either this segment or the whole request has no tally. */
	if (current.nmeasures == 0 && current.ndigits == 0)
		return;
	segment->cells = current.cells;
	segment->entries = current.room;
	segment->joins = s > 0 && below(2) > 0;
	segment->tallied[0] = (uint32_t) random64();
	segment->partly[0] = current.header.want_bits ? segment->tallied[0] & (uint32_t) random64() : 0;
	make_digits(s);
	make_measures(s);
}

/* ---------------------------------------------------------------- expected results */

static bool
is_wanted(const Column *column, const DeviceInterval *intervals, uint32_t count, uint32_t row)
{
	bool		heap_order = column->resident->shape.heap_order;
	uint64_t	code = column->numbers[row];

	for (uint32_t i = 0; i < count; i++)
		if (heap_order ? code >= intervals[i].low_rank && code < intervals[i].high_rank :
			code >= intervals[i].low_code && code < intervals[i].high_code)
			return true;
	return false;
}

/* Return a number of that many bits from words. */
static uint32_t
number_at(uint32_t words, uint64_t place, uint32_t bits)
{
	uint32_t	number;

	memcpy(&number, (const char *) (current.words + words) + place * bits / 8, sizeof(number));
	return number & UINT32_MAX >> (32 - bits);
}

/* Return how many of the breakpoints in words are not above an integer. */
static uint64_t
breakpoints_below(uint32_t words, uint32_t breakpoints, uint64_t integer)
{
	uint64_t	count = 0;

	for (uint32_t i = 0; i < breakpoints; i++)
	{
		uint64_t	breakpoint;

		memcpy(&breakpoint, current.words + words + 2 * i, sizeof(breakpoint));
		count += integer >= breakpoint;
	}
	return count;
}

/* Find the slot of an integer in a table, or a free one. */
static uint32_t
slot_in_table(uint32_t words, uint32_t slot_bits, uint64_t integer, bool *found)
{
	uint32_t	slot = device_find_slot(current.words + words, slot_bits, integer);

	*found = device_integer_in_slot(current.words + words, slot) == integer;
	return slot;
}

static bool
is_member(const EvaluateMembers *members, const Column *column, uint32_t row)
{
	uint64_t	place = column->numbers[row] + members->shift;
	bool		found;

	if (column->isnull[row])
		return members->null != 0;
	if (place <= members->reach && members->slot_bits > 0)
	{
		slot_in_table(members->words, members->slot_bits, place, &found);
		return found == (members->lacks == 0);
	}
	return place <= members->reach &&
		(members->words == DEVICE_NO_WORDS || (current.words[members->words + place / 32] >> place % 32 & 1) != 0);
}

static uint64_t
number_in_table(const TallyDigit *digit, uint64_t integer)
{
	bool		found;
	uint32_t	slot = slot_in_table(digit->map, digit->slot_bits, integer, &found);

	return found ? *device_number_in_slot(current.words + digit->map, digit->slot_bits, slot) : digit->null;
}

/* Return a row's number for a digit. */
static uint64_t
digit_number(const TallyDigit *digit, const Column *column, uint32_t row)
{
	uint64_t	number = column->numbers[row] + digit->shift;

	if (digit->map != DEVICE_NO_WORDS && digit->map_bits == DEVICE_BREAKPOINT_BITS && !column->isnull[row])
		number = breakpoints_below(digit->map, (uint32_t) digit->reach + 1, number);
	else if (digit->slot_bits > 0 && !column->isnull[row])
		number = number <= digit->reach ? number_in_table(digit, number) : digit->null;
	else if (digit->map != DEVICE_NO_WORDS && !column->isnull[row])
		number = number <= digit->reach ? number_at(digit->map, number, digit->map_bits) : digit->null;
	number >>= digit->dropped;
	return column->isnull[row] || number > digit->null ? digit->null : number;
}

static void
expect_in_tally(uint32_t s, uint32_t row, uint64_t *words)
{
	const EvaluateSegment *segment = &current.segments[s];
	const TallyDigit *digits = current.digits + s * current.ndigits;
	const TallyMeasure *measures = current.measures + s * current.nmeasures;
	uint64_t   *word = words;

	for (uint32_t d = 0; d < current.ndigits; d++)
	{
		word += digit_number(&digits[d], &current.digit_columns[s][d], row) * digits[d].stride;
	}
	*word += 1;
	for (uint32_t m = 0; m < current.nmeasures; m++)
	{
		const Column *column = &current.values[s][measures[m].column - FIRST_VALUE];

		word += segment->cells;
		if (!column->isnull[row])
			measure_value(word, measures[m].kind, column->numbers[row] + measures[m].shift);
	}
}

static void
expect_row(uint32_t s, uint32_t row, uint32_t first_chunk, uint64_t *words)
{
	const EvaluateSegment *segment = &current.segments[s];
	uint32_t	chunk = row / DEVICE_CHUNK_ROWS;
	uint32_t	bit = row % DEVICE_CHUNK_ROWS;
	bool		masked = (segment->partly[0] >> chunk & 1) != 0 &&
		(masks[first_chunk + chunk][bit / 8] >> bit % 8 & 1) != 0;

	if (segment->cells > 0 && (segment->tallied[0] >> chunk & 1) != 0 && !masked)
	{
		expected_counts[first_chunk + chunk].tallied++;
		expect_in_tally(s, row, words);
		return;
	}
	expected_counts[first_chunk + chunk].rows++;
	expected_bits[first_chunk + chunk][bit / 8] |= (char) (1 << bit % 8);
}

/* The positions of a segment's parts in the request and in the expected answer. */
typedef struct Place
{
	const EvaluateColumn *columns;
	const DeviceInterval *intervals;
	const EvaluateMembers *members;
	uint32_t	chunk;
	uint64_t   *words;
	uint64_t   *next_words;
} Place;

static void
expect_segment(uint32_t s, Place *place)
{
	const EvaluateSegment *segment = &current.segments[s];

	if (!segment->joins)
		place->words = place->next_words;
	for (uint32_t row = 0; row < segment->rows; row++)
	{
		const DeviceInterval *intervals = place->intervals;
		bool		matches = true;

		for (uint32_t c = 0; c < segment->columns; c++)
		{
			matches = matches && is_wanted(&current.scans[s][c], intervals, place->columns[c].intervals, row);
			intervals += place->columns[c].intervals;
		}
		for (uint32_t m = 0; m < segment->members; m++)
			matches = matches && is_member(&place->members[m], &current.member_columns[s][m], row);
		if (matches)
			expect_row(s, row, place->chunk, place->words);
	}
	for (uint32_t c = 0; c < segment->columns; c++)
		place->intervals += place->columns[c].intervals;
	place->columns += segment->columns;
	place->members += segment->members;
	place->chunk += device_chunks(segment->rows);
	place->next_words += expected_words_of(segment);
}

/* ---------------------------------------------------------------- the device's results */

static Request
make_request(Area *area)
{
	Request		request = {
		.area = area, .header = &current.header, .segments = current.segments, .columns = current.columns,
		.intervals = current.intervals, .members = current.members, .digits = current.digits,
		.measures = current.measures,
		.words = RESULTS_SIZE};

	for (uint32_t s = 0; s < current.header.segments; s++)
	{
		request.chunks += device_chunks(current.segments[s].rows);
		request.tally_words += device_tally_words(&current.segments[s]);
	}
	return request;
}

static void
evaluate(Request *request)
{
	Request    *requests[] = {request};

	request->built_before = evaluator.bvhs.builds;
	/* Only one BVH is built in a batch, and each segment needs one. */
	do
	{
		evaluate_begin(&evaluator, requests, 1);
		evaluate_end(&evaluator, requests);
	} while (request->reply.result == REQUEST_WAITS);
	if (request->reply.result != DEVICE_OK)
		fail("case %lu: the result is %u", ncases, request->reply.result);
}

static void
compare(const Request *request)
{
	const char *answer = request->area->map;
	const ChunkCount *counts = (const ChunkCount *) answer;
	const uint64_t *words = (const uint64_t *) (answer + device_tallies_offset(request->chunks));
	const uint64_t *expected = expected_words;
	const char *bits = answer + device_bits_offset(request->chunks, request->tally_words);

	for (uint32_t i = 0; i < request->chunks; i++, bits += DEVICE_CHUNK_BYTES)
	{
		if (counts[i].rows != expected_counts[i].rows || counts[i].tallied != expected_counts[i].tallied)
			fail("case %lu, chunk %u: %u rows and %u in the tally instead of %u and %u", ncases, i, counts[i].rows,
				 counts[i].tallied, expected_counts[i].rows, expected_counts[i].tallied);
		if (current.header.want_bits && counts[i].rows > 0 && memcmp(bits, expected_bits[i], DEVICE_CHUNK_BYTES) != 0)
			fail("case %lu, chunk %u: other bits", ncases, i);
	}
	for (uint32_t s = 0; s < current.header.segments; s++)
	{
		const EvaluateSegment *segment = &current.segments[s];

		if (device_tally_words(segment) > 0 && !has_expected_entries(segment, words, expected))
			fail("case %lu, segment %u, %u cells, room for %u, %u measures: other entries", ncases, s, current.cells,
				 current.room,
				 current.nmeasures);
		words += device_tally_words(segment);
		expected += expected_words_of(segment);
	}
}

/* ---------------------------------------------------------------- running a case */

static void
forget(void)
{
	for (uint32_t s = 0; s < current.header.segments; s++)
	{
		for (uint32_t c = 0; c < MAX_SCANS; c++)
			free_column(&current.scans[s][c]);
		for (uint32_t d = 0; d < MAX_DIGITS; d++)
			free_column(&current.digit_columns[s][d]);
		for (uint32_t v = 0; v < MAX_VALUES; v++)
			free_column(&current.values[s][v]);
		for (uint32_t m = 0; m < MAX_MEMBERS; m++)
			free_column(&current.member_columns[s][m]);
	}
	cache_evict_all(&cache);
}

/* Make masks of all chunks, needed or not, with most rows, few rows or none. */
static void
make_masks(void)
{
	for (uint32_t i = 0; i < MAX_SEGMENTS * MAX_CHUNKS; i++)
	{
		uint64_t	density = below(3);

		for (uint32_t byte = 0; byte < DEVICE_CHUNK_BYTES; byte++)
			masks[i][byte] = (char) (density == 0 ? 0 : density == 1 ? random64() & random64() & random64() :
									 random64() | random64());
	}
}

/* Fill the area as a backend does, with words, and with masks where bits will be. */
static void
fill_area(const Request *request)
{
	char	   *bits = request->area->map + device_bits_offset(request->chunks, request->tally_words);

	memset(results.host, 0xA5, results.size);
	memset(request->area->map, 0xA5, request->area->size);
	if (current.header.want_bits)
		memcpy(bits, masks, (size_t) request->chunks * DEVICE_CHUNK_BYTES);
	memcpy(request->area->map + request->words, current.words, current.header.words * sizeof(uint32_t));
}

static void
check_case(void)
{
	static char map[AREA_SIZE];
	bool		imported = below(2) > 0;
	Area		area = {.map = imported ? results.host : map, .size = AREA_SIZE, .imported = imported,
		.memory = results};
	Place		place = {.columns = current.columns, .intervals = current.intervals, .members = current.members,
		.next_words = expected_words};
	Request		request;

	make_shape();
	make_masks();
	for (uint32_t s = 0; s < current.header.segments; s++)
		make_segment(s);
	request = make_request(&area);
	memset(expected_counts, 0, sizeof(expected_counts));
	memset(expected_bits, 0, sizeof(expected_bits));
	memset(expected_words, 0, sizeof(expected_words));
	for (uint32_t s = 0; s < current.header.segments; s++)
		expect_segment(s, &place);
	/* The BVHs exist already the second time. */
	for (int i = 0; i < 2; i++)
	{
		fill_area(&request);
		request.reply = (DeviceReply) {0};
		evaluate(&request);
		compare(&request);
		if ((request.reply.built > 0) != (i == 0 && current.header.columns > 0))
			fail("case %lu: %u BVHs are built the %s time", ncases, request.reply.built, i == 0 ? "first" : "second");
	}
	forget();
	ncases++;
}

int
main(int argc, char **argv)
{
	open_test_device(argc, argv, &context);
	if (!context.ray_tracing || !context.int64_atomics)
		fail("the device lacks ray tracing, or atomic operations on 64 bits");
	cache_open(&cache, &context);
	evaluator_open(&evaluator, &context, &cache, &(EvaluatorOptions) {.rays = {1, 1, 1, 1, RAY_LONGEST},
		.choose_bins = bins_nearest});
	if (!memory_on_host(&context, HOST_READS_AND_WRITES, AREA_SIZE, 0, &results))
		fail("there is no memory for the host");
	while (ncases < CASES)
		check_case();
	printf("ok %lu cases\n", ncases);
	return 0;
}
