/*
 * build.h
 *		CREATE INDEX: ranges of heap blocks become segments, in one process or in several.
 *
 * The heap is cut into ranges, whose rows are expected to make one segment each, and as many for each process:
 *
 *	heap		│ range 0 │ range 1 │ range 2 │ range 3 │		a range is taken by whoever is free
 *	segments	│ 0 │ 1 │ 2 │ 3 │ 3 │					more of one range than memory holds are several segments
 *
 * What is made of a range does not depend on who makes it, but for ids and blocks.  Where there are far fewer rows than expected (the
 * estimate is of the heap; a predicate may choose few) they are kept for a segment with those of the next range that the process takes.  Processes write pages side by side
 * (storage/writing.h), and put what they have built on the device; only the leader changes the directory, at the end, with the segments of
 * all in the heap's order.
 */
#ifndef RTSCAN_BUILD_H
#define RTSCAN_BUILD_H

#include "rtscan.h"

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "row/schema.h"
#include "segment/rows.h"
#include "storage/metapage.h"
#include "storage/writing.h"

/* Subphases in pg_stat_progress_create_index; 1 is PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE. */
#define RTSCAN_PHASE_SCAN		2
#define RTSCAN_PHASE_ENCODE		3

/* The work, which processes share. */
typedef struct RtscanBuildRanges
{
	BlockNumber blocks;			/* of the heap */
	BlockNumber range_blocks;	/* of a range; the last one may have fewer */
	double		range_rows;		/* that are expected of one */
	int			memory;			/* that a process may use, in kB */
	pg_atomic_uint32 taken;		/* ranges, so far */
	pg_atomic_uint64 blocks_done;
	pg_atomic_uint64 rows_done;
} RtscanBuildRanges;

/* A segment that has been written, and the range that its first rows are from. */
typedef struct RtscanBuiltSegment
{
	uint32		range;
	RtscanNewSegment segment;
} RtscanBuiltSegment;

/* What a process has built. */
typedef struct RtscanBuilt
{
	double		heap_rows;
	double		rows;
	bool		broken_hot_chain;	/* IndexInfo.ii_BrokenHotChain */
	uint32		nsegments;
	RtscanBuiltSegment *segments;
} RtscanBuilt;

/* What a scan of the heap brings. */
typedef struct RtscanBuildCallbacks
{
	IndexBuildCallback row;
	void		(*block) (BlockNumber block, void *arg);	/* all blocks before this one are done */
} RtscanBuildCallbacks;

/*
 * build_scan.c: scan heap blocks first .. end - 1, in their order; returns how many rows there are, also those that a predicate excludes.
 * If these are all blocks, and all is left to PostgreSQL, it reports progress.
 */
extern double rtscan_build_scan(Relation heap, Relation index, IndexInfo *info, BlockNumber first, BlockNumber end, bool progress,
								const RtscanBuildCallbacks *callbacks, void *arg);

/*
 * build_ranges.c: how many workers help, of those that the planner allows: with few rows for each, segments would be smaller than
 * queries want them.  A table that says how many it wants (parallel_workers) gets them, as long as there is memory for each.
 */
extern int	rtscan_build_workers(Relation heap, Relation index, const IndexInfo *info);

/* Cut the heap, for so many processes; what rows there are is estimated. */
extern void rtscan_cut_ranges(RtscanBuildRanges *ranges, Relation heap, const RtscanSchema *schema, int processes);

/* Build ranges as long as there are any.  The one who reports says how far all have come in pg_stat_progress_create_index. */
extern RtscanBuilt rtscan_build_ranges(RtscanBuildRanges *ranges, Relation heap, Relation index, IndexInfo *info, bool reports);
extern void rtscan_report_progress(RtscanBuildRanges *ranges);

/*
 * build_parallel.c: the same with the help of parallel workers.  Returns false, and nothing is built, if there is none to be had; else
 * what all have built.
 */
extern bool rtscan_build_in_parallel(Relation heap, Relation index, IndexInfo *info, int workers, RtscanBuilt *built);

#endif							/* RTSCAN_BUILD_H */
