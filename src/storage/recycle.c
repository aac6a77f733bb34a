/*
 * recycle.c
 *		Allocate, free and reclaim pages.
 */
#include "storage/recycle.h"

#include "access/nbtxlog.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/pending.h"
#include "storage/segment.h"
#include "storage/smgr.h"
#include "utils/snapmgr.h"

#define MERGE_LOCK_TAG	0
#define FLUSH_LOCK_TAG	1

/* ---------------------------------------------------------------- the two locks */

void
rtscan_lock_merge(Relation index)
{
	LockPage(index, MERGE_LOCK_TAG, ExclusiveLock);
}

bool
rtscan_try_lock_merge(Relation index)
{
	return ConditionalLockPage(index, MERGE_LOCK_TAG, ExclusiveLock);
}

void
rtscan_unlock_merge(Relation index)
{
	UnlockPage(index, MERGE_LOCK_TAG, ExclusiveLock);
}

void
rtscan_lock_flush(Relation index)
{
	LockPage(index, FLUSH_LOCK_TAG, ExclusiveLock);
}

bool
rtscan_try_lock_flush(Relation index)
{
	return ConditionalLockPage(index, FLUSH_LOCK_TAG, ExclusiveLock);
}

void
rtscan_unlock_flush(Relation index)
{
	UnlockPage(index, FLUSH_LOCK_TAG, ExclusiveLock);
}

/* ---------------------------------------------------------------- allocation */

static bool
page_is_free(Page page)
{
	return PageIsNew(page) || rtscan_page_is(page, RTSCAN_PAGE_FREE, 0, 0);
}

/* A page that the free space map proposes and that is free indeed, or InvalidBuffer. */
static Buffer
reuse_page(Relation index)
{
	BlockNumber block;

	while ((block = GetFreeIndexPage(index)) != InvalidBlockNumber)
	{
		Buffer		buffer = ReadBuffer(index, block);

		if (ConditionalLockBuffer(buffer))
		{
			if (page_is_free(BufferGetPage(buffer)))
				return buffer;
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		}
		ReleaseBuffer(buffer);
	}
	return InvalidBuffer;
}

static Buffer
extend_index(Relation index)
{
	bool		local = RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (!local)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (!local)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}

Buffer
rtscan_allocate_page(Relation index)
{
	Buffer		buffer = reuse_page(index);

	return BufferIsValid(buffer) ? buffer : extend_index(index);
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

/* The image of a free page has no bytes but its header and special area. */
static void
free_locked_page(Relation index, Buffer buffer)
{
	rtscan_write_page(index, buffer, RTSCAN_PAGE_FREE, 0, 0, NULL, 0, InvalidBlockNumber);
	RecordFreeIndexPage(index, BufferGetBlockNumber(buffer));
}

Relation
rtscan_table_of(Relation index)
{
	return RelationIdGetRelation(index->rd_index->indrelid);
}

bool
rtscan_entry_is_removable(Relation table, const RtscanEntry *entry)
{
	/* the horizon of temporary tables is not held by our own cursors */
	Relation	horizon = RELATION_IS_LOCAL(table) ? NULL : table;

	return entry->safe_xid != 0 &&
		GlobalVisCheckRemovableFullXid(horizon, FullTransactionIdFromU64(entry->safe_xid));
}

/* nbtree's record serves: its redo function only resolves the conflict. */
void
rtscan_log_reuse(Relation index, const RtscanEntry *entry)
{
	xl_btree_reuse_page record = {
		.node = index->rd_node,
		.block = entry->root,
		.latestRemovedFullXid = FullTransactionIdFromU64(entry->safe_xid),
	};

	if (!XLogStandbyInfoActive() || !RelationNeedsWAL(index))
		return;
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfBtreeReusePage);
	XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
}

