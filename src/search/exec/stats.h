/* SPDX-License-Identifier: PostgreSQL */
/*
 * stats.h
 *		Statistics of scans, which the view pg_stat_rtscan shows.
 *
 * If the library was preloaded, counters are in shared memory, and count for all sessions; otherwise each session has
 * its own.
 */
#ifndef RTSCAN_STATS_H
#define RTSCAN_STATS_H

#include "rtscan.h"

#include "portability/instr_time.h"
#include "settings.h"

/* The work of evaluating regions, added up over segments. */
typedef struct RtscanCounters
{
	uint64		segments;		/* all segments of the scan */
	uint64		skipped_segments;	/* segments not opened: they cannot match, or LIMIT did not need them */
	uint64		cpu_segments;	/* segments that the CPU evaluated, wholly or in part */
	uint64		chunks_read;	/* chunks whose rows were looked at */
	uint64		chunks_skipped; /* chunks excluded by the sieve's constant pages, or with their whole segment */
	uint64		refined_rows;	/* rows whose bits were decided one by one, by rank, code or value */
	uint64		pages_read;		/* pages of the index that were read */
	uint64		rays;			/* rays cast */
	uint64		device_agg_rows;	/* rows that a device added up (device_aggregate.h) */
	uint64		device_time;	/* nanoseconds that devices worked */
} RtscanCounters;

/* The work of one scan. */
typedef struct RtscanScanStats
{
	RtscanCounters counters;	/* the work of evaluating regions */
	uint64		pending_rows;	/* rows of pending lists that were compared */
	uint64		rows;			/* TIDs returned */
	instr_time	bits_time;		/* time to find row bits: quals, dictionaries, vectors, refine, pending rows */
	instr_time	tids_time;		/* time to put the TIDs of the rows found into the bitmap */
} RtscanScanStats;

/* The counters of each executor. */
typedef enum RtscanCounter
{
	RTSCAN_COUNTER_SCANS,
	RTSCAN_COUNTER_SEGMENTS,
	RTSCAN_COUNTER_CHUNKS_READ,
	RTSCAN_COUNTER_CHUNKS_SKIPPED,
	RTSCAN_COUNTER_REFINED_ROWS,
	RTSCAN_COUNTER_PENDING_ROWS,
	RTSCAN_COUNTER_PAGES_READ,
	RTSCAN_COUNTER_ROWS,
	RTSCAN_COUNTER_FALLBACKS,
	RTSCAN_COUNTER_BITS_TIME,	/* microseconds */
	RTSCAN_COUNTER_TIDS_TIME,	/* microseconds */
	RTSCAN_COUNTER_DEVICE_TIME, /* microseconds */
	RTSCAN_COUNTERS_1_0,		/* the number of counters that the SQL of version 1.0 shows */
	RTSCAN_COUNTER_CPU_SEGMENTS = RTSCAN_COUNTERS_1_0,
	RTSCAN_COUNTER_RAYS,
	RTSCAN_COUNTER_HEAP_PAGES_LOOKED_INTO,
	RTSCAN_COUNTER_HEAP_PAGES_REMEMBERED,
	RTSCAN_COUNTERS
} RtscanCounter;

/* Set up the counters, in shared memory if the library is being preloaded.  Call this when the library is loaded. */
extern void rtscan_init_stats(void);

/* Count a scan that an executor answered. */
extern void rtscan_count_scan(RtscanExecutor executor, const RtscanScanStats *stats);

/* Count the heap pages that a scan has looked into, and those whose rows were remembered (visible/page_memory.h). */
extern void rtscan_count_heap_pages(RtscanExecutor executor, uint64 looked_into, uint64 remembered);

/* Count a round that an executor should have evaluated, but could not. */
extern void rtscan_count_fallback(RtscanExecutor executor);

/* Return the value of a counter. */
extern uint64 rtscan_counter(RtscanExecutor executor, RtscanCounter counter);

/* Set all counters to 0. */
extern void rtscan_reset_counters(void);

#endif							/* RTSCAN_STATS_H */
