/* SPDX-License-Identifier: PostgreSQL */
/*
 * request_test.c
 *		Test that invalid requests are refused, whatever a backend has written: ../request.h, without a device.
 *
 * A valid request is made, and then some of its 32-bit words are changed.  If it is still accepted, everything that
 * the program will read must be inside the area.  The area has its exact size, so that the address sanitizer detects
 * reads beyond it.
 */
#include "../request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_test.h"

#define CASES			200000
#define SEGMENTS		3
#define COLUMNS			2		/* number in each segment, as are MEMBERS, DIGITS and MEASURES */
#define MEMBERS			2
#define DIGITS			2
#define MEASURES		2
#define SET_WORDS		40
#define ROWS			100000
#define MOST_CHANGES	4

/* The content of the area, as described in device/protocol.h. */
typedef struct Body
{
	EvaluateHeader header;
	EvaluateSegment segments[SEGMENTS];
	EvaluateColumn columns[SEGMENTS * COLUMNS];
	DeviceInterval intervals[SEGMENTS * COLUMNS];
	EvaluateMembers members[SEGMENTS * MEMBERS];
	AggDigit	digits[SEGMENTS * DIGITS];
	AggMeasure	measures[SEGMENTS * MEASURES];
} Body;

static unsigned long ncases = 0;
static unsigned long taken = 0;

