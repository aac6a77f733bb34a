/* SPDX-License-Identifier: PostgreSQL */
/*
 * vacuum.c
 *		VACUUM: mark the rows of removed tuples dead, flush, merge, recycle pages, truncate the file.
 */
#include "am/am.h"

#include "bits/bits.h"
#include "commands/vacuum.h"
#include "maintain/flush.h"
#include "maintain/maintain.h"
#include "maintain/orphans.h"
#include "maintain/recycle.h"
#include "maintain/worker_request.h"
#include "miscadmin.h"
#include "search/visible/visibility.h"
#include "search/visible/vm_copy.h"
#include "segment/segment.h"
#include "segment/tidmap.h"
#include "storage/dead.h"
#include "storage/locks.h"
#include "storage/metapage.h"
#include "storage/proc.h"
#include "storage/writing.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- bulk delete */

/* A bulk delete. */
typedef struct BulkDelete
{
	Relation	index;
	Relation	table;
	RtscanVmCopy *map;			/* the table's visibility map, to check only rows in blocks that are not all-visible;
								 * NULL: check all rows */
	IndexBulkDeleteCallback callback;	/* returns whether a TID is to be deleted */
	void	   *state;
	IndexBulkDeleteResult *stats;
} BulkDelete;

/* A bulk delete in one segment. */
typedef struct SegmentDelete
{
	BulkDelete *bulk;
	RtscanEntry entry;
	RtscanReader reader;		/* reads its pages */
	BlockNumber *dead_map;		/* blocks of the segment's dead bits; NULL: it has none so far */
	ItemPointerData *tids;		/* room for the TIDs of a chunk */
} SegmentDelete;

/*
 * Is it enough to check the rows in heap blocks that are not all-visible?  True in VACUUM of a heap: a heap page with
 * a dead line pointer is not all-visible.  VACUUM collects dead line pointers before it calls us, and makes them
 * unused after we have returned; until then their pages are not all-visible.  Other callers (CREATE INDEX
 * CONCURRENTLY) need the callback for all rows.
 */
static bool
only_dead_are_wanted(Relation table)
{
	return (MyProc->statusFlags & PROC_IN_VACUUM) && rtscan_is_heap(table);
}

/* RtscanBlocksTest: is it certain that no row in a range of blocks is dead? */
static bool
are_clean(BlockNumber first, BlockNumber last, void *arg)
{
	const BulkDelete *bulk = (const BulkDelete *) arg;

	return bulk->map && rtscan_blocks_are_visible(bulk->map, first, last);
}

/* Copy the part of the visibility map for a range of blocks, and then test the blocks as are_clean() does. */
static bool
is_clean(BulkDelete *bulk, RtscanBlockRange blocks)
{
	if (bulk->map)
		(void) rtscan_copy_vm(bulk->map, blocks.first, blocks.last);
	return are_clean(blocks.first, blocks.last, bulk);
}

/*
 * Call the callback for the rows of a chunk whose bits are set in "rows" and whose TIDs are "tids", except for rows
 * whose bits are set in "dead".  Sets "newly_dead" to the bits of the rows to be deleted; returns true if there are
 * any.
 */
static bool
ask_rows(BulkDelete *bulk, const uint64 *rows, const ItemPointerData *tids, const uint64 *dead, uint64 *newly_dead)
{
	uint32		asked = 0;
	bool		any = false;

	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
	{
		newly_dead[w] = 0;
		for (uint64 word = rows[w]; word != 0; word &= word - 1)
		{
			ItemPointerData tid = tids[asked++];
			uint64		bit = word & -word;

			if (asked % 1024 == 0)
				vacuum_delay_point(false);
			if (!(dead[w] & bit) && bulk->callback(&tid, bulk->state))
				newly_dead[w] |= bit;
		}
		any |= newly_dead[w] != 0;
	}
	return any;
}

