/* SPDX-License-Identifier: PostgreSQL */
/*
 * maintain.c
 *		Do all maintenance of an index: flush, merge and recycle.
 */
#include "maintain/maintain.h"

#include "maintain/flush.h"
#include "maintain/merge.h"
#include "maintain/recycle.h"
#include "segment/device_hooks.h"
#include "storage/locks.h"
#include "storage/writing.h"

void
rtscan_maintain(Relation index)
{
	rtscan_lock(index, RTSCAN_LOCK_FLUSH);
	rtscan_reclaim(index, RTSCAN_SLOT_FLUSH);
	rtscan_flush(index);
	rtscan_unlock(index, RTSCAN_LOCK_FLUSH);
	rtscan_reclaim(index, RTSCAN_SLOT_MERGE);
	rtscan_recycle(index, RTSCAN_RECYCLE_ALL);
	rtscan_merge(index);
	rtscan_device_hooks.release();
	rtscan_recycle(index, RTSCAN_RECYCLE_ALL);
}
