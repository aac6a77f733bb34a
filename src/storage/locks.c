/* SPDX-License-Identifier: PostgreSQL */
/*
 * locks.c
 *		The merge lock and the flush lock.
 */
#include "storage/locks.h"

#include "storage/lmgr.h"
#include "storage/lock.h"

#define MERGE_LOCK_TAG	0
#define FLUSH_LOCK_TAG	1

/*
 * Does this backend hold the lock?  The lock manager would grant it a second time: a comparison function may
 * insert, or call rtscan_merge(), in the middle of a flush.
 */
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
rtscan_have_merge_lock(Relation index)
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
