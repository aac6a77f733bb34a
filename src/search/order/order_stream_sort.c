/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream_sort.c
 *		Find the rows of a stream by sorting all of them.
 */
#include "search/order/order_stream_parts.h"

#include "miscadmin.h"

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE RtscanSortedRow
#define ST_COMPARE(a, b) ((a)->group != (b)->group ? ((a)->group < (b)->group ? -1 : 1) : \
	(a)->place < (b)->place ? -1 : (a)->place > (b)->place)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Make the element of stream->sorted for a row that has this key. */
static RtscanSortedRow
sorted_row(const RtscanOrderStream *stream, uint32 row, RtscanStreamKey key)
{
	return (RtscanSortedRow) {
		.place = rtscan_stream_turn(stream, key.number),
		.group = key.isnull == stream->order->nulls_first ? 0 : 1,
		.row = row,
	};
}

/* Append the rows of a chunk whose bits are set to stream->sorted, without sorting them. */
static void
collect_rows_to_sort(RtscanOrderStream *stream, uint32 chunk)
{
	const uint64 *words = stream->words + (Size) chunk * RTSCAN_CHUNK_WORDS;
	RtscanBitPlace place = {0, words[0]};
	RtscanStreamKey keys[RTSCAN_STREAM_KEYS];
	uint32		n;

	CHECK_FOR_INTERRUPTS();
	while ((n = rtscan_gather_rows(words, &place, chunk * RTSCAN_CHUNK_ROWS, stream->rows, RTSCAN_STREAM_KEYS)) > 0)
	{
		rtscan_stream_keys(stream, stream->rows, n, keys);
		for (uint32 i = 0; i < n; i++)
			stream->sorted[stream->nsorted++] = sorted_row(stream, stream->rows[i], keys[i]);
	}
}

void
rtscan_stream_sort(RtscanOrderStream *stream, uint64 rows)
{
	stream->sorted = palloc_extended(Max(rows, 1) * sizeof(RtscanSortedRow), MCXT_ALLOC_HUGE);
	for (uint32 chunk = 0; chunk < stream->segment->reader.segment->chunks; chunk++)
		collect_rows_to_sort(stream, chunk);
	sort_rows(stream->sorted, stream->nsorted);
}
