/* SPDX-License-Identifier: PostgreSQL */
/*
 * allocate.c
 *		Allocate, write and free pages.
 */
#include "storage/allocate.h"

#include "access/xact.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/fsm_internals.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

/* ---------------------------------------------------------------- allocation */

/* A search for free pages gives up after this many pages that other processes have locked. */
#define BUSY_PAGES	16

bool
rtscan_page_is_free(Page page)
{
	return PageIsNew(page) || rtscan_page_is(page, RTSCAN_PAGE_FREE, 0, 0);
}

/*
 * Lock a page and return its buffer if the page is free and not locked; else returns InvalidBuffer.  *busy tells
 * whether another process has locked the page.
 */
static Buffer
lock_if_free(Relation index, BlockNumber block, bool *busy)
{
	Buffer		buffer = ReadBuffer(index, block);

	*busy = !ConditionalLockBuffer(buffer);
	if (!*busy && rtscan_page_is_free(BufferGetPage(buffer)))
		return buffer;
	if (!*busy)
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * GetFreeIndexPage() removes a page from the free space map, so pages that could not be taken because other processes
 * had locked them are recorded in the map again.
 */
int
rtscan_reuse_pages(Relation index, Buffer *buffers, int n)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber busy[BUSY_PAGES];
	int			nbusy = 0,
				found = 0;
	BlockNumber block;

	while (found < n && nbusy < BUSY_PAGES && (block = GetFreeIndexPage(index)) != InvalidBlockNumber)
	{
		bool		is_busy;

		/* after a crash, the map may propose blocks beyond the end of the file */
		if (block >= nblocks)
			continue;
		buffers[found] = lock_if_free(index, block, &is_busy);
		if (BufferIsValid(buffers[found]))
			found++;
		else if (is_busy)
			busy[nbusy++] = block;
	}
	while (nbusy > 0)
		RecordFreeIndexPage(index, busy[--nbusy]);
	return found;
}

/*
 * Can another process extend the index at the same time?  An index that is local to this transaction can still
 * be extended by the workers of a parallel build.
 */
static bool
others_extend(Relation index)
{
	return !RELATION_IS_LOCAL(index) || IsInParallelMode();
}

BlockNumber
rtscan_begin_extension(Relation index)
{
	if (others_extend(index))
		LockRelationForExtension(index, ExclusiveLock);
	return RelationGetNumberOfBlocks(index);
}

/*
 * The new page is locked before any other process can find it, since a process may take any new page that is not
 * locked.
 */
Buffer
rtscan_extend(Relation index)
{
	return ReadBufferExtended(index, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK, NULL);
}

void
rtscan_end_extension(Relation index)
{
	if (others_extend(index))
		UnlockRelationForExtension(index, ExclusiveLock);
}

void
rtscan_extend_build(Relation index, Buffer *buffers, int n)
{
	rtscan_compat_extend(index, others_extend(index), buffers, n);
}

Buffer
rtscan_allocate_page(Relation index)
{
	Buffer		buffer;

	if (rtscan_reuse_pages(index, &buffer, 1) == 1)
		return buffer;
	(void) rtscan_begin_extension(index);
	buffer = rtscan_extend(index);
	rtscan_end_extension(index);
	return buffer;
}

void
rtscan_return_page(Relation index, Buffer buffer)
{
	RecordFreeIndexPage(index, BufferGetBlockNumber(buffer));
	UnlockReleaseBuffer(buffer);
}

void
rtscan_write_page(Relation index, Buffer buffer, RtscanPageKind kind, uint64 owner,
				  uint32 ordinal, const void *content, Size used, BlockNumber next)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	rtscan_page_init(page, kind, owner, ordinal);
	if (content)
		memcpy(rtscan_page_payload(page), content, used);
	rtscan_page_set_used(page, used);
	rtscan_page_opaque(page)->next = next;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
}

BlockNumber
rtscan_write_new_page(Relation index, RtscanPageKind kind, uint64 owner, uint32 ordinal,
					  const void *content, Size used, BlockNumber next)
{
	Buffer		buffer = rtscan_allocate_page(index);
	BlockNumber block = BufferGetBlockNumber(buffer);

	rtscan_write_page(index, buffer, kind, owner, ordinal, content, used, next);
	UnlockReleaseBuffer(buffer);
	return block;
}

