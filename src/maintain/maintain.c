/*
 * maintain.c
 *		Flush, merge and recycle: all of it together, as SQL function, and in a background worker.
 */
#include "maintain/maintain.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "device/device.h"
#include "fmgr.h"
#include "maintain/flush.h"
#include "maintain/merge.h"
#include "miscadmin.h"
#include "monitor/relation.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/metapage.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/recycle.h"
#include "storage/schema.h"
#include "storage/writing.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* A backend asks for merges of one index no more often, in ms. */
#define REQUEST_INTERVAL	1000

/* The least that the setting may be; a process of a parallel vacuum has a share of it. */
#define MIN_MAINTENANCE_WORK_MEM	1024

/* A worker tries so often, after so many ms, to recycle what it cannot yet: VACUUM may be truncating the table, queries end. */
#define RECYCLE_TRIES		20
#define RECYCLE_INTERVAL	500

/* Advisory locks of users have 1 and 2 here. */
#define WORKER_LOCK_SPACE	0x7274

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
	rtscan_reclaim(index, RTSCAN_SLOT_FLUSH);
	rtscan_flush(index);
	rtscan_unlock_flush(index);
	rtscan_reclaim(index, RTSCAN_SLOT_MERGE);
	rtscan_recycle(index, RTSCAN_RECYCLE_ALL);
	rtscan_merge(index);
	rtscan_device_trim_area();
	rtscan_recycle(index, RTSCAN_RECYCLE_ALL);
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

/* Say so where a merge that was asked for has not been made. */
static void
report_waiting(Relation index)
{
	bool		waits;

	if (rtscan_wants_merge(index, &waits) && waits)
		ereport(NOTICE,
				(errmsg("index \"%s\" has more segments to merge", RelationGetRelationName(index)),
				 errdetail("Pages of segments merged before cannot be used again yet, as a transaction may still see them."),
				 errhint("Call rtscan_merge() again when the transactions that run now have ended.")));
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
	report_waiting(index);
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
	int			memory;			/* maintenance_work_mem of who asks: it decides what there is to merge */
	bool		merge;			/* or recycle only */
	bool		needs_snapshot; /* for comparison functions */
} MergeRequest;

/* The last worker that this backend has asked for. */
static Oid	last_index = InvalidOid;
static TimestampTz last_request = 0;

/* Can another process see the index, as it is now? */
static bool
others_can_see(Relation index)
{
	return !RELATION_IS_LOCAL(index) && index->rd_firstRelfilenodeSubid == InvalidSubTransactionId;
}

/* A worker that is on its way holds no lock yet; and one that cannot work, or fails, shall not be asked for all the time. */
static bool
asked_just_now(Relation index)
{
	return RelationGetRelid(index) == last_index &&
		!TimestampDifferenceExceeds(last_request, GetCurrentTimestamp(), REQUEST_INTERVAL);
}

static bool
somebody_merges(Relation index)
{
	if (!rtscan_try_lock_merge(index))
		return true;
	rtscan_unlock_merge(index);
	return false;
}

/* May what a column's values are compared by look at tables?  PostgreSQL's own functions do not, but for some call others. */
static bool
column_needs_snapshot(Relation index, const RtscanSchema *schema, int i)
{
	Oid			type = index->rd_opcintype[i];

	return schema->columns[i].key_kind == RTSCAN_KEY_NONE &&
		(schema->columns[i].compare->fn_oid >= FirstGenbkiObjectId ||
		 index_getprocid(index, i + 1, RTSCAN_SORTSUPPORT_PROC) >= FirstGenbkiObjectId ||
		 type == RECORDOID || (IsPolymorphicType(type) && type != ANYENUMOID));
}

static bool
needs_snapshot(Relation index)
{
	const RtscanSchema *schema = rtscan_schema(index);

	for (int i = 0; i < schema->nkeys; i++)
		if (column_needs_snapshot(index, schema, i))
			return true;
	return false;
}

static void
start_worker(Relation index, bool merge)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "rtscan",
		.bgw_function_name = "rtscan_merge_worker_main",
		.bgw_type = "rtscan merge worker",
	};
	MergeRequest request = {
		.database = MyDatabaseId,
		.table = index->rd_index->indrelid,
		.index = RelationGetRelid(index),
		.memory = Max(maintenance_work_mem, MIN_MAINTENANCE_WORK_MEM),
		.merge = merge,
		.needs_snapshot = merge && needs_snapshot(index),
	};

	snprintf(worker.bgw_name, BGW_MAXLEN, "rtscan merge worker for index %u", request.index);
	memcpy(worker.bgw_extra, &request, sizeof(request));
	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(DEBUG1,
				(errmsg_internal("no background worker is free to %s index \"%s\"", merge ? "merge" : "recycle pages of",
								 RelationGetRelationName(index))));
}

static bool
may_have_worker(Relation index)
{
	return merge_worker && IsUnderPostmaster && others_can_see(index);
}

void
rtscan_request_merge(Relation index)
{
	bool		waits;

	if (!may_have_worker(index) || asked_just_now(index) || !rtscan_wants_merge(index, &waits) || waits ||
		somebody_merges(index))
		return;
	last_index = RelationGetRelid(index);
	last_request = GetCurrentTimestamp();
	start_worker(index, true);
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
	if (may_have_worker(index) && has_retired(index) && !rtscan_has_standby(index))
		start_worker(index, false);
}

