/* SPDX-License-Identifier: PostgreSQL */
/*
 * frames.c
 *		Write and read integers in frames of reference.
 */
#include "segment/frames.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "bits/prefetch.h"
#include "miscadmin.h"
#include "segment/look_ahead.h"

#define CACHE_LINE		64

/*
 * The distance of prefetching consecutive rows, in calls of get_rows(): each call prefetches the elements that the
 * second call after it will read.  The processor itself does not prefetch beyond a page of memory.
 */
#define CALLS_AHEAD		2

/*
 * Number of consecutive rows that unpack_run() unpacks at a time.  Before unpacking, it prefetches as many later rows,
 * so that waiting for memory and unpacking overlap.
 */
#define RUN_ROWS		256

/* ---------------------------------------------------------------- writing */

/* Find the frame of n integers, the first of which is that of row "first". */
static bool
find_frame(const int64 *values, const uint64 *nulls, uint32 first, uint32 n, RtscanFrame *frame)
{
	int64		least = PG_INT64_MAX,
				greatest = PG_INT64_MIN;

	*frame = (RtscanFrame) {0};
	for (uint32 i = 0; i < n; i++)
	{
		if (rtscan_bit_is_set(nulls, first + i))
		{
			frame->nulls++;
			continue;
		}
		least = Min(least, values[i]);
		greatest = Max(greatest, values[i]);
	}
	if (frame->nulls == n)
		return true;
	frame->least = least;
	frame->greatest = greatest;
	frame->bits = rtscan_packed_bits(rtscan_frame_largest(frame));
	return frame->nulls == 0 || rtscan_frame_null(frame) != 0;
}

bool
rtscan_find_frames(const RtscanIntegers *integers, RtscanFrame *frames)
{
	int64	   *room = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64));
	bool		found = true;

	for (uint32 chunk = 0; chunk < rtscan_chunks(integers->rows) && found; chunk++)
	{
		uint32		first = chunk * RTSCAN_CHUNK_ROWS;
		uint32		n = rtscan_chunk_rows(integers->rows, chunk);

		found = find_frame(integers->read(integers, first, n, room), integers->nulls, first, n, &frames[chunk]);
	}
	pfree(room);
	return found;
}

Size
rtscan_frames_bytes(const RtscanFrame *frames, uint32 rows)
{
	Size		bytes = 0;

	for (uint32 chunk = 0; chunk < rtscan_chunks(rows); chunk++)
		bytes += sizeof(RtscanFrame) + rtscan_packed_bytes(rtscan_chunk_rows(rows, chunk), frames[chunk].bits);
	return bytes;
}

/* The elements of a chunk that are being written. */
typedef struct FrameWriter
{
	RtscanAreaWriter *areas;	/* receives the pages */
	const RtscanIntegers *integers; /* integers of the column */
	int64	   *room;			/* room for the integers of a chunk */
	uint64	   *elements;		/* room for the elements of a page */
} FrameWriter;

static void
write_page(const FrameWriter *writer, const RtscanFrame *frame, const int64 *values, uint32 first, uint32 n)
{
	const uint64 *nulls = writer->integers->nulls;

	for (uint32 i = 0; i < n; i++)
		writer->elements[i] = rtscan_bit_is_set(nulls, first + i) ? rtscan_frame_null(frame)
			: (uint64) values[i] - (uint64) frame->least;
	rtscan_pack(writer->elements, n, frame->bits, rtscan_area_room(writer->areas));
	rtscan_area_used(writer->areas, rtscan_packed_bytes(n, frame->bits));
}

static void
write_frame(const FrameWriter *writer, const RtscanFrame *frame, uint32 chunk)
{
	uint32		first = chunk * RTSCAN_CHUNK_ROWS;
	uint32		rows = rtscan_chunk_rows(writer->integers->rows, chunk);
	uint32		per_page;
	const int64 *values;

	if (frame->bits == 0)
		return;
	per_page = rtscan_packed_per_page(frame->bits);
	values = writer->integers->read(writer->integers, first, rows, writer->room);
	for (uint32 row = 0; row < rows; row += per_page)
		write_page(writer, frame, values + row, first + row, Min(rows - row, per_page));
}

