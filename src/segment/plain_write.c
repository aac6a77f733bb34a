/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain_write.c
 *		Decide whether a key column is to be stored as a plain column, and write its values.
 */
#include "segment/plain.h"

#include "segment/dictionary_format.h"
#include "segment/frames.h"

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
				rank_gap = 0,
				last_key = 0;
	uint32		entries = 0,
				last = 0;
	Size		bits = 0;

	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		uint64		key;

		if (!rtscan_starts_value(column, rank))
			continue;
		key = rtscan_value_at(column, rank);
		if (entries == RTSCAN_DICTIONARY_BLOCK)
		{
			bits += block_bits(key_gap, rank_gap, entries);
			key_gap = rank_gap = entries = 0;
		}
		if (entries++ > 0)
		{
			key_gap = Max(key_gap, key - last_key - 1);
			rank_gap = Max(rank_gap, rank - last - 1);
		}
		last = rank;
		last_key = key;
	}
	return (bits + (entries > 0 ? block_bits(key_gap, rank_gap, entries) : 0)) / 8;
}

static bool
can_be_plain(const RtscanSortedColumn *column)
{
	return rtscan_may_be_plain(column->type, column->distinct) && column->identical && !column->heap_order &&
		column->rows >= RTSCAN_CHUNK_ROWS;
}

RtscanPlain *
rtscan_choose_plain(const RtscanSortedColumn *column)
{
	Size		coded;
	RtscanPlain *plain;

	if (!can_be_plain(column))
		return NULL;
	coded = (Size) column->rows * 3 + dictionary_bytes(column);
	plain = palloc(sizeof(RtscanPlain));
	plain->integers = rtscan_integers_of_values(column->type, column->source, column->rows);
	plain->frames = palloc(rtscan_chunks(column->rows) * sizeof(RtscanFrame));
	if (rtscan_find_frames(&plain->integers, plain->frames) &&
		rtscan_frames_bytes(plain->frames, column->rows) <= coded)
		return plain;
	pfree(plain->frames);
	pfree(plain);
	return NULL;
}

/* ---------------------------------------------------------------- writing */

void
rtscan_write_plain(RtscanAreaWriter *areas, const RtscanPlain *plain, StringInfo descriptor)
{
	RtscanIncludeHeader header = {
		.storage = RTSCAN_STORED_FRAMES,
		.exact = plain->integers.type->exact,
		.values = rtscan_write_frames(areas, plain->frames, &plain->integers),
	};

	rtscan_append_part(descriptor, &header, sizeof(header));
	rtscan_append_part(descriptor, plain->frames, rtscan_chunks(plain->integers.rows) * sizeof(RtscanFrame));
}
