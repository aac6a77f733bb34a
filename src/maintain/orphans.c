/* SPDX-License-Identifier: PostgreSQL */
/*
 * orphans.c
 *		Find pages of an index that were lost, and truncate its file.
 */
#include "maintain/orphans.h"

#include "access/xact.h"
#include "catalog/storage.h"
#include "commands/vacuum.h"
#include "maintain/recycle.h"
#include "miscadmin.h"
#include "segment/segment.h"
#include "storage/allocate.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/metapage.h"
#include "storage/writing.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- which blocks are used */

/* The state of the search for orphans. */
typedef struct Reclaim
{
	Relation	index;
	BufferAccessStrategy strategy;	/* ring of buffers for reading pages */
	BlockNumber nblocks;		/* number of blocks when the search began */
	RtscanImage *image;			/* image of the index when the search began */
	uint64		youngest;		/* pages of owners with this id or a later one may still be written */
	uint8	   *used;			/* one bit for each block: is it used? */
	RtscanFreed freed;			/* pages that were freed */
} Reclaim;

static void
mark_used(Reclaim *reclaim, List *blocks)
{
	ListCell   *cell;

	foreach(cell, blocks)
	{
		BlockNumber block = (BlockNumber) lfirst_int(cell);

		if (block < reclaim->nblocks)
			reclaim->used[block / 8] |= 1 << (block % 8);
	}
	list_free(blocks);
}

static bool
is_used(const Reclaim *reclaim, BlockNumber block)
{
	return (reclaim->used[block / 8] >> (block % 8)) & 1;
}

/* Does the free space map propose a block? */
static bool
is_proposed(Relation index, BlockNumber block)
{
	return GetRecordedFreeSpace(index, block) >= BLCKSZ / 2;
}

/*
 * Begin the search for orphans: mark the blocks that the image uses.  Pages of pending lists are not marked, since
 * each page would have to be read to find the next one; is_lost() recognises them by their owner.
 */
