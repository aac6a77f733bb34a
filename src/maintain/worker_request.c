/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker_request.c
 *		Request the background worker.
 */
#include "maintain/worker_request.h"

#include "maintain/recycle.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "settings.h"
#include "storage/metapage.h"
#include "utils/timestamp.h"

/* Minimal time in ms between two requests of a backend for a worker. */
#define REQUEST_INTERVAL	1000

/* Last field of the worker's lock tag.  Advisory locks of users have 1 or 2 in this field. */
#define WORKER_LOCK_SPACE	0x7274

LOCKTAG
rtscan_worker_lock(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, RTSCAN_MAGIC, 0, WORKER_LOCK_SPACE);
	return tag;
}

static bool
start_worker(Relation index)
{
	BackgroundWorker worker = {
		.bgw_name = "rtscan merge worker",
		.bgw_type = "rtscan merge worker",
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "rtscan",
		.bgw_function_name = "rtscan_merge_worker_main",
	};
	RtscanWorkerRequest request = {
		.database = MyDatabaseId,
		.method = index->rd_rel->relam,
		.index = RelationGetRelid(index),
		.limit = rtscan_pending_list_limit,
	};

	memcpy(worker.bgw_extra, &request, sizeof(request));
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
		return true;
	ereport(DEBUG1,
			(errmsg_internal("no background worker is free to maintain index \"%s\"", RelationGetRelationName(index))));
	return false;
}

static bool
worker_is_there(void)
{
	LOCKTAG		tag = rtscan_worker_lock();

	if (LockAcquire(&tag, ShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, ShareLock, false);
	return false;
}

/* Can another process see the index with its current file? */
static bool
others_can_see(Relation index)
{
	return !RELATION_IS_LOCAL(index) && index->rd_firstRelfilelocatorSubid == InvalidSubTransactionId;
}

bool
rtscan_request_worker(Relation index)
{
	static TimestampTz last_request = 0;
	static bool answer;
	TimestampTz now;

	if (!rtscan_merge_worker || !IsUnderPostmaster || !others_can_see(index))
		return false;
	now = GetCurrentTimestamp();
	if (TimestampDifferenceExceeds(last_request, now, REQUEST_INTERVAL))
	{
		last_request = now;
		answer = worker_is_there() || start_worker(index);
	}
	return answer;
}

static bool
has_retired(Relation index)
{
	const RtscanImage *image = rtscan_read_image(index, NULL, false);

	for (uint32 i = 0; i < image->nentries; i++)
		if (image->entries[i].safe_xid != 0)
			return true;
	return false;
}

void
rtscan_request_recycling(Relation index)
{
	if (has_retired(index) && !rtscan_has_standby(index))
		(void) rtscan_request_worker(index);
}
