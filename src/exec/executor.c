/*
 * executor.c
 *		Row bits.
 */
#include "exec/executor.h"

#include "exec/bits.h"

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
			count += rtscan_popcount(rtscan_bits_chunk(bits, chunk));
	return count;
}
