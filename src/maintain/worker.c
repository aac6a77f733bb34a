/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.c
 *		The process of the background worker.
 */
#include "maintain/worker.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "maintain/flush.h"
#include "maintain/maintain.h"
#include "maintain/merge.h"
#include "maintain/owner.h"
#include "maintain/recycle.h"
#include "maintain/worker_request.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "row/schema.h"
#include "segment/device_hooks.h"
#include "settings.h"
#include "storage/lmgr.h"
#include "storage/locks.h"
#include "storage/metapage.h"
#include "storage/worker.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* A worker ends when it has found nothing to do for this time, in ms. */
#define LINGER				2000

/* Time in ms between two looks for work; longer, up to LINGER, if a look takes more than LOOK_FRACTION of it. */
#define LOOK_INTERVAL		100
#define LOOK_FRACTION		0.1

/* Time in ms after which work that has failed is tried again. */
#define RETRY_INTERVAL		60000

/* Attempts to get the worker's lock, and ms between them: a backend that tests the lock holds it for a moment. */
#define LOCK_TRIES			3
#define LOCK_INTERVAL		10

/* ---------------------------------------------------------------- failures */

/* Values of Work.what that are not the id of a list. */
#define OPENING		0
#define MERGING		PG_UINT64_MAX

/* A piece of work that can fail. */
typedef struct Work
{
	Oid			index;
	uint64		what;			/* id of the list that is flushed, or MERGING; OPENING before either begins */
} Work;

/* The state of the worker. */
typedef struct Worker
{
	RtscanWorkerRequest request;	/* the arguments of the worker */
	Work		current;		/* the current work */
	char		activity[NAMEDATALEN + 64]; /* description of the current work, for messages */
	bool		has_retired;	/* can retired pages be freed once the next xid is assigned? */
	bool		switched_off;	/* has rtscan.merge_worker been turned off? */
	List	   *failures;		/* list of Work that has failed, and is skipped until forget_failures() */
	TimestampTz failing_since;	/* time of the first failure in "failures" */
} Worker;

static Worker worker;

static bool
has_failed(Oid index, uint64 what)
{
	ListCell   *cell;

	foreach(cell, worker.failures)
	{
		Work	   *failure = lfirst(cell);

		if (failure->index == index && failure->what == what)
			return true;
	}
	return false;
}

static void
remember_failure(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	Work	   *failure = palloc(sizeof(Work));

	*failure = worker.current;
	if (worker.failures == NIL)
		worker.failing_since = GetCurrentTimestamp();
	worker.failures = lappend(worker.failures, failure);
	MemoryContextSwitchTo(old);
}

static void
forget_failures(void)
{
	if (worker.failures == NIL ||
		!TimestampDifferenceExceeds(worker.failing_since, GetCurrentTimestamp(), RETRY_INTERVAL))
		return;
	list_free_deep(worker.failures);
	worker.failures = NIL;
}

/* Begin a piece of work; returns false if it is in worker.failures. */
static bool
begin_work(Relation index, uint64 what, const char *activity)
{
	if (has_failed(RelationGetRelid(index), what))
		return false;
	worker.current.what = what;
	snprintf(worker.activity, sizeof(worker.activity), "%s of index \"%s\"", activity, RelationGetRelationName(index));
	pgstat_report_activity(STATE_RUNNING, worker.activity);
	return true;
}

/* ---------------------------------------------------------------- work on one index */

/* Return rtscan.pending_list_limit for an index: the server's; for the requested index, the session's if less. */
static int
list_limit(Relation index)
{
	bool		is_asked_for = RelationGetRelid(index) == worker.request.index;

	return is_asked_for ? Min(worker.request.limit, rtscan_pending_list_limit) : rtscan_pending_list_limit;
}

/* Flush one list.  Returns false if there is no list to flush, or if another process has the flush lock. */
static bool
flush_once(Relation index)
{
	RtscanListRef list = {.id = 0};
	bool		flushed = false;

	if (!rtscan_try_lock(index, RTSCAN_LOCK_FLUSH))
		return false;
	while (!flushed && rtscan_next_list(index, list.id, list_limit(index), &list))
		if (begin_work(index, list.id, "flushing pending rows"))
		{
			rtscan_flush_list(index, &list);
			flushed = true;
		}
	rtscan_unlock(index, RTSCAN_LOCK_FLUSH);
	return flushed;
}

/* Merge once, and recycle the pages that can be recycled.  Returns false if nothing was merged. */
static bool
merge_once(Relation index)
{
	bool		merged;

	if (!begin_work(index, MERGING, "merging segments") || !rtscan_try_lock(index, RTSCAN_LOCK_MERGE))
		return false;
	merged = rtscan_merge_once(index);
	rtscan_device_hooks.release();
	rtscan_recycle(index, RTSCAN_RECYCLE_GENTLY);
	rtscan_unlock(index, RTSCAN_LOCK_MERGE);
	return merged;
}

/* Is there a retired directory entry that waits for an xid that has not been assigned yet? */
static bool
waits_for_xid(Relation index)
{
	const RtscanImage *image = rtscan_read_image(index, NULL, false);
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());

	for (uint32 i = 0; i < image->nentries; i++)
		if (image->entries[i].safe_xid >= next)
			return true;
	return false;
}

static bool
work_as_owner(Relation table, Relation index)
{
	RtscanIdentity before = rtscan_become_owner(table);
	bool		found = flush_once(index) || merge_once(index);

	worker.has_retired |= waits_for_xid(index);
	rtscan_restore_user(&before);
	return found;
}

/*
 * May comparing values of a column read tables?  Built-in functions may do so only for records and for polymorphic
 * types other than anyenum.
 */
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

