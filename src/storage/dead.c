/* SPDX-License-Identifier: PostgreSQL */
/*
 * dead.c
 *		Allocate, set and read dead bits.
 */
#include "storage/dead.h"

#include "access/generic_xlog.h"
#include "bits/bits.h"
#include "storage/allocate.h"
#include "storage/writing.h"

/* ---------------------------------------------------------------- allocation */

/*
 * RtscanChange: set the block of the dead map in a segment's directory entry.  "arg" is a copy of the entry in which
 * the block is set.
 */
static bool
set_dead_map(Relation index, RtscanImage **image, void *arg)
{
	const RtscanEntry *changed = (const RtscanEntry *) arg;
	RtscanEntry *entry = rtscan_image_segment(*image, changed->id);

	if (entry == NULL)
		elog(ERROR, "segment " UINT64_FORMAT " is not in the directory of index \"%s\"", changed->id,
			 RelationGetRelationName(index));
	entry->dead = changed->dead;
	rtscan_image_end_writing(*image, RTSCAN_SLOT_MERGE);
	return true;
}

BlockNumber
rtscan_dead_allocate(Relation index, const RtscanEntry *entry)
{
	RtscanWriting writing = rtscan_writing(index, RTSCAN_SLOT_MERGE);
	RtscanEntry changed = *entry;
	uint32		chunks = rtscan_chunks(entry->rows);
	uint32		map[RTSCAN_SEGMENT_CHUNKS + 1];

	/* begins the attempt; the id itself is not used, since the pages belong to the segment */
	(void) rtscan_writing_id(&writing);
	for (uint32 chunk = 0; chunk < chunks; chunk++)
		map[chunk] = rtscan_write_taken_page(&writing, RTSCAN_PAGE_DEAD, entry->id, chunk, NULL,
											 RTSCAN_CHUNK_BYTES, InvalidBlockNumber);
	map[chunks] = 0;
	changed.dead = rtscan_write_taken_page(&writing, RTSCAN_PAGE_DEAD_MAP, entry->id, 0, map,
										   (chunks + 1) * sizeof(uint32), InvalidBlockNumber);
	rtscan_switch(index, set_dead_map, &changed);
	return changed.dead;
}

/* ---------------------------------------------------------------- reading and setting */

static Buffer
open_map(Relation index, const RtscanEntry *entry, int lock)
{
	Buffer		buffer = rtscan_read_page(index, entry->dead, lock, RTSCAN_PAGE_DEAD_MAP, entry->id, 0);
	Size		used = rtscan_page_used(BufferGetPage(buffer));
	uint32		chunks = rtscan_chunks(entry->rows);

	if (used != chunks * sizeof(BlockNumber) && used != (chunks + 1) * sizeof(BlockNumber))
		rtscan_page_corrupted(index, entry->dead, "The dead map has the wrong size.");
	return buffer;
}

/* Return a pointer to the count of dead rows in a dead map, or NULL if the map has no count (format 3). */
static uint32 *
dead_rows(Page map, const RtscanEntry *entry)
{
	uint32		chunks = rtscan_chunks(entry->rows);

	return rtscan_page_used(map) == (chunks + 1) * sizeof(uint32)
		? (uint32 *) rtscan_page_payload(map) + chunks : NULL;
}

BlockNumber *
rtscan_dead_map(Relation index, const RtscanEntry *entry)
{
	Size		bytes = rtscan_chunks(entry->rows) * sizeof(BlockNumber);
	BlockNumber *map = palloc(bytes);
	Buffer		buffer = open_map(index, entry, BUFFER_LOCK_SHARE);

	memcpy(map, rtscan_page_payload(BufferGetPage(buffer)), bytes);
	UnlockReleaseBuffer(buffer);
	return map;
}

