/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream_walk.c
 *		Find the rows of a stream by walking through the order of its column, rank after rank.
 */
#include "search/order/order_stream_parts.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

/*
 * The most ranks that are walked at a time if the stream has no bits.  Then most of their rows may match, so that a
 * page of the order has far more rows than are wanted.
 */
#define MATCHING_RANKS		64

/*
 * Find the next ranks to walk: *first .. *end - 1, all on one page of the order.  If the order descends, they are
 * walked from the last one to the first.  The ranks of values and the ranks of NULLs are two groups;
 * order->nulls_first tells which group comes first.
 */
static void
next_ranks(const RtscanOrderStream *stream, uint32 *first, uint32 *end)
{
	uint32		nonnull = stream->header->nonnull;
	uint32		rows = stream->segment->reader.segment->header.rows;
	uint32		first_group = stream->order->nulls_first ? rows - nonnull : nonnull;
	bool		in_first_group = stream->walked < first_group;
	bool		in_nulls = in_first_group == stream->order->nulls_first;
	uint32		low = in_nulls ? nonnull : 0;
	uint32		high = in_nulls ? rows : nonnull;
	uint32		walked = in_first_group ? stream->walked : stream->walked - first_group;

	if (stream->order->descending)
	{
		*end = high - walked;
		*first = Max(low, (*end - 1) / RTSCAN_WALK_RANKS * RTSCAN_WALK_RANKS);
	}
	else
	{
		*first = low + walked;
		*end = Min(high, (*first / RTSCAN_WALK_RANKS + 1) * RTSCAN_WALK_RANKS);
	}
}

/* Find the next ranks to walk, as next_ranks() does, but at most MATCHING_RANKS if the stream has no bits. */
static void
next_ranks_to_take(const RtscanOrderStream *stream, uint32 *first, uint32 *end)
{
	next_ranks(stream, first, end);
	if (stream->words)
		return;
	if (stream->order->descending)
		*first = Max(*first, *end - Min(*end, MATCHING_RANKS));
	else
		*end = Min(*end, *first + MATCHING_RANKS);
}

/*
 * Append to stream->rows the rows of n ranks whose bits are set.  "payload" has the row numbers of the ranks, 3 bytes
 * each.
 */
static void
take_ordered(RtscanOrderStream *stream, const char *payload, uint32 n)
{
	uint32		rows = stream->segment->reader.segment->header.rows;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = rtscan_load_packed(payload + (stream->order->descending ? n - 1 - i : i) * 3, 3);

		if (row >= rows)
			rtscan_fault(&stream->segment->reader, &stream->header->order, 0, "A row number is too large.");
		stream->rows[stream->n] = row;
		stream->n += rtscan_stream_bit_is_set(stream, row);
	}
}

/*
 * Append to stream->rows the rows of n ranks, from "first" on, whose bits are set.  The ranks are on one page of the
 * order.
 */
static void
take_page_of_order(RtscanOrderStream *stream, uint32 first, uint32 n)
{
	RtscanReader *reader = &stream->segment->reader;
	Buffer		buffer;
	const char *payload = rtscan_get_page(reader, &stream->header->order, first / RTSCAN_WALK_RANKS, &buffer, NULL);

	take_ordered(stream, payload + (Size) (first % RTSCAN_WALK_RANKS) * 3, n);
	rtscan_release(reader, buffer);
}

/* Append to stream->rows the rows of a word of bits, from the lowest on; if the order descends, from the highest. */
static void
take_word(RtscanOrderStream *stream, uint32 first, uint64 word)
{
	while (word != 0)
	{
		int			bit = stream->order->descending ? pg_leftmost_one_pos64(word) : pg_rightmost_one_pos64(word);

		stream->rows[stream->n++] = first + bit;
		word &= ~(UINT64CONST(1) << bit);
	}
}

/* Return the bits of a word of rows that are among the rows first .. end - 1. */
static uint64
bits_within(const RtscanOrderStream *stream, uint32 word, uint32 first, uint32 end)
{
	uint64		bits = stream->words ? stream->words[word] : PG_UINT64_MAX;

	if (word == first / 64)
		bits &= PG_UINT64_MAX << (first % 64);
	if (word == (end - 1) / 64)
		bits &= PG_UINT64_MAX >> (63 - (end - 1) % 64);
	return bits;
}

/*
 * Append to stream->rows the rows of the ranks first .. end - 1 whose bits are set.  The column is in heap order, so
 * that a rank is a row number.
 */
static void
take_ranks(RtscanOrderStream *stream, uint32 first, uint32 end)
{
	uint32		low = first / 64,
				high = (end - 1) / 64;

	for (uint32 i = 0; i <= high - low; i++)
	{
		uint32		word = stream->order->descending ? high - i : low + i;

		take_word(stream, word * 64, bits_within(stream, word, first, end));
	}
}

void
rtscan_stream_walk(RtscanOrderStream *stream)
{
	RtscanReader *reader = &stream->segment->reader;
	uint32		first,
				end;

	CHECK_FOR_INTERRUPTS();
	if (stream->walked >= reader->segment->header.rows)
		rtscan_fault(reader, &stream->header->order, 0, "Rows are missing in an order.");
	next_ranks_to_take(stream, &first, &end);
	stream->walked += end - first;
	if (stream->header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		take_ranks(stream, first, end);
	else
		take_page_of_order(stream, first, end - first);
}
