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
#include "replication/slot.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/fsm_internals.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/pending.h"
#include "storage/segment.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#define MERGE_LOCK_TAG	0
#define FLUSH_LOCK_TAG	1

/* ---------------------------------------------------------------- the two locks */

/* A backend would get once more what it has: a comparison function may insert, or call rtscan_merge(), in the midst of a flush. */
static bool
has_lock(Relation index, BlockNumber block)
{
	LOCKTAG		tag;

	SET_LOCKTAG_PAGE(tag, index->rd_lockInfo.lockRelId.dbId, index->rd_lockInfo.lockRelId.relId, block);
	return LockHeldByMe(&tag, ExclusiveLock, false);
}

static bool
try_lock(Relation index, BlockNumber block)
{
	return !has_lock(index, block) && ConditionalLockPage(index, block, ExclusiveLock);
}

bool
rtscan_merges_itself(Relation index)
{
	return has_lock(index, MERGE_LOCK_TAG);
}

void
rtscan_lock_merge(Relation index)
{
	LockPage(index, MERGE_LOCK_TAG, ExclusiveLock);
}

bool
rtscan_try_lock_merge(Relation index)
{
	return try_lock(index, MERGE_LOCK_TAG);
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
	return try_lock(index, FLUSH_LOCK_TAG);
}

void
rtscan_unlock_flush(Relation index)
{
	UnlockPage(index, FLUSH_LOCK_TAG, ExclusiveLock);
}

/* ---------------------------------------------------------------- allocation */

/* As many pages that others have locked are passed over in a search. */
#define BUSY_PAGES	16

bool
rtscan_page_is_free(Page page)
{
	return PageIsNew(page) || rtscan_page_is(page, RTSCAN_PAGE_FREE, 0, 0);
}

/* A free page that is not locked, locked now; or InvalidBuffer.  Says whether somebody else has locked it. */
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

/* The map has forgotten what it proposed: of pages that are only locked just now it hears again. */
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

		/* after a crash the file may be shorter than the map remembers */
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

BlockNumber
rtscan_begin_extension(Relation index)
{
	if (!RELATION_IS_LOCAL(index))
		LockRelationForExtension(index, ExclusiveLock);
	return RelationGetNumberOfBlocks(index);
}

/* Locked before anybody else can find it: a new page that nobody has locked is nobody's. */
Buffer
rtscan_extend(Relation index)
{
	return ReadBufferExtended(index, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK, NULL);
}

void
rtscan_end_extension(Relation index)
{
	if (!RELATION_IS_LOCAL(index))
		UnlockRelationForExtension(index, ExclusiveLock);
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

/* The image of a free page has no bytes but its header and special area. */
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

	/* what a crash has cut short had freed it, and vacuum has cut it off since */
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

/*
 * The map is a tree of three levels, in depth-first order: the root, then each page of the second level before
 * its leaves.  See freespace/README in PostgreSQL's sources.
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

/* RtscanChange: take out the retired entries whose (kind, id) are listed. */
static bool
remove_entries(Relation index, RtscanImage **image, void *arg)
{
	const RtscanImage *gone = (const RtscanImage *) arg;

	for (uint32 g = 0; g < gone->nentries; g++)
		for (uint32 i = 0; i < (*image)->nentries; i++)
			if ((*image)->entries[i].kind == gone->entries[g].kind &&
				(*image)->entries[i].id == gone->entries[g].id &&
				(*image)->entries[i].safe_xid != 0)
			{
				rtscan_image_remove(*image, i);
				break;
			}
	return true;
}

/* ---------------------------------------------------------------- standbys */

/* So long, in ms, what is retired is kept from queries on a standby. */
#define STANDBY_QUERY_TIME	(5 * 60 * 1000)

static bool
has_wal_sender(void)
{
	for (int i = 0; i < max_wal_senders; i++)
	{
		WalSnd	   *sender = &WalSndCtl->walsnds[i];
		pid_t		pid;

		SpinLockAcquire(&sender->mutex);
		pid = sender->pid;
		SpinLockRelease(&sender->mutex);
		if (pid != 0)
			return true;
	}
	return false;
}

static bool
has_physical_slot(void)
{
	bool		found = false;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !found; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];

		found = slot->in_use && SlotIsPhysical(slot);
	}
	LWLockRelease(ReplicationSlotControlLock);
	return found;
}

bool
rtscan_has_standby(Relation index)
{
	return XLogStandbyInfoActive() && RelationNeedsWAL(index) && (has_wal_sender() || has_physical_slot());
}

/*
 * Pages that no snapshot from before an xid needs are going to be reused: have standbys wait for queries that
 * may still read them, or cancel those, before they replay that.  nbtree's record serves: its redo function only
 * resolves the conflict.
 */
static void
log_reuse(Relation index, BlockNumber block, uint64 safe_xid)
{
	xl_btree_reuse_page record;

	if (!XLogStandbyInfoActive() || !RelationNeedsWAL(index))
		return;
	record = rtscan_compat_reuse_record(index, block, FullTransactionIdFromU64(safe_xid));
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfBtreeReusePage);
	XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
}

static void
log_reuse_of(Relation index, const RtscanImage *gone)
{
	uint64		safe_xid = 0;

	for (uint32 g = 0; g < gone->nentries; g++)
		safe_xid = Max(safe_xid, gone->entries[g].safe_xid);
	log_reuse(index, gone->entries[0].root, safe_xid);
}

/* ---------------------------------------------------------------- recycling */

/* Retired entries that nobody can see: all, or those that were retired long ago. */
static RtscanImage *
find_gone(Relation index, bool only_old)
{
	RtscanImage *gone = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	Relation	table = rtscan_table_of(index);
	TimestampTz now = GetCurrentTimestamp();

	for (int i = (int) gone->nentries - 1; i >= 0; i--)
		if (!rtscan_entry_is_removable(table, &gone->entries[i]) ||
			(only_old && !TimestampDifferenceExceeds(rtscan_entry_retired_at(&gone->entries[i]), now, STANDBY_QUERY_TIME)))
			rtscan_image_remove(gone, i);
	RelationClose(table);
	return gone;
}

static void
free_entry(RtscanFreed *freed, const RtscanEntry *entry)
{
	List	   *blocks = entry_blocks(freed->index, entry);

	for (int i = list_length(blocks) - 1; i >= 0; i--)
	{
		vacuum_delay_point(false);
		rtscan_free_block(freed, list_nth_int(blocks, i), entry->id);
	}
	list_free(blocks);
}

void
rtscan_recycle(Relation index, RtscanRecycling which)
{
	RtscanImage *gone = find_gone(index, which == RTSCAN_RECYCLE_GENTLY && rtscan_has_standby(index));
	RtscanFreed freed = {.index = index};

	if (gone->nentries == 0)
		return;
	log_reuse_of(index, gone);
	for (uint32 g = 0; g < gone->nentries; g++)
		free_entry(&freed, &gone->entries[g]);
	rtscan_save_freed(&freed);
	rtscan_switch(index, remove_entries, gone);
}
