/*
 * trace.h
 *		How a condition of many values was evaluated, for EXPLAIN: who does not ask has no trace, and pays nothing.
 */
#ifndef RTSCAN_TRACE_H
#define RTSCAN_TRACE_H

#include "rtscan.h"

#include "nodes/pg_list.h"

/* How a segment's rows were found that a condition accepts. */
typedef enum RtscanWay
{
	RTSCAN_BY_VECTORS,			/* between boundaries of bins, and what is around these */
	RTSCAN_BY_ORDER,			/* the order of ranks has its rows, whose bits are set */
	RTSCAN_BY_CODES,			/* codes, one page after another, of all rows or of those left */
	RTSCAN_BY_TESTS,			/* rows left, one by one */
	RTSCAN_BY_VALUES,			/* of an INCLUDEd column, of rows left */
	RTSCAN_BY_DEVICE,
	RTSCAN_BY_DEVICE_TESTS,		/* of rows that are left there (device_members.h) */
	RTSCAN_BY_NOTHING,			/* it accepts all rows */
	RTSCAN_WAYS
} RtscanWay;

typedef struct RtscanTrace
{
	bool		paused;			/* what is done now has been counted */
	bool		counts_keys;	/* values that are looked up have not been looked up before */
	uint64	   *found;			/* a bit for each value: any segment has it */
	uint64		keys_found;
	uint64		codes;			/* of all segments, that they have */
	uint64		segments[RTSCAN_WAYS];
	uint64		rows;			/* left when it had been evaluated, of all segments */
} RtscanTrace;

/* A segment has been evaluated in a way, which has left so many rows. */
static inline void
rtscan_trace_way(RtscanTrace *trace, RtscanWay way, uint64 rows)
{
	if (trace == NULL || trace->paused)
		return;
	trace->segments[way]++;
	trace->rows += rows;
}

/* The same of several. */
static inline void
rtscan_trace_ways(List *traces, RtscanWay way, uint64 rows)
{
	ListCell   *cell;

	foreach(cell, traces)
		rtscan_trace_way(lfirst(cell), way, rows);
}

/* A segment has a value, with so many codes. */
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
