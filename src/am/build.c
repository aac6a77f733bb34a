/* SPDX-License-Identifier: PostgreSQL */
/*
 * build.c
 *		Build an index.
 */
#include "am/am.h"

#include "am/build.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "utils/backend_progress.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

char *
rtscan_build_phase_name(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case RTSCAN_PHASE_SCAN:
			return "scanning table";
		case RTSCAN_PHASE_ENCODE:
			return "encoding segment";
		default:
			return NULL;
	}
}

/*
 * Raise an error for a pattern operator class with a nondeterministic collation, as btree does.  Pattern classes
 * compare bytes, but their equality operator is that of the collation.  Both agree only if the collation is
 * deterministic.
 */
static void
check_collations(Relation index, const RtscanSchema *schema)
{
	for (int i = 0; i < schema->nkeys; i++)
	{
		const RtscanColumn *column = &schema->columns[i];

		if ((column->compare->fn_oid == F_BTTEXT_PATTERN_CMP ||
			 column->compare->fn_oid == F_BTBPCHAR_PATTERN_CMP) &&
			OidIsValid(column->collation) && !get_collation_isdeterministic(column->collation))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("nondeterministic collations are not supported for pattern operator classes"),
					 errdetail("Column %d of index \"%s\" has collation \"%s\".", i + 1,
							   RelationGetRelationName(index), get_collation_name(column->collation)),
					 errhint("Use the type's default operator class.")));
	}
}

static RtscanBuilt
build_alone(Relation heap, Relation index, IndexInfo *info)
{
	RtscanBuildRanges ranges;

	rtscan_cut_ranges(&ranges, heap, 1);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, ranges.blocks);
	return rtscan_build_ranges(&ranges, heap, index, info, true);
}

/*
 * qsort() comparator: order segments as their rows are in the heap.  The segments of one range are built one after
 * another, with ascending ids.
 */
static int
compare_segments(const void *a, const void *b)
{
	const RtscanBuiltSegment *left = a,
			   *right = b;

	if (left->range != right->range)
		return left->range < right->range ? -1 : 1;
	return left->segment.entry.id < right->segment.entry.id ? -1 : 1;
}

/* RtscanChange: add the segments of the build. */
static bool
add_segments(Relation index, RtscanImage **image, void *arg)
{
	const RtscanBuilt *built = (const RtscanBuilt *) arg;

	for (uint32 i = 0; i < built->nsegments; i++)
		rtscan_image_add_segment(image, &built->segments[i].segment);
	return true;
}

static RtscanBuilt
build_segments(Relation heap, Relation index, IndexInfo *info)
{
	int			workers = rtscan_build_workers(heap, index, info);
	RtscanBuilt built;

	if (RelationGetNumberOfBlocks(heap) > 0)
		rtscan_prepare_writing(index);
	if (workers == 0 || !rtscan_build_in_parallel(heap, index, info, workers, &built))
		built = build_alone(heap, index, info);
	if (built.nsegments > 0)
	{
		qsort(built.segments, built.nsegments, sizeof(RtscanBuiltSegment), compare_segments);
		rtscan_switch(index, add_segments, &built);
	}
	return built;
}

IndexBuildResult *
rtscan_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	MemoryContext context,
				old;
	RtscanBuilt built;

	if (info->ii_ExclusionOps)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"rtscan\" does not support exclusion constraints")));
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	rtscan_create_metapage(index, MAIN_FORKNUM);
	check_collations(index, rtscan_schema(index));
	rtscan_tell_of_fallbacks(index);
	/* free the memory of each build: one statement may build many indexes, for example those of partitions */
	context = AllocSetContextCreate(CurrentMemoryContext, "rtscan build", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	built = build_segments(heap, index, info);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	info->ii_BrokenHotChain |= built.broken_hot_chain;
	result->heap_tuples = built.heap_rows;
	result->index_tuples = built.rows;
	return result;
}

void
rtscan_build_empty(Relation index)
{
	rtscan_create_metapage(index, INIT_FORKNUM);
}
