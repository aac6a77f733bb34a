/*
 * cost.h
 *		What it takes the CPU to read pages of a segment that are in shared buffers.
 */
#ifndef RTSCAN_SEARCH_COST_H
#define RTSCAN_SEARCH_COST_H

#include "rtscan.h"

#include "segment/segment.h"

/* Nanoseconds, measured: a page got and ANDed. */
#define RTSCAN_PAGE_NANOSECONDS		250.0

/* If at least one of so many of a chunk's rows is left, all are read. */
#define RTSCAN_DENSE	16

/* Pages of a chunk's values of four bytes. */
#define RTSCAN_VALUE_PAGES	(RTSCAN_CHUNK_ROWS * 4 / RTSCAN_CHUNK_BYTES)

/* Nanoseconds to read so many columns' values of a segment's rows.  Rows that are far apart are in a page each. */
static inline double
rtscan_cpu_reading(const RtscanSegment *segment, double rows, int columns)
{
	return columns * Min(rows, (double) segment->chunks * RTSCAN_VALUE_PAGES) * RTSCAN_PAGE_NANOSECONDS;
}

#endif							/* RTSCAN_SEARCH_COST_H */
