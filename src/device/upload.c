/*
 * upload.c
 *		Copy a column of a segment to the device.
 *
 * Pages are copied into one of two windows of the area while the device takes the other.
 */
#include "device/device.h"

#include "miscadmin.h"
#include "segment/plain.h"

#define WINDOW_SIZE		((Size) 4 * 1024 * 1024)
#define WINDOWS			2

typedef struct Upload
{
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

uint64
rtscan_device_column_size(const RtscanSegment *segment, int column)
{
	ColumnShape shape = column_shape(segment, &segment->columns[column].header);

	return device_column_layout(&shape).size;
}

static void
take_reply(Upload *upload)
{
	DeviceReply reply;

	upload->outstanding--;
	if (!rtscan_device_receive(&reply))
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
	if (!rtscan_device_send(&request))
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

DeviceResult
rtscan_device_upload(RtscanReader *reader, const SegmentKey *key, int column)
{
	const RtscanSegmentColumn *source = &reader->segment->columns[column];
	DeviceRequest request = {
		.kind = DEVICE_UPLOAD_BEGIN,
		.key = *key,
		.column = column,
		.shape = column_shape(reader->segment, &source->header),
	};
	ColumnLayout layout = device_column_layout(&request.shape);
	Upload		upload = {.reader = reader, .area = rtscan_device_area(WINDOWS * WINDOW_SIZE)};
	DeviceReply reply;

	if (upload.area == NULL)
		return DEVICE_REFUSED;
	if (source->header.bins > 0)
		memcpy(upload.area, source->boundaries, (source->header.bins + 1) * sizeof(uint32));
	if (!rtscan_device_ask(&request, &reply))
		return DEVICE_REFUSED;
	if (reply.result != DEVICE_OK)
		return reply.result;
	put_column(&upload, column, &layout);
	while (upload.outstanding > 0 && !upload.lost)
		take_reply(&upload);
	if (upload.lost)
		return DEVICE_REFUSED;
	request.kind = DEVICE_UPLOAD_END;
	if (upload.result == DEVICE_OK && rtscan_device_ask(&request, &reply))
		return reply.result;
	return upload.result == DEVICE_OK ? DEVICE_REFUSED : upload.result;
}
