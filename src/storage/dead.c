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

/* RtscanChange: give a segment its dead map; arg is its entry. */
static bool
set_dead_map(Relation index, RtscanImage **image, void *arg)
{
	const RtscanEntry *changed = (const RtscanEntry *) arg;
	RtscanEntry *entry = rtscan_image_segment(*image, changed->id);

	if (entry == NULL)
		elog(ERROR, "segment " UINT64_FORMAT " of index \"%s\" is gone", changed->id,
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
	BlockNumber map[RTSCAN_SEGMENT_CHUNKS];

	/* the pages belong to the segment, not to the id */
	(void) rtscan_writing_id(&writing);
	for (uint32 chunk = 0; chunk < chunks; chunk++)
		map[chunk] = rtscan_write_taken_page(&writing, RTSCAN_PAGE_DEAD, entry->id, chunk, NULL,
											 RTSCAN_CHUNK_BYTES, InvalidBlockNumber);
	changed.dead = rtscan_write_taken_page(&writing, RTSCAN_PAGE_DEAD_MAP, entry->id, 0, map,
										   chunks * sizeof(BlockNumber), InvalidBlockNumber);
	rtscan_switch(index, set_dead_map, &changed);
	return changed.dead;
}

/* ---------------------------------------------------------------- reading and setting */

BlockNumber *
rtscan_dead_map(Relation index, const RtscanEntry *entry)
{
	Size		bytes = rtscan_chunks(entry->rows) * sizeof(BlockNumber);
	BlockNumber *map = palloc(bytes);
	Buffer		buffer = rtscan_read_page(index, entry->dead, BUFFER_LOCK_SHARE,
										  RTSCAN_PAGE_DEAD_MAP, entry->id, 0);

	if (rtscan_page_used(BufferGetPage(buffer)) != bytes)
		rtscan_page_corrupted(index, entry->dead, "The dead map has the wrong size.");
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
	GenericXLogState *state = GenericXLogStart(index);
	uint64	   *dead = (uint64 *) rtscan_page_payload(GenericXLogRegisterBuffer(state, buffer, 0));

	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
		dead[w] |= words[w];
	GenericXLogFinish(state);
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

/* The dead bits of a chunk, locked for sharing, for a scan. */
static const uint64 *
open_dead(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk, Snapshot snapshot, Buffer *buffer)
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
rtscan_dead_count(Relation index, const RtscanEntry *entry)
{
	uint64		words[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));
	uint64		count = 0;
	BlockNumber *map;

	if (entry->dead == InvalidBlockNumber)
		return 0;
	map = rtscan_dead_map(index, entry);
	for (uint32 chunk = 0; chunk < rtscan_chunks(entry->rows); chunk++)
	{
		rtscan_dead_get(index, entry, map, chunk, words);
		count += rtscan_popcount(words);
	}
	pfree(map);
	return count;
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

		for (Size i = 0; i < rtscan_page_used(page) / sizeof(BlockNumber); i++)
			blocks = lappend_int(blocks, map[i]);
		UnlockReleaseBuffer(buffer);
	}
	return blocks;
}
