/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge.h
 *		Merge segments, so that their number stays small, and remove dead rows.
 *
 * Segments are divided into tiers by their size: tier 0 has those of fewer than MERGE_BASE rows, and each
 * further tier those of up to MERGE_FANOUT times as many rows as the one before.  When a tier has MERGE_FANOUT
 * segments, they and all smaller ones are merged into one.  maintenance_work_mem limits how many rows a merge
 * can handle, called limit below; if a full tier has more, as many of the smallest segments are merged as fit.
 * A segment of more than half the limit is large: it does not belong to a tier any more.  So, with tiers =
 * log8(limit / 2 / MERGE_BASE) + 2, as long as no rows die and the limit is not reached by the bytes of long
 * values,
 *
 *	- a row is written at most 1 + tiers times: in a flush, and once for each tier that it leaves;
 *	- an index of n rows has at most (MERGE_FANOUT - 1) * tiers + 2 * n / limit segments when merges are done.
 *
 * A segment of which MERGE_DEAD_FRACTION has died is rewritten by itself; as several segments, if it was built
 * with more memory than there is now.  (TIDs and values by code of the whole segment are in memory meanwhile:
 * up to 14 bytes a row.)
 *
 * Pages of merged segments cannot be reused while a transaction has a snapshot from before the merge.  So that
 * the index does not grow with each merge beside one long transaction, tiers wait while retired segments that
 * may still be visible have more rows than MERGE_HELD_FRACTION of the live rows, and more than a chunk.
 * Segments of less than a chunk are merged nevertheless.  So, beside a transaction that does not end,
 *
 *	- rows that are inserted meanwhile are written a few times: in a flush, and at most once for each of the three
 *	  tiers below a chunk.  The pages that had them before wait to be reused;
 *	- there are at most (MERGE_FANOUT - 1) * 3 segments of less than a chunk, and of less than half the limit,
 *	  when merges are done.
 *
 * A merge reads only the index.  Scans, insertions and flushes go on meanwhile; ambulkdelete does not.
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
