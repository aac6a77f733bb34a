/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu_parts.h
 *		Types and functions that only the files of the CPU executor share.
 */
#ifndef RTSCAN_CPU_PARTS_H
#define RTSCAN_CPU_PARTS_H

#include "rtscan.h"

#include "search/exec/cpu.h"
#include "search/filter/cost.h"

/* Measured costs, in nanoseconds. */
#define COST_PAGE		RTSCAN_PAGE_NANOSECONDS /* look at a page that is in shared buffers */
#define COST_ORDER_ROW	1.2		/* find a row through the order, and set or clear its bit */
#define COST_TEST_ROW	6.0		/* test a row by its code, on a page that is pinned already */
#define COST_COMPARISON	4.0		/* compare two row numbers while sorting */
#define COST_CODE_ROW	0.7		/* test a row by a bitmap of codes, if a chunk's rows are tested in order */
#define COST_CHUNK_BITS	600.0	/* set all bits of a chunk */
#define COST_FILL_CHUNK	600.0	/* clear the bits of a chunk for a filled column, and AND them */

/* The bits of one chunk, for use on the stack. */
typedef struct ChunkBits
{
	uint64		words[RTSCAN_CHUNK_WORDS];	/* a bit for each row */
} ChunkBits __attribute__((aligned(64)));

/*
 * The sieve vector F_i of boundary i, which is high | (next & low).  For each chunk, a member has the number of a page
 * of bits.
 */
typedef struct BinVector
{
	const uint32 *high;			/* by chunk: page whose bits are all in the vector */
	const uint32 *next;			/* by chunk: page whose bits are in the vector if "low" has them, too */
	const uint32 *low;			/* by chunk: page that "next" is ANDed with */
} BinVector;

/*
 * A run of bins between two boundaries of a column.  Let X_i be the rank of boundary i.  The bins first .. end - 1 have
 * the rows of the ranks X_first .. X_end - 1, whose bits are set in F_end and clear in F_first.
 */
typedef struct BinRun
{
	uint32		first;			/* boundary where the run begins */
	uint32		end;			/* boundary where the run ends */
	BinVector	first_vector;	/* vector of the first boundary */
	BinVector	end_vector;		/* vector of the last boundary */
} BinRun;

/* A column of the region, and how far it has been evaluated. */
typedef struct CpuColumn
{
	const RtscanRegionColumn *region;	/* the column in the region */
	const RtscanSegmentColumn *column;	/* the column in the segment */
	bool		heap_order;		/* ranks are row numbers */

	/* for a plain column: the first and last value of each interval that has values; NULL until needed */
	int64	   *bounds;

	/* number of intervals that have bounds: all, except the last one if it has only NULLs */
	uint32		nbounds;
	bool		has_null;		/* NULL is in the intervals; valid if "bounds" is not NULL */
	bool		done;			/* no vectors are read for the column: its rows are filled, or tested by codes */

	/* for a coded column: a bit for each code, set if the code is in the intervals; NULL until needed */
	uint64	   *members;
	bool		decided;		/* all remaining rows are in the column's intervals */
	bool		closes_chunks;	/* some chunks are known to have no row of the intervals */
	uint64		rejected;		/* number of rows that were tested by this column and did not match */
	uint32		nruns;			/* number of runs of bins that the intervals touch */
	BinRun	   *runs;			/* the runs */
	uint32		ngaps;			/* number of ranges of ranks that are in the runs but not in the intervals */
	RtscanRankRange *gaps;		/* the gaps */
	uint32		gap_rows;		/* rows in all gaps */
} CpuColumn;

/* The evaluation of a region. */
typedef struct CpuEvaluation
{
	RtscanReader *reader;		/* reader of the segment */
	RtscanRowBits *bits;		/* where bits are set */
	RtscanCounters *counters;	/* where work is counted */
	uint32		rows;			/* number of rows in the segment */
	int			ncolumns;		/* number of columns */
	CpuColumn  *columns;		/* the columns of the region, the narrowest first */
	bool	   *open;			/* by chunk: no column excludes the chunk; NULL if the segment has no sieve */
	uint32		nopen;			/* the number of open chunks */
	RtscanRankRange window;		/* range of rows; a row outside is in no open chunk, or is excluded by a column in
								 * heap order */
} CpuEvaluation;

/* The cost of a way to evaluate a region, or of a step. */
typedef struct CpuCost
{
	double		nanoseconds;	/* time if all pages are in memory */
	double		pages;			/* number of pages that are read */
} CpuCost;

