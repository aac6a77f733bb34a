/*
 * vacuum.c
 *		VACUUM: mark the rows of removed tuples dead, flush, merge, recycle pages, truncate the file.
 */
#include "am/am.h"

#include "bits/bits.h"
#include "commands/vacuum.h"
#include "maintain/flush.h"
#include "maintain/maintain.h"
#include "maintain/sweep.h"
#include "maintain/worker.h"
#include "miscadmin.h"
#include "segment/segment.h"
#include "segment/tidmap.h"
#include "storage/dead.h"
#include "storage/locks.h"
#include "storage/metapage.h"
#include "storage/writing.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- bulk delete */

/* What bulk delete does with one segment. */
typedef struct SegmentDelete
{
	Relation	index;
	RtscanEntry entry;
	BlockNumber *map;			/* of dead bits, NULL: none so far */
	IndexBulkDeleteCallback callback;
	void	   *state;
	IndexBulkDeleteResult *stats;
} SegmentDelete;

/* Ask about each live row of a chunk; returns whether any is to be deleted. */
static bool
ask_chunk(SegmentDelete *delete, uint32 chunk, const ItemPointerData *tids,
		  const uint64 *dead, uint64 *newly_dead)
{
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		rows = Min(delete->entry.rows - base, RTSCAN_CHUNK_ROWS);
	bool		any = false;

	memset(newly_dead, 0, RTSCAN_CHUNK_BYTES);
	for (uint32 row = 0; row < rows; row++)
	{
		ItemPointerData tid = tids[base + row];

		if (row % 1024 == 0)
			vacuum_delay_point(false);
		if (rtscan_bit_is_set(dead, row))
			continue;
		if (delete->callback(&tid, delete->state))
		{
			newly_dead[row / 64] |= UINT64CONST(1) << (row % 64);
			delete->stats->tuples_removed++;
			any = true;
		}
		else
			delete->stats->num_index_tuples++;
	}
	return any;
}

static void
delete_from_segment(SegmentDelete *delete)
{
	uint64		dead[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));
	uint64		newly_dead[RTSCAN_CHUNK_WORDS] __attribute__((aligned(64)));
	RtscanReader reader;
	ItemPointerData *tids;

	rtscan_reader_open(&reader, delete->index, &delete->entry, false);
	tids = rtscan_read_tids(&reader);
	if (delete->entry.dead != InvalidBlockNumber)
		delete->map = rtscan_dead_map(delete->index, &delete->entry);
	for (uint32 chunk = 0; chunk < reader.segment->chunks; chunk++)
	{
		memset(dead, 0, sizeof(dead));
		if (delete->map)
			rtscan_dead_get(delete->index, &delete->entry, delete->map, chunk, dead);
		if (!ask_chunk(delete, chunk, tids, dead, newly_dead))
			continue;
		if (delete->map == NULL)
		{
			delete->entry.dead = rtscan_dead_allocate(delete->index, &delete->entry);
			delete->map = rtscan_dead_map(delete->index, &delete->entry);
		}
		rtscan_dead_set(delete->index, &delete->entry, delete->map, chunk, newly_dead);
	}
}

/*
 * The merge lock keeps a merge from reading dead bits that are about to be set.  Rows that
 * are in a pending list now, whoever is flushing it, are in segments when we take our image:
 * of the dead tuples that vacuum knows of, none has its entry elsewhere.
 */
IndexBulkDeleteResult *
rtscan_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *state)
{
	Relation	index = info->index;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan bulk delete",
												  ALLOCSET_DEFAULT_SIZES);
	RtscanImage *image;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_index_tuples = 0;

	rtscan_lock_merge(index);
	rtscan_lock_flush(index);
	rtscan_flush(index);
	rtscan_unlock_flush(index);
	image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	for (uint32 i = 0; i < image->nentries; i++)
	{
		SegmentDelete delete = {index, image->entries[i], NULL, callback, state, stats};
		MemoryContext old = MemoryContextSwitchTo(context);

		if (rtscan_entry_is_live(&image->entries[i]))
			delete_from_segment(&delete);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	rtscan_unlock_merge(index);
	pfree(image);
	MemoryContextDelete(context);
	return stats;
}

/* ---------------------------------------------------------------- cleanup */

/*
 * Rows of all segments that are not dead.  Needs the merge lock: vacuum's snapshot does not keep others
 * from freeing the pages of a segment that a merge has replaced.
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

	rtscan_lock_merge(index);
	rtscan_reclaim(index, RTSCAN_SLOT_MERGE);
	rtscan_sweep(index, info->strategy);
	rtscan_maintain(index);
	stats->num_index_tuples = count_live_rows(index);
	rtscan_truncate(index, info->strategy);
	rtscan_unlock_merge(index);
	rtscan_request_recycling(index);

	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->estimated_count = false;
	return stats;
}