static void
delete_from_chunk(SegmentDelete *delete, uint32 chunk)
{
	BulkDelete *bulk = delete->bulk;
	uint64		rows[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));
	uint64		dead[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));
	uint64		newly_dead[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));

	memset(newly_dead, 0xFF, sizeof(newly_dead));
	rtscan_collect_failing_tids(&delete->reader, chunk, newly_dead, are_clean, bulk, rows, delete->tids);
	if (rtscan_popcount(rows) == 0)
		return;
	memset(dead, 0, sizeof(dead));
	if (delete->dead_map)
		rtscan_dead_get(bulk->index, &delete->entry, delete->dead_map, chunk, dead);
	if (!ask_rows(bulk, rows, delete->tids, dead, newly_dead))
		return;
	if (delete->dead_map == NULL)
	{
		delete->entry.dead = rtscan_dead_allocate(bulk->index, &delete->entry);
		delete->dead_map = rtscan_dead_map(bulk->index, &delete->entry);
	}
	rtscan_dead_set(bulk->index, &delete->entry, delete->dead_map, chunk, newly_dead);
	bulk->stats->tuples_removed += rtscan_popcount(newly_dead);
}

static void
delete_from_segment(BulkDelete *bulk, const RtscanEntry *entry)
{
	SegmentDelete delete = {.bulk = bulk, .entry = *entry};
	bool		knows_blocks = rtscan_entry_has_blocks(entry);

	if (knows_blocks && is_clean(bulk, entry->blocks))
		return;
	rtscan_reader_open(&delete.reader, bulk->index, entry, false);
	if (!knows_blocks && is_clean(bulk, rtscan_tidmap_blocks(&delete.reader)))
		return;
	delete.tids = palloc(RTSCAN_CHUNK_ROWS * sizeof(ItemPointerData));
	if (entry->dead != InvalidBlockNumber)
		delete.dead_map = rtscan_dead_map(bulk->index, entry);
	for (uint32 chunk = 0; chunk < delete.reader.segment->chunks; chunk++)
	{
		vacuum_delay_point(false);
		delete_from_chunk(&delete, chunk);
	}
}

static void
delete_from_segments(BulkDelete *bulk)
{
	MemoryContext segment_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan bulk delete of a segment",
														  ALLOCSET_DEFAULT_SIZES);
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(bulk->index, NULL, false));

	if (only_dead_are_wanted(bulk->table))
		bulk->map = rtscan_begin_vm_copy(bulk->table, RelationGetNumberOfBlocks(bulk->table));
	for (uint32 i = 0; i < image->nentries; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(segment_context);

		if (rtscan_entry_is_live(&image->entries[i]))
			delete_from_segment(bulk, &image->entries[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(segment_context);
	}
}

/*
 * The merge lock keeps a merge from reading dead bits that are about to be set.  After the flush, all rows that were
 * in pending lists are in segments of the image that is then read.  Therefore the rows of all dead tuples that VACUUM
 * has collected are in these segments.
 */
IndexBulkDeleteResult *
rtscan_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *state)
{
	BulkDelete	bulk = {
		.index = info->index,
		.table = rtscan_table_of(info->index),
		.callback = callback,
		.state = state,
		.stats = stats ? stats : palloc0(sizeof(IndexBulkDeleteResult)),
	};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan bulk delete", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	rtscan_lock(bulk.index, RTSCAN_LOCK_MERGE);
	rtscan_lock(bulk.index, RTSCAN_LOCK_FLUSH);
	rtscan_flush(bulk.index);
	rtscan_unlock(bulk.index, RTSCAN_LOCK_FLUSH);
	delete_from_segments(&bulk);
	rtscan_unlock(bulk.index, RTSCAN_LOCK_MERGE);
	RelationClose(bulk.table);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	bulk.stats->estimated_count = true; /* rtscan_vacuum_cleanup() counts the rows */
	return bulk.stats;
}

/* ---------------------------------------------------------------- cleanup */

/*
 * Count the live rows of all segments.  Needs the merge lock: VACUUM's snapshot does not keep other processes from
 * freeing the pages of a segment that a merge has replaced.
 */
static double
count_live_rows(Relation index)
{
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	double		rows = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			rows += image->entries[i].rows - rtscan_dead_count(index, &image->entries[i]);
	pfree(image);
	return rows;
}

IndexBulkDeleteResult *
rtscan_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Relation	index = info->index;

	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));

	rtscan_lock(index, RTSCAN_LOCK_MERGE);
	rtscan_reclaim(index, RTSCAN_SLOT_MERGE);
	rtscan_reclaim_orphans(index, info->strategy);
	rtscan_maintain(index);
	stats->num_index_tuples = count_live_rows(index);
	rtscan_truncate(index, info->strategy);
	rtscan_unlock(index, RTSCAN_LOCK_MERGE);
	rtscan_request_recycling(index);

	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->estimated_count = false;
	return stats;
}
