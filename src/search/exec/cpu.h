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
	uint32		first;			/* first rank or row */
	uint32		end;			/* last rank or row, plus one */
} RtscanRankRange;

/*
 * Set the bits of a segment's rows that are in a region, which must not be empty.  If "within" is not NULL, the bits of
 * rows outside "within" may or may not be set.
 */
extern void rtscan_cpu_evaluate(RtscanReader *reader, const RtscanRegion *region, const RtscanRowBits *within,
								RtscanRowBits *bits, RtscanCounters *counters);

/*
 * Estimate the cost of rtscan_cpu_evaluate() if the bits of only "within" rows are needed, which may be all rows of the
 * segment.  *nanoseconds is set to the time if all pages are in memory.  Pages are either read in the order of the
 * file, or at random: *pages or *random_pages is set to their number, and the other one to 0.
 */
extern void rtscan_cpu_estimate(RtscanReader *reader, const RtscanRegion *region, double within,
								double *nanoseconds, double *pages, double *random_pages);

/*
 * Return an upper bound, quick to compute, of the CPU's nanoseconds for a region: the time to find and test all rows in
 * the intervals of the region's narrowest column.  Returns infinity if this column is not in heap order and has no
 * order to find its rows through.
 */
extern double rtscan_cpu_most(const RtscanSegment *segment, const RtscanRegion *region);

/* A test of single rows, in any order (cpu_rows.c). */
typedef struct RtscanRowTest RtscanRowTest;

/*
 * Create a test of rows for a region, in the current memory context.  The intervals of the column "but_for" are not
 * tested; -1 means that all columns are tested.
 */
extern RtscanRowTest *rtscan_create_row_test(RtscanReader *reader, const RtscanRegion *region, int but_for);

/* Is a row in the region? */
extern bool rtscan_row_passes(RtscanRowTest *test, uint32 row);

/* Return the nanoseconds that the test of a row needs. */
extern double rtscan_row_test_time(const RtscanRegion *region);

#endif							/* RTSCAN_CPU_H */