RtscanArea
rtscan_write_frames(RtscanAreaWriter *areas, const RtscanFrame *frames, const RtscanIntegers *integers)
{
	FrameWriter writer = {
		.areas = areas,
		.integers = integers,
		.room = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64)),
		.elements = palloc(RTSCAN_CHUNK_ROWS * sizeof(uint64)),
	};

	rtscan_area_begin(areas, RTSCAN_PAGE_INCLUDE);
	for (uint32 chunk = 0; chunk < rtscan_chunks(integers->rows); chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		write_frame(&writer, &frames[chunk], chunk);
	}
	pfree(writer.room);
	pfree(writer.elements);
	return rtscan_area_end(areas);
}

/* ---------------------------------------------------------------- reading */

static bool
frame_is_sane(const RtscanFrame *frame, uint32 rows)
{
	if (frame->nulls > rows || frame->least > frame->greatest)
		return false;
	if (frame->nulls == rows)
		return frame->bits == 0 && frame->least == 0 && frame->greatest == 0;
	if (frame->nulls > 0 && rtscan_frame_null(frame) == 0)
		return false;
	return frame->bits == rtscan_packed_bits(rtscan_frame_largest(frame));
}

bool
rtscan_frames_are_sane(const RtscanFrame *frames, uint32 rows, uint32 *first_pages, uint32 *pages)
{
	*pages = 0;
	for (uint32 chunk = 0; chunk < rtscan_chunks(rows); chunk++)
	{
		uint32		chunk_rows = rtscan_chunk_rows(rows, chunk);

		if (!frame_is_sane(&frames[chunk], chunk_rows))
			return false;
		first_pages[chunk] = *pages;
		*pages += rtscan_frame_pages(&frames[chunk], chunk_rows);
	}
	return true;
}

Size
rtscan_frames_last_bytes(const RtscanFrames *frames, uint32 rows)
{
	uint32		last = rtscan_chunks(rows) - 1;

	while (last > 0 && frames->frames[last].bits == 0)
		last--;
	if (frames->frames[last].bits == 0)
		return 0;
	return rtscan_packed_bytes((rtscan_chunk_rows(rows, last) - 1) %
							   rtscan_packed_per_page(frames->frames[last].bits) + 1, frames->frames[last].bits);
}

bool
rtscan_check_frame(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 page, uint64 largest)
{
	if (likely(largest <= rtscan_frame_largest(&frames->frames[chunk])))
		return true;
	rtscan_fault(reader, &frames->area, page, "A value is outside of the bounds of its chunk.");
	return false;
}

/* Unpack the elements of a chunk into "values" or, if "values" is NULL, into "codes". */
static void
get_chunk(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, int64 *values, uint32 *codes)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);
	uint32		per_page = rtscan_packed_per_page(frame->bits);

	for (uint32 first = 0, page = frames->pages[chunk]; first < rows; first += per_page, page++)
	{
		uint32		n = Min(rows - first, per_page);
		Buffer		buffer;
		const char *payload = rtscan_get_page(reader, &frames->area, page, &buffer, NULL);
		uint64		largest = values ? rtscan_unpack(payload, frame->bits, n, frame->least, values + first) :
			rtscan_unpack_small(payload, frame->bits, n, (uint32) frame->least, codes + first);

		rtscan_release(reader, buffer);
		rtscan_check_frame(reader, frames, chunk, page, largest);
	}
}

void
rtscan_get_frame(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, int64 *values)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);

	if (frame->bits > 0)
		get_chunk(reader, frames, chunk, values, NULL);
	else
		for (uint32 row = 0; row < rows; row++)
			values[row] = rtscan_frame_only_value(frame);
}

