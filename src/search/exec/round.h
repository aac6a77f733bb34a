/* SPDX-License-Identifier: PostgreSQL */
/*
 * round.h
 *		Evaluate a round of segments: have an executor evaluate their regions, and combine the bits that it and the CPU
 *		find.
 */
#ifndef RTSCAN_ROUND_H
#define RTSCAN_ROUND_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "search/exec/stats.h"
#include "search/filter/row_bits.h"
#include "search/filter/segment_scan.h"
#include "settings.h"

/* Row bits for intermediate results.  They are created when first needed, and used again for the next segment. */
typedef struct RtscanScratch
{
	MemoryContext context;		/* memory context of the bits */
	uint32		chunks;			/* chunks of the search's largest segment */
	List	   *all;			/* RtscanRowBits *, in use or not */
	int			used;			/* the first of these are in use */
} RtscanScratch;

/*
 * Segments of a search that are evaluated together.  A device leaves their bits in memory that all rounds of a backend
 * share, until the search reads them.  If another request needs that memory before, as many of the unread bits as fit
 * into work_mem are saved.  The rest is lost, and the segments' regions are evaluated again when they are needed.
 */
typedef struct RtscanRound
{
	RtscanSegmentScan *scans;	/* the segments */
	int			nscans;			/* number of segments */
	int			next;			/* the first segment whose bits the search has not read */
	RtscanExecutor executor;	/* the one chosen for the round */
	RtscanScratch scratch;		/* row bits for intermediate results */
	MemoryContext saved;		/* memory for the device's answer and for saved bits, or NULL */
	MemoryContextCallback forget;	/* at the end of the search, stops the saving of bits */
} RtscanRound;

/*
 * Create what the rounds of a search need, in the current memory context, which must be the search's.  Segments have at
 * most this many chunks.
 */
extern RtscanRound *rtscan_create_round(uint32 chunks);

/*
 * Begin to evaluate a round of a search's segments: a device does now what it can.  Returns the executor that the round
 * is counted for: the CPU if the given one has evaluated nothing, and compute instead of rt if no ray was cast.
 */
extern RtscanExecutor rtscan_begin_round(RtscanRound *round, RtscanExecutor executor, Relation index,
										 const pg_uuid_t *uuid, RtscanSegmentScan *scans, int nscans,
										 RtscanCounters *counters);

/* Has an executor other than the CPU evaluated all regions of a segment of the round? */
extern bool rtscan_is_evaluated(const RtscanSegmentScan *scan);

/*
 * Return the bits of a segment of the round; call this for its segments in their order.  NULL means that no bit is set.
 * The bits are valid until the next call.
 */
extern RtscanRowBits *rtscan_evaluate(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters);

/*
 * Return which of the given rows of a segment match another filter as well; the CPU evaluates it.  The segment must be
 * the last one that rtscan_evaluate() was called for, and the filter must not be empty.  The bits are valid until the
 * next call.
 */
extern RtscanRowBits *rtscan_evaluate_filter(RtscanRound *round, RtscanSegmentScan *scan, RtscanSegmentFilter *filter,
											 const RtscanRowBits *bits, RtscanCounters *counters);

#endif							/* RTSCAN_ROUND_H */
