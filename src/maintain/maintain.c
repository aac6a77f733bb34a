/*
 * maintain.c
 *		Flush, merge and recycle: all of it together, as SQL function, and in a background worker.
 */
#include "maintain/maintain.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "device/device.h"
#include "fmgr.h"
#include "maintain/flush.h"
#include "maintain/merge.h"
#include "miscadmin.h"
#include "monitor/relation.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/metapage.h"
#include "storage/recycle.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(rtscan_merge_index);
PGDLLEXPORT void rtscan_merge_worker_main(Datum arg);

/* GUC rtscan.merge_worker */
static bool merge_worker;

void
rtscan_init_maintenance(void)
{
	DefineCustomBoolVariable("rtscan.merge_worker",
							 "Has a background worker merge segments that insertions have added to an rtscan index.",
							 "Without it they are merged by VACUUM and rtscan_merge() only.",
							 &merge_worker, true, PGC_SUSET, 0, NULL, NULL, NULL);
}

void
rtscan_maintain(Relation index)
{
	rtscan_lock_flush(index);
	rtscan_flush(index);
	rtscan_reclaim_leaks(index);
	rtscan_unlock_flush(index);
	rtscan_merge(index);
	rtscan_device_trim_area();
	rtscan_recycle(index);
	IndexFreeSpaceMapVacuum(index);
}

/* ---------------------------------------------------------------- as somebody else */

/* Who we were, while we are a table's owner. */
typedef struct Identity
{
	Oid			user;
	int			security_context;
	int			guc_level;
} Identity;

/* Comparison functions of users run with the rights of the table's owner. */
static Identity
become_owner(Relation table)
{
	Identity	before;

	GetUserIdAndSecContext(&before.user, &before.security_context);
	SetUserIdAndSecContext(table->rd_rel->relowner, before.security_context | SECURITY_RESTRICTED_OPERATION);
	before.guc_level = NewGUCNestLevel();
	return before;
}

static void
become_again(const Identity *before)
{
	AtEOXact_GUC(false, before->guc_level);
	SetUserIdAndSecContext(before->user, before->security_context);
}

/* ---------------------------------------------------------------- SQL */

/* Live segments. */
static int64
count_segments(Relation index)
{
	const RtscanImage *image = rtscan_read_image(index, NULL, false);
	int64		count = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		count += rtscan_entry_is_live(&image->entries[i]);
	return count;
}

/* The table of an index that the user may maintain, locked before the index. */
static Relation
open_table_of(Oid index_oid)
{
	Oid			table_oid = IndexGetRelation(index_oid, true);

	/* what is no index, or is gone, rtscan_open_index() has a better message for */
	return OidIsValid(table_oid) ? table_open(table_oid, RowExclusiveLock) : NULL;
}

static Relation
open_own_index(Oid index_oid, Relation table)
{
	Relation	index = rtscan_open_index(index_oid, RowExclusiveLock);

	if (!pg_class_ownercheck(index_oid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	if (table == NULL || index->rd_index->indrelid != RelationGetRelid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open parent table of index \"%s\"", RelationGetRelationName(index))));
	return index;
}

/* rtscan_merge(index regclass) RETURNS bigint: the segments that are left. */
Datum
rtscan_merge_index(PG_FUNCTION_ARGS)
{
	Relation	table,
				index;
	Identity	before;
	int64		segments;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is in progress"),
				 errhint("rtscan_merge() cannot be executed during recovery.")));
	table = open_table_of(PG_GETARG_OID(0));
	index = open_own_index(PG_GETARG_OID(0), table);
	before = become_owner(table);
	rtscan_lock_merge(index);
	rtscan_maintain(index);
	rtscan_unlock_merge(index);
	become_again(&before);
	segments = count_segments(index);
	index_close(index, RowExclusiveLock);
	table_close(table, RowExclusiveLock);
	PG_RETURN_INT64(segments);
}

/* ---------------------------------------------------------------- the worker */

/* What a worker is told: bgw_extra. */
typedef struct MergeRequest
{
	Oid			database;
	Oid			table;
	Oid			index;
} MergeRequest;

/* Can another process see the index, as it is now? */
static bool
others_can_see(Relation index)
{
	return !RELATION_IS_LOCAL(index) && index->rd_firstRelfilenodeSubid == InvalidSubTransactionId;
}

static bool
somebody_merges(Relation index)
{
	if (!rtscan_try_lock_merge(index))
		return true;
	rtscan_unlock_merge(index);
	return false;
}

void
rtscan_request_merge(Relation index)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "rtscan",
		.bgw_function_name = "rtscan_merge_worker_main",
		.bgw_type = "rtscan merge worker",
	};
	MergeRequest request = {MyDatabaseId, index->rd_index->indrelid, RelationGetRelid(index)};

	if (!merge_worker || !IsUnderPostmaster || !others_can_see(index) ||
		!rtscan_wants_merge(index) || somebody_merges(index))
		return;
	snprintf(worker.bgw_name, BGW_MAXLEN, "rtscan merge worker for index %u", request.index);
	memcpy(worker.bgw_extra, &request, sizeof(request));
	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(DEBUG1,
				(errmsg_internal("no background worker is free to merge index \"%s\"",
								 RelationGetRelationName(index))));
}

/* Open a relation, unless it is gone or somebody keeps it locked: it is not worth waiting for. */
static Relation
open_if_free(Oid relid)
{
	return ConditionalLockRelationOid(relid, RowExclusiveLock) ? try_relation_open(relid, NoLock) : NULL;
}

static void
merge_as_owner(Relation table, Relation index)
{
	Identity	before = become_owner(table);

	if (rtscan_try_lock_merge(index))
	{
		rtscan_merge(index);
		rtscan_device_trim_area();
		rtscan_recycle(index);
		IndexFreeSpaceMapVacuum(index);
		rtscan_unlock_merge(index);
	}
	become_again(&before);
}

static void
serve(const MergeRequest *request)
{
	Relation	table = open_if_free(request->table);
	Relation	index = table ? open_if_free(request->index) : NULL;

	if (index && index->rd_index && index->rd_index->indrelid == request->table && rtscan_is_index(index))
	{
		char	   *activity = psprintf("merging segments of index \"%s\"", RelationGetRelationName(index));

		pgstat_report_activity(STATE_RUNNING, activity);
		merge_as_owner(table, index);
	}
	if (index)
		relation_close(index, NoLock);
	if (table)
		relation_close(table, NoLock);
}

void
rtscan_merge_worker_main(Datum arg)
{
	MergeRequest request;

	memcpy(&request, MyBgworkerEntry->bgw_extra, sizeof(request));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(request.database, InvalidOid, 0);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	serve(&request);
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
}
