/*
 * merge.h
 *		Merge segments, so that their number stays small, and drop dead rows.
 *
 * Segments are in tiers by their size: tier t has those of MERGE_BASE * MERGE_FANOUT^t rows
 * and more.  When a tier has MERGE_FANOUT segments, they and all smaller ones become one.  So
 * a row is written once for each tier that it passes through, and an index of n rows has fewer
 * than MERGE_FANOUT segments a tier, besides those that are as large as a segment gets.
 * A segment of which MERGE_DEAD_FRACTION has died is written anew by itself.
 *
 * A merge reads only the index.  Scans, insertions and flushes go on; ambulkdelete does not.
 */
#ifndef RTSCAN_MERGE_H
#define RTSCAN_MERGE_H

#include "rtscan.h"

#define MERGE_FANOUT		8
#define MERGE_BASE			1024
#define MERGE_DEAD_FRACTION	0.3

/* Has a tier filled, so that there is something to merge? */
extern bool rtscan_wants_merge(Relation index);

/* Merge once; false if there is nothing to merge.  Or as long as there is something.  Both need the merge lock. */
extern bool rtscan_merge_once(Relation index);
extern void rtscan_merge(Relation index);

#endif							/* RTSCAN_MERGE_H */
