/* SPDX-License-Identifier: PostgreSQL */
/*
 * request.c
 *		Copy a request from shared memory, and check it.
 */
#include "request.h"

#include "table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
body_size(const EvaluateHeader *header)
{
	return sizeof(EvaluateHeader) + (uint64_t) header->segments * sizeof(EvaluateSegment) +
		(uint64_t) header->columns * sizeof(EvaluateColumn) +
		(uint64_t) header->intervals * sizeof(DeviceInterval) +
		(uint64_t) header->members * sizeof(EvaluateMembers) +
		(uint64_t) header->digits * sizeof(AggDigit) +
		(uint64_t) header->measures * sizeof(AggMeasure);
}

static bool
copy_body(Request *request, const DeviceRequest *message)
{
	EvaluateHeader header;
	uint64_t	size;

	if (message->offset % 8 != 0 || !area_has(request->area, message->offset, sizeof(header)))
		return false;
	memcpy(&header, request->area->map + message->offset, sizeof(header));
	if (header.executor >= DEVICE_EXECUTORS || header.segments > DEVICE_MAX_SEGMENTS ||
		header.columns > DEVICE_MAX_SEGMENTS * DEVICE_MAX_COLUMNS ||
		header.members > DEVICE_MAX_SEGMENTS * DEVICE_MAX_COLUMNS ||
		header.words > DEVICE_MAX_SET_WORDS || header.intervals > DEVICE_MAX_INTERVALS ||
		header.digits > DEVICE_MAX_SEGMENTS * DEVICE_MAX_DIGITS ||
		header.measures > DEVICE_MAX_SEGMENTS * DEVICE_MAX_MEASURES)
		return false;
	size = body_size(&header);
	request->words = message->offset + device_words_offset(size);
	if (!area_has(request->area, message->offset, size) ||
		!area_has(request->area, request->words, header.words * sizeof(uint32_t)) || !(request->body = malloc(size)))
		return false;
	memcpy(request->body, request->area->map + message->offset, size);
	request->header = (EvaluateHeader *) request->body;
	*request->header = header;
	request->segments = (EvaluateSegment *) (request->header + 1);
	request->columns = (EvaluateColumn *) (request->segments + header.segments);
	request->intervals = (DeviceInterval *) (request->columns + header.columns);
	request->members = (EvaluateMembers *) (request->intervals + header.intervals);
	request->digits = (AggDigit *) (request->members + header.members);
	request->measures = (AggMeasure *) (request->digits + header.digits);
	return true;
}

/* Check that a column's intervals are within its rows, not empty, ascending, and have gaps between them. */
static bool
check_intervals(const DeviceInterval *intervals, uint32_t count, uint32_t rows)
{
	uint32_t	end = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		if (intervals[i].low_rank >= intervals[i].high_rank || intervals[i].high_rank > rows ||
			(i > 0 && intervals[i].low_rank <= end))
			return false;
		end = intervals[i].high_rank;
	}
	return count > 0;
}

/* Check that words first .. first + count - 1 are within the request's words. */
static bool
has_words(const EvaluateHeader *header, uint32_t first, uint64_t count)
{
	return first <= header->words && count <= header->words - first;
}

static bool
has_table(const EvaluateHeader *header, uint32_t first, uint32_t slot_bits, uint64_t reach, bool numbers)
{
	return slot_bits <= DEVICE_MAX_SLOT_BITS && reach < DEVICE_NO_INTEGER &&
		has_words(header, first, device_table_words(slot_bits, numbers));
}

static bool
check_members(const EvaluateHeader *header, const EvaluateMembers *members)
{
	if (members->form == COLUMN_KEY || members->form >= COLUMN_FORMS)
		return false;
	if (members->words == DEVICE_NO_WORDS)
		return members->slot_bits == 0;
	if (members->slot_bits > 0)
		return has_table(header, members->words, members->slot_bits, members->reach, false);
	return has_words(header, members->words, device_set_words(members->reach));
}

static bool
check_map(const EvaluateHeader *header, const AggDigit *digit)
{
	if (digit->map == DEVICE_NO_WORDS)
		return digit->slot_bits == 0;
	if (digit->form == COLUMN_KEY)
		return false;
	if (digit->slot_bits > 0)
		return digit->map_bits == 32 && has_table(header, digit->map, digit->slot_bits, digit->reach, true);
	if (digit->map_bits == DEVICE_BREAKPOINT_BITS ? digit->reach >= DEVICE_MAX_BREAKPOINTS :
		digit->map_bits != 8 && digit->map_bits != 16 && digit->map_bits != 32)
		return false;
	return digit->reach < UINT32_MAX && has_words(header, digit->map, device_map_words(digit->reach, digit->map_bits));
}

/* Check an aggregate's digits.  The greatest cell number that they can make must be less than the number of cells. */
static bool
check_digits(const EvaluateHeader *header, const EvaluateSegment *segment, const AggDigit *digits)
{
	uint64_t	last = 0;

	for (uint32_t i = 0; i < segment->digits; i++)
	{
		uint64_t	greatest;

		if (digits[i].form >= COLUMN_FORMS || digits[i].dropped >= 64 || !check_map(header, &digits[i]) ||
			__builtin_mul_overflow(digits[i].null, digits[i].stride, &greatest) ||
			__builtin_add_overflow(last, greatest, &last))
			return false;
	}
	return last < segment->cells;
}

