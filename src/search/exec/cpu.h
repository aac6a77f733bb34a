/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu.h
 *		The executor that is always available: the CPU.
 */
#ifndef RTSCAN_CPU_H
#define RTSCAN_CPU_H

#include "rtscan.h"

#include "search/exec/stats.h"
#include "search/filter/region.h"
#include "search/filter/row_bits.h"
#include "segment/segment.h"

/* The number of rows on a page of an order. */
#define RTSCAN_ORDER_PER_PAGE	2688
StaticAssertDecl(RTSCAN_ORDER_PER_PAGE == RTSCAN_CHUNK_BYTES / 3, "3 bytes a row number");

/* A range of ranks or of rows: first .. end - 1. */
typedef struct RtscanRankRange
{
	uint32		first;			/* the first one */
	uint32		end;			/* one more than the last one */
} RtscanRankRange;

/*
 * Set the bits of a segment's rows that match the region, which is not empty.  Unless "within" is NULL, only its rows
 * matter: the bits of all others may or may not be set.
 */
extern void rtscan_cpu_evaluate(RtscanReader *reader, const RtscanRegion *region, const RtscanRowBits *within,
								RtscanRowBits *bits, RtscanCounters *counters);

/*
 * Estimate what rtscan_cpu_evaluate() costs if "within" rows matter (all rows of the segment, or fewer): nanoseconds
 * if all pages are in memory, and either pages read in the order of the file or pages read at random; the other is 0.
 */
extern void rtscan_cpu_estimate(RtscanReader *reader, const RtscanRegion *region, double within,
								double *nanoseconds, double *pages, double *random_pages);

/*
 * Return the nanoseconds to test all rows of the narrowest column.  This is quick to compute.  Infinite if the column
 * has no order to find its rows by.
 */
extern double rtscan_cpu_most(const RtscanSegment *segment, const RtscanRegion *region);

/* A test of single rows, in any order (cpu_rows.c). */
typedef struct RtscanRowTest RtscanRowTest;

/*
 * Create a test of rows for a region, in the current memory context.  It leaves out the column "but_for", unless that
 * is -1.
 */
extern RtscanRowTest *rtscan_create_row_test(RtscanReader *reader, const RtscanRegion *region, int but_for);

/* Is a row in the region? */
extern bool rtscan_row_passes(RtscanRowTest *test, uint32 row);

/* Return the nanoseconds that the test of a row needs. */
extern double rtscan_row_test_time(const RtscanRegion *region);

#endif							/* RTSCAN_CPU_H */
