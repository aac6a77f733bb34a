/* SPDX-License-Identifier: PostgreSQL */
/*
 * totals.c
 *		Aggregate the values of a column in a chunk, for the rows whose bits are set.
 */
#include "segment/totals.h"

#include "bits/masks.h"
#include "segment/frames.h"
#include "segment/values_parts.h"

/* The most elements that are unpacked at once, so that they stay in the cache. */
#define LOT		2048

/* Rows of a chunk whose elements are on one page. */
typedef struct Lot
{
	const RtscanFrame *frame;	/* frame of the chunk */
	const char *elements;		/* elements of the rows */
	uint32		n;				/* number of rows */
	uint64	   *bits;			/* a bit for each of these rows: its value is aggregated */
} Lot;

bool
rtscan_has_totals(const RtscanValues *values)
{
	return rtscan_values_have_frames(values) && values->type->exact_sorts && values->images == NULL;
}

const RtscanFrame *
rtscan_total_bounds(const RtscanValues *values, uint32 chunk, int *scale)
{
	*scale = values->include->header.scale;
	return &values->include->frames.frames[chunk];
}

static void
add_outermost(RtscanTotal *total, int64 outermost, uint64 count, bool greatest)
{
	if (count > 0 && (total->count == 0 || (greatest ? outermost > total->outermost : outermost < total->outermost)))
		total->outermost = outermost;
}

/* Add "count" equal values to the sum. */
static void
add_same(RtscanTotal *total, int64 value, uint64 count)
{
	total->upper += (value >> 32) * (int64) count;
	total->lower += (uint64) (uint32) value * count;
}

/* Aggregate packed elements without unpacking them.  Returns the largest element of all rows of the lot. */
static uint64
add_packed(const Lot *lot, RtscanTotalKind kind, RtscanTotal *total)
{
	const RtscanFrame *frame = lot->frame;
	uint64		count = rtscan_count_first(lot->bits, lot->n);
	uint64		element = 0;
	uint64		largest;

	if (kind == RTSCAN_TOTAL_SUM)
	{
		largest = rtscan_masked_packed_sum(lot->elements, frame->bits, lot->bits, lot->n, &element);
		add_same(total, frame->least, count);
		total->lower += element;
	}
	else
	{
		largest = rtscan_masked_packed_outermost(lot->elements, frame->bits, lot->bits, lot->n,
												 kind == RTSCAN_TOTAL_GREATEST, &element);
		add_outermost(total, (int64) ((uint64) frame->least + element), count, kind == RTSCAN_TOTAL_GREATEST);
	}
	total->count += count;
	return largest;
}

/*
 * Aggregate elements that have to be unpacked, because of their width or because some are NULL.  Returns the largest
 * element of all rows of the lot.
 */
static uint64
add_unpacked(const Lot *lot, RtscanTotalKind kind, RtscanTotal *total)
{
	const RtscanFrame *frame = lot->frame;
	int64		values[LOT];
	uint64		largest = rtscan_unpack(lot->elements, frame->bits, lot->n, frame->least, values);
	int64		upper;
	uint64		lower;
	uint64		count;

	if (frame->nulls > 0)
		rtscan_and_value_range(lot->bits, values, lot->n, (uint64) frame->least, rtscan_frame_null(frame) - 1);
	count = rtscan_count_first(lot->bits, lot->n);
	if (kind == RTSCAN_TOTAL_SUM)
	{
		rtscan_masked_sum(values, lot->bits, lot->n, &upper, &lower);
		total->upper += upper;
		total->lower += lower;
	}
	else if (kind != RTSCAN_TOTAL_COUNT)
		add_outermost(total, rtscan_masked_outermost(values, lot->bits, lot->n, kind == RTSCAN_TOTAL_GREATEST), count,
					  kind == RTSCAN_TOTAL_GREATEST);
	total->count += count;
	return largest;
}

/*
 * Aggregate n rows of a chunk, whose elements are on one page.  "first" is the first of these rows, relative to the
 * chunk.  Returns the largest element of these rows, aggregated or not.
 */
static uint64
add_page(const RtscanFrame *frame, const char *elements, const uint64 *bits, uint32 first, uint32 n,
		 RtscanTotalKind kind, RtscanTotal *total)
{
	uint64		largest = 0;

	for (uint32 from = 0; from < n; from += LOT)
	{
		uint64		room[LOT / 64];
		Lot			lot = {frame, elements + from * frame->bits / 8, Min(n - from, LOT), room};
		uint64		most;

		rtscan_copy_bits(bits, first + from, lot.n, room);
		most = frame->nulls == 0 && rtscan_can_mask_packed(frame->bits) ? add_packed(&lot, kind, total) :
			add_unpacked(&lot, kind, total);
		largest = Max(largest, most);
	}
	return largest;
}

static void
add_pages(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, const uint64 *bits, RtscanTotalKind kind,
		  RtscanTotal *total)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);
	uint32		per_page = rtscan_packed_per_page(frame->bits);

	for (uint32 first = 0, page = frames->pages[chunk]; first < rows; first += per_page, page++)
	{
		Buffer		buffer;
		const char *payload = rtscan_get_page(reader, &frames->area, page, &buffer, NULL);
		uint64		largest = add_page(frame, payload, bits, first, Min(rows - first, per_page), kind, total);

		rtscan_release(reader, buffer);
		rtscan_check_frame(reader, frames, chunk, page, largest);
	}
}

RtscanTotal
rtscan_chunk_total(RtscanValues *values, uint32 chunk, const uint64 *bits, RtscanTotalKind kind)
{
	const RtscanFrames *frames = &values->include->frames;
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(values->reader->segment->header.rows, chunk);
	RtscanTotal total = {.count = 0};

	if (frame->bits > 0 && (frame->nulls > 0 || kind != RTSCAN_TOTAL_COUNT))
		add_pages(values->reader, frames, chunk, bits, kind, &total);
	else if (frame->nulls == 0)
	{
		total.count = rtscan_count_first(bits, rows);
		total.outermost = frame->least;
		add_same(&total, frame->least, total.count);
	}
	return total;
}
