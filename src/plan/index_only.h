/*
 * index_only.h
 *		Index Only Scans beside bitmaps.
 *
 * PostgreSQL asks once what an index path costs, and takes a bitmap of the same quals to cost that,
 * too.  But an Index Only Scan reads values, which a bitmap does not.  So the planner first makes
 * its paths as if indexes of ours had no values to return; then again with them, of the indexes that return
 * all that the query needs, and without bitmaps.
 */
#ifndef RTSCAN_INDEX_ONLY_H
#define RTSCAN_INDEX_ONLY_H

#include "rtscan.h"

/* Hook into the planner. */
extern void rtscan_init_index_only(void);

#endif							/* RTSCAN_INDEX_ONLY_H */
