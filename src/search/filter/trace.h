/* SPDX-License-Identifier: PostgreSQL */
/*
 * trace.h
 *		Statistics for EXPLAIN of how conditions with many values were evaluated.  Without EXPLAIN there are no
 *		traces, and nothing is counted.
 */
#ifndef RTSCAN_TRACE_H
#define RTSCAN_TRACE_H

#include "rtscan.h"

#include "nodes/pg_list.h"

/* How the rows of a segment that a condition accepts were found. */
typedef enum RtscanWay
{
	RTSCAN_BY_VECTORS,			/* by sieve vectors, and by testing rows around the ends of intervals */
	RTSCAN_BY_ORDER,			/* by the order: the bits of the rows between two ranks were set */
	RTSCAN_BY_CODES,			/* by reading pages of codes, of all rows or of remaining ones */
	RTSCAN_BY_TESTS,			/* by testing remaining rows one by one */
	RTSCAN_BY_VALUES,			/* by reading the values of remaining rows (residual.h) */
	RTSCAN_BY_DEVICE,			/* by a device */
	RTSCAN_BY_DEVICE_TESTS,		/* by a device, which tested the remaining rows (device_members.h) */
	RTSCAN_BY_NOTHING,			/* without work: the condition accepts all rows */
	RTSCAN_WAYS					/* number of ways */
} RtscanWay;

/* The statistics of a condition. */
typedef struct RtscanTrace
{
	bool		paused;			/* nothing is counted, because the current work has been counted before */
	bool		counts_keys;	/* values found are counted, because the values being looked up have not been counted
								 * before */
	uint64	   *found;			/* a bit for each value, which is set if some segment has the value */
	uint64		keys_found;		/* number of values that some segment has */
	uint64		codes;			/* number of codes of the values found, summed over all segments */
	uint64		segments[RTSCAN_WAYS];	/* by way: number of segments that were evaluated in that way */
	uint64		rows;			/* number of rows that remained after the condition, summed over all segments */
} RtscanTrace;

/* Count a segment that was evaluated in some way, after which "rows" rows remained. */
static inline void
rtscan_trace_way(RtscanTrace *trace, RtscanWay way, uint64 rows)
{
	if (trace == NULL || trace->paused)
		return;
	trace->segments[way]++;
	trace->rows += rows;
}

/* Call rtscan_trace_way() for several traces. */
static inline void
rtscan_trace_ways(List *traces, RtscanWay way, uint64 rows)
{
	ListCell   *cell;

	foreach(cell, traces)
		rtscan_trace_way(lfirst(cell), way, rows);
}

/* Count the value number "value", for which a segment has "codes" codes. */
static inline void
rtscan_trace_key(RtscanTrace *trace, uint32 value, uint32 codes)
{
	uint64		bit = UINT64CONST(1) << value % 64;

	if (!trace->counts_keys || trace->paused)
		return;
	trace->keys_found += (trace->found[value / 64] & bit) == 0;
	trace->found[value / 64] |= bit;
	trace->codes += codes;
}

#endif							/* RTSCAN_TRACE_H */
