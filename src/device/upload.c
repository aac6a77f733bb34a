/*
 * upload.c
 *		Copy a column of a segment to a device, or its values; which device that is.
 *
 * Pages are copied into one of two windows of the area while the device takes the other.
 */
#include "device/device.h"

#include "miscadmin.h"
#include "segment/frames.h"
#include "segment/plain.h"

#define WINDOW_SIZE		((Size) 4 * 1024 * 1024)
#define WINDOWS			2

/* A record and a triangle, as drivers store them. */
#define JOB_ROW_BYTES	96

typedef struct Upload
{
	int			device;
	RtscanReader *reader;
	char	   *area;
	int			window;			/* that is being filled */
	Size		used;			/* of it */
	uint64		sent;			/* bytes of the column, in windows before this one */
	int			outstanding;	/* windows whose reply is to come */
	DeviceResult result;
	bool		lost;			/* the connection is */
} Upload;

SegmentKey
rtscan_device_key(Relation index, const pg_uuid_t *uuid, uint64 segment)
{
	SegmentKey	key = {
		.database = index->rd_locator.dbOid,
		.tablespace = index->rd_locator.spcOid,
		.relation = index->rd_locator.relNumber,
		.segment = segment,
	};

	memcpy(key.uuid, uuid->data, UUID_LEN);
	return key;
}

/*
 * What a build makes has numbers one after another, and is spread evenly.  Small indexes, which have one or two segments with small
 * numbers, do not all meet on the same device.
 */
int
rtscan_device_of_segment(Relation index, uint64 segment)
{
	int			n = rtscan_devices();

	return n > 0 ? (index->rd_locator.relNumber + segment) % n : 0;
}

static ColumnShape
column_shape(const RtscanSegment *segment, const RtscanColumnHeader *header)
{
	return (ColumnShape) {
		.rows = segment->header.rows,
		.heap_order = (header->flags & RTSCAN_COLUMN_HEAP_ORDER) != 0,
		.nonnull = header->nonnull,
		.distinct = rtscan_null_code(header),
		.code_bytes = rtscan_is_plain(header) ? 3 : header->code_bytes,
		.bins = header->bins,
		.radix = header->radix,
		.vectors = header->vectors,
		.sieve_pages = header->sieve.pages,
		.has_order = header->order.pages > 0,
	};
}

/* Rows of a chunk that are all NULL have no bounds. */
static bool
has_bounds(const RtscanSegment *segment, const RtscanFrames *frames, uint32 chunk)
{
	return frames->frames[chunk].nulls < rtscan_chunk_rows(segment->header.rows, chunk);
}

/* The least integer of a segment; codes are what they are. */
static int64
least_value(const RtscanSegment *segment, const RtscanSegmentInclude *values)
{
	int64		least = PG_INT64_MAX;

	if (values->header.storage == RTSCAN_STORED_CODES)
		return 0;
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (has_bounds(segment, &values->frames, chunk))
			least = Min(least, values->frames.frames[chunk].least);
	return least;
}

static ColumnShape
values_shape(const RtscanSegment *segment, const RtscanSegmentInclude *values)
{
	ColumnShape shape = {.rows = segment->header.rows, .is_values = true, .element_pages = values->frames.area.pages};
	int64		least = least_value(segment, values);

	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (has_bounds(segment, &values->frames, chunk))
			shape.largest = Max(shape.largest, (uint64) values->frames.frames[chunk].greatest - (uint64) least);
	return shape;
}

static ColumnShape
shape_of(const RtscanSegment *segment, int column, bool is_values)
{
	if (is_values)
		return values_shape(segment, rtscan_stored_values(segment, segment->header.nkeys, column));
	return column_shape(segment, &segment->columns[column].header);
}

uint64
rtscan_device_column_size(const RtscanSegment *segment, int column, bool is_values)
{
	ColumnShape shape = shape_of(segment, column, is_values);

	return device_column_layout(&shape).size;
}

uint64
rtscan_device_job_size(const RtscanSegment *segment)
{
	return (uint64) segment->header.rows * JOB_ROW_BYTES;
}

static void
take_reply(Upload *upload)
{
	DeviceReply reply;

	upload->outstanding--;
	if (!rtscan_device_receive(upload->device, &reply))
		upload->lost = true;
	else if (reply.result != DEVICE_OK)
		upload->result = reply.result;
}

