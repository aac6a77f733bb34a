/*
 * merge_choice.h
 *		Which segments to merge; merge.h says why these.
 */
#ifndef RTSCAN_MERGE_CHOICE_H
#define RTSCAN_MERGE_CHOICE_H

#include "rtscan.h"

#include "access/transam.h"
#include "row/schema.h"
#include "storage/metapage.h"

/* How much a merge may take on. */
typedef struct RtscanMergeLimit
{
	uint64		rows;
	uint64		value_bytes;	/* of values that are kept whole */
} RtscanMergeLimit;

/* A live segment that could be merged. */
typedef struct RtscanMergeCandidate
{
	RtscanEntry entry;
	uint64		value_bytes;	/* of what is chosen; else PG_UINT64_MAX where nobody has looked */
} RtscanMergeCandidate;

/*
 * The segments to merge, in the current memory context, and how many; 0: none.  Those that were retired since an xid are
 * not waited for.
 */
extern RtscanMergeCandidate *rtscan_choose_segments(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit,
													FullTransactionId since, uint32 *chosen);

/* Has a tier filled that waits for other transactions? */
extern bool rtscan_full_tier_waits(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit);

#endif							/* RTSCAN_MERGE_CHOICE_H */
