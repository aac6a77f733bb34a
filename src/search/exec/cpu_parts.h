/*
 * cpu_parts.h
 *		What the files of the CPU executor share; nobody else includes it.
 */
#ifndef RTSCAN_CPU_PARTS_H
#define RTSCAN_CPU_PARTS_H

#include "rtscan.h"

#include "search/exec/cpu.h"
#include "search/filter/cost.h"

/*
 * Measured costs, in nanoseconds: a page that is in shared buffers (cost.h); a row
 * found through the order; a row tested by a code on a page at hand; the same of a row after another of a chunk, by a bit
 * for each code; the bits of a chunk set; and those of a chunk cleared and ANDed for a column to be filled.
 */
#define COST_PAGE		RTSCAN_PAGE_NANOSECONDS
#define COST_ORDER_ROW	1.2
#define COST_TEST_ROW	6.0
#define COST_COMPARISON	4.0
#define COST_CODE_ROW	0.7
#define COST_CHUNK_BITS	600.0
#define COST_FILL_CHUNK	600.0

/* A chunk's bits on the stack. */
typedef struct ChunkBits
{
	uint64		words[RTSCAN_CHUNK_WORDS];
} ChunkBits __attribute__((aligned(64)));

/* The vector F_i of a boundary, high | (next & low): for each of these, which page of bits a chunk has. */
typedef struct BinVector
{
	const uint32 *high;
	const uint32 *next;
	const uint32 *low;
} BinVector;

/* Boundaries i and j of a column: the rows with ranks X_i .. X_j - 1 are whole bins, those in F_j and not in F_i. */
typedef struct BinRun
{
	uint32		first;
	uint32		end;
	BinVector	first_vector;
	BinVector	end_vector;
} BinRun;

/* How a column takes part. */
typedef struct CpuColumn
{
	const RtscanRegionColumn *region;
	const RtscanSegmentColumn *column;
	bool		heap_order;
	int64	   *bounds;			/* plain: of each interval that has values, the first and the last; once they have been needed */
	uint32		nbounds;		/* likewise: how many these are; that of NULL alone is behind them */
	bool		has_null;		/* likewise: the intervals have NULL */
	bool		done;			/* no vectors to read: filled, or tested by codes */
	uint64	   *members;		/* coded: a bit for each code of the intervals, once it has been needed */
	bool		decided;		/* all rows that are left are in its intervals */
	bool		closes_chunks;	/* some have none of its rows */
	uint64		rejected;		/* rows that have been tested by it, and were not */
	uint32		nruns;
	BinRun	   *runs;
	uint32		ngaps;
	RankRange  *gaps;
	uint32		gap_rows;
} CpuColumn;

typedef struct CpuEvaluation
{
	RtscanReader *reader;
	RtscanRowBits *bits;
	RtscanCounters *counters;
	uint32		rows;
	int			ncolumns;
	CpuColumn *columns;
	bool	   *open;			/* by chunk: no column excludes it.  Of a segment without sieve: NULL */
	uint32		nopen;			/* chunks that are */
	RankRange	window;			/* rows outside of it are in no open chunk, or not in the intervals of a column in heap order */
} CpuEvaluation;

/* What a way to evaluate takes. */
typedef struct CpuCost
{
	double		nanoseconds;
	double		pages;
} CpuCost;

/* Rows of a chunk; all but the last have RTSCAN_CHUNK_ROWS. */
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

/* The area that rows of a column are tested by. */
static inline const RtscanArea *
rtscan_cpu_row_area(const CpuColumn *part)
{
	return rtscan_is_plain(&part->column->header) ? &part->column->values.header.values : &part->column->header.codes;
}

/* A column has been evaluated in a way: that leaves so many rows, or those that are counted if anybody asks. */
static inline void
rtscan_cpu_trace(const CpuColumn *part, RtscanWay way, uint64 rows)
{
	rtscan_trace_ways(part->region->traces, way, rows);
}

static inline void
rtscan_cpu_trace_bits(const CpuEvaluation *evaluation, const CpuColumn *part, RtscanWay way)
{
	if (part->region->traces != NIL)
		rtscan_cpu_trace(part, way, rtscan_bits_count(evaluation->bits));
}

/* cpu.c: begin to evaluate a region, which must stay where it is, in the current memory context; with neither bits nor counters, to test rows. */
extern CpuEvaluation rtscan_cpu_prepare(RtscanReader *reader, const RtscanRegion *region, RtscanRowBits *bits, RtscanCounters *counters);

/* cpu_parts.c: bins and gaps of a column; where rows can be; what each way to evaluate costs. */
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

/* cpu_sieve.c: a superset of the rows, from vectors, filled columns and row ranges; chunks that have none of it. */
extern void rtscan_cpu_sieve(CpuEvaluation *evaluation);
extern void rtscan_cpu_find_vectors(const CpuColumn *part, uint32 chunks, BinRun *run);
extern bool rtscan_cpu_excludes_chunk(const CpuColumn *part, uint32 chunk);
extern void rtscan_cpu_set_all(uint64 *words, uint32 rows);
extern void rtscan_cpu_and_row_ranges(CpuEvaluation *evaluation, const CpuColumn *part,
									  uint32 chunk, uint64 *words);

/* cpu_codes.c: codes of all rows, one page after another. */
extern void rtscan_cpu_scan_codes(CpuEvaluation *evaluation);
extern const uint64 *rtscan_cpu_members(CpuColumn *part);

/*
 * cpu_rows.c: single rows, found through the order or tested by their codes.  Candidates are not tested, and that is false, where more of them than
 * expected are in the window, so many that the sieve is cheaper.
 */
extern void rtscan_cpu_set_interval_rows(CpuEvaluation *evaluation, const CpuColumn *part, uint64 *words);
extern bool rtscan_cpu_test_candidates(CpuEvaluation *evaluation, double expected);
extern void rtscan_cpu_test_within(CpuEvaluation *evaluation, const RtscanRowBits *within);
extern void rtscan_cpu_refine(CpuEvaluation *evaluation);

#endif							/* RTSCAN_CPU_PARTS_H */
