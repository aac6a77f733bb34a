/*
 * merge.h
 *		Merge segments, so that their number stays small, and drop dead rows.
 *
 * Segments are in tiers by their size: tier t has those of MERGE_BASE * MERGE_FANOUT^t rows
 * and more.  When a tier has MERGE_FANOUT segments, they and all smaller ones become one.
 * maintenance_work_mem limits how many rows a merge takes on, say limit; of a full tier that has more, as many
 * of the smallest are merged as there is room for.  A segment of more than half the limit is
 * large: it has left the tiers.  So, with tiers = log8(limit / 2 / MERGE_BASE) + 2, as long as no rows die and
 * values are not so long that their bytes are what limits a merge,
 *
 *	- a row is written at most 1 + tiers times: in a flush, and once for each tier that it leaves;
 *	- an index of n rows has at most (MERGE_FANOUT - 1) * tiers + 2 * n / limit segments when merges are done.
 *
 * A segment of which MERGE_DEAD_FRACTION has died is written anew by itself; in parts, if it was built with
 * more memory than there is now.  (TIDs and sources of codes are kept of the whole segment: 14 bytes a row.)
 *
 * Pages of merged segments cannot be used again as long as somebody has a snapshot from before.  Lest the index
 * grow by each merge beside one long transaction, tiers wait while segments that were retired before, and that
 * somebody may still see, have more rows than MERGE_HELD_FRACTION of the live ones, and than a chunk.  Segments
 * of less than a chunk are merged all the same.  So, beside a transaction that does not end,
 *
 *	- rows that are inserted meanwhile are written a few times: in a flush, and at most once for each of the three tiers
 *	  below a chunk.  The pages of what they were in before wait to be used again;
 *	- there are at most (MERGE_FANOUT - 1) * 3 segments of less than a chunk, and of less than half the limit, when merges are done.
 *
 * A merge reads only the index.  Scans, insertions and flushes go on; ambulkdelete does not.
 */
#ifndef RTSCAN_MERGE_H
#define RTSCAN_MERGE_H

#include "rtscan.h"

#define MERGE_FANOUT		8
#define MERGE_BASE			1024
#define MERGE_DEAD_FRACTION	0.3
#define MERGE_HELD_FRACTION	0.125

/* Has a tier filled that waits for other transactions? */
extern bool rtscan_merge_waits(Relation index);

/* Merge once; false if there is nothing to merge.  Or as long as there is something.  Both need the merge lock. */
extern bool rtscan_merge_once(Relation index);
extern void rtscan_merge(Relation index);

#endif							/* RTSCAN_MERGE_H */