static bool
work_with_snapshot(Relation table, Relation index)
{
	bool		found;

	if (!needs_snapshot(index))
		rtscan_set_in_vacuum();
	PushActiveSnapshot(GetTransactionSnapshot());
	found = work_as_owner(table, index);
	PopActiveSnapshot();
	return found;
}

static bool
is_ready(Relation index, Relation table)
{
	return index->rd_index && index->rd_index->indrelid == RelationGetRelid(table) &&
		index->rd_rel->relkind == RELKIND_INDEX && index->rd_rel->relam == worker.request.method &&
		index->rd_index->indislive && index->rd_index->indisready;
}

/* Do one piece of work on an index, in its own transaction; between two pieces, other processes can lock the table. */
static bool
work_on_index(Oid index_oid)
{
	bool		found = false;
	Relation	table,
				index;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	table = rtscan_open_if_free(IndexGetRelation(index_oid, true), RowExclusiveLock);
	index = table ? rtscan_open_if_free(index_oid, RowExclusiveLock) : NULL;
	if (index && is_ready(index, table))
		found = work_with_snapshot(table, index);
	if (index)
		relation_close(index, NoLock);
	if (table)
		relation_close(table, NoLock);
	CommitTransactionCommand();
	return found;
}

/* ErrorContextCallback: add the current work to a message. */
static void
tell_activity(void *arg)
{
	if (worker.current.what != OPENING)
		errcontext("while %s", worker.activity);
	else
		errcontext("while looking at index %u", worker.current.index);
}

/*
 * Do one piece of work on an index.  An error is logged, as in autovacuum, and the work is skipped until
 * forget_failures() forgets it.  Returns false if there is nothing to do.
 */
static bool
serve_index(Oid index_oid)
{
	ErrorContextCallback callback = {.previous = error_context_stack, .callback = tell_activity};
	volatile bool found = true;

	worker.current = (Work) {.index = index_oid, .what = OPENING};
	if (has_failed(index_oid, OPENING))
		return false;
	error_context_stack = &callback;
	PG_TRY();
	{
		found = work_on_index(index_oid);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		FlushErrorState();
		remember_failure();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	error_context_stack = callback.previous;
	return found;
}

/* ---------------------------------------------------------------- all indexes */

/* List the access method's indexes, except temporary ones, in the current memory context. */
static List *
find_indexes(void)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *indexes = NIL;
	ScanKeyData keys[2];
	Relation	classes;
	SysScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	ScanKeyInit(&keys[0], Anum_pg_class_relam, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(worker.request.method));
	ScanKeyInit(&keys[1], Anum_pg_class_relkind, BTEqualStrategyNumber, F_CHAREQ, CharGetDatum(RELKIND_INDEX));
	classes = table_open(RelationRelationId, AccessShareLock);
	scan = systable_beginscan(classes, InvalidOid, false, NULL, lengthof(keys), keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		MemoryContext old = MemoryContextSwitchTo(context);

		if (form->relpersistence != RELPERSISTENCE_TEMP)
			indexes = lappend_oid(indexes, form->oid);
		MemoryContextSwitchTo(old);
	}
	systable_endscan(scan);
	table_close(classes, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return indexes;
}

/* Assign an xid, since retired pages may wait until the next xid is assigned, and other processes may assign none. */
static void
pass_xid(void)
{
	StartTransactionCommand();
	(void) GetTopTransactionId();
	CommitTransactionCommand();
	worker.has_retired = false;
}

/* Do one piece of work on each index.  Returns false if there was nothing to do. */
static bool
serve_all(void)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "rtscan worker", ALLOCSET_DEFAULT_SIZES);
	bool		found = false;
	ListCell   *cell;

	MemoryContextSwitchTo(context);
	foreach(cell, find_indexes())
	{
		CHECK_FOR_INTERRUPTS();
		found |= serve_index(lfirst_oid(cell));
	}
	if (worker.has_retired)
		pass_xid();
	forget_failures();
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(context);
	return found;
}

static void
wait_between_looks(long milliseconds)
{
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Reload changed settings.  Until the first reload, rtscan.merge_worker counts as on, as in the requesting session. */
static void
heed_settings(void)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	worker.switched_off = !rtscan_merge_worker;
}

/* Maintain all indexes until there has been nothing to do for LINGER ms. */
static void
serve_until_idle(void)
{
	TimestampTz idle_since = GetCurrentTimestamp();

	while (!worker.switched_off)
	{
		TimestampTz start = GetCurrentTimestamp();
		bool		found = serve_all();
		TimestampTz end = GetCurrentTimestamp();
		long		looked = TimestampDifferenceMilliseconds(start, end);

		heed_settings();
		if (found)
			idle_since = end;
		else if (TimestampDifferenceExceeds(idle_since, start, LINGER))
			return;
		else
			wait_between_looks(Min(Max(LOOK_INTERVAL, looked / LOOK_FRACTION), LINGER));
	}
}

/* ---------------------------------------------------------------- the process */

static bool
become_only_worker(void)
{
	LOCKTAG		tag = rtscan_worker_lock();

	for (int i = 0; i < LOCK_TRIES; i++)
	{
		if (LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL)
			return true;
		wait_between_looks(LOCK_INTERVAL);
	}
	return false;
}

static void
be_no_worker(void)
{
	LOCKTAG		tag = rtscan_worker_lock();

	LockRelease(&tag, ExclusiveLock, true);
}

void
rtscan_merge_worker_main(Datum arg)
{
	memcpy(&worker.request, MyBgworkerEntry->bgw_extra, sizeof(worker.request));
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(worker.request.database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	rtscan_configure_worker();
	while (become_only_worker())
	{
		serve_until_idle();
		be_no_worker();
		/* look once more: backends did not request a worker while we had the lock */
		if (worker.switched_off || !serve_all())
			break;
	}
}
