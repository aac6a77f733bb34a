/* SPDX-License-Identifier: PostgreSQL */
/*
 * stats.c
 *		Count what scans do.
 */
#include "search/exec/stats.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

typedef struct StatTable
{
	pg_atomic_uint64 counters[RTSCAN_EXECUTORS][RTSCAN_COUNTERS];	/* the counters of each executor */
} StatTable;

static StatTable session_table;
static StatTable *table;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static void
init_table(StatTable *new)
{
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
		for (int k = 0; k < RTSCAN_COUNTERS; k++)
			pg_atomic_init_u64(&new->counters[i][k], 0);
	table = new;
}

static void
request_counters(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(StatTable));
}

static void
attach_counters(void)
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
	shmem_request_hook = request_counters;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_counters;
}

void
rtscan_count_scan(RtscanExecutor executor, const RtscanScanStats *stats)
{
	const uint64 added[RTSCAN_COUNTERS] = {
		[RTSCAN_COUNTER_SCANS] = 1,
		[RTSCAN_COUNTER_SEGMENTS] = stats->counters.segments,
		[RTSCAN_COUNTER_CPU_SEGMENTS] = stats->counters.cpu_segments,
		[RTSCAN_COUNTER_CHUNKS_READ] = stats->counters.chunks_read,
		[RTSCAN_COUNTER_CHUNKS_SKIPPED] = stats->counters.chunks_skipped,
		[RTSCAN_COUNTER_REFINED_ROWS] = stats->counters.refined_rows,
		[RTSCAN_COUNTER_RAYS] = stats->counters.rays,
		[RTSCAN_COUNTER_PENDING_ROWS] = stats->pending_rows,
		[RTSCAN_COUNTER_PAGES_READ] = stats->counters.pages_read,
		[RTSCAN_COUNTER_ROWS] = stats->rows,
		[RTSCAN_COUNTER_BITS_TIME] = INSTR_TIME_GET_MICROSEC(stats->bits_time),
		[RTSCAN_COUNTER_TIDS_TIME] = INSTR_TIME_GET_MICROSEC(stats->tids_time),
		[RTSCAN_COUNTER_DEVICE_TIME] = stats->counters.device_time / 1000,
	};
	pg_atomic_uint64 *counters = table->counters[executor];

	for (int i = 0; i < RTSCAN_COUNTERS; i++)
		if (added[i] > 0)
			pg_atomic_fetch_add_u64(&counters[i], added[i]);
}

void
rtscan_count_heap_pages(RtscanExecutor executor, uint64 looked_into, uint64 remembered)
{
	pg_atomic_uint64 *counters = table->counters[executor];

	if (looked_into > 0)
		pg_atomic_fetch_add_u64(&counters[RTSCAN_COUNTER_HEAP_PAGES_LOOKED_INTO], looked_into);
	if (remembered > 0)
		pg_atomic_fetch_add_u64(&counters[RTSCAN_COUNTER_HEAP_PAGES_REMEMBERED], remembered);
}

void
rtscan_count_fallback(RtscanExecutor executor)
{
	pg_atomic_fetch_add_u64(&table->counters[executor][RTSCAN_COUNTER_FALLBACKS], 1);
}

uint64
rtscan_counter(RtscanExecutor executor, RtscanCounter counter)
{
	return pg_atomic_read_u64(&table->counters[executor][counter]);
}

void
rtscan_reset_counters(void)
{
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
		for (int k = 0; k < RTSCAN_COUNTERS; k++)
			pg_atomic_write_u64(&table->counters[i][k], 0);
}