static Reclaim
begin_reclaim(Relation index, BufferAccessStrategy strategy)
{
	Reclaim		reclaim = {.index = index, .strategy = strategy,
		.nblocks = RelationGetNumberOfBlocks(index), .freed = {.index = index}};
	List	   *directories;
	const RtscanMeta *meta;

	reclaim.used = palloc_extended(reclaim.nblocks / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	reclaim.image = rtscan_read_directories(index, &directories);
	mark_used(&reclaim, directories);
	meta = &reclaim.image->meta;
	reclaim.youngest = meta->writing[RTSCAN_SLOT_FLUSH] != 0 ? meta->writing[RTSCAN_SLOT_FLUSH] : meta->next_id;
	for (int slot = RTSCAN_SLOT_FLUSH; slot <= RTSCAN_SLOT_MERGE; slot++)
		mark_used(&reclaim, rtscan_chain_blocks(index, RTSCAN_PAGE_TAKEN, slot, meta->taken[slot]));
	for (uint32 i = 0; i < reclaim.image->nentries; i++)
		if (rtscan_entry_kind(&reclaim.image->entries[i]) == RTSCAN_ENTRY_SEGMENT)
			mark_used(&reclaim, rtscan_segment_blocks(index, &reclaim.image->entries[i]));
	return reclaim;
}

/* ---------------------------------------------------------------- lost pages */

/* Does the image have a segment or list with the id "owner"? */
static bool
image_knows(const RtscanImage *image, uint64 owner)
{
	if (owner == image->meta.open.id)
		return true;
	for (uint32 i = 0; i < image->nentries; i++)
		if (image->entries[i].id == owner)
			return true;
	return false;
}

/* Is a page of no use to any process?  The page is neither marked as used nor free. */
static bool
is_lost(const Reclaim *reclaim, const RtscanPageOpaqueData *opaque)
{
	const RtscanMeta *meta = &reclaim->image->meta;

	if (opaque->page_id != RTSCAN_PAGE_ID)
		return false;
	switch (opaque->kind)
	{
		case RTSCAN_PAGE_META:
			return false;
		case RTSCAN_PAGE_DIRECTORY:
			return opaque->owner <= meta->version;
		case RTSCAN_PAGE_DEAD_MAP:
		case RTSCAN_PAGE_DEAD:
			/* we hold the merge lock, under which dead bits are written: an interrupted attempt has left this page */
			return true;
		case RTSCAN_PAGE_TAKEN:

			/*
			 * The first page of a slot is written before the metapage names it.  It is lost if the metapage names
			 * another page.  A later page cannot be lost: one record writes it and chains it to the page before.
			 */
			return opaque->owner <= RTSCAN_SLOT_MERGE && opaque->ordinal == 0 &&
				meta->taken[opaque->owner] != RTSCAN_NO_TAKEN_PAGE;
		default:
			return opaque->owner < reclaim->youngest && !image_knows(reclaim->image, opaque->owner);
	}
}

static Buffer
lock_page(const Reclaim *reclaim, BlockNumber block)
{
	Buffer		buffer = ReadBufferExtended(reclaim->index, MAIN_FORKNUM, block, RBM_NORMAL, reclaim->strategy);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

static void
look_at(Reclaim *reclaim, BlockNumber block)
{
	Buffer		buffer = lock_page(reclaim, block);
	Page		page = BufferGetPage(buffer);

	if (rtscan_page_is_free(page))
		rtscan_record_free(&reclaim->freed, block);
	else if (is_lost(reclaim, rtscan_page_opaque(page)))
		rtscan_free_page(&reclaim->freed, buffer);
	UnlockReleaseBuffer(buffer);
}

void
rtscan_reclaim_orphans(Relation index, BufferAccessStrategy strategy)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan sweep", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Reclaim		reclaim = begin_reclaim(index, strategy);

	for (BlockNumber block = RTSCAN_METAPAGE_BLOCK + 1; block < reclaim.nblocks; block++)
	{
		vacuum_delay_point(false);
		if (!is_used(&reclaim, block) && !is_proposed(index, block))
			look_at(&reclaim, block);
	}
	rtscan_save_freed(&reclaim.freed);
	/* also if no page was freed: makes the map propose pages near the beginning of the file first again */
	IndexFreeSpaceMapVacuum(index);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- truncation */

/* The file is truncated if this many pages at its end are free, as VACUUM does with tables. */
#define TRUNCATE_PAGES		1000

/* The file is also truncated if the free pages at its end are at least one in this many of all its pages. */
#define TRUNCATE_FRACTION	16

/* Number of pages examined between two checks whether another process waits for the index's lock. */
#define PAGES_BETWEEN_LOOKS	32

/* May the index be truncated?  Not if its table has vacuum_truncate = off, and not in parallel mode. */
static bool
may_truncate(Relation index)
{
	Relation	table = rtscan_table_of(index);
	StdRdOptions *options = (StdRdOptions *) table->rd_options;
	bool		may = options == NULL || options->vacuum_truncate;

	RelationClose(table);
	return may && !IsInParallelMode();
}

static bool
is_worth_it(Relation index)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber worth = Max(Min(TRUNCATE_PAGES, nblocks / TRUNCATE_FRACTION), 1);
	BlockNumber tail = 0;

	while (tail < worth && tail + 1 < nblocks && is_proposed(index, nblocks - 1 - tail))
		tail++;
	return tail == worth;
}

static bool
is_free(Relation index, BlockNumber block, BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	bool		free;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	free = rtscan_page_is_free(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return free;
}

/*
 * Return the number of blocks that the file needs.  The free space map only proposes free pages, so each page is
 * read.  Stops early if another process waits for the lock of the index.
 */
static BlockNumber
find_end(Relation index, BufferAccessStrategy strategy)
{
	BlockNumber end = RelationGetNumberOfBlocks(index);

	while (end > RTSCAN_METAPAGE_BLOCK + 1 && is_free(index, end - 1, strategy))
	{
		CHECK_FOR_INTERRUPTS();
		end--;
		if (end % PAGES_BETWEEN_LOOKS == 0 && LockHasWaitersRelation(index, AccessExclusiveLock))
			break;
	}
	return end;
}

void
rtscan_truncate(Relation index, BufferAccessStrategy strategy)
{
	BlockNumber end;

	if (!may_truncate(index) || !is_worth_it(index) || !ConditionalLockRelation(index, AccessExclusiveLock))
		return;
	end = find_end(index, strategy);
	if (end < RelationGetNumberOfBlocks(index))
		RelationTruncate(index, end);
	UnlockRelation(index, AccessExclusiveLock);
}