void
rtscan_get_frame_codes(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 null_code, uint32 *codes)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);

	if (frame->bits > 0)
		get_chunk(reader, frames, chunk, NULL, codes);
	else
		for (uint32 row = 0; row < rows; row++)
			codes[row] = (uint32) rtscan_frame_only_value(frame);
	if (frame->nulls > 0)
		rtscan_replace_code(codes, rows, (uint32) rtscan_frame_marker(frame), null_code);
}

/* ---------------------------------------------------------------- some rows */

/*
 * Prefetch the elements of n consecutive rows of a chunk, as far as they are on the page of the first row.  "row" is
 * the first row, relative to the chunk.
 */
static void
prefetch_run(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 row, uint32 n)
{
	uint32		bits = frames->frames[chunk].bits;
	uint32		per_page = rtscan_packed_per_page(bits);
	uint32		page = frames->pages[chunk] + row / per_page;
	uint32		first = row % per_page;
	Size		end = rtscan_packed_bytes(Min(first + n, per_page), bits);
	const char *payload;

	if (row >= rtscan_chunk_rows(reader->segment->header.rows, chunk))
		return;
	rtscan_prefetch_head(reader, &frames->area, page);
	payload = rtscan_recent_payload(reader, &frames->area, page);
	for (Size offset = rtscan_packed_bytes(first, bits); offset < end && payload; offset += CACHE_LINE)
		RTSCAN_PREFETCH_FAR(payload + offset);
}

/* Elements to unpack, of rows that are all on one page, and the arrays that receive them. */
typedef struct Elements
{
	const char *payload;		/* payload of the page */
	uint32		bits;			/* bits of an element */
	uint32		first_row;		/* row of the page's first element */
	const uint32 *rows;			/* the rows */
	int64		base;			/* integer that is added to each element */
	int64	   *values;			/* receives integers; or NULL */
	uint32	   *codes;			/* receives codes, if "values" is NULL */
} Elements;

/* Unpack n elements, from element "from" on.  Returns the largest one, without the base. */
static uint64
unpack(const Elements *elements, uint32 from, uint32 n)
{
	const uint32 *rows = elements->rows + from;

	if (elements->values)
		return rtscan_unpack_rows(elements->payload, elements->bits, elements->first_row, rows, n, elements->base,
								  elements->values + from);
	return rtscan_unpack_small_rows(elements->payload, elements->bits, elements->first_row, rows, n,
									(uint32) elements->base, elements->codes + from);
}

/*
 * Unpack the elements of n consecutive rows.  For each of these rows, prefetch the element of the row that is "behind"
 * rows further on.  Returns the largest unpacked element.
 */
static uint64
unpack_run(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, const Elements *elements, uint32 n,
		   uint32 behind)
{
	uint64		largest = 0;

	for (uint32 from = 0; from < n; from += RUN_ROWS)
	{
		uint32		now = Min(n - from, RUN_ROWS);
		uint64		most;

		prefetch_run(reader, frames, chunk, elements->rows[from] - chunk * RTSCAN_CHUNK_ROWS + behind, now);
		most = unpack(elements, from, now);
		largest = Max(largest, most);
	}
	return largest;
}