List *
rtscan_chain_blocks(Relation index, RtscanPageKind kind, uint64 owner, BlockNumber first)
{
	List	   *blocks = NIL;
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber block = first;
	uint32		ordinal = 0;

	/* the metapage is in no chain, and the caller may have locked it */
	while (block != RTSCAN_METAPAGE_BLOCK && block < nblocks)
	{
		Buffer		buffer = ReadBuffer(index, block);
		Page		page = BufferGetPage(buffer);
		bool		ours;
		BlockNumber next;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		ours = rtscan_page_is(page, kind, owner, ordinal++);
		next = rtscan_page_opaque(page)->next;
		UnlockReleaseBuffer(buffer);
		if (!ours)
			break;
		blocks = lappend_int(blocks, block);
		block = next;
	}
	return blocks;
}

/* Free a block unless it has already been, and belongs to something else by now. */
static void
free_block_of(Relation index, BlockNumber block, uint64 owner)
{
	Buffer		buffer = ReadBuffer(index, block);
	RtscanPageOpaqueData *opaque = rtscan_page_opaque(BufferGetPage(buffer));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (opaque->page_id == RTSCAN_PAGE_ID && opaque->owner == owner &&
		opaque->kind != RTSCAN_PAGE_FREE && opaque->kind != RTSCAN_PAGE_META)
		free_locked_page(index, buffer);
	UnlockReleaseBuffer(buffer);
}

/* The blocks that lead to others come first, so that they are freed last. */
static List *
entry_blocks(Relation index, const RtscanEntry *entry)
{
	switch (entry->kind)
	{
		case RTSCAN_ENTRY_SEGMENT:
			return rtscan_segment_blocks(index, entry);
		case RTSCAN_ENTRY_PENDING:
			return rtscan_pending_blocks(index, &(RtscanListRef) {.id = entry->id, .head = entry->root});
	}
	return NIL;
}

/* RtscanChange: pages are free from now on that the free space map does not know of. */
static bool
begin_recycling(Relation index, RtscanImage **image, void *arg)
{
	(*image)->meta.recycling = true;
	return true;
}

/*
 * RtscanChange: take out the retired entries whose (kind, id) are listed.  The map knows of their pages; if there
 * were others before, it does not of those.
 */
static bool
remove_entries(Relation index, RtscanImage **image, void *arg)
{
	RtscanImage *gone = (RtscanImage *) arg;

	for (uint32 g = 0; g < gone->nentries; g++)
		for (uint32 i = 0; i < (*image)->nentries; i++)
			if ((*image)->entries[i].kind == gone->entries[g].kind &&
				(*image)->entries[i].id == gone->entries[g].id &&
				(*image)->entries[i].safe_xid != 0)
			{
				rtscan_image_remove(*image, i);
				break;
			}
	(*image)->meta.recycling = gone->meta.recycling;
	return true;
}

/* Log a page of the free space map as it is. */
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

/* Have the free space map propose what has been freed, also after a crash. */
static void
save_free_space_map(Relation index)
{
	SMgrRelation smgr = RelationGetSmgr(index);
	BlockNumber pages;

	IndexFreeSpaceMapVacuum(index);
	if (!RelationNeedsWAL(index) || !smgrexists(smgr, FSM_FORKNUM))
		return;
	pages = smgrnblocks(smgr, FSM_FORKNUM);
	for (BlockNumber block = 0; block < pages; block++)
		log_map_page(index, block);
}

void
rtscan_recycle(Relation index)
{
	RtscanImage *gone = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	Relation	table = rtscan_table_of(index);

	for (int i = (int) gone->nentries - 1; i >= 0; i--)
		if (!rtscan_entry_is_removable(table, &gone->entries[i]))
			rtscan_image_remove(gone, i);
	RelationClose(table);
	if (gone->nentries == 0)
		return;

	rtscan_switch(index, begin_recycling, NULL);
	for (uint32 g = 0; g < gone->nentries; g++)
	{
		List	   *blocks = entry_blocks(index, &gone->entries[g]);

		rtscan_log_reuse(index, &gone->entries[g]);
		for (int i = list_length(blocks) - 1; i >= 0; i--)
		{
			vacuum_delay_point();
			free_block_of(index, list_nth_int(blocks, i), gone->entries[g].id);
		}
		list_free(blocks);
	}
	save_free_space_map(index);
	rtscan_switch(index, remove_entries, gone);
}