#define CHECK(condition) \
	((condition) ? (void) 0 : fail("case %lu, line %d: %s", ncases, __LINE__, #condition))

/* ---------------------------------------------------------------- cases */

static uint32_t
below(uint32_t n)
{
	return (uint32_t) (random64() % n);
}

static void
make_segment(Body *body, uint32_t s)
{
	body->segments[s] = (EvaluateSegment) {
		.key.segment = s, .rows = ROWS, .columns = COLUMNS, .cells = 20, .entries = 20, .digits = DIGITS,
		.measures = MEASURES,
		.aggregated = {3}, .partly = {1}, .joins = s == 1, .part = PART_FIRST, .members = MEMBERS};
	for (uint32_t i = 0; i < COLUMNS; i++)
	{
		body->columns[s * COLUMNS + i] = (EvaluateColumn) {.column = i, .intervals = 1};
		body->intervals[s * COLUMNS + i] = (DeviceInterval) {.low_rank = 5, .high_rank = 50, .low_code = 1,
			.high_code = 2};
	}
	for (uint32_t i = 0; i < MEMBERS; i++)
		body->members[s * MEMBERS + i] = (EvaluateMembers) {
			.column = 3, .form = COLUMN_VALUES, .words = i == 0 ? 4 : DEVICE_NO_WORDS, .shift = 7,
			.reach = 32 * (SET_WORDS - 4) - 1,
			.slot_bits = i == 0 ? s : 0};
	for (uint32_t i = 0; i < DIGITS; i++)
		body->digits[s * DIGITS + i] = (AggDigit) {
			.column = 4, .form = COLUMN_INTEGERS, .null = i == 0 ? 3 : 4, .map = i == 0 ? DEVICE_NO_WORDS : 0,
			.stride = i == 0 ? 1 : 4,
			.reach = 4 * SET_WORDS - 1, .map_bits = i > 0 && s == 1 ? 32 : 8, .slot_bits = i > 0 && s == 1 ? 1 : 0};
	for (uint32_t i = 0; i < MEASURES; i++)
		body->measures[s * MEASURES + i] = (AggMeasure) {.column = 5, .kind = AGG_SUM_LOWER, .form = COLUMN_VALUES};
}

static Body
make_body(void)
{
	Body		body = {.header = {
		.executor = DEVICE_COMPUTE, .want_bits = 1, .segments = SEGMENTS, .columns = SEGMENTS * COLUMNS,
		.intervals = SEGMENTS * COLUMNS,
		.digits = SEGMENTS * DIGITS, .measures = SEGMENTS * MEASURES, .members = SEGMENTS * MEMBERS,
		.words = SET_WORDS}};

	for (uint32_t s = 0; s < SEGMENTS; s++)
		make_segment(&body, s);
	return body;
}

/* Return a changed word: at most one more or less, with one bit flipped, an extreme value, or any value. */
static uint32_t
change(uint32_t word)
{
	switch (below(4))
	{
		case 0:
			return word + below(3) - 1;
		case 1:
			return word ^ UINT32_C(1) << below(32);
		case 2:
			return below(2) > 0 ? UINT32_MAX : INT32_MAX;
		default:
			return (uint32_t) random64() >> below(32);
	}
}

/* ---------------------------------------------------------------- what an accepted request reads */

/* Check that a table is within the words.  slot_words is the number of words of a slot. */
static void
check_table(const EvaluateHeader *header, uint32_t words, uint32_t slot_bits, uint64_t reach, uint64_t slot_words)
{
	CHECK(slot_bits < 32 && words + (slot_words << slot_bits) <= header->words);
	CHECK(reach < UINT64_MAX);
}

static void
check_words(const Request *request)
{
	const EvaluateHeader *header = request->header;

	CHECK(request->words <= request->area->size &&
		  header->words * sizeof(uint32_t) <= request->area->size - request->words);
	for (uint32_t i = 0; i < header->members; i++)
	{
		const EvaluateMembers *members = &request->members[i];

		CHECK(members->form != COLUMN_KEY && members->form < COLUMN_FORMS);
		if (members->slot_bits > 0)
			check_table(header, members->words, members->slot_bits, members->reach, 2);
		else
			CHECK(members->words == DEVICE_NO_WORDS ||
				  (members->reach < UINT64_C(32) * header->words &&
				   members->words + members->reach / 32 < header->words));
	}
	for (uint32_t i = 0; i < header->digits; i++)
	{
		const AggDigit *digit = &request->digits[i];

		CHECK(digit->dropped < 64);
		if (digit->slot_bits > 0)
		{
			check_table(header, digit->map, digit->slot_bits, digit->reach, 3);
			CHECK(digit->map_bits == 32);
			continue;
		}
		CHECK(digit->map == DEVICE_NO_WORDS || digit->map_bits == 8 || digit->map_bits == 16 || digit->map_bits == 32 ||
			  (digit->map_bits == DEVICE_BREAKPOINT_BITS && digit->reach < DEVICE_MAX_BREAKPOINTS));
		CHECK(digit->map == DEVICE_NO_WORDS ||
			  (digit->reach < UINT32_MAX &&
			   digit->map + ((digit->reach + 1) * digit->map_bits - 1) / 32 < header->words));
	}
}

/* Check that the segments' elements of each array follow one another, and that the array has no further elements. */
static void
check_arrays(const Request *request)
{
	uint64_t	columns = 0,
				members = 0,
				digits = 0,
				measures = 0;

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		const EvaluateSegment *segment = &request->segments[s];
		uint64_t	greatest = 0;

		CHECK(segment->rows > 0 && segment->rows <= DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS);
		CHECK(segment->columns <= DEVICE_MAX_COLUMNS && segment->members <= DEVICE_MAX_COLUMNS);
		CHECK(segment->digits <= DEVICE_MAX_DIGITS && segment->measures <= DEVICE_MAX_MEASURES);
		CHECK(s > 0 || (segment->part == PART_FIRST && !segment->joins));
		for (uint32_t i = 0; i < segment->digits; i++)
			greatest += request->digits[digits + i].null * request->digits[digits + i].stride;
		CHECK(segment->cells == 0 || (greatest < segment->cells && segment->entries <= segment->cells));
		columns += segment->columns;
		members += segment->members;
		digits += segment->digits;
		measures += segment->measures;
	}
	CHECK(columns == request->header->columns && members == request->header->members);
	CHECK(digits == request->header->digits && measures == request->header->measures);
}

static void
check_answer(const Request *request)
{
	uint64_t	size = device_bits_offset(request->chunks, request->agg_words);

	if (request->header->want_bits)
		size += (uint64_t) request->chunks * DEVICE_CHUNK_BYTES;
	CHECK(request->chunks <= DEVICE_MAX_SEGMENTS * DEVICE_SEGMENT_CHUNKS &&
		  request->agg_words <= DEVICE_MAX_AGG_WORDS);
	CHECK(request->results <= request->area->size && size <= request->area->size - request->results);
}

/* Return true if the request is accepted. */
static bool
read_request(Area *area, const DeviceRequest *message)
{
	Request		request;

	if (!request_read(&request, area, message))
		return false;
	check_words(&request);
	check_arrays(&request);
	check_answer(&request);
	request_free(&request);
	return true;
}

/* ---------------------------------------------------------------- running a case */

static void
check_case(uint64_t words, uint64_t results, uint64_t size)
{
	Body		body = make_body();
	uint32_t	changes = below(MOST_CHANGES + 1);
	DeviceRequest message = {.kind = DEVICE_EVALUATE, .results = results};
	Area		area = {.map = malloc(size), .size = size};

	if (area.map == NULL)
		fail("out of memory");
	for (uint32_t i = 0; i < changes; i++)
	{
		uint32_t   *word = (uint32_t *) &body + below(sizeof(Body) / sizeof(uint32_t));

		*word = change(*word);
	}
	memcpy(area.map, &body, sizeof(Body));
	memset(area.map + words, 0xFF, SET_WORDS * sizeof(uint32_t));
	if (read_request(&area, &message))
		taken++;
	else
		CHECK(changes > 0);
	free(area.map);
	ncases++;
}

int
main(void)
{
	uint64_t	words = device_words_offset(sizeof(Body));
	uint64_t	results = device_align(words + SET_WORDS * sizeof(uint32_t), 64);
	uint32_t	chunks = SEGMENTS * device_chunks(ROWS);
	uint64_t	agg_words = 2 * device_agg_size(20, MEASURES);
	uint64_t	size = results + device_bits_offset(chunks, agg_words) + (uint64_t) chunks * DEVICE_CHUNK_BYTES;

	while (ncases < CASES)
		check_case(words, results, size);
	if (taken == 0 || taken == CASES)
		fail("%lu of %lu requests are taken", taken, ncases);
	printf("ok %lu cases\n", ncases);
	return 0;
}
