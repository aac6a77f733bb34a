/*
 * prewarm.h
 *		Have a device hold columns before scans need them.
 */
#ifndef RTSCAN_PREWARM_H
#define RTSCAN_PREWARM_H

#include "rtscan.h"

#include "settings.h"
#include "storage/metapage.h"

/*
 * Put on the device what scans of these key columns need.  Returns NULL, or why that
 * could not be done; how many segments it was done for.
 */
extern const char *rtscan_prewarm_columns(Relation index, List *columns, RtscanExecutor executor,
										  int64 *segments);

/*
 * Where segments have been built, which need not be in the directory yet: the same for all key columns, as far as the device is expected
 * to evaluate scans and has the memory for so many times as much, which is what all processes build; and give back memory that only the
 * build needed.
 */
extern void rtscan_prewarm_built(Relation index, const RtscanEntry *entries, uint32 n, double times);

#endif							/* RTSCAN_PREWARM_H */
