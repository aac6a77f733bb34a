/* SPDX-License-Identifier: PostgreSQL */
/*
 * upload.c
 *		Upload a column of a segment to its device, in one of its forms.
 *
 * Pages are copied to one of two windows of the area while the device reads the other one.
 */
#include "device/upload.h"

#include "device/client.h"
#include "device/readiness.h"
#include "miscadmin.h"
#include "bits/bits.h"
#include "bits/packed.h"
#include "segment/frames.h"
#include "segment/plain.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* Size of a window in bytes. */
#define WINDOW_SIZE		((Size) 4 * 1024 * 1024)
#define WINDOWS			2

/* Bytes of a row in the BVH of a job: a record and a triangle, as drivers store them. */
#define JOB_ROW_BYTES	96

/* An upload of a column. */
typedef struct Upload
{
	int			device;			/* device to which the column is uploaded */
	RtscanReader *reader;		/* reads the segment */
	char	   *area;			/* shared memory with the windows */
	int			window;			/* number of the window that is being filled */
	Size		used;			/* bytes used in this window */
	uint64		sent;			/* bytes of the column in all windows before this one */
	int			outstanding;	/* number of windows that have been sent and have no reply yet */
	DeviceResult result;		/* result of the last window that failed; DEVICE_OK if none has failed */
	bool		lost;			/* is the connection lost? */
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
 * Segments of a build have consecutive numbers, so the remainder spreads them evenly over the devices.  The relation's
 * number is added because small indexes have only one or two segments, whose numbers are all small: otherwise all
 * small indexes would use the same device.
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

/* Does a chunk's frame have bounds?  It has none if all rows of the chunk are NULL. */
static bool
has_bounds(const RtscanSegment *segment, const RtscanFrames *frames, uint32 chunk)
{
	return frames->frames[chunk].nulls < rtscan_chunk_rows(segment->header.rows, chunk);
}

/*
 * Return the least integer of a column in a segment, or 0 if the column is stored as codes, which are uploaded
 * unchanged.
 */
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
	ColumnShape shape = {.rows = segment->header.rows, .form = COLUMN_VALUES,
		.element_pages = values->frames.area.pages};
	int64		least = least_value(segment, values);

	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (has_bounds(segment, &values->frames, chunk))
			shape.largest = Max(shape.largest, (uint64) values->frames.frames[chunk].greatest - (uint64) least);
	return shape;
}

/*
 * Return the shape of a column in the form of codes or of their integers.  All chunks have the same frame, since the
 * bounds of single chunks are not known.  The element of NULL is greater by one than the largest other element.
 */
static ColumnShape
coded_shape(const RtscanSegment *segment, const RtscanDeviceColumn *column)
{
	return (ColumnShape) {
		.rows = segment->header.rows,
		.form = column->form,
		.largest = column->largest,
		.element_pages = column->empty ? 0 : segment->chunks * rtscan_packed_bits(column->largest + 1),
	};
}

static ColumnShape
shape_of(const RtscanSegment *segment, const RtscanDeviceColumn *column)
{
	switch (column->form)
	{
		case COLUMN_VALUES:
			return values_shape(segment, rtscan_stored_values(segment, segment->header.nkeys, column->number));
		case COLUMN_INTEGERS:
		case COLUMN_CODES:
			return coded_shape(segment, column);
		default:
			return column_shape(segment, &segment->columns[column->number].header);
	}
}

uint64
rtscan_device_column_size(const RtscanSegment *segment, const RtscanDeviceColumn *column)
{
	ColumnShape shape = shape_of(segment, column);

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

/* Send the current window, and go on to the other window when that is free. */
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

/* Append data to the column. */
static void
put_bytes(Upload *upload, const char *data, Size size)
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

/* Append zeros up to the offset "end" in the column, where the next array begins. */
static void
put_zeros(Upload *upload, uint64 end)
{
	static const char zeros[RTSCAN_CHUNK_BYTES];

	while (upload->sent + upload->used < end && !upload->lost)
		put_bytes(upload, zeros, Min(sizeof(zeros), end - upload->sent - upload->used));
}

/* Check all row numbers on a page of an order: a wrong row number would make a shader write out of bounds. */
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

/*
 * Append the pages of an area; if "order" is true, check their row numbers.  Each page is released before the process
 * waits for the device, since the page is locked on a standby.
 */
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
		put_bytes(upload, page, size);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Append the codes of a plain column in the format of pages of codes, 3 bytes each.  They are computed, since a plain
 * column does not store codes.
 */
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
		put_bytes(upload, bytes, sizeof(bytes));
	}
	pfree(codes);
}