/* ---------------------------------------------------------------- leaks */

/*
 * What is in use: whatever a list or segment of the image owns; but dead bits and directories are written anew under
 * the same owner, so of these only the blocks that the image leads to.
 */
typedef struct Reachable
{
	const RtscanImage *image;
	List	   *blocks;			/* ascending */
} Reachable;

static Reachable
find_reachable(Relation index, const RtscanImage *image)
{
	const RtscanMeta *meta = &image->meta;
	Reachable	reachable = {
		.image = image,
		.blocks = list_concat(rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta->directory_version, meta->directory),
							  rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta->spare_version, meta->spare)),
	};

	for (uint32 i = 0; i < image->nentries; i++)
		if (image->entries[i].kind == RTSCAN_ENTRY_SEGMENT)
			reachable.blocks = list_concat(reachable.blocks, rtscan_dead_blocks(index, &image->entries[i]));
	list_sort(reachable.blocks, list_int_cmp);
	return reachable;
}

static bool
is_listed(const List *blocks, BlockNumber block)
{
	int			low = 0,
				high = list_length(blocks);

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (list_nth_int(blocks, middle) < (int) block)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list_length(blocks) && list_nth_int(blocks, low) == (int) block;
}

/* Does anything in the image own pages with this id? */
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

static bool
is_reachable(const Reachable *reachable, BlockNumber block, const RtscanPageOpaqueData *opaque)
{
	switch (opaque->kind)
	{
		case RTSCAN_PAGE_DIRECTORY:
		case RTSCAN_PAGE_DEAD_MAP:
		case RTSCAN_PAGE_DEAD:
			return is_listed(reachable->blocks, block);
		default:
			return image_knows(reachable->image, opaque->owner);
	}
}

/* RtscanChange: no segment is being written, and no page leaked. */
static bool
forget_leaks(Relation index, RtscanImage **image, void *arg)
{
	(*image)->meta.leaks = false;
	(*image)->meta.recycling = false;
	rtscan_image_end_writing(*image, RTSCAN_SLOT_FLUSH);
	rtscan_image_end_writing(*image, RTSCAN_SLOT_MERGE);
	return true;
}

/* Free a page if nothing in the image can use it. */
static void
reclaim_block(Relation index, const Reachable *reachable, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);
	RtscanPageOpaqueData *opaque = rtscan_page_opaque(BufferGetPage(buffer));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (page_is_free(BufferGetPage(buffer)))
		RecordFreeIndexPage(index, block);
	else if (opaque->page_id == RTSCAN_PAGE_ID && opaque->owner != 0 &&
			 !is_reachable(reachable, block, opaque))
		free_locked_page(index, buffer);
	UnlockReleaseBuffer(buffer);
}

void
rtscan_reclaim_leaks(Relation index)
{
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	RtscanMeta *meta = &image->meta;
	Reachable	reachable;
	BlockNumber nblocks;

	if (!meta->leaks && !meta->recycling &&
		meta->writing[RTSCAN_SLOT_FLUSH] == 0 && meta->writing[RTSCAN_SLOT_MERGE] == 0)
		return;
	reachable = find_reachable(index, image);
	/* not a page that somebody is extending the index by: he would wait for us, and we for him */
	LockRelationForExtension(index, ExclusiveLock);
	nblocks = RelationGetNumberOfBlocks(index);
	UnlockRelationForExtension(index, ExclusiveLock);
	for (BlockNumber block = RTSCAN_METAPAGE_BLOCK + 1; block < nblocks; block++)
	{
		vacuum_delay_point();
		reclaim_block(index, &reachable, block);
	}
	save_free_space_map(index);
	rtscan_switch(index, forget_leaks, NULL);
}
