/*
 * request.c
 *		Take a request out of shared memory, and check it.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
body_size(const EvaluateHeader *header)
{
	return sizeof(EvaluateHeader) + (uint64_t) header->segments * sizeof(EvaluateSegment) +
		(uint64_t) header->columns * sizeof(EvaluateColumn) +
		(uint64_t) header->intervals * sizeof(DeviceInterval);
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
		header.columns > DEVICE_MAX_SEGMENTS * DEVICE_MAX_COLUMNS || header.intervals > DEVICE_MAX_INTERVALS)
		return false;
	size = body_size(&header);
	if (!area_has(request->area, message->offset, size) || !(request->body = malloc(size)))
		return false;
	memcpy(request->body, request->area->map + message->offset, size);
	request->header = (EvaluateHeader *) request->body;
	*request->header = header;
	request->segments = (EvaluateSegment *) (request->header + 1);
	request->columns = (EvaluateColumn *) (request->segments + header.segments);
	request->intervals = (DeviceInterval *) (request->columns + header.columns);
	return true;
}

/* Intervals of one column: within its rows, not empty, ascending, with gaps between them. */
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

static bool
check_body(Request *request)
{
	uint32_t	column = 0;
	uint32_t	interval = 0;

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		const EvaluateSegment *segment = &request->segments[s];

		if (segment->rows == 0 || segment->rows > DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS ||
			segment->columns == 0 || segment->columns > DEVICE_MAX_COLUMNS ||
			segment->columns > request->header->columns - column)
			return false;
		request->chunks += device_chunks(segment->rows);
		for (uint32_t c = 0; c < segment->columns; c++, column++)
		{
			uint32_t	count = request->columns[column].intervals;

			if (count > request->header->intervals - interval ||
				!check_intervals(request->intervals + interval, count, segment->rows))
				return false;
			interval += count;
		}
	}
	return request->chunks > 0 && column == request->header->columns && interval == request->header->intervals;
}

bool
request_read(Request *request, Area *area, const DeviceRequest *message)
{
	uint64_t	answer;

	memset(request, 0, sizeof(*request));
	request->area = area;
	request->results = message->results;
	if (!copy_body(request, message))
		return false;
	if (check_body(request))
	{
		answer = device_bits_offset(request->chunks) +
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