/* ---------------------------------------------------------------- freeing */

void
rtscan_record_free(RtscanFreed *freed, BlockNumber block)
{
	RecordFreeIndexPage(freed->index, block);
	freed->leaves = bms_add_member(freed->leaves, block / SlotsPerFSMPage);
}

/* All of a free page's payload is its hole, so the full-page image has only the header and the special area. */
void
rtscan_free_page(RtscanFreed *freed, Buffer buffer)
{
	rtscan_write_page(freed->index, buffer, RTSCAN_PAGE_FREE, 0, 0, NULL, 0, InvalidBlockNumber);
	rtscan_record_free(freed, BufferGetBlockNumber(buffer));
}

void
rtscan_free_block(RtscanFreed *freed, BlockNumber block, uint64 owner)
{
	Buffer		buffer;
	RtscanPageOpaqueData *opaque;

	/* before a crash, an attempt may have freed the block, and VACUUM may have truncated the index since */
	if (block >= RelationGetNumberOfBlocks(freed->index))
		return;
	buffer = ReadBuffer(freed->index, block);
	opaque = rtscan_page_opaque(BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (rtscan_page_is_free(BufferGetPage(buffer)))
		rtscan_record_free(freed, block);
	else if (opaque->page_id == RTSCAN_PAGE_ID && opaque->owner == owner &&
			 opaque->kind != RTSCAN_PAGE_META && opaque->kind != RTSCAN_PAGE_TAKEN)
		rtscan_free_page(freed, buffer);
	UnlockReleaseBuffer(buffer);
}

/* Log the current state of a page of the free space map. */
static void
log_map_page(Relation index, BlockNumber block)
{
	Buffer		buffer = ReadBufferExtended(index, FSM_FORKNUM, block, RBM_ZERO_ON_ERROR, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (!PageIsNew(BufferGetPage(buffer)))
	{
		START_CRIT_SECTION();
		MarkBufferDirty(buffer);
		log_newpage_buffer(buffer, false);
		END_CRIT_SECTION();
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * The free space map is a tree of three levels, in depth-first order: the root, then each page of the second level
 * followed by its leaves.  See freespace/README in PostgreSQL's sources.
 */
void
rtscan_save_freed(RtscanFreed *freed)
{
	const int	slots = SlotsPerFSMPage;
	int			leaf = -1,
				above = -1;

	if (bms_is_empty(freed->leaves))
		return;
	IndexFreeSpaceMapVacuum(freed->index);
	if (!RelationNeedsWAL(freed->index))
		return;
	log_map_page(freed->index, 0);
	while ((leaf = bms_next_member(freed->leaves, leaf)) >= 0)
	{
		if (leaf / slots != above)
		{
			above = leaf / slots;
			log_map_page(freed->index, above * (slots + 1) + 1);
		}
		log_map_page(freed->index, leaf + above + 2);
	}
}

/* ---------------------------------------------------------------- chains */

/*
 * Does a page of a chain have this kind, owner and ordinal?  Sets *next to the block of the next page.  If this backend
 * has locked the page already, returns false and does not set *next.
 */
static bool
read_link(Buffer buffer, RtscanPageKind kind, uint64 owner, uint32 ordinal, BlockNumber *next)
{
	bool		ours;

	if (!rtscan_lock_page(buffer, BUFFER_LOCK_SHARE))
		return false;
	ours = rtscan_page_is(BufferGetPage(buffer), kind, owner, ordinal);
	*next = rtscan_page_opaque(BufferGetPage(buffer))->next;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return ours;
}

List *
rtscan_chain_blocks(Relation index, RtscanPageKind kind, uint64 owner, BlockNumber first)
{
	List	   *blocks = NIL;
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber block = first;
	uint32		ordinal = 0;

	while (block < nblocks)
	{
		Buffer		buffer = ReadBuffer(index, block);
		BlockNumber next;
		bool		ours = read_link(buffer, kind, owner, ordinal++, &next);

		ReleaseBuffer(buffer);
		if (!ours)
			break;
		blocks = lappend_int(blocks, block);
		block = next;
	}
	return blocks;
}
