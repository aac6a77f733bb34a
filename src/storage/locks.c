/* SPDX-License-Identifier: PostgreSQL */
/*
 * locks.c
 *		The merge lock and the flush lock.
 */
#include "storage/locks.h"

#include "storage/lmgr.h"
#include "storage/lock.h"

bool
rtscan_has_lock(Relation index, RtscanLock lock)
{
	LOCKTAG		tag;

	SET_LOCKTAG_PAGE(tag, index->rd_lockInfo.lockRelId.dbId, index->rd_lockInfo.lockRelId.relId, lock);
	return LockHeldByMe(&tag, ExclusiveLock, false);
}

void
rtscan_lock(Relation index, RtscanLock lock)
{
	LockPage(index, lock, ExclusiveLock);
}

/*
 * The lock manager would grant the lock a second time to the backend that holds it.  A comparison function may
 * insert, or call rtscan_merge(), in the middle of a flush.
 */
bool
rtscan_try_lock(Relation index, RtscanLock lock)
{
	return !rtscan_has_lock(index, lock) && ConditionalLockPage(index, lock, ExclusiveLock);
}

void
rtscan_unlock(Relation index, RtscanLock lock)
{
	UnlockPage(index, lock, ExclusiveLock);
}
