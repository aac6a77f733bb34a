/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge.h
 *		Merge segments, so that their number stays small, and remove dead rows.
 *
 * Segments are divided into tiers by their size: a segment of tier 0 has fewer than MERGE_BASE rows, and the size
 * limit of each further tier is MERGE_FANOUT times that of the tier before.  When a tier has MERGE_FANOUT segments,
 * these segments and all smaller ones are merged into one.  A merge can handle at most "limit" rows, which depends on
 * maintenance_work_mem; if a full tier has more rows, as many of the smallest segments are merged as fit.  A segment
 * of more than limit / 2 rows is large and belongs to no tier.  Let tiers be log8(limit / 2 / MERGE_BASE) + 2.  As
 * long as no rows die, and the rows and the largest of their columns take less than half of maintenance_work_mem
 * (RtscanMergeLimit.bytes),
 *
 *	- a row is written at most 1 + tiers times: in a flush, and once for each tier that it leaves;
 *	- an index of n rows has at most (MERGE_FANOUT - 1) * tiers + 2 * n / limit segments when merges are done.
 *
 * A segment is rewritten alone if more than MERGE_DEAD_FRACTION of its rows have died.  It is rewritten as several
 * segments if it was built with more memory than maintenance_work_mem allows.  (While it is rewritten, TIDs and values
 * by code of the whole segment are in memory: up to 14 bytes a row.)
 *
 * Pages of merged segments cannot be reused while a transaction has a snapshot from before the merge.  During a long
 * transaction, each merge would therefore make the index grow.  To prevent this, full tiers wait while the retired
 * segments that may still be visible have more rows than a chunk, and more than MERGE_HELD_FRACTION of the live rows.
 * While full tiers wait, segments of less than a chunk are still merged, and segments with many dead rows rewritten.
 * While a transaction does not end, this has two effects:
 *
 *	- rows that are inserted during the transaction are written at most four times: in a flush, and once for each of
 *	  the three tiers below a chunk.  The pages of their earlier copies wait to be reused;
 *	- there are at most (MERGE_FANOUT - 1) * 3 segments that have less than a chunk and less than half the limit,
 *	  when merges are done.
 *
 * A merge reads only the index.  During a merge, scans, insertions and flushes go on, but ambulkdelete() waits.
 */
#ifndef RTSCAN_MERGE_H
#define RTSCAN_MERGE_H

#include "rtscan.h"

/* Is there a full tier that waits until other transactions end? */
extern bool rtscan_merge_waits(Relation index);

/* Merge once; returns false if there is nothing to merge.  Needs the merge lock. */
extern bool rtscan_merge_once(Relation index);

/* Merge until there is nothing to merge.  Needs the merge lock. */
extern void rtscan_merge(Relation index);

#endif							/* RTSCAN_MERGE_H */
