/*
 * round.h
 *		Evaluate a round of segments: ask an executor for their regions, and combine the bits that it and the CPU find.
 */
#ifndef RTSCAN_ROUND_H
#define RTSCAN_ROUND_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "search/exec/stats.h"
#include "search/filter/row_bits.h"
#include "search/filter/segment_scan.h"
#include "settings.h"

/* Row bits that evaluating takes: made when they are first needed, and used again for the next segment. */
typedef struct RtscanScratch
{
	MemoryContext context;
	uint32		chunks;			/* of the largest segment */
	List	   *all;			/* RtscanRowBits * */
	int			used;
} RtscanScratch;

/*
 * Segments of a search that are evaluated together.  An executor may leave their bits in memory that there is once, until they are asked
 * for.  Whoever needs that memory next has as many of them saved before as fit into work_mem; the rest is lost, and evaluated again when it
 * is asked for.
 */
typedef struct RtscanRound
{
	RtscanSegmentScan *scans;
	int			nscans;
	int			next;			/* the first that has not been asked for */
	RtscanExecutor executor;	/* that was asked */
	RtscanScratch scratch;
	MemoryContext saved;		/* what becomes of its answer, or NULL */
	MemoryContextCallback forget;
} RtscanRound;

/* For the rounds of a search of segments of at most so many chunks, in the current memory context, which is the search's. */
extern RtscanRound *rtscan_create_round(uint32 chunks);

/*
 * Begin to evaluate a round of a search's segments: a device does what it can now.  Returns the
 * executor that answers, or most of it: rt only if it cast a ray.
 */
extern RtscanExecutor rtscan_begin_round(RtscanRound *round, RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
										 RtscanSegmentScan *scans, int nscans, RtscanCounters *counters);

/* Has another executor evaluated all of a segment of the round? */
extern bool rtscan_is_evaluated(const RtscanSegmentScan *scan);

/* The bits of a segment of the round, in the order of these; they hold until the next call.  NULL: none are set. */
extern RtscanRowBits *rtscan_evaluate(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters);

/*
 * Which rows of some bits of a segment, the one at hand, match another filter as well, by the CPU.  They hold until the next
 * call; the filter is not empty.
 */
extern RtscanRowBits *rtscan_evaluate_filter(RtscanRound *round, RtscanSegmentScan *scan, RtscanSegmentFilter *filter,
											 const RtscanRowBits *bits, RtscanCounters *counters);

#endif							/* RTSCAN_ROUND_H */