static void
put_column(Upload *upload, int number, const ColumnShape *shape, const ColumnLayout *layout)
{
	const RtscanSegmentColumn *column = &upload->reader->segment->columns[number];
	Size		table = (Size) column->header.vectors * upload->reader->segment->chunks * sizeof(uint32);

	if (layout->size == 0)
		return;
	put_bytes(upload, (const char *) column->vector_pages, table);
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

	/* a chunk without elements: all rows are read as 0, which represents NULL */
	if (!has_bounds(segment, frames, chunk))
		return (ValueFrame) {0};
	return (ValueFrame) {
		.above = (uint64) frame->least - (uint64) least,
		.null = frame->nulls > 0 ? rtscan_frame_null(frame) : PG_UINT64_MAX,
		.page = frames->pages[chunk],
		.bits = frame->bits,
	};
}

/* Return the largest of the first n elements of a page. */
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

/* Append the elements of a chunk, in whole pages, after checking that no element exceeds the chunk's frame. */
static void
put_chunk(Upload *upload, const RtscanFrames *frames, uint32 chunk, uint64 elements)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(upload->reader->segment->header.rows, chunk);
	uint32		pages = rtscan_frame_pages(frame, rows);

	for (uint32 i = 0; i < pages && !upload->lost; i++)
	{
		/* unpacking may read up to 8 bytes beyond the data */
		char		page[RTSCAN_CHUNK_BYTES + sizeof(uint64)];
		uint32		number = frames->pages[chunk] + i;
		uint32		per_page = rtscan_packed_per_page(frame->bits);
		uint32		n = Min(rows - i * per_page, per_page);
		Size		size = rtscan_packed_bytes(n, frame->bits);
		Buffer		buffer;

		memcpy(page, rtscan_get_page(upload->reader, &frames->area, number, &buffer, NULL), size);
		rtscan_release(upload->reader, buffer);
		rtscan_check_frame(upload->reader, frames, chunk, number, largest_element(frame, page, n));
		put_bytes(upload, page, size);
		put_zeros(upload, elements + (uint64) (number + 1) * RTSCAN_CHUNK_BYTES);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
put_values(Upload *upload, int column, const ColumnShape *shape, const ColumnLayout *layout)
{
	const RtscanSegment *segment = upload->reader->segment;
	const RtscanSegmentInclude *values = rtscan_stored_values(segment, segment->header.nkeys, column);
	int64		least = least_value(segment, values);

	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		ValueFrame	frame = value_frame(segment, &values->frames, chunk, least);

		put_bytes(upload, (const char *) &frame, sizeof(frame));
	}
	put_zeros(upload, layout->elements);
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		put_chunk(upload, &values->frames, chunk, layout->elements);
	send_window(upload);
}

/* ---------------------------------------------------------------- codes and their integers */

/* Set the elements of n codes: the distances of their integers from the least integer. */
static void
make_integers(RtscanValues *values, const ColumnShape *shape, uint32 n, uint64 *elements)
{
	int64	   *integers = (int64 *) elements;
	int64		least = PG_INT64_MAX;
	int			scale;

	if (!rtscan_get_integers_of_codes(values, n, integers, &scale))
		elog(ERROR, "column has values that are not exact integers");
	for (uint32 i = 0; i < n; i++)
		least = Min(least, integers[i]);
	for (uint32 i = 0; i < n; i++)
	{
		elements[i] = (uint64) integers[i] - (uint64) least;
		if (elements[i] > shape->largest)
			elog(ERROR, "value is outside of the range of its column");
	}
}

