/* SPDX-License-Identifier: PostgreSQL */
/*
 * build_ranges.c
 *		Build segments from ranges of heap blocks.
 */
#include "am/build.h"

#include <math.h>

#include "commands/progress.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "search/gpu/prewarm.h"
#include "segment/encode.h"
#include "segment/spool.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

/* Minimal number of rows, and minimal memory in kB, for each process of a build. */
#define ROWS_A_PROCESS		(16 * RTSCAN_CHUNK_ROWS)
#define MEMORY_A_PROCESS	1024

/* At the end of a range, the collected rows become a segment if they are at least this fraction of range_rows. */
#define ENOUGH_OF_A_RANGE	0.25

/* ---------------------------------------------------------------- ranges */

static double
estimate_rows(Relation heap)
{
	BlockNumber blocks;
	double		rows,
				visible;

	estimate_rel_size(heap, NULL, &blocks, &rows, &visible);
	return rows;
}

int
rtscan_build_workers(Relation heap, Relation index, const IndexInfo *info)
{
	int			workers = RelationGetNumberOfBlocks(heap) == 0 ? 0 : rtscan_compat_build_workers(heap, index, info);

	if (workers == 0)
		return 0;
	if (RelationGetParallelWorkers(heap, -1) == -1)
		workers = Min(workers, (int) Min(estimate_rows(heap) / ROWS_A_PROCESS, INT_MAX) - 1);
	workers = Min(workers, maintenance_work_mem / MEMORY_A_PROCESS - 1);
	return Max(workers, 0);
}

void
rtscan_cut_ranges(RtscanBuildRanges *ranges, Relation heap, int processes)
{
	double		rows = Max(estimate_rows(heap), 1);
	double		rounds,
				count;

	ranges->memory = maintenance_work_mem / processes;
	ranges->blocks = RelationGetNumberOfBlocks(heap);
	rounds = ceil(rows / rtscan_spool_limit(ranges->memory) / processes);
	count = processes > 1 ? rounds * processes : 1;
	ranges->range_blocks = Max((BlockNumber) ceil(ranges->blocks / count), 1);
	ranges->range_rows = rows / count;
	pg_atomic_init_u32(&ranges->taken, 0);
	pg_atomic_init_u64(&ranges->blocks_done, 0);
	pg_atomic_init_u64(&ranges->rows_done, 0);
}

void
rtscan_report_progress(RtscanBuildRanges *ranges)
{
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, pg_atomic_read_u64(&ranges->blocks_done));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, pg_atomic_read_u64(&ranges->rows_done));
}

/* ---------------------------------------------------------------- rows of a range */

/* The state of a process that builds segments. */
typedef struct Builder
{
	RtscanBuildRanges *ranges;	/* the ranges, shared with other processes */
	bool		reports;		/* does this process report progress? */
	RtscanBuilt built;
	uint32		room;			/* size of built.segments[] */
	RtscanWriting writing;		/* the attempt (storage/writing.h) by which the segments are written */
	const RtscanSchema *schema;
	RtscanSpool *spool;			/* rows for the next segment */
	uint32		range;			/* the range being built */
	uint32		first_range;	/* range of the first of the collected rows */
	BlockNumber counted;		/* blocks of the range before this block are counted in ranges->blocks_done */
	BlockNumber scanned;		/* number of blocks that this process has scanned */
	BlockNumber block;			/* heap block of the newest rows */
	MemoryContext tuple_context;	/* memory context for forming one row */
} Builder;

