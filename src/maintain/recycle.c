/* SPDX-License-Identifier: PostgreSQL */
/*
 * recycle.c
 *		Free the pages of retired entries, when no transaction can see them any more.
 */
#include "maintain/recycle.h"

#include "access/nbtxlog.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "replication/slot.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "segment/segment.h"
#include "storage/allocate.h"
#include "storage/pending.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

Relation
rtscan_table_of(Relation index)
{
	return RelationIdGetRelation(index->rd_index->indrelid);
}

bool
rtscan_entry_is_removable(Relation table, const RtscanEntry *entry)
{
	/* NULL: horizon of shared tables; a temporary table's own horizon ignores our snapshots, for example of cursors */
	Relation	horizon = RELATION_IS_LOCAL(table) ? NULL : table;

	return entry->safe_xid != 0 &&
		GlobalVisCheckRemovableFullXid(horizon, FullTransactionIdFromU64(entry->safe_xid));
}

/* ---------------------------------------------------------------- standbys */

/* Time in ms for which retired pages are kept for queries on a standby. */
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
 * Log that pages are about to be reused, although snapshots from before the xid "safe_xid" may still need them.
 * Before a standby replays the record, it waits for queries that have such snapshots, or cancels them.  The record is
 * that of nbtree, whose redo function does nothing but resolve this conflict.
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

/*
 * Return the blocks of a directory entry.  A block that refers to other blocks comes before these blocks: free_entry()
 * frees the blocks from the last to the first, so that a block is freed only after all blocks that are found through
 * it.
 */
static List *
entry_blocks(Relation index, const RtscanEntry *entry)
{
	switch (rtscan_entry_kind(entry))
	{
		case RTSCAN_ENTRY_SEGMENT:
			return rtscan_segment_blocks(index, entry);
		case RTSCAN_ENTRY_PENDING:
			return rtscan_pending_blocks(index, &(RtscanListRef) {.id = entry->id, .head = entry->root});
		case RTSCAN_ENTRY_REMOVED:
			break;				/* occurs in no image */
	}
	return NIL;
}

/*
 * RtscanChange: remove the retired directory entries that have the same kind and id as an entry of the image in
 * "arg".
 */
static bool
remove_entries(Relation index, RtscanImage **image, void *arg)
{
	const RtscanImage *gone = (const RtscanImage *) arg;

	for (uint32 g = 0; g < gone->nentries; g++)
		for (uint32 i = 0; i < (*image)->nentries; i++)
			if ((*image)->entries[i].kind_bits == gone->entries[g].kind_bits &&
				(*image)->entries[i].id == gone->entries[g].id &&
				(*image)->entries[i].safe_xid != 0)
			{
				rtscan_image_remove(*image, i);
				break;
			}
	return true;
}

/*
 * Return a copy of the index's image with only those directory entries that are retired and can be removed.  If
 * "only_old" is true, also leaves out entries that were retired in the last STANDBY_QUERY_TIME ms.
 */
static RtscanImage *
find_gone(Relation index, bool only_old)
{
	RtscanImage *gone = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	Relation	table = rtscan_table_of(index);
	TimestampTz now = GetCurrentTimestamp();

	for (int i = (int) gone->nentries - 1; i >= 0; i--)
		if (!rtscan_entry_is_removable(table, &gone->entries[i]) ||
			(only_old && !TimestampDifferenceExceeds(gone->entries[i].retired_at, now, STANDBY_QUERY_TIME)))
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