void
rtscan_dead_set(Relation index, const RtscanEntry *entry, const BlockNumber *map,
				uint32 chunk, const uint64 *words)
{
	Buffer		buffer = rtscan_read_page(index, map[chunk], BUFFER_LOCK_EXCLUSIVE,
										  RTSCAN_PAGE_DEAD, entry->id, chunk);
	Buffer		map_buffer = open_map(index, entry, BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *state = GenericXLogStart(index);
	uint64	   *dead = (uint64 *) rtscan_page_payload(GenericXLogRegisterBuffer(state, buffer, 0));
	uint32	   *count = dead_rows(GenericXLogRegisterBuffer(state, map_buffer, 0), entry);
	uint64		before = rtscan_popcount(dead);

	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
		dead[w] |= words[w];
	if (count)
		*count += rtscan_popcount(dead) - before;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(map_buffer);
	UnlockReleaseBuffer(buffer);
}

void
rtscan_dead_get(Relation index, const RtscanEntry *entry, const BlockNumber *map,
				uint32 chunk, uint64 *words)
{
	Buffer		buffer = rtscan_read_page(index, map[chunk], BUFFER_LOCK_SHARE,
										  RTSCAN_PAGE_DEAD, entry->id, chunk);

	memcpy(words, rtscan_page_payload(BufferGetPage(buffer)), RTSCAN_CHUNK_BYTES);
	UnlockReleaseBuffer(buffer);
}

/* Read and share-lock the dead bits of a chunk, for a scan. */
static const uint64 *
open_dead(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
		  Snapshot snapshot, Buffer *buffer)
{
	*buffer = rtscan_read_page(index, map[chunk], BUFFER_LOCK_SHARE, RTSCAN_PAGE_DEAD, entry->id, chunk);
	if (snapshot)
		TestForOldSnapshot(snapshot, index, BufferGetPage(*buffer));
	return (const uint64 *) rtscan_page_payload(BufferGetPage(*buffer));
}

void
rtscan_dead_remove(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
				   Snapshot snapshot, uint64 *words)
{
	Buffer		buffer;

	rtscan_and_not(words, open_dead(index, entry, map, chunk, snapshot, &buffer));
	UnlockReleaseBuffer(buffer);
}

uint32
rtscan_dead_leave_out(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk, Snapshot snapshot,
					  uint32 *rows, uint32 n)
{
	Buffer		buffer;
	const uint64 *dead = open_dead(index, entry, map, chunk, snapshot, &buffer);
	uint32		kept = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		bit = rows[i] % RTSCAN_CHUNK_ROWS;

		if (!rtscan_bit_is_set(dead, bit))
			rows[kept++] = rows[i];
	}
	UnlockReleaseBuffer(buffer);
	return kept;
}

uint64
rtscan_dead_count_bits(Relation index, const RtscanEntry *entry)
{
	uint64		words[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));
	uint64		count = 0;
	BlockNumber *map = rtscan_dead_map(index, entry);

	for (uint32 chunk = 0; chunk < rtscan_chunks(entry->rows); chunk++)
	{
		rtscan_dead_get(index, entry, map, chunk, words);
		count += rtscan_popcount(words);
	}
	pfree(map);
	return count;
}

uint64
rtscan_dead_count(Relation index, const RtscanEntry *entry)
{
	Buffer		buffer;
	const uint32 *counted;
	uint64		count = 0;

	if (entry->dead == InvalidBlockNumber)
		return 0;
	buffer = open_map(index, entry, BUFFER_LOCK_SHARE);
	counted = dead_rows(BufferGetPage(buffer), entry);
	if (counted)
		count = Min(*counted, entry->rows);
	UnlockReleaseBuffer(buffer);
	return counted ? count : rtscan_dead_count_bits(index, entry);
}

List *
rtscan_dead_blocks(Relation index, const RtscanEntry *entry)
{
	List	   *blocks = rtscan_chain_blocks(index, RTSCAN_PAGE_DEAD_MAP, entry->id, entry->dead);

	if (blocks != NIL)
	{
		Buffer		buffer = rtscan_read_page(index, entry->dead, BUFFER_LOCK_SHARE,
											  RTSCAN_PAGE_DEAD_MAP, entry->id, 0);
		Page		page = BufferGetPage(buffer);
		BlockNumber *map = (BlockNumber *) rtscan_page_payload(page);

		for (Size i = 0; i < Min(rtscan_page_used(page) / sizeof(BlockNumber), rtscan_chunks(entry->rows)); i++)
			blocks = lappend_int(blocks, map[i]);
		UnlockReleaseBuffer(buffer);
	}
	return blocks;
}