/* Send the window, and go on to the other one as soon as that is free. */
static void
send_window(Upload *upload)
{
	DeviceRequest request = {
		.kind = DEVICE_UPLOAD_DATA,
		.offset = upload->window * WINDOW_SIZE,
		.size = upload->used,
		.destination = upload->sent,
	};

	if (upload->used == 0 || upload->lost)
		return;
	if (!rtscan_device_send(upload->device, &request))
		upload->lost = true;
	else
		upload->outstanding++;
	upload->sent += upload->used;
	upload->used = 0;
	upload->window = (upload->window + 1) % WINDOWS;
	while (upload->outstanding >= WINDOWS && !upload->lost)
		take_reply(upload);
}

/* Append to the column's data. */
static void
put(Upload *upload, const char *data, Size size)
{
	while (size > 0 && !upload->lost)
	{
		Size		part = Min(size, WINDOW_SIZE - upload->used);

		memcpy(upload->area + upload->window * WINDOW_SIZE + upload->used, data, part);
		upload->used += part;
		data += part;
		size -= part;
		if (upload->used == WINDOW_SIZE)
			send_window(upload);
	}
}

/* Fill up with zeros to where the next array begins. */
static void
put_zeros(Upload *upload, uint64 end)
{
	static const char zeros[RTSCAN_CHUNK_BYTES];

	while (upload->sent + upload->used < end && !upload->lost)
		put(upload, zeros, Min(sizeof(zeros), end - upload->sent - upload->used));
}

/* Shaders address bits by the row numbers of an order: let none of them lie. */
static void
check_order(Upload *upload, const RtscanArea *area, uint32 page, const char *payload)
{
	uint32		rows = upload->reader->segment->header.rows;
	uint32		first = page * rtscan_per_page(3);
	uint32		largest = 0;

	for (uint32 i = 0; i < Min(rows - first, rtscan_per_page(3)); i++)
		largest = Max(largest, rtscan_load_packed(payload + i * 3, 3));
	if (largest >= rows)
		rtscan_fault(upload->reader, area, page, "A row number is too large.");
}

