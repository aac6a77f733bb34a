/*
 * stats.c
 *		Count scans, and show the counters.
 */
#include "monitor/stats.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

typedef enum StatCounter
{
	STAT_SCANS,
	STAT_SEGMENTS,
	STAT_CHUNKS_READ,
	STAT_CHUNKS_SKIPPED,
	STAT_REFINED_ROWS,
	STAT_PENDING_ROWS,
	STAT_PAGES_READ,
	STAT_ROWS,
	STAT_FALLBACKS,
	STAT_BITS_TIME,				/* in microseconds, as the next ones */
	STAT_TIDS_TIME,
	STAT_DEVICE_TIME,
	STAT_COUNTERS
} StatCounter;

typedef struct StatTable
{
	pg_atomic_uint64 counters[RTSCAN_EXECUTORS][STAT_COUNTERS];
} StatTable;

static StatTable session_table;
static StatTable *table;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static void
init_table(StatTable *new)
{
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
		for (int k = 0; k < STAT_COUNTERS; k++)
			pg_atomic_init_u64(&new->counters[i][k], 0);
	table = new;
}

static void
request_shared_memory(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(StatTable));
}

static void
attach_shared_memory(void)
{
	StatTable  *shared;
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("rtscan statistics", sizeof(StatTable), &found);
	if (found)
		table = shared;
	else
		init_table(shared);
	LWLockRelease(AddinShmemInitLock);
}

void
rtscan_init_stats(void)
{
	if (!process_shared_preload_libraries_in_progress)
	{
		init_table(&session_table);
		return;
	}
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
}

void
rtscan_count_scan(RtscanExecutor executor, const RtscanScanStats *stats)
{
	const uint64 added[STAT_COUNTERS] = {
		[STAT_SCANS] = 1,
		[STAT_SEGMENTS] = stats->counters.segments,
		[STAT_CHUNKS_READ] = stats->counters.chunks_read,
		[STAT_CHUNKS_SKIPPED] = stats->counters.chunks_skipped,
		[STAT_REFINED_ROWS] = stats->counters.refined_rows,
		[STAT_PENDING_ROWS] = stats->pending_rows,
		[STAT_PAGES_READ] = stats->counters.pages_read,
		[STAT_ROWS] = stats->rows,
		[STAT_BITS_TIME] = INSTR_TIME_GET_MICROSEC(stats->bits_time),
		[STAT_TIDS_TIME] = INSTR_TIME_GET_MICROSEC(stats->tids_time),
		[STAT_DEVICE_TIME] = stats->counters.device_time / 1000,
	};
	pg_atomic_uint64 *counters = table->counters[executor];

	for (int i = 0; i < STAT_COUNTERS; i++)
		if (added[i] > 0)
			pg_atomic_fetch_add_u64(&counters[i], added[i]);
}

void
rtscan_count_fallback(RtscanExecutor executor)
{
	pg_atomic_fetch_add_u64(&table->counters[executor][STAT_FALLBACKS], 1);
}

/* ---------------------------------------------------------------- SQL */

PG_FUNCTION_INFO_V1(rtscan_stat_scans);
PG_FUNCTION_INFO_V1(rtscan_stat_reset);

/* One row an executor: its name, then the counters in the order of StatCounter. */
Datum
rtscan_stat_scans(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
	{
		Datum		values[1 + STAT_COUNTERS];
		bool		nulls[1 + STAT_COUNTERS] = {false};

		values[0] = CStringGetTextDatum(rtscan_executor_names[i]);
		for (int k = 0; k < STAT_COUNTERS; k++)
		{
			uint64		count = pg_atomic_read_u64(&table->counters[i][k]);

			values[1 + k] = k < STAT_BITS_TIME ? Int64GetDatum((int64) count) :
				Float8GetDatum(count / 1000.0);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
rtscan_stat_reset(PG_FUNCTION_ARGS)
{
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
		for (int k = 0; k < STAT_COUNTERS; k++)
			pg_atomic_write_u64(&table->counters[i][k], 0);
	PG_RETURN_VOID();
}