/* Check an aggregate's measures and digits. */
static bool
check_agg(const EvaluateHeader *header, const EvaluateSegment *segment, const AggDigit *digits,
		  const AggMeasure *measures)
{
	for (uint32_t i = 0; i < segment->measures; i++)
		if (measures[i].kind >= AGG_KINDS || measures[i].form == COLUMN_KEY || measures[i].form >= COLUMN_FORMS)
			return false;
	if (segment->cells == 0)
		return segment->entries == 0 && segment->digits == 0 && segment->measures == 0;
	return segment->entries > 0 && segment->entries <= segment->cells &&
		check_digits(header, segment, digits);
}

/*
 * Check that only aggregated chunks have masks.  If bits are not returned, no chunk may have a mask, since masks lie
 * where bits are returned.
 */
static bool
check_masks(const EvaluateSegment *segment, bool want_bits)
{
	bool		may_have = segment->cells > 0 && want_bits;

	for (uint32_t i = 0; i < DEVICE_AGG_MASKS; i++)
		if ((segment->partly[i] & ~(may_have ? segment->aggregated[i] : 0)) != 0)
			return false;
	return true;
}

/* Check that an aggregate that joins has an aggregate before it with the same cells, entries and measures. */
static bool
check_join(const EvaluateSegment *segment, const EvaluateSegment *before)
{
	return !segment->joins || (before && segment->cells == before->cells && segment->entries == before->entries &&
							   segment->measures == before->measures);
}

/* Check the aggregates of all segments. */
static bool
check_aggs(Request *request)
{
	const EvaluateSegment *before = NULL;
	uint32_t	digit = 0;
	uint32_t	measure = 0;

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		const EvaluateSegment *segment = &request->segments[s];

		if (segment->digits > DEVICE_MAX_DIGITS || segment->digits > request->header->digits - digit ||
			segment->measures > DEVICE_MAX_MEASURES || segment->measures > request->header->measures - measure ||
			!check_agg(request->header, segment, request->digits + digit, request->measures + measure) ||
			!check_join(segment, before) ||
			!check_masks(segment, request->header->want_bits))
			return false;
		if (segment->cells > 0)
			before = segment;
		digit += segment->digits;
		measure += segment->measures;
		request->agg_words += device_agg_words(segment);
		if (request->agg_words > DEVICE_MAX_AGG_WORDS)
			return false;
	}
	return digit == request->header->digits && measure == request->header->measures;
}

/*
 * Check that a part belongs to the same segment as the filter's first part, and has only conditions.  *parts
 * counts the parts.
 */
static bool
check_part(const EvaluateSegment *segment, const EvaluateSegment *first, uint32_t *parts)
{
	if (segment->part == PART_FIRST)
	{
		*parts = 1;
		return true;
	}
	return first && segment->part < FILTER_PARTS && ++*parts <= DEVICE_MAX_PARTS && segment->rows == first->rows &&
		memcmp(&segment->key, &first->key, sizeof(SegmentKey)) == 0 && segment->cells == 0 && !segment->joins;
}

static bool
check_segments(Request *request)
{
	const EvaluateSegment *first = NULL;
	uint32_t	parts = 0;
	uint32_t	column = 0;
	uint32_t	interval = 0;
	uint32_t	member = 0;

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		const EvaluateSegment *segment = &request->segments[s];

		if (segment->rows == 0 || segment->rows > DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS ||
			segment->columns > DEVICE_MAX_COLUMNS ||
			segment->columns > request->header->columns - column ||
			segment->members > request->header->members - member ||
			segment->members > DEVICE_MAX_COLUMNS || !check_part(segment, first, &parts))
			return false;
		if (segment->part == PART_FIRST)
		{
			first = segment;
			request->chunks += device_chunks(segment->rows);
		}
		for (uint32_t c = 0; c < segment->columns; c++, column++)
		{
			uint32_t	count = request->columns[column].intervals;

			if (count > request->header->intervals - interval ||
				!check_intervals(request->intervals + interval, count, segment->rows))
				return false;
			interval += count;
		}
		for (uint32_t m = 0; m < segment->members; m++)
			if (!check_members(request->header, &request->members[member++]))
				return false;
	}
	return request->chunks > 0 && member == request->header->members && column == request->header->columns &&
		interval == request->header->intervals;
}

bool
request_read(Request *request, Area *area, const DeviceRequest *message)
{
	uint64_t	answer;

	memset(request, 0, sizeof(*request));
	request->area = area;
	request->results = message->results;
	request->message_number = message->number;
	if (!copy_body(request, message))
		return false;
	if (check_segments(request) && check_aggs(request))
	{
		answer = device_bits_offset(request->chunks, request->agg_words) +
			(request->header->want_bits ? (uint64_t) request->chunks * DEVICE_CHUNK_BYTES : 0);
		if (message->results % 64 == 0 && area_has(area, message->results, answer))
			return true;
	}
	request_free(request);
	return false;
}

void
request_free(Request *request)
{
	free(request->body);
	request->body = NULL;
}
