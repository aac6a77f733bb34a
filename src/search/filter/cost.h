/* SPDX-License-Identifier: PostgreSQL */
/*
 * cost.h
 *		The CPU's costs of reading pages of a segment that are in shared buffers.
 */
#ifndef RTSCAN_SEARCH_COST_H
#define RTSCAN_SEARCH_COST_H

#include "rtscan.h"

#include "segment/segment.h"

/* Nanoseconds to get a page of bits that is in shared buffers, and to AND the bits, measured. */
#define RTSCAN_PAGE_NANOSECONDS		250.0

/* If at least one in RTSCAN_DENSE rows of a chunk remains, all rows of the chunk are read. */
#define RTSCAN_DENSE	16

/* Pages of a chunk's values, if each value has four bytes. */
#define RTSCAN_VALUE_PAGES	(RTSCAN_CHUNK_ROWS * 4 / RTSCAN_CHUNK_BYTES)

/*
 * Return the nanoseconds to read the values of "columns" columns for "rows" rows of a segment.  Each row is assumed to
 * be on another page, until all pages are read.
 */
static inline double
rtscan_cpu_reading(const RtscanSegment *segment, double rows, int columns)
{
	return columns * Min(rows, (double) segment->chunks * RTSCAN_VALUE_PAGES) * RTSCAN_PAGE_NANOSECONDS;
}

#endif							/* RTSCAN_SEARCH_COST_H */
