/*
 * stats.h
 *		Statistics of scans: what the view pg_stat_rtscan shows.
 *
 * Counters are in shared memory, cumulative, if the library was preloaded; else they are
 * this session's.
 */
#ifndef RTSCAN_STATS_H
#define RTSCAN_STATS_H

#include "rtscan.h"

#include "portability/instr_time.h"
#include "settings.h"

/* What evaluating regions took; added up over segments. */
typedef struct RtscanCounters
{
	uint64		segments;
	uint64		skipped_segments;	/* of these: not opened, for the directory says that no row matches */
	uint64		cpu_segments;	/* of these: the CPU evaluated them or a part of what was asked of them */
	uint64		chunks_read;	/* chunks whose rows were looked at */
	uint64		chunks_skipped; /* chunks that the sieve's constant pages excluded */
	uint64		refined_rows;	/* rows whose bit was decided by an exact value */
	uint64		pages_read;
	uint64		rays;			/* rays cast */
	uint64		tallied_rows;	/* rows that are in a tally */
	uint64		device_time;	/* nanoseconds */
} RtscanCounters;

/* What one scan did. */
typedef struct RtscanScanStats
{
	RtscanCounters counters;
	uint64		pending_rows;	/* rows of pending lists that were compared */
	uint64		rows;			/* TIDs returned */
	instr_time	bits_time;		/* up to row bits: quals, dictionaries, vectors, refine, pending rows */
	instr_time	tids_time;		/* from bits to TIDs in the bitmap */
} RtscanScanStats;

/* What is counted of each executor. */
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
	RTSCAN_COUNTER_BITS_TIME,	/* in microseconds, as the next two */
	RTSCAN_COUNTER_TIDS_TIME,
	RTSCAN_COUNTER_DEVICE_TIME,
	RTSCAN_COUNTERS_1_0,		/* so many has version 1.0 of the SQL */
	RTSCAN_COUNTER_CPU_SEGMENTS = RTSCAN_COUNTERS_1_0,
	RTSCAN_COUNTER_RAYS,
	RTSCAN_COUNTERS
} RtscanCounter;

/* Ask for shared memory; called when the library is preloaded. */
extern void rtscan_init_stats(void);

/* Add a scan that an executor answered. */
extern void rtscan_count_scan(RtscanExecutor executor, const RtscanScanStats *stats);

/* Add a round that an executor should have evaluated and could not. */
extern void rtscan_count_fallback(RtscanExecutor executor);

/* What has been counted; and begin anew. */
extern uint64 rtscan_counter(RtscanExecutor executor, RtscanCounter counter);
extern void rtscan_reset_counters(void);

#endif							/* RTSCAN_STATS_H */