/* So that workers do not take all of max_worker_processes, nor memory for each index, one in a database does a thing. */
typedef enum WorkerLock
{
	LOCK_MERGING,
	LOCK_WAITING
} WorkerLock;

/* Be the one who does it: until the transaction, or the session, ends. */
static bool
become_only_worker(WorkerLock lock, bool session)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, RTSCAN_MAGIC, lock, WORKER_LOCK_SPACE);
	return LockAcquire(&tag, ExclusiveLock, session, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Open a relation, unless it is gone or somebody keeps it locked: it is not worth waiting for. */
static Relation
open_if_free(Oid relid)
{
	return ConditionalLockRelationOid(relid, RowExclusiveLock) ? try_relation_open(relid, NoLock) : NULL;
}

typedef enum WorkResult
{
	WORK_DONE,
	WORK_AGAIN,					/* there may be more of that */
	WORK_LATER					/* somebody has locked the table, or can still see pages */
} WorkResult;

/* What a worker does in a transaction, with the merge lock. */
typedef WorkResult (*WorkerTask) (Relation index);

/* WorkerTask */
static WorkResult
merge_once(Relation index)
{
	bool		again = rtscan_merge_once(index);

	rtscan_device_trim_area();
	rtscan_recycle(index, RTSCAN_RECYCLE_GENTLY);
	return again ? WORK_AGAIN : WORK_DONE;
}

/* WorkerTask */
static WorkResult
recycle(Relation index)
{
	rtscan_recycle(index, RTSCAN_RECYCLE_GENTLY);
	return has_retired(index) ? WORK_LATER : WORK_DONE;
}

/* Who has the merge lock recycles, too. */
static WorkResult
work_as_owner(Relation table, Relation index, WorkerTask task)
{
	Identity	before = become_owner(table);
	WorkResult	result = WORK_DONE;

	if (rtscan_try_lock_merge(index))
	{
		result = task(index);
		rtscan_unlock_merge(index);
	}
	become_again(&before);
	return result;
}

static WorkResult
work_on_index(const MergeRequest *request, WorkerTask task)
{
	Relation	table = open_if_free(request->table);
	Relation	index = table ? open_if_free(request->index) : NULL;
	WorkResult	result = WORK_LATER;

	if (index && index->rd_index && index->rd_index->indrelid == request->table && rtscan_is_index(index))
	{
		char	   *activity = psprintf("%s of index \"%s\"", task == merge_once ? "merging segments" : "recycling pages",
										RelationGetRelationName(index));

		pgstat_report_activity(STATE_RUNNING, activity);
		result = work_as_owner(table, index, task);
	}
	if (index)
		relation_close(index, NoLock);
	if (table)
		relation_close(table, NoLock);
	return result;
}

/* As VACUUM: who only works on an index does not keep dead rows of tables from being removed. */
static void
set_in_vacuum(void)
{
	Assert(MyProc->xid == InvalidTransactionId && MyProc->xmin == InvalidTransactionId);
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= PROC_IN_VACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

/* A transaction for each task: who waits for the table gets it in between. */
static WorkResult
work_once(const MergeRequest *request, WorkerTask task)
{
	WorkResult	result = WORK_DONE;

	StartTransactionCommand();
	if (!request->needs_snapshot)
		set_in_vacuum();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (task != merge_once || become_only_worker(LOCK_MERGING, false))
		result = work_on_index(request, task);
	PopActiveSnapshot();
	CommitTransactionCommand();
	return result;
}

/* Where nobody else changes anything, an xid has to pass before pages just retired can be used again. */
static void
pass_xid(void)
{
	StartTransactionCommand();
	(void) GetTopTransactionId();
	CommitTransactionCommand();
}

/* What a vacuum leaves, nobody else recycles soon; what merges leave, the next merge does. */
static void
recycle_patiently(const MergeRequest *request)
{
	pass_xid();
	if (work_once(request, recycle) != WORK_LATER || !become_only_worker(LOCK_WAITING, true))
		return;
	for (int i = 0; i < RECYCLE_TRIES; i++)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, RECYCLE_INTERVAL, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (work_once(request, recycle) != WORK_LATER)
			return;
	}
}

/* Merge until there is nothing left to merge, also when the pages of what was merged have been recycled. */
static void
merge_all(const MergeRequest *request)
{
	bool		merged;

	do
	{
		merged = false;
		while (work_once(request, merge_once) == WORK_AGAIN)
			merged = true;
		if (merged)
		{
			pass_xid();
			(void) work_once(request, recycle);
		}
	} while (merged);
}

/* Whatever is set for the database's sessions, this one's work is limited in time by nobody, as autovacuum's is. */
static void
configure_worker(const MergeRequest *request)
{
	char		memory[32];

	snprintf(memory, sizeof(memory), "%dkB", request->memory);
	SetConfigOption("maintenance_work_mem", memory, PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("statement_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("idle_in_transaction_session_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("search_path", "", PGC_SUSET, PGC_S_OVERRIDE);
}

void
rtscan_merge_worker_main(Datum arg)
{
	MergeRequest request;

	memcpy(&request, MyBgworkerEntry->bgw_extra, sizeof(request));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(request.database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	configure_worker(&request);
	if (request.merge)
		merge_all(&request);
	else
		recycle_patiently(&request);
}
