/*
 * row_bits.c
 *		Which rows of a segment.
 */
#include "search/row_bits.h"

#include "bits/bits.h"
#include "storage/dead.h"

RtscanRowBits *
rtscan_bits_create(MemoryContext context)
{
	RtscanRowBits *bits = MemoryContextAllocZero(context, sizeof(RtscanRowBits));
	char	   *room = MemoryContextAlloc(context, (Size) RTSCAN_SEGMENT_CHUNKS * RTSCAN_CHUNK_BYTES + 64);

	bits->words = (uint64 *) TYPEALIGN(64, room);
	return bits;
}

void
rtscan_bits_reset(RtscanRowBits *bits, uint32 chunks)
{
	bits->chunks = chunks;
	bits->counted = false;
	memset(bits->filled, false, sizeof(bits->filled));
}

uint64 *
rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk)
{
	uint64	   *words = rtscan_bits_chunk(bits, chunk);

	if (!bits->filled[chunk])
	{
		memset(words, 0, RTSCAN_CHUNK_BYTES);
		bits->filled[chunk] = true;
	}
	return words;
}

uint64
rtscan_bits_count(const RtscanRowBits *bits)
{
	uint64		count = 0;

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			count += bits->counted ? bits->counts[chunk] : rtscan_popcount(rtscan_bits_chunk(bits, chunk));
	return count;
}

void
rtscan_bits_remove_dead(Relation index, const RtscanEntry *entry, Snapshot snapshot,
						RtscanRowBits *bits)
{
	BlockNumber *map;

	if (entry->dead == InvalidBlockNumber)
		return;
	bits->counted = false;
	map = rtscan_dead_map(index, entry);
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			rtscan_dead_remove(index, entry, map, chunk, snapshot, rtscan_bits_chunk(bits, chunk));
	pfree(map);
}
