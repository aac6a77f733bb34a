/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge_choice.h
 *		Choose which segments to merge; merge.h has the rules.
 */
#ifndef RTSCAN_MERGE_CHOICE_H
#define RTSCAN_MERGE_CHOICE_H

#include "rtscan.h"

#include "access/transam.h"
#include "row/schema.h"
#include "storage/metapage.h"

/* number of segments that fill a tier */
#define MERGE_FANOUT		8
/* number of rows that a segment needs to leave the lowest tier */
#define MERGE_BASE			1024
/* fraction of dead rows above which a segment is rewritten */
#define MERGE_DEAD_FRACTION	0.3
/*
 * full tiers wait if the rows of retired segments that may still be visible are more than this fraction of the live
 * rows, and more than a chunk
 */
#define MERGE_HELD_FRACTION	0.125

/* Limits of a merge, given by maintenance_work_mem. */
typedef struct RtscanMergeLimit
{
	uint64		rows;			/* maximal number of rows */
	double		row_bytes;		/* bytes that each row takes, without values passed by reference */
	uint64		bytes;			/* bytes that all rows take, with the largest column in memory at a time */
} RtscanMergeLimit;

/* A live segment that could be merged. */
typedef struct RtscanMergeCandidate
{
	RtscanEntry entry;
	uint64		bytes;			/* bytes that its rows take in a merge; PG_UINT64_MAX if the segment has too many rows
								 * and was not opened */
} RtscanMergeCandidate;

/*
 * Choose the segments to merge.  Returns an array in the current memory context, whose first *chosen elements are the
 * segments to merge; *chosen is 0 if there is nothing to merge.  Full tiers wait only for segments that were retired
 * before the xid "since".
 */
extern RtscanMergeCandidate *rtscan_choose_segments(Relation index, const RtscanSchema *schema,
													const RtscanMergeLimit *limit,
													FullTransactionId since, uint32 *chosen);

/* Is there a full tier that waits until other transactions end? */
extern bool rtscan_full_tier_waits(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit);

#endif							/* RTSCAN_MERGE_CHOICE_H */
