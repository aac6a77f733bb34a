/* SPDX-License-Identifier: PostgreSQL */
/*
 * cost.h
 *		The CPU's costs of reading pages of a segment that are in shared buffers.
 */
#ifndef RTSCAN_SEARCH_COST_H
#define RTSCAN_SEARCH_COST_H

#include "rtscan.h"

#include "segment/segment.h"

/* Nanoseconds to get a page and to AND it, measured. */
#define RTSCAN_PAGE_NANOSECONDS		250.0

/* All rows of a chunk are read if at least one in RTSCAN_DENSE of them remains. */
#define RTSCAN_DENSE	16

/* Pages that a chunk's values take, if they have four bytes. */
#define RTSCAN_VALUE_PAGES	(RTSCAN_CHUNK_ROWS * 4 / RTSCAN_CHUNK_BYTES)

/*
 * Return the nanoseconds to read the values of some columns for "rows" rows of a segment.  Rows that are far apart
 * are on a page each.
 */
static inline double
rtscan_cpu_reading(const RtscanSegment *segment, double rows, int columns)
{
	return columns * Min(rows, (double) segment->chunks * RTSCAN_VALUE_PAGES) * RTSCAN_PAGE_NANOSECONDS;
}

#endif							/* RTSCAN_SEARCH_COST_H */
