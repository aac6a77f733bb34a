/*
 * maintain.c
 *		Flush, merge and recycle: all of it together.
 */
#include "maintain/maintain.h"

#include "maintain/flush.h"
#include "maintain/merge.h"
#include "maintain/recycle.h"
#include "miscadmin.h"
#include "segment/assistant.h"
#include "storage/locks.h"
#include "storage/writing.h"
#include "utils/guc.h"

void
rtscan_maintain(Relation index)
{
	rtscan_lock_flush(index);
	rtscan_reclaim(index, RTSCAN_SLOT_FLUSH);
	rtscan_flush(index);
	rtscan_unlock_flush(index);
	rtscan_reclaim(index, RTSCAN_SLOT_MERGE);
	rtscan_recycle(index, RTSCAN_RECYCLE_ALL);
	rtscan_merge(index);
	rtscan_assistant.dismiss();
	rtscan_recycle(index, RTSCAN_RECYCLE_ALL);
}

RtscanIdentity
rtscan_become_owner(Relation table)
{
	RtscanIdentity before;

	GetUserIdAndSecContext(&before.user, &before.security_context);
	SetUserIdAndSecContext(table->rd_rel->relowner, before.security_context | SECURITY_RESTRICTED_OPERATION);
	before.guc_level = NewGUCNestLevel();
	return before;
}

void
rtscan_become_again(const RtscanIdentity *before)
{
	AtEOXact_GUC(false, before->guc_level);
	SetUserIdAndSecContext(before->user, before->security_context);
}
