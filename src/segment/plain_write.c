/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain_write.c
 *		Decide whether a key column is to be stored as a plain column, and write its values.
 */
#include "segment/plain.h"

#include "segment/dictionary_format.h"
#include "segment/frames.h"

/* Values that are encoded at a time. */
#define VALUES_AT_ONCE	1024

/* ---------------------------------------------------------------- choosing */

/* Return the bits that a block of the dictionary takes: its header and its gaps. */
static Size
block_bits(uint64 key_gap, uint64 rank_gap, uint32 entries)
{
	uint32		bits = 0;

	while (bits < 64 && key_gap >> bits != 0)
		bits++;
	while (rank_gap != 0)
	{
		rank_gap >>= 1;
		bits++;
	}
	return (Size) bits * (entries - 1) + sizeof(RtscanDictionaryBlock) * 8;
}

/* Return approximately the bytes that a dictionary of all values would take. */
static Size
dictionary_bytes(const RtscanSortedColumn *column)
{
	uint64		key_gap = 0,
				rank_gap = 0;
	uint32		entries = 0,
				last = 0;
	Size		bits = 0;

	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		if (!rtscan_starts_value(column, rank))
			continue;
		if (entries == RTSCAN_DICTIONARY_BLOCK)
		{
			bits += block_bits(key_gap, rank_gap, entries);
			key_gap = rank_gap = entries = 0;
		}
		if (entries++ > 0)
		{
			key_gap = Max(key_gap, column->sorted[rank].value - column->sorted[last].value - 1);
			rank_gap = Max(rank_gap, rank - last - 1);
		}
		last = rank;
	}
	return (bits + (entries > 0 ? block_bits(key_gap, rank_gap, entries) : 0)) / 8;
}

/* Encode the values of n rows as exact integers; the integers of NULLs are undefined. */
static void
encode_values(const RtscanColumn *type, const RtscanColumnRows *source, uint32 first, uint32 n, int64 *values)
{
	Datum		datums[VALUES_AT_ONCE];
	const Datum *from = (const Datum *) source->values + first;

	if (rtscan_key_tells_image(type->key_kind))
	{
		rtscan_key_decode_all(type->key_kind, source->values + first, n, datums);
		from = datums;
	}
	rtscan_exact_encode(type->exact, from, n, values);
}

/* Fill in the values in row order, and their frames.  Returns false if the values cannot be stored in frames. */
static bool
take_values(const RtscanColumn *type, const RtscanColumnRows *source, uint32 rows, RtscanPlain *plain)
{
	for (uint32 first = 0; first < rows; first += VALUES_AT_ONCE)
		encode_values(type, source, first, Min(rows - first, VALUES_AT_ONCE), plain->values + first);
	return rtscan_find_frames(plain->values, plain->nulls, rows, plain->frames);
}

static bool
can_be_plain(const RtscanColumn *type, const RtscanSortedColumn *column)
{
	return rtscan_may_be_plain(type, column->distinct) && column->identical && !column->heap_order &&
		column->rows >= RTSCAN_CHUNK_ROWS;
}

RtscanPlain *
rtscan_choose_plain(const RtscanColumn *type, const RtscanColumnRows *source, const RtscanSortedColumn *column)
{
	Size		coded;
	RtscanPlain *plain;

	if (!can_be_plain(type, column))
		return NULL;
	coded = (Size) column->rows * 3 + dictionary_bytes(column);
	plain = palloc(sizeof(RtscanPlain));
	plain->values = (int64 *) column->spare;
	plain->nulls = source->nulls;
	plain->frames = palloc(rtscan_chunks(column->rows) * sizeof(RtscanFrame));
	if (take_values(type, source, column->rows, plain) && rtscan_frames_bytes(plain->frames, column->rows) <= coded)
		return plain;
	pfree(plain->frames);
	pfree(plain);
	return NULL;
}

/* ---------------------------------------------------------------- writing */

void
rtscan_write_plain(RtscanAreaWriter *areas, const RtscanColumn *type, const RtscanPlain *plain, uint32 rows,
				   StringInfo descriptor)
{
	RtscanIncludeHeader header = {
		.storage = RTSCAN_STORED_FRAMES,
		.exact = type->exact,
		.values = rtscan_write_frames(areas, plain->frames, plain->values, plain->nulls, rows),
	};

	rtscan_append_part(descriptor, &header, sizeof(header));
	rtscan_append_part(descriptor, plain->frames, rtscan_chunks(rows) * sizeof(RtscanFrame));
}
