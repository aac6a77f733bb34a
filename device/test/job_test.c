/* SPDX-License-Identifier: PostgreSQL */
/*
 * job_test.c
 *		Test the counts, bits and aggregates of RTCUDB's job (../make_job.h) on a device, against a loop over rows.
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
#include "job_case.h"

#define CASES			24
#define MAX_WORDS		(MAX_SEGMENTS * MAX_CELLS * (1 + MAX_MEASURES))
#define MAX_ANSWER		(MAX_SEGMENTS * (1 + MAX_CELLS * (2 + MAX_MEASURES)))
#define RESULTS_SIZE	(65536 + MAX_ANSWER * sizeof(uint64_t) + MAX_SEGMENTS * MAX_CHUNKS * DEVICE_CHUNK_BYTES)
#define AREA_SIZE		(RESULTS_SIZE + MAX_SET_WORDS * sizeof(uint32_t))

static Context context;
static Cache cache;
static Evaluator evaluator;
static Memory results;
static Case current;
static ChunkCount expected_counts[MAX_SEGMENTS * MAX_CHUNKS];
static char expected_bits[MAX_SEGMENTS * MAX_CHUNKS][DEVICE_CHUNK_BYTES];
static uint64_t expected_words[MAX_WORDS];
static unsigned long ncases = 0;

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

/* Return the number at "place" in a map of numbers of "bits" bits, which begins at the request's word "words". */
static uint32_t
number_at(uint32_t words, uint64_t place, uint32_t bits)
{
	uint32_t	number;

	memcpy(&number, (const char *) (current.words + words) + place * bits / 8, sizeof(number));
	return number & UINT32_MAX >> (32 - bits);
}

/* Return how many breakpoints are not above an integer.  They begin at the request's word "words". */
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

/*
 * Find the slot of an integer in a table.  If the table does not have it, finds a free slot and sets *found to
 * false.
 */
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
number_in_table(const AggDigit *digit, uint64_t integer)
{
	bool		found;
	uint32_t	slot = slot_in_table(digit->map, digit->slot_bits, integer, &found);

	return found ? *device_number_in_slot(current.words + digit->map, digit->slot_bits, slot) : digit->null;
}

/* Return a row's number for a digit. */
static uint64_t
digit_number(const AggDigit *digit, const Column *column, uint32_t row)
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
expect_in_agg(uint32_t s, uint32_t row, uint64_t *words)
{
	const EvaluateSegment *segment = &current.segments[s];
	const AggDigit *digits = current.digits + s * current.ndigits;
	const AggMeasure *measures = current.measures + s * current.nmeasures;
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
		(current.masks[first_chunk + chunk][bit / 8] >> bit % 8 & 1) != 0;

	if (segment->cells > 0 && (segment->aggregated[0] >> chunk & 1) != 0 && !masked)
	{
		expected_counts[first_chunk + chunk].aggregated++;
		expect_in_agg(s, row, words);
		return;
	}
	expected_counts[first_chunk + chunk].rows++;
	expected_bits[first_chunk + chunk][bit / 8] |= (char) (1 << bit % 8);
}

/* A segment's positions in the arrays of the request and in the expected answer. */
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
		request.agg_words += device_agg_words(&current.segments[s]);
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
	const uint64_t *words = (const uint64_t *) (answer + device_aggs_offset(request->chunks));
	const uint64_t *expected = expected_words;
	const char *bits = answer + device_bits_offset(request->chunks, request->agg_words);

	for (uint32_t i = 0; i < request->chunks; i++, bits += DEVICE_CHUNK_BYTES)
	{
		if (counts[i].rows != expected_counts[i].rows || counts[i].aggregated != expected_counts[i].aggregated)
			fail("case %lu, chunk %u: %u rows and %u in the aggregate instead of %u and %u", ncases, i, counts[i].rows,
				 counts[i].aggregated, expected_counts[i].rows, expected_counts[i].aggregated);
		if (current.header.want_bits && counts[i].rows > 0 && memcmp(bits, expected_bits[i], DEVICE_CHUNK_BYTES) != 0)
			fail("case %lu, chunk %u: other bits", ncases, i);
	}
	for (uint32_t s = 0; s < current.header.segments; s++)
	{
		const EvaluateSegment *segment = &current.segments[s];

		if (device_agg_words(segment) > 0 && !has_expected_entries(segment, words, expected))
			fail("case %lu, segment %u, %u cells, room for %u, %u measures: other entries", ncases, s, current.cells,
				 current.room,
				 current.nmeasures);
		words += device_agg_words(segment);
		expected += expected_words_of(segment);
	}
}

/* ---------------------------------------------------------------- running a case */

/* Fill the area as a backend does: with words, and with masks where the bits will be returned. */
static void
fill_area(const Request *request)
{
	char	   *bits = request->area->map + device_bits_offset(request->chunks, request->agg_words);

	memset(results.host, 0xA5, results.size);
	memset(request->area->map, 0xA5, request->area->size);
	if (current.header.want_bits)
		memcpy(bits, current.masks, (size_t) request->chunks * DEVICE_CHUNK_BYTES);
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

	make_case(&current, &cache, ncases);
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
	free_case(&current);
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
