/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream_keys.c
 *		Keys of the rows of a stream, and their values.
 */
#include "search/order/order_stream_parts.h"

#include "segment/plain.h"

/*
 * Set *rank to the rank of the row at a place in the order of all of the segment's rows.  Returns false if the row's
 * value is NULL.
 */
static bool
rank_at_place(const RtscanOrderStream *stream, uint32 place, uint32 *rank)
{
	uint32		nonnull = stream->header->nonnull;
	uint32		nulls_before = stream->order->nulls_first ? stream->segment->reader.segment->header.rows - nonnull : 0;

	if (place < nulls_before || place - nulls_before >= nonnull)
		return false;
	place -= nulls_before;
	*rank = stream->order->descending ? nonnull - 1 - place : place;
	return true;
}

RtscanStreamKey
rtscan_key_at_place(const RtscanOrderStream *stream, uint32 place)
{
	RtscanReader *reader = &stream->segment->reader;
	RtscanStreamKey key = {.isnull = true};
	uint32		rank;
	int64		exact;

	if (!rank_at_place(stream, place, &rank))
		return key;
	key.isnull = false;
	if (rtscan_is_plain(stream->header))
	{
		rtscan_plain_at_rank(reader, stream->order->column, rank, &exact);
		key.number = rtscan_key_of_integer(exact);
	}
	else
		key.number = rtscan_code_at_rank(reader, stream->order->column, stream->type, rank);
	return key;
}

/*
 * Get the keys of n rows of a plain column: the exact integers of their values, converted to unsigned integers with the
 * same order.
 */
static void
get_plain_keys(RtscanOrderStream *stream, const uint32 *rows, uint32 n, RtscanStreamKey *keys)
{
	Datum		datums[RTSCAN_STREAM_KEYS];
	int64		exact[RTSCAN_STREAM_KEYS];
	bool		isnull[RTSCAN_STREAM_KEYS];

	rtscan_get_values(stream->values, rows, n, datums, isnull);
	rtscan_exact_encode(stream->type->exact, datums, n, exact);
	for (uint32 i = 0; i < n; i++)
		keys[i] = (RtscanStreamKey) {.isnull = isnull[i], .number = isnull[i] ? 0 : rtscan_key_of_integer(exact[i])};
}

void
rtscan_stream_keys(RtscanOrderStream *stream, const uint32 *rows, uint32 n, RtscanStreamKey *keys)
{
	uint32		codes[RTSCAN_STREAM_KEYS];

	if (rtscan_is_plain(stream->header))
	{
		get_plain_keys(stream, rows, n, keys);
		return;
	}
	rtscan_get_codes(stream->values, rows, n, codes);
	for (uint32 i = 0; i < n; i++)
		keys[i] = rtscan_stream_key_of_code(stream, codes[i]);
}

/* Return the key of an element of stream->sorted. */
static RtscanStreamKey
key_of_sorted(const RtscanOrderStream *stream, const RtscanSortedRow *row)
{
	return (RtscanStreamKey) {
		.isnull = (row->group == 0) == stream->order->nulls_first,
		.number = rtscan_stream_turn(stream, row->place),
	};
}

RtscanStreamKey
rtscan_stream_key(RtscanOrderStream *stream)
{
	RtscanStreamKey key;

	if (stream->sorted)
		return key_of_sorted(stream, &stream->sorted[stream->next - 1]);
	if (stream->codes.bits)
		return rtscan_stream_key_of_code(stream, stream->codes.code);
	rtscan_stream_keys(stream, &stream->rows[stream->next - 1], 1, &key);
	return key;
}

Datum
rtscan_stream_value(RtscanOrderStream *stream, RtscanStreamKey key)
{
	uint32		code = (uint32) key.number;
	int64		exact = rtscan_integer_of_key(key.number);
	Datum		value;

	if (rtscan_is_plain(stream->header))
		rtscan_exact_decode(stream->type->exact, &exact, 1, &value);
	else
		rtscan_get_values_of_codes(stream->values, &code, 1, &value);
	return value;
}
