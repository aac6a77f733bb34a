/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_worker.c
 *		The background worker that looks into changed pages of tables that are asked, between their queries.
 */
#include "search/visible/page_worker.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "search/visible/asked_tables.h"
#include "search/visible/page_memory.h"
#include "search/visible/page_refresh.h"
#include "search/visible/visibility.h"
#include "settings.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/worker.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* Minimal time in ms between two requests of a backend for a worker. */
#define REQUEST_INTERVAL	1000

/* The worker serves a table for this time after its last query, in ms. */
#define ASKED_FOR			60000

/* Time in ms between two passes over the tables. */
#define PASS_INTERVAL		200

/* Time in ms for which the worker rests after an error. */
#define RETRY_INTERVAL		60000

/* The most blocks that a transaction of the worker passes over, and the most pages that it looks into. */
#define PART_BLOCKS			65536
#define PART_PAGES			256

/* ---------------------------------------------------------------- requests */

static void
start_worker(void)
{
	BackgroundWorker worker = {
		.bgw_name = "rtscan page worker",
		.bgw_type = "rtscan page worker",
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "rtscan",
		.bgw_function_name = "rtscan_page_worker_main",
		.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId),
	};

	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(DEBUG1, (errmsg_internal("no background worker is free to look into changed pages")));
}

void
rtscan_note_question(Relation heap)
{
	static TimestampTz last_request = 0;
	TimestampTz now = GetCurrentStatementStartTimestamp();
	RtscanAskedTables *asked;

	if (rtscan_page_worker_rate == 0 || !rtscan_may_remember(heap) || IsParallelWorker() || RecoveryInProgress())
		return;
	asked = rtscan_asked_tables();
	if (asked == NULL)
		return;
	rtscan_note_asked_table(asked, RelationGetRelid(heap), now);
	if (TimestampDifferenceExceeds(last_request, now, REQUEST_INTERVAL))
	{
		last_request = now;
		if (rtscan_lacks_worker(asked))
			start_worker();
	}
}

/* ---------------------------------------------------------------- pages */

/*
 * Does another process vacuum a table, or change its definition?  VACUUM would leave a page as it is that the worker
 * has pinned.
 */
static bool
is_vacuumed(Oid relid)
{
	LOCKTAG		tag;
	int			processes;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	(void) GetLockConflicts(&tag, ShareUpdateExclusiveLock, &processes);
	return processes > 0;
}

/*
 * Look into changed pages of a part of a table, in a transaction of its own.  Returns how many there were; *first
 * becomes the first block of the next part, or InvalidBlockNumber.
 */
static uint32
refresh_part(Oid relid, BlockNumber *first)
{
	BlockNumber blocks = 0;
	uint32		looked = 0;
	Relation	heap;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	heap = rtscan_open_if_free(relid, AccessShareLock);
	if (heap && RELKIND_HAS_STORAGE(heap->rd_rel->relkind) && rtscan_is_heap(heap) && !is_vacuumed(relid))
		blocks = RelationGetNumberOfBlocks(heap);
	if (*first < blocks)
	{
		rtscan_set_in_vacuum();
		PushActiveSnapshot(GetTransactionSnapshot());
		looked = rtscan_refresh_pages(heap, GetActiveSnapshot(), *first, Min(blocks, *first + PART_BLOCKS), PART_PAGES,
									  first);
		PopActiveSnapshot();
	}
	if (*first >= blocks)
		*first = InvalidBlockNumber;
	if (heap)
		relation_close(heap, NoLock);
	CommitTransactionCommand();
	return looked;
}

/* ---------------------------------------------------------------- the process */

static void
wait_for(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* Does another process want to drop, rename or copy the database?  It waits for all others to leave, but not long. */
static bool
is_in_the_way(void)
{
	LOCKTAG		tag;
	bool		is_free;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	StartTransactionCommand();
	is_free = LockAcquire(&tag, RowExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
	CommitTransactionCommand();
	return !is_free;
}

/* Wait so long, but no longer when the worker is in the way. */
static void
rest(long milliseconds)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
	long		left = milliseconds;

	while (left > 0 && !is_in_the_way())
	{
		wait_for(Min(left, PASS_INTERVAL));
		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);
	}
}

/* Keep the pace: wait for as long as these pages may take in all. */
static void
rest_after(uint32 looked)
{
	if (looked > 0 && rtscan_page_worker_rate > 0)
		rest((long) looked * 1000 / rtscan_page_worker_rate);
	else
		CHECK_FOR_INTERRUPTS();
}

/* Pass over a table; returns false if the worker must leave. */
static bool
serve_table(Oid relid)
{
	BlockNumber block = 0;

	while (block != InvalidBlockNumber && rtscan_page_worker_rate > 0)
	{
		if (is_in_the_way())
			return false;
		rest_after(refresh_part(relid, &block));
	}
	return rtscan_page_worker_rate > 0;
}

/* Pass over all tables that were asked lately; returns false if there are none, or the worker must leave. */
static bool
serve_tables(RtscanAskedTables *asked)
{
	List	   *tables = rtscan_asked_tables_since(asked, GetCurrentTimestamp(), ASKED_FOR);
	bool		stays = tables != NIL && !is_in_the_way();
	ListCell   *cell;

	foreach(cell, tables)
		stays = stays && serve_table(lfirst_oid(cell));
	return stays;
}

/* The same; after an error, which is logged, the worker rests. */
static bool
serve_or_rest(RtscanAskedTables *asked)
{
	volatile bool stays = true;
	volatile bool failed = false;

	PG_TRY();
	{
		stays = serve_tables(asked);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		FlushErrorState();
		failed = true;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	if (failed)
		rest(RETRY_INTERVAL);
	return stays;
}

/* before_shmem_exit() callback: later on, dynamic shared memory is gone. */
static void
leave_database(int code, Datum arg)
{
	rtscan_leave_database((RtscanAskedTables *) DatumGetPointer(arg));
}

void
rtscan_page_worker_main(Datum arg)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "rtscan page worker", ALLOCSET_DEFAULT_SIZES);
	RtscanAskedTables *asked;
	bool		stays = true;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	rtscan_configure_worker();
	asked = rtscan_asked_tables();
	if (asked == NULL || !rtscan_serve_database(asked))
		return;
	before_shmem_exit(leave_database, PointerGetDatum(asked));
	while (stays)
	{
		MemoryContextSwitchTo(context);
		stays = serve_or_rest(asked);
		MemoryContextReset(context);
		pgstat_report_stat(true);
		pgstat_report_activity(STATE_IDLE, NULL);
		wait_for(PASS_INTERVAL);
	}
}