/* Return an array with the element of each code, and at its end the element of NULL. */
static uint64 *
elements_of_codes(RtscanValues *values, const ColumnShape *shape)
{
	uint32		n = rtscan_code_count(values) - 1;
	uint64	   *elements = palloc_extended(((Size) n + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);

	if (shape->form == COLUMN_INTEGERS)
		make_integers(values, shape, n, elements);
	else
		for (uint32 i = 0; i < n; i++)
			elements[i] = i;
	elements[n] = shape->largest + 1;
	return elements;
}

/* Append the elements of a chunk, in whole pages. */
static void
put_coded_chunk(Upload *upload, RtscanValues *values, uint32 chunk, uint32 bits, const uint64 *of_codes, uint64 *room)
{
	RtscanSelection selection = rtscan_select_rows(upload->reader, chunk, rtscan_ones(), RTSCAN_SELECT_ALL, NULL);
	uint32		per_page = rtscan_packed_per_page(bits);
	RtscanTyped typed;

	rtscan_get_typed(values, &selection, true, &typed);
	memset(room, 0, RTSCAN_CHUNK_ROWS * sizeof(uint64));
	for (uint32 i = 0; i < typed.n; i++)
		room[i] = of_codes[typed.codes[i]];
	for (uint32 first = 0; first < RTSCAN_CHUNK_ROWS && !upload->lost; first += per_page)
	{
		char		page[RTSCAN_CHUNK_BYTES] = {0};

		rtscan_pack(room + first, per_page, bits, page);
		put_bytes(upload, page, sizeof(page));
		CHECK_FOR_INTERRUPTS();
	}
}

static void
put_coded(Upload *upload, int column, const ColumnShape *shape, const ColumnLayout *layout)
{
	RtscanValues *values = rtscan_open_values(upload->reader, rtscan_schema(upload->reader->index), column);
	uint32		chunks = upload->reader->segment->chunks;
	uint32		bits = shape->element_pages / chunks;
	uint64	   *of_codes = elements_of_codes(values, shape);
	uint64	   *room = palloc_extended(RTSCAN_CHUNK_ROWS * sizeof(uint64), MCXT_ALLOC_HUGE);

	for (uint32 chunk = 0; chunk < chunks; chunk++)
	{
		/* without elements, all rows are read as 0, which represents NULL */
		ValueFrame	frame = {.null = bits > 0 ? shape->largest + 1 : 0, .page = chunk * bits, .bits = bits};

		put_bytes(upload, (const char *) &frame, sizeof(frame));
	}
	put_zeros(upload, layout->elements);
	for (uint32 chunk = 0; chunk < chunks && bits > 0; chunk++)
		put_coded_chunk(upload, values, chunk, bits, of_codes, room);
	send_window(upload);
}

/* ---------------------------------------------------------------- the upload */

/* Begin the upload, send all data, and end it. */
static DeviceResult
upload_column(Upload *upload, const SegmentKey *key, const RtscanDeviceColumn *column)
{
	static void (*const put_forms[COLUMN_FORMS]) (Upload *, int, const ColumnShape *, const ColumnLayout *) = {
		[COLUMN_KEY] = put_column, [COLUMN_VALUES] = put_values, [COLUMN_INTEGERS] = put_coded,
		[COLUMN_CODES] = put_coded};
	const RtscanSegment *segment = upload->reader->segment;
	DeviceRequest request = {
		.kind = DEVICE_UPLOAD_BEGIN,
		.key = *key,
		.column = column->number,
		.shape = shape_of(segment, column),
	};
	ColumnLayout layout = device_column_layout(&request.shape);
	DeviceReply reply;

	if (request.shape.bins > 0)
		memcpy(upload->area, segment->columns[column->number].boundaries, (request.shape.bins + 1) * sizeof(uint32));
	if (!rtscan_device_ask(upload->device, &request, &reply))
		return DEVICE_REFUSED;
	if (reply.result != DEVICE_OK)
		return reply.result;
	put_forms[column->form] (upload, column->number, &request.shape, &layout);
	while (upload->outstanding > 0 && !upload->lost)
		take_reply(upload);
	if (upload->lost)
		return DEVICE_REFUSED;
	request.kind = DEVICE_UPLOAD_END;
	if (upload->result == DEVICE_OK && rtscan_device_ask(upload->device, &request, &reply))
		return reply.result;
	return upload->result == DEVICE_OK ? DEVICE_REFUSED : upload->result;
}

DeviceResult
rtscan_device_upload(int device, RtscanReader *reader, const SegmentKey *key, const RtscanDeviceColumn *column)
{
	Upload		upload = {.device = device, .reader = reader,
		.area = rtscan_device_area(device, WINDOWS * WINDOW_SIZE)};
	MemoryContext context,
				old;
	DeviceResult result;

	if (upload.area == NULL)
		return DEVICE_REFUSED;
	context = AllocSetContextCreate(CurrentMemoryContext, "rtscan upload", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	result = upload_column(&upload, key, column);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}
