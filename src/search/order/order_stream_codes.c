/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream_codes.c
 *		Find the rows of a stream by code: all rows of one value, then all rows of the next value.
 */
#include "search/order/order_stream_parts.h"

#include "miscadmin.h"

/* Return the code at a place in the order of all codes, including that of NULL. */
static uint32
code_at_place(const RtscanOrderStream *stream, uint32 place)
{
	uint32		distinct = stream->header->distinct;

	if (place == (stream->order->nulls_first ? 0 : distinct))
		return distinct;
	if (stream->order->nulls_first)
		place--;
	return stream->order->descending ? distinct - 1 - place : place;
}

/* Return the place of a key's code in the order of all codes, including that of NULL. */
static uint32
place_of_code(const RtscanOrderStream *stream, RtscanStreamKey key)
{
	uint32		distinct = stream->header->distinct;

	if (key.isnull)
		return stream->order->nulls_first ? 0 : distinct;
	return (stream->order->nulls_first ? 1 : 0) +
		(stream->order->descending ? distinct - 1 - (uint32) key.number : (uint32) key.number);
}

/* RtscanDictionaryVisitor: store the ranks of a code. */
static void
keep_ranks(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	RtscanInterval *interval = (RtscanInterval *) arg;

	*interval = (RtscanInterval) {{.rank = first_rank, .code = code}, {.rank = end_rank, .code = code + 1}};
}

/* Return the interval of ranks of a code. */
static RtscanInterval
interval_of_code(RtscanOrderStream *stream, uint32 code)
{
	RtscanReader *reader = &stream->segment->reader;
	RtscanInterval interval = {
		{.rank = stream->header->nonnull, .code = code},
		{.rank = reader->segment->header.rows, .code = code + 1},
	};

	if (code < stream->header->distinct)
		rtscan_dictionary_visit(reader, stream->order->column, stream->type, code, code + 1, keep_ranks, &interval);
	return interval;
}

static uint32
next_code(RtscanOrderStream *stream)
{
	if (stream->codes.place > stream->header->distinct)
		rtscan_fault(&stream->segment->reader, &stream->header->codes, 0, "Rows are missing in a dictionary.");
	return code_at_place(stream, stream->codes.place++);
}

/* Set codes.bits of the stream to the bits of a code's rows that are also set in stream->words. */
static void
find_bits_of_code(RtscanOrderStream *stream, uint32 code)
{
	RtscanRowBits *bits = stream->codes.bits;
	RtscanInterval interval = interval_of_code(stream, code);
	RtscanRegionColumn column = {
		.column = stream->order->column,
		.rows = interval.high.rank - interval.low.rank,
		.intervals = {1, 1, &interval},
	};
	RtscanRegion region = {.ncolumns = 1, .columns = &column};
	RtscanCounters counters = {0};

	rtscan_bits_reset(bits, stream->segment->reader.segment->chunks);
	if (column.rows > 0)
		rtscan_cpu_evaluate(&stream->segment->reader, &region, NULL, bits, &counters);
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			rtscan_and(rtscan_bits_chunk(bits, chunk), stream->words + (Size) chunk * RTSCAN_CHUNK_WORDS);
}

/* Go to a chunk and, if it has rows of the current code, to the first of them. */
static void
enter_chunk_of_code(RtscanStreamCodes *codes, uint32 chunk)
{
	codes->chunk = chunk;
	if (codes->bits->filled[chunk])
		codes->bit = (RtscanBitPlace) {0, rtscan_bits_chunk(codes->bits, chunk)[0]};
}

/* Go to the next code, find its rows, and go to the segment's first chunk. */
static void
enter_code(RtscanOrderStream *stream)
{
	CHECK_FOR_INTERRUPTS();
	stream->codes.code = next_code(stream);
	find_bits_of_code(stream, stream->codes.code);
	enter_chunk_of_code(&stream->codes, 0);
}

/*
 * Refill a stream: read rows of the current code in the current chunk or, if none are left, go to the next chunk or
 * code.
 */
static void
go_through_codes(RtscanOrderStream *stream)
{
	RtscanStreamCodes *codes = &stream->codes;

	if (codes->bits->filled[codes->chunk])
		stream->n = rtscan_gather_rows(rtscan_bits_chunk(codes->bits, codes->chunk), &codes->bit,
									   codes->chunk * RTSCAN_CHUNK_ROWS, stream->rows, RTSCAN_WALK_RANKS);
	if (stream->n > 0)
		return;
	if (codes->chunk + 1 < codes->bits->chunks)
		enter_chunk_of_code(codes, codes->chunk + 1);
	else
		enter_code(stream);
}

void
rtscan_stream_begin_codes(RtscanOrderStream *stream, uint32 passed)
{
	stream->refill = go_through_codes;
	stream->codes.bits = rtscan_bits_create(CurrentMemoryContext, stream->segment->reader.segment->chunks);
	stream->codes.place = passed == 0 ? 0 : place_of_code(stream, rtscan_key_at_place(stream, passed));
	enter_code(stream);
}