/* Read the integers of n rows of a chunk, minus "base", into "values" or, if "values" is NULL, into "codes". */
static void
get_rows(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, const uint32 *rows, uint32 n, int64 *values,
		 uint32 *codes, int64 base)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		per_page = rtscan_packed_per_page(frame->bits);
	bool		run = rows[n - 1] - rows[0] == n - 1;
	RtscanLookAhead ahead = rtscan_begin_looking_ahead(&frames->area, frames->pages[chunk], chunk * RTSCAN_CHUNK_ROWS,
													   frame->bits, rows, n);

	for (uint32 i = 0; i < n;)
	{
		uint32		number = (rows[i] - chunk * RTSCAN_CHUNK_ROWS) / per_page;
		uint32		first_row = chunk * RTSCAN_CHUNK_ROWS + number * per_page;
		uint32		end = rtscan_find_row(rows, i, n, first_row + per_page);
		Elements	elements = {
			.bits = frame->bits,
			.first_row = first_row,
			.rows = rows + i,
			.base = (int64) ((uint64) frame->least - (uint64) base),
			.values = values ? values + i : NULL,
			.codes = values ? NULL : codes + i,
		};
		Buffer		buffer;
		uint64		largest;

		rtscan_look_ahead(reader, &ahead, i);
		elements.payload = rtscan_get_page(reader, &frames->area, frames->pages[chunk] + number, &buffer, NULL);
		largest = run ? unpack_run(reader, frames, chunk, &elements, end - i, CALLS_AHEAD * n)
			: unpack(&elements, 0, end - i);
		rtscan_release(reader, buffer);
		rtscan_check_frame(reader, frames, chunk, frames->pages[chunk] + number, largest);
		i = end;
	}
}

void
rtscan_get_frame_rows(RtscanReader *reader, const RtscanFrames *frames, const uint32 *rows, uint32 n, int64 *values)
{
	uint32		chunk = n > 0 ? rows[0] / RTSCAN_CHUNK_ROWS : 0;
	const RtscanFrame *frame = &frames->frames[chunk];

	if (n > 0 && frame->bits > 0)
		get_rows(reader, frames, chunk, rows, n, values, NULL, 0);
	else
		for (uint32 i = 0; i < n; i++)
			values[i] = rtscan_frame_only_value(frame);
}

bool
rtscan_get_frame_row(RtscanReader *reader, const RtscanFrames *frames, uint32 row, int64 *value)
{
	uint32		chunk = row / RTSCAN_CHUNK_ROWS;
	const RtscanFrame *frame = &frames->frames[chunk];
	RtscanFramePlace place = rtscan_frame_place(frames, row);
	Buffer		buffer;
	const char *payload;
	uint64		element;

	*value = rtscan_frame_only_value(frame);
	if (frame->bits == 0)
		return true;
	payload = rtscan_get_page(reader, &frames->area, place.page, &buffer, NULL);
	if (payload == NULL)
		return false;
	element = rtscan_packed_element(payload, frame->bits, place.element);
	rtscan_release(reader, buffer);
	*value = rtscan_frame_value(frame, element);
	return rtscan_check_frame(reader, frames, chunk, place.page, element);
}

void
rtscan_prefetch_frame_row(RtscanReader *reader, const RtscanFrames *frames, uint32 row)
{
	RtscanFramePlace place = rtscan_frame_place(frames, row);
	uint32		bits = frames->frames[row / RTSCAN_CHUNK_ROWS].bits;

	if (bits == 0)
		return;
	rtscan_prefetch_head(reader, &frames->area, place.page);
	rtscan_prefetch_place(reader, &frames->area, place.page, (Size) place.element * bits / 8);
}

void
rtscan_get_frame_rows_codes(RtscanReader *reader, const RtscanFrames *frames, const uint32 *rows, uint32 n, int64 base,
							uint32 null_code, uint32 *codes)
{
	uint32		chunk = n > 0 ? rows[0] / RTSCAN_CHUNK_ROWS : 0;
	const RtscanFrame *frame = &frames->frames[chunk];

	if (n > 0 && frame->bits > 0)
		get_rows(reader, frames, chunk, rows, n, NULL, codes, base);
	else
		for (uint32 i = 0; i < n; i++)
			codes[i] = (uint32) rtscan_frame_only_value(frame) - (uint32) base;
	if (frame->nulls > 0)
		rtscan_replace_code(codes, n, (uint32) rtscan_frame_marker(frame) - (uint32) base, null_code);
}
