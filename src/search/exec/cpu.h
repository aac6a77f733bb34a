/*
 * cpu.h
 *		The executor that is always there: the CPU.
 */
#ifndef RTSCAN_CPU_H
#define RTSCAN_CPU_H

#include "rtscan.h"

#include "search/exec/stats.h"
#include "search/filter/region.h"
#include "search/filter/row_bits.h"
#include "segment/segment.h"

/* Row numbers of a page of an order. */
#define ORDER_PER_PAGE	2688
StaticAssertDecl(ORDER_PER_PAGE == RTSCAN_CHUNK_BYTES / 3, "3 bytes a row number");

/* Ranks, or rows: first .. end - 1. */
typedef struct RankRange
{
	uint32		first;
	uint32		end;
} RankRange;

/*
 * Set the bits of a segment's rows that the region matches; it is not empty.  If there are others, only rows within them
 * matter: whether the rest is set does not.
 */
extern void rtscan_cpu_evaluate(RtscanReader *reader, const RtscanRegion *region, const RtscanRowBits *within,
								RtscanRowBits *bits, RtscanCounters *counters);

/*
 * What that takes where so many rows matter, or all: nanoseconds if all pages are in memory; pages read in the order of the file, or
 * else at random.
 */
extern void rtscan_cpu_estimate(RtscanReader *reader, const RtscanRegion *region, double within,
								double *nanoseconds, double *pages, double *random_pages);

/* Nanoseconds to test all rows of the narrowest column, found in no time, or infinity. */
extern double rtscan_cpu_most(const RtscanSegment *segment, const RtscanRegion *region);

/*
 * cpu_rows.c: is a row in a region?  Row after row, in any order; without one of its columns, or -1.  And what a test takes, in nanoseconds.
 */
typedef struct RtscanRowTest RtscanRowTest;

extern RtscanRowTest *rtscan_create_row_test(RtscanReader *reader, const RtscanRegion *region, int but_for);
extern bool rtscan_row_passes(RtscanRowTest *test, uint32 row);
extern double rtscan_row_test_time(const RtscanRegion *region);

#endif							/* RTSCAN_CPU_H */
