/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_bits.c
 *		Sets of rows of a segment.
 */
#include "search/filter/row_bits.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "storage/dead.h"
#include "utils/memutils.h"

/*
 * The most unused blocks for a segment's bits that a backend keeps, so that the kernel need not provide their pages
 * again.
 */
#define MAX_IDLE_ROOMS	8

/*
 * For at most this many chunks, only the memory that they need is allocated, instead of a block for a whole segment.  A
 * table of a thousand partitions has a thousand searches at once, whose blocks would take too much memory.
 */
#define FEW_CHUNKS		(RTSCAN_SEGMENT_CHUNKS / 8)

static char *idle_rooms[MAX_IDLE_ROOMS];
static int	idle;

/* Row bits, and the callback that gives their block back. */
typedef struct OwnedBits
{
	RtscanRowBits bits;
	MemoryContextCallback callback;
} OwnedBits;

/*
 * MemoryContextCallbackFunction: when row bits are deleted, keep their block for later use, or free it if
 * MAX_IDLE_ROOMS blocks are kept already.
 */
static void
give_back_words(void *arg)
{
	OwnedBits  *owned = (OwnedBits *) arg;

	if (idle < MAX_IDLE_ROOMS)
		idle_rooms[idle++] = owned->bits.room;
	else
		pfree(owned->bits.room);
}

/* Allocate words in a memory context, aligned to a cache line. */
static uint64 *
make_words(MemoryContext context, uint32 chunks)
{
	return (uint64 *) TYPEALIGN(64, MemoryContextAlloc(context, (Size) chunks * RTSCAN_CHUNK_BYTES + 64));
}

RtscanRowBits *
rtscan_bits_create(MemoryContext context, uint32 chunks)
{
	OwnedBits  *owned = MemoryContextAllocZero(context, sizeof(OwnedBits));

	if (chunks <= FEW_CHUNKS)
	{
		owned->bits.words = make_words(context, chunks);
		return &owned->bits;
	}
	owned->bits.room = idle > 0 ? idle_rooms[--idle]
		: MemoryContextAlloc(TopMemoryContext, (Size) RTSCAN_SEGMENT_CHUNKS * RTSCAN_CHUNK_BYTES + 64);
	owned->bits.words = (uint64 *) TYPEALIGN(64, owned->bits.room);
	owned->callback = (MemoryContextCallback) {.func = give_back_words, .arg = owned};
	MemoryContextRegisterResetCallback(context, &owned->callback);
	return &owned->bits;
}

RtscanRowBits *
rtscan_bits_keep(RtscanRowBits *bits)
{
	RtscanRowBits *kept;
	RtscanRowBits other;

	if (bits->room && bits->chunks > FEW_CHUNKS)
	{
		kept = rtscan_bits_create(CurrentMemoryContext, RTSCAN_SEGMENT_CHUNKS);
		other = *kept;
		*kept = *bits;
		bits->room = other.room;
		bits->words = other.words;
		return kept;
	}
	kept = palloc(sizeof(RtscanRowBits));
	*kept = *bits;
	kept->room = NULL;
	kept->words = make_words(CurrentMemoryContext, bits->chunks);
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			memcpy(rtscan_bits_chunk(kept, chunk), rtscan_bits_chunk(bits, chunk), RTSCAN_CHUNK_BYTES);
	return kept;
}

void
rtscan_bits_reset(RtscanRowBits *bits, uint32 chunks)
{
	bits->chunks = chunks;
	bits->counted = false;
	bits->aggregated = 0;
	bits->takes_list = bits->takes_counts = false;
	bits->list = NULL;
	memset(bits->filled, false, chunks * sizeof(bool));
}

uint64 *
rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk)
{
	uint64	   *words = rtscan_bits_chunk(bits, chunk);

	bits->counted = false;
	if (!bits->filled[chunk])
	{
		memset(words, 0, RTSCAN_CHUNK_BYTES);
		bits->filled[chunk] = true;
	}
	return words;
}

uint64 *
rtscan_bits_fill_all(RtscanRowBits *bits)
{
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		(void) rtscan_bits_fill(bits, chunk);
	return bits->words;
}

/* Are bits set beyond the first "rows" rows of a chunk? */
static bool
has_bits_behind(const uint64 *words, uint32 rows)
{
	uint32		word = rows / 64;

	if (word < RTSCAN_CHUNK_WORDS && words[word] >> (rows % 64) != 0)
		return true;
	while (++word < RTSCAN_CHUNK_WORDS)
		if (words[word] != 0)
			return true;
	return false;
}

bool
rtscan_bits_copy(RtscanRowBits *to, const RtscanRowBits *from, uint32 rows)
{
	rtscan_bits_reset(to, from->chunks);
	for (uint32 chunk = 0; chunk < from->chunks; chunk++)
	{
		uint64	   *words = rtscan_bits_chunk(to, chunk);

		if (!from->filled[chunk])
			continue;
		memcpy(words, rtscan_bits_chunk(from, chunk), RTSCAN_CHUNK_BYTES);
		if (rtscan_popcount(words) != from->counts[chunk] || has_bits_behind(words, rtscan_chunk_rows(rows, chunk)))
			return false;
		to->filled[chunk] = true;
		to->counts[chunk] = from->counts[chunk];
	}
	to->counted = true;
	to->aggregated = from->aggregated;
	return true;
}

uint64
rtscan_bits_count(const RtscanRowBits *bits)
{
	uint64		count = bits->list ? bits->listed : 0;

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			count += bits->counted ? bits->counts[chunk] : rtscan_popcount(rtscan_bits_chunk(bits, chunk));
	return count;
}

uint64
rtscan_bits_count_now(RtscanRowBits *bits)
{
	for (uint32 chunk = 0; chunk < bits->chunks && !bits->counted; chunk++)
		if (bits->filled[chunk])
			bits->counts[chunk] = rtscan_popcount(rtscan_bits_chunk(bits, chunk));
	bits->counted = true;
	return rtscan_bits_count(bits);
}

/* Remove dead rows from a list. */
static void
remove_dead_from_list(Relation index, const RtscanEntry *entry, const BlockNumber *map, Snapshot snapshot,
					  RtscanRowBits *bits)
{
	uint32		kept = 0;

	for (uint32 first = 0, end; first < bits->listed; first = end)
	{
		uint32		chunk = bits->list[first] / RTSCAN_CHUNK_ROWS;

		end = rtscan_find_row(bits->list, first, bits->listed, (chunk + 1) * RTSCAN_CHUNK_ROWS);
		memmove(bits->list + kept, bits->list + first, (end - first) * sizeof(uint32));
		kept += rtscan_dead_leave_out(index, entry, map, chunk, snapshot, bits->list + kept, end - first);
	}
	bits->listed = kept;
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
	if (bits->list)
		remove_dead_from_list(index, entry, map, snapshot, bits);
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			rtscan_dead_remove(index, entry, map, chunk, snapshot, rtscan_bits_chunk(bits, chunk));
	pfree(map);
}