/* Return the number of rows in a chunk, RTSCAN_CHUNK_ROWS for all except the last. */
static inline uint32
rtscan_cpu_chunk_rows(const CpuEvaluation *evaluation, uint32 chunk)
{
	return Min(evaluation->rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
}

static inline void
rtscan_cpu_set_row(uint32 row, uint64 *words)
{
	words[row / 64] |= UINT64CONST(1) << (row % 64);
}

static inline void
rtscan_cpu_clear_row(uint32 row, uint64 *words)
{
	words[row / 64] &= ~(UINT64CONST(1) << (row % 64));
}

/* Return the area that tests of a column's rows read: the values of a plain column, or else the codes. */
static inline const RtscanArea *
rtscan_cpu_row_area(const CpuColumn *part)
{
	return rtscan_is_plain(&part->column->header) ? &part->column->values.header.values : &part->column->header.codes;
}

/* Record for EXPLAIN in which way a column has been evaluated, and how many rows remain. */
static inline void
rtscan_cpu_trace(const CpuColumn *part, RtscanWay way, uint64 rows)
{
	rtscan_trace_ways(part->region->traces, way, rows);
}

/*
 * Call rtscan_cpu_trace() with the number of remaining rows, which are counted only if the column's conditions are
 * traced.
 */
static inline void
rtscan_cpu_trace_bits(const CpuEvaluation *evaluation, const CpuColumn *part, RtscanWay way)
{
	if (part->region->traces != NIL)
		rtscan_cpu_trace(part, way, rtscan_bits_count(evaluation->bits));
}

/*
 * cpu.c: begin to evaluate a region, in the current memory context.  The result points to the region.  "bits" and
 * "counters" are NULL if only costs are estimated or single rows are tested.
 */
extern CpuEvaluation rtscan_cpu_prepare(RtscanReader *reader, const RtscanRegion *region, RtscanRowBits *bits,
										RtscanCounters *counters);

/*
 * cpu_parts.c: find a column's runs and gaps, find the window, and estimate the cost of each way to evaluate a region.
 */
extern void rtscan_cpu_prepare_column(CpuColumn *part, RtscanReader *reader,
									  const RtscanRegionColumn *region);
extern void rtscan_cpu_find_window(CpuEvaluation *evaluation);
extern double rtscan_cpu_row_pages(const CpuEvaluation *evaluation, const CpuColumn *part, double rows);
extern bool rtscan_cpu_fill_is_cheaper(const CpuEvaluation *evaluation, const CpuColumn *part);
extern bool rtscan_cpu_codes_are_cheaper(const CpuEvaluation *evaluation, const CpuColumn *part, double rows);
extern CpuCost rtscan_cpu_codes_cost(const CpuEvaluation *evaluation);
extern double rtscan_cpu_expected_candidates(const CpuEvaluation *evaluation);
extern CpuCost rtscan_cpu_candidates_cost(const CpuEvaluation *evaluation, double left);
extern CpuCost rtscan_cpu_sieve_cost(const CpuEvaluation *evaluation);
extern CpuCost rtscan_cpu_tests_cost(const CpuEvaluation *evaluation, double rows);
extern bool rtscan_cpu_candidates_are_cheaper(const CpuEvaluation *evaluation, double left);

/*
 * cpu_sieve.c: find a superset of the matching rows by vectors, filled columns and ranges of rows.
 * rtscan_cpu_excludes_chunk() tells whether a chunk is known to have no row of a column's superset.
 */
extern void rtscan_cpu_sieve(CpuEvaluation *evaluation);
extern void rtscan_cpu_find_vectors(const CpuColumn *part, uint32 chunks, BinRun *run);
extern bool rtscan_cpu_excludes_chunk(const CpuColumn *part, uint32 chunk);
extern void rtscan_cpu_set_all(uint64 *words, uint32 rows);
extern void rtscan_cpu_and_row_ranges(CpuEvaluation *evaluation, const CpuColumn *part,
									  uint32 chunk, uint64 *words);

/* cpu_codes.c: compare the codes of all rows, one page after another. */
extern void rtscan_cpu_scan_codes(CpuEvaluation *evaluation);

/* Return part->members, a bit for each code of the column, which the first call creates. */
extern const uint64 *rtscan_cpu_members(CpuColumn *part);

/* A function that is called with the rows of consecutive ranks. */
typedef void (*RankRowsFunction) (const uint32 *rows, uint32 n, void *arg);

/*
 * cpu_ranks.c: call a function with the rows of ranks first .. end - 1.  Row numbers that are too large are reported
 * as a fault of the page, so that the function does not write out of bounds.
 */
extern void rtscan_cpu_visit_ranks(CpuEvaluation *evaluation, const CpuColumn *part, uint32 first, uint32 end,
								   RankRowsFunction function, void *arg);

/* Set the bits of all rows of a column's intervals. */
extern void rtscan_cpu_set_interval_rows(CpuEvaluation *evaluation, const CpuColumn *part, uint64 *words);

/* Clear the bits of all rows in the gaps of all columns. */
extern void rtscan_cpu_clear_gaps(CpuEvaluation *evaluation);

/*
 * cpu_rows.c: evaluate a region by testing candidates, the rows of the narrowest column that are in the window.  If
 * there are more than "expected" candidates, and the sieve is cheaper than testing them, do nothing and return false.
 */
extern bool rtscan_cpu_test_candidates(CpuEvaluation *evaluation, double expected);

/* Evaluate a region by testing only the rows in "within". */
extern void rtscan_cpu_test_within(CpuEvaluation *evaluation, const RtscanRowBits *within);

/* After the sieve, clear the bits of rows that are in gaps. */
extern void rtscan_cpu_refine(CpuEvaluation *evaluation);

#endif							/* RTSCAN_CPU_PARTS_H */