static void
report_phase(const Builder *builder, int phase)
{
	if (builder->reports)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

static void
count_blocks(Builder *builder, BlockNumber until)
{
	if (until == builder->counted)
		return;
	pg_atomic_fetch_add_u64(&builder->ranges->blocks_done, until - builder->counted);
	builder->scanned += until - builder->counted;
	builder->counted = until;
	if (builder->reports)
		rtscan_report_progress(builder->ranges);
}

static void
keep_segment(Builder *builder, RtscanNewSegment segment)
{
	RtscanBuilt *built = &builder->built;

	if (built->nsegments == builder->room)
	{
		builder->room *= 2;
		built->segments = repalloc_huge(built->segments, builder->room * sizeof(RtscanBuiltSegment));
	}
	built->segments[built->nsegments++] = (RtscanBuiltSegment) {builder->first_range, segment};
}

/* Write the collected rows as a segment. */
static void
write_rows(Builder *builder)
{
	uint32		rows = rtscan_spool_count(builder->spool);

	if (rows == 0)
		return;
	report_phase(builder, RTSCAN_PHASE_ENCODE);
	keep_segment(builder, rtscan_write_segment(&builder->writing, rtscan_spool_rows(builder->spool)));
	builder->built.rows += rows;
	pg_atomic_fetch_add_u64(&builder->ranges->rows_done, rows);
	rtscan_spool_reset(builder->spool);
	builder->first_range = builder->range;
	report_phase(builder, RTSCAN_PHASE_SCAN);
}

/*
 * Begin with the rows of a heap block.  The rows of the block before are complete.  Segments end between blocks: if the
 * rows of one more heap page might not fit, the segment ends before the new block.  Only tables of other access methods
 * may have so many rows in a block that it ends within.
 */
static void
begin_block(Builder *builder, BlockNumber block)
{
	rtscan_spool_end_block(builder->spool);
	count_blocks(builder, block);
	if (rtscan_spool_is_full(builder->spool, MaxHeapTuplesPerPage))
		write_rows(builder);
	builder->block = block;
}

/* IndexBuildCallback: add a row. */
static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	Builder    *builder = (Builder *) arg;
	Datum		stored[INDEX_MAX_KEYS];
	MemoryContext old;

	if (ItemPointerGetBlockNumber(tid) != builder->block)
		begin_block(builder, ItemPointerGetBlockNumber(tid));
	else if (rtscan_spool_is_full(builder->spool, 1))
		write_rows(builder);

	old = MemoryContextSwitchTo(builder->tuple_context);
	rtscan_check_comparable(builder->schema, values, isnull);
	if (!builder->schema->plain)
	{
		/* store values in the same form as in a pending list: detoasted, compressed */
		IndexTuple	tuple = rtscan_form_tuple(index, builder->schema, values, isnull, tid);

		index_deform_tuple(tuple, builder->schema->tupdesc, stored, isnull);
		values = stored;
	}
	rtscan_spool_add(builder->spool, tid, values, isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(builder->tuple_context);
}

/* RtscanBuildCallbacks.block: count the blocks that have been scanned. */
static void
pass_block(BlockNumber block, void *arg)
{
	count_blocks((Builder *) arg, block);
}

static const RtscanBuildCallbacks callbacks = {add_row, pass_block};

/*
 * At the end of a range, are there enough rows for a segment?  If so, the caller writes these rows at once, and does
 * not keep them for a segment with rows of the next range that this process takes, so that segments do not depend on
 * which process takes which range.
 */
static bool
ends_segment(const Builder *builder)
{
	return rtscan_spool_count(builder->spool) >= builder->ranges->range_rows * ENOUGH_OF_A_RANGE;
}

/*
 * Build the segments of one range.  In a concurrent build each range has its own snapshot.  Changes that other
 * transactions make meanwhile are added by the validation phase, as in a build with a single snapshot.
 */
static void
build_range(Builder *builder, Relation heap, Relation index, IndexInfo *info)
{
	RtscanBuildRanges *ranges = builder->ranges;
	BlockNumber start = builder->range * ranges->range_blocks;
	BlockNumber end = Min(ranges->blocks, (uint64) start + ranges->range_blocks);
	bool		is_all = end - start == ranges->blocks;

	builder->counted = start;
	builder->block = InvalidBlockNumber;
	if (rtscan_spool_count(builder->spool) == 0)
		builder->first_range = builder->range;
	builder->built.heap_rows += rtscan_build_scan(heap, index, info, start, end,
												  is_all && builder->reports, &callbacks, builder);
	builder->built.broken_hot_chain |= info->ii_BrokenHotChain;
	rtscan_spool_end_block(builder->spool);
	if (ends_segment(builder))
		write_rows(builder);
	count_blocks(builder, end);
}

/*
 * Put the segments that this process has built on the devices, if the devices have enough memory for the segments of
 * all processes.
 */
static void
prewarm(const Builder *builder, Relation index)
{
	const RtscanBuilt *built = &builder->built;
	RtscanEntry *entries = palloc(Max(built->nsegments, 1) * sizeof(RtscanEntry));

	for (uint32 i = 0; i < built->nsegments; i++)
		entries[i] = built->segments[i].segment.entry;
	rtscan_prewarm_built(index, entries, built->nsegments, builder->ranges->blocks / Max(builder->scanned, 1.0));
	pfree(entries);
}

RtscanBuilt
rtscan_build_ranges(RtscanBuildRanges *ranges, Relation heap, Relation index, IndexInfo *info, bool reports)
{
	const RtscanSchema *schema = rtscan_schema(index);
	Builder		builder = {
		.ranges = ranges,
		.reports = reports,
		.room = 8,
		.writing = rtscan_writing(index, RTSCAN_SLOT_BUILD),
		.schema = schema,
		.spool = rtscan_spool_create(schema, ranges->memory),
		.tuple_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan build row", ALLOCSET_DEFAULT_SIZES),
	};
	uint32		nranges = (ranges->blocks + (uint64) ranges->range_blocks - 1) / ranges->range_blocks;

	builder.built.segments = palloc(builder.room * sizeof(RtscanBuiltSegment));
	report_phase(&builder, RTSCAN_PHASE_SCAN);
	while ((builder.range = pg_atomic_fetch_add_u32(&ranges->taken, 1)) < nranges)
		build_range(&builder, heap, index, info);
	write_rows(&builder);
	prewarm(&builder, index);
	return builder.built;
}
