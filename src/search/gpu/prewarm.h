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
 * Put on the devices what scans of these key columns need.  Returns NULL, or the reason why that could not be done for
 * all segments; *segments is the number of those for which it was done.
 */
extern const char *rtscan_prewarm_columns(Relation index, List *columns, RtscanExecutor executor,
										  int64 *segments);

/*
 * Put all key columns of segments that have just been built on the devices, and give back memory that only the build
 * needed.  The segments need not be in the directory yet.
 *
 * Columns are only put there if devices should evaluate scans, and have memory for "times" these segments, since other
 * processes of the build make as many.
 */
extern void rtscan_prewarm_built(Relation index, const RtscanEntry *entries, uint32 n, double times);

#endif							/* RTSCAN_PREWARM_H */