/* A page is released before anything waits for the device: on a standby it is locked. */
static void
put_area(Upload *upload, const RtscanArea *area, bool order)
{
	char		page[RTSCAN_CHUNK_BYTES];

	for (uint32 i = 0; i < area->pages && !upload->lost; i++)
	{
		Size		size = RTSCAN_CHUNK_BYTES - (i == 0 ? area->offset : 0);
		Buffer		buffer;
		Size		used;

		memcpy(page, rtscan_get_page(upload->reader, area, i, &buffer, &used), size);
		rtscan_release(upload->reader, buffer);
		if (order)
			check_order(upload, area, i, page);
		put(upload, page, size);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Codes of a plain column, which stores none, as pages of codes would have them. */
static void
put_plain_codes(Upload *upload, int column)
{
	uint32		rows = upload->reader->segment->header.rows;
	uint32	   *codes = rtscan_plain_codes(upload->reader, column);

	for (uint32 row = 0; row < rows && !upload->lost; row++)
	{
		char		bytes[3] = {(char) codes[row], (char) (codes[row] >> 8), (char) (codes[row] >> 16)};

		if (row % RTSCAN_CHUNK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		put(upload, bytes, sizeof(bytes));
	}
	pfree(codes);
}

static void
put_column(Upload *upload, int number, const ColumnLayout *layout)
{
	const RtscanSegmentColumn *column = &upload->reader->segment->columns[number];
	Size		table = (Size) column->header.vectors * upload->reader->segment->chunks * sizeof(uint32);

	if (layout->size == 0)
		return;
	put(upload, (const char *) column->vector_pages, table);
	put_zeros(upload, layout->sieve);
	put_area(upload, &column->header.sieve, false);
	put_zeros(upload, layout->order);
	put_area(upload, &column->header.order, true);
	put_zeros(upload, layout->codes);
	if (rtscan_is_plain(&column->header))
		put_plain_codes(upload, number);
	else
		put_area(upload, &column->header.codes, false);
	put_zeros(upload, layout->size);
	send_window(upload);
}

/* ---------------------------------------------------------------- values */

static ValueFrame
value_frame(const RtscanSegment *segment, const RtscanFrames *frames, uint32 chunk, int64 least)
{
	const RtscanFrame *frame = &frames->frames[chunk];

	/* Without elements all are 0: that is NULL's. */
	if (!has_bounds(segment, frames, chunk))
		return (ValueFrame) {0};
	return (ValueFrame) {
		.above = (uint64) frame->least - (uint64) least,
		.null = frame->nulls > 0 ? rtscan_frame_null(frame) : PG_UINT64_MAX,
		.page = frames->pages[chunk],
		.bits = frame->bits,
	};
}

/* The largest element of a page, so many of whose are used. */
static uint64
largest_element(const RtscanFrame *frame, const char *page, uint32 n)
{
	int64		values[RTSCAN_CHUNK_ROWS / 64];
	uint64		largest = 0;

	for (uint32 from = 0; from < n; from += lengthof(values))
		largest = Max(largest, rtscan_unpack(page + (Size) from * frame->bits / 8, frame->bits,
											 Min(n - from, lengthof(values)), 0, values));
	return largest;
}

/* A chunk's elements, in whole pages: let none of them be larger than its frame lets it be. */
static void
put_chunk(Upload *upload, const RtscanFrames *frames, uint32 chunk, uint64 elements)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(upload->reader->segment->header.rows, chunk);
	uint32		pages = rtscan_frame_pages(frame, rows);

	for (uint32 i = 0; i < pages && !upload->lost; i++)
	{
		/* Whoever unpacks reads a few bytes more. */
		char		page[RTSCAN_CHUNK_BYTES + sizeof(uint64)];
		uint32		number = frames->pages[chunk] + i;
		uint32		per_page = rtscan_packed_per_page(frame->bits);
		uint32		n = Min(rows - i * per_page, per_page);
		Size		size = rtscan_packed_bytes(n, frame->bits);
		Buffer		buffer;

		memcpy(page, rtscan_get_page(upload->reader, &frames->area, number, &buffer, NULL), size);
		rtscan_release(upload->reader, buffer);
		rtscan_check_frame(upload->reader, frames, chunk, number, largest_element(frame, page, n));
		put(upload, page, size);
		put_zeros(upload, elements + (uint64) (number + 1) * RTSCAN_CHUNK_BYTES);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
put_values(Upload *upload, int column, const ColumnLayout *layout)
{
	const RtscanSegment *segment = upload->reader->segment;
	const RtscanSegmentInclude *values = rtscan_stored_values(segment, segment->header.nkeys, column);
	int64		least = least_value(segment, values);

	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		ValueFrame	frame = value_frame(segment, &values->frames, chunk, least);

		put(upload, (const char *) &frame, sizeof(frame));
	}
	put_zeros(upload, layout->elements);
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		put_chunk(upload, &values->frames, chunk, layout->elements);
	send_window(upload);
}

/* ---------------------------------------------------------------- all of it */

DeviceResult
rtscan_device_upload(int device, RtscanReader *reader, const SegmentKey *key, int column, bool is_values)
{
	DeviceRequest request = {
		.kind = DEVICE_UPLOAD_BEGIN,
		.key = *key,
		.column = column,
		.shape = shape_of(reader->segment, column, is_values),
	};
	ColumnLayout layout = device_column_layout(&request.shape);
	Upload		upload = {.device = device, .reader = reader, .area = rtscan_device_area(device, WINDOWS * WINDOW_SIZE)};
	DeviceReply reply;

	if (upload.area == NULL)
		return DEVICE_REFUSED;
	if (request.shape.bins > 0)
		memcpy(upload.area, reader->segment->columns[column].boundaries, (request.shape.bins + 1) * sizeof(uint32));
	if (!rtscan_device_ask(device, &request, &reply))
		return DEVICE_REFUSED;
	if (reply.result != DEVICE_OK)
		return reply.result;
	(is_values ? put_values : put_column) (&upload, column, &layout);
	while (upload.outstanding > 0 && !upload.lost)
		take_reply(&upload);
	if (upload.lost)
		return DEVICE_REFUSED;
	request.kind = DEVICE_UPLOAD_END;
	if (upload.result == DEVICE_OK && rtscan_device_ask(device, &request, &reply))
		return reply.result;
	return upload.result == DEVICE_OK ? DEVICE_REFUSED : upload.result;
}
