/* SPDX-License-Identifier: PostgreSQL */
/*
 * build.h
 *		CREATE INDEX: make segments of ranges of heap blocks, in one process or in several.
 *
 * If one process builds, the heap is a single range.  Otherwise, the heap is divided into ranges.  Each range is
 * expected to have the rows of one segment, and each process is expected to build the same number of ranges:
 *
 *	heap		│ range 0 │ range 1 │ range 2 │ range 3 │		a process that is free takes the next range
 *	segments	│ 0 │ 1 │ 2 │ 3 │ 3 │					several, if rows of a range do not fit into memory
 *
 * Except for ids and blocks, the segments of a range usually do not depend on the process that builds it.  But a range
 * can have far fewer rows than expected: the expected number is estimated for the heap, and a predicate may select few
 * of the heap's rows.  The process then keeps these rows for a segment together with the rows of the next range that
 * it takes.  Processes write pages at the same time (storage/writing.h), and put the segments that they have built on
 * the devices.  Only the leader changes the directory, at the end: it adds the segments of all processes, in the order
 * of the heap.
 */
#ifndef RTSCAN_BUILD_H
#define RTSCAN_BUILD_H

#include "rtscan.h"

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "row/schema.h"
#include "storage/metapage.h"
#include "storage/writing.h"

/* Subphases in pg_stat_progress_create_index; 1 is PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE. */
#define RTSCAN_PHASE_SCAN		2
#define RTSCAN_PHASE_ENCODE		3

/* The ranges of a build, shared by its processes. */
typedef struct RtscanBuildRanges
{
	BlockNumber blocks;			/* number of blocks of the heap */
	BlockNumber range_blocks;	/* number of blocks of a range; the last range may have fewer */
	double		range_rows;		/* number of rows that a range is expected to have */
	int			memory;			/* memory that each process may use, in kB */
	pg_atomic_uint32 taken;		/* number of ranges that have been taken */
	pg_atomic_uint64 blocks_done;	/* number of blocks that have been scanned */
	pg_atomic_uint64 rows_done; /* number of rows in segments that have been written */
} RtscanBuildRanges;

/* A segment that has been written. */
typedef struct RtscanBuiltSegment
{
	uint32		range;			/* range of its first rows */
	RtscanNewSegment segment;	/* its directory entry, with bounds */
} RtscanBuiltSegment;

/* The result of a build, or of one process of it. */
typedef struct RtscanBuilt
{
	double		heap_rows;		/* number of rows of the heap */
	double		rows;			/* number of rows of the index */
	bool		broken_hot_chain;	/* value for IndexInfo.ii_BrokenHotChain */
	uint32		nsegments;
	RtscanBuiltSegment *segments;
} RtscanBuilt;

/* Functions that a scan of the heap calls, with arg as their last argument. */
typedef struct RtscanBuildCallbacks
{
	IndexBuildCallback row;		/* for each row to be indexed */
	void		(*block) (BlockNumber block, void *arg);	/* to report progress: all blocks of the range before
															 * "block" have been scanned */
} RtscanBuildCallbacks;

/*
 * build_scan.c: scan heap blocks first .. end - 1, in order.  Returns the number of rows in these blocks, including
 * rows that a predicate excludes.  If "progress" is true, and PostgreSQL's own scan is used for all of the blocks (in
 * a concurrent build, or for a table that is not a heap), PostgreSQL reports its progress.  "progress" may be true
 * only if the blocks are the whole heap.
 */
extern double rtscan_build_scan(Relation heap, Relation index, IndexInfo *info,
								BlockNumber first, BlockNumber end, bool progress,
								const RtscanBuildCallbacks *callbacks, void *arg);

/*
 * build_ranges.c: return the number of workers to use, at most as many as the planner allows.  There are fewer if some
 * process would have less than MEMORY_A_PROCESS kB of memory.  There are also fewer if a process would have less than
 * ROWS_A_PROCESS rows, since small segments make queries slower, unless the table has parallel_workers set.
 */
extern int	rtscan_build_workers(Relation heap, Relation index, const IndexInfo *info);

/* Divide the heap into ranges for a build by "processes" processes, using an estimate of the number of rows. */
extern void rtscan_cut_ranges(RtscanBuildRanges *ranges, Relation heap, int processes);

/*
 * Take ranges and build their segments until no range is left.  Returns what this process has built.  If "reports" is
 * true, this process reports the progress of all processes in pg_stat_progress_create_index.
 */
extern RtscanBuilt rtscan_build_ranges(RtscanBuildRanges *ranges, Relation heap, Relation index,
									   IndexInfo *info, bool reports);

/* Report the progress of all processes. */
extern void rtscan_report_progress(RtscanBuildRanges *ranges);

/*
 * build_parallel.c: launch workers, build ranges together with them, and set *built to what all processes have built.
 * Returns false, and builds nothing, if no worker could be launched.
 */
extern bool rtscan_build_in_parallel(Relation heap, Relation index, IndexInfo *info, int workers, RtscanBuilt *built);

#endif							/* RTSCAN_BUILD_H */
