/* SPDX-License-Identifier: PostgreSQL */
/*
 * prewarm.h
 *		Put an index's columns on the devices before scans need them.
 */
#ifndef RTSCAN_PREWARM_H
#define RTSCAN_PREWARM_H

#include "rtscan.h"

#include "settings.h"
#include "storage/metapage.h"

/*
 * Put the columns and, for rays, the BVHs that scans of these key columns need on the devices.  Sets *segments to the
 * number of segments that were put there.  Returns NULL, or the reason why other segments were not put there.
 */
extern const char *rtscan_prewarm_columns(Relation index, List *columns, RtscanExecutor executor,
										  int64 *segments);

/*
 * After a build of n segments, put all of their key columns on the devices, and give back memory that only the build
 * needed.  The segments need not be in the directory yet.
 *
 * Columns are put on the devices only if devices are expected to evaluate scans, and if the devices have memory for
 * "times" times as many segments, since other processes of the build make the other segments.
 */
extern void rtscan_prewarm_built(Relation index, const RtscanEntry *entries, uint32 n, double times);

#endif							/* RTSCAN_PREWARM_H */
