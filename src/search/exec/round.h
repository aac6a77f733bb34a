/* SPDX-License-Identifier: PostgreSQL */
/*
 * round.h
 *		Evaluate a round of segments: have an executor evaluate their regions, and combine the bits that the executor
 *		and the CPU find.
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
	int			used;			/* number of elements of "all" in use, from the first one on */
} RtscanScratch;

/*
 * Segments of a search that are evaluated together.  A device leaves their bits in memory that all rounds of a backend
 * share, until the search reads them.  If another request needs that memory while bits are unread, as many of the
 * unread bits as fit into work_mem are saved.  The other unread bits are lost: the regions of their segments are
 * evaluated again when the search needs the bits.
 */
typedef struct RtscanRound
{
	RtscanSegmentScan *scans;	/* the segments */
	int			nscans;			/* number of segments */
	int			next;			/* the first segment whose bits the search has not read */
	RtscanExecutor executor;	/* executor that was chosen for the round */
	RtscanScratch scratch;		/* row bits for intermediate results */
	MemoryContext saved;		/* memory for the device's answer and for saved bits, or NULL */
	MemoryContextCallback forget;	/* callback that stops the saving of bits at the end of the search */
} RtscanRound;

/*
 * Create the RtscanRound for all rounds of a search, in the current memory context, which must be the search's.
 * Segments have at most "chunks" chunks.
 */
extern RtscanRound *rtscan_create_round(uint32 chunks);

/*
 * Begin to evaluate a round of a search's segments.  A device evaluates at once all regions that it can; the CPU
 * evaluates other regions in rtscan_evaluate().  Returns the executor that the round is counted for: the CPU if
 * "executor" has evaluated nothing, and compute instead of rt if no ray was cast.
 */
extern RtscanExecutor rtscan_begin_round(RtscanRound *round, RtscanExecutor executor, Relation index,
										 const pg_uuid_t *uuid, RtscanSegmentScan *scans, int nscans,
										 RtscanCounters *counters);

/* Has an executor other than the CPU evaluated all regions of a segment of the round? */
extern bool rtscan_is_evaluated(const RtscanSegmentScan *scan);

/*
 * Return the bits of a segment of the round.  NULL means that no bit is set, since the segment's filter is empty.  Call
 * this for the segments of the round in their order.  The bits are valid until the next call.
 */
extern RtscanRowBits *rtscan_evaluate(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters);

/*
 * Let the CPU evaluate another filter of a segment, and return the rows in "bits" that match it as well.  The segment
 * must be the last one that rtscan_evaluate() was called for, and the filter must not be empty.  The bits are valid
 * until the next call.
 */
extern RtscanRowBits *rtscan_evaluate_filter(RtscanRound *round, RtscanSegmentScan *scan, RtscanSegmentFilter *filter,
											 const RtscanRowBits *bits, RtscanCounters *counters);

#endif							/* RTSCAN_ROUND_H */
