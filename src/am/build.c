/*
 * build.c
 *		Build an index.
 */
#include "am/am.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "row/schema.h"
#include "search/executor.h"
#include "segment/encode.h"
#include "segment/rows.h"
#include "storage/metapage.h"
#include "utils/backend_progress.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Subphases in pg_stat_progress_create_index; 1 is PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE. */
#define PHASE_SCAN		2
#define PHASE_ENCODE	3

/* Rows on their way from the heap into segments. */
typedef struct BuildState
{
	Relation	index;
	RtscanWriting writing;
	RtscanSchema *schema;
	RtscanRows *rows;
	uint32		limit;			/* rows a segment */
	Size		value_limit;	/* bytes of values passed by reference a segment */
	BlockNumber block;			/* of the newest rows, */
	uint32		block_start;	/* which begin here */
	double		total;
	int			nentries;
	RtscanEntry *entries;
	MemoryContext tuple_context;
} BuildState;

char *
rtscan_build_phase_name(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PHASE_SCAN:
			return "scanning table";
		case PHASE_ENCODE:
			return "encoding segment";
		default:
			return NULL;
	}
}

/* Make the rows at hand a segment. */
static void
write_rows(BuildState *state)
{
	if (state->rows->rows == 0)
		return;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_ENCODE);
	if (state->nentries == 0)
		rtscan_prepare_writing(state->index);
	state->entries = state->nentries == 0 ? palloc(sizeof(RtscanEntry))
		: repalloc(state->entries, (state->nentries + 1) * sizeof(RtscanEntry));
	state->entries[state->nentries++] = rtscan_write_segment(&state->writing, state->rows, 0);
	state->total += state->rows->rows;
	rtscan_rows_reset(state->rows);
	state->block_start = 0;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->total);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_SCAN);
}

/* Has the segment as many rows as it may have, if those of one more heap page are coming? */
static bool
is_full(const BuildState *state)
{
	return state->rows->rows + MaxHeapTuplesPerPage > state->limit ||
		rtscan_rows_value_memory(state->rows) > state->value_limit;
}

/*
 * The rows of a new heap block begin.  Those of the one before are complete: put them in
 * order.  Segments end between blocks where they can.
 */
static void
begin_block(BuildState *state, BlockNumber block)
{
	rtscan_rows_sort_tids(state->rows, state->block_start);
	if (is_full(state))
		write_rows(state);
	state->block = block;
	state->block_start = state->rows->rows;
}

/* IndexBuildCallback */
static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	BuildState *state = (BuildState *) arg;
	Datum		stored[INDEX_MAX_KEYS];
	MemoryContext old;

	if (ItemPointerGetBlockNumber(tid) != state->block)
		begin_block(state, ItemPointerGetBlockNumber(tid));
	else if (state->rows->rows == Max(state->limit, MaxHeapTuplesPerPage))
	{
		rtscan_rows_sort_tids(state->rows, state->block_start);
		write_rows(state);
	}

	old = MemoryContextSwitchTo(state->tuple_context);
	rtscan_check_comparable(state->schema, values, isnull);
	if (!state->schema->plain)
	{
		/* the form in which a pending list would hand the values on: detoasted, compressed */
		IndexTuple	tuple = rtscan_form_tuple(index, state->schema, values, isnull, tid);

		index_deform_tuple(tuple, state->schema->tupdesc, stored, isnull);
		values = stored;
	}
	rtscan_rows_add(state->rows, tid, values, isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->tuple_context);
}

/* RtscanChange: add the segments of the build. */
static bool
add_segments(Relation index, RtscanImage **image, void *arg)
{
	BuildState *state = (BuildState *) arg;

	for (int i = 0; i < state->nentries; i++)
		rtscan_image_add(image, &state->entries[i]);
	rtscan_end_writing(&state->writing, *image);
	return true;
}

/*
 * The pattern operator classes compare bytes, but their equality operator is that of the
 * collation, as for btree; and as for btree that must be the same thing.
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

IndexBuildResult *
rtscan_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	BuildState	state = {
		.index = index,
		.writing = rtscan_writing(index, RTSCAN_SLOT_FLUSH),
		.block = InvalidBlockNumber,
	};
	int			memory = maintenance_work_mem;

	if (info->ii_ExclusionOps)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"rtscan\" does not support exclusion constraints")));
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	rtscan_create_metapage(index, MAIN_FORKNUM);
	state.schema = rtscan_schema(index);
	check_collations(index, state.schema);
	state.rows = rtscan_rows_create(state.schema);
	if (!state.schema->plain)
		memory /= 2;
	state.limit = rtscan_rows_limit(state.schema, 0, memory);
	state.value_limit = (Size) memory * 1024;
	state.tuple_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan build row",
												ALLOCSET_DEFAULT_SIZES);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, false, true, add_row, &state, NULL);
	rtscan_rows_sort_tids(state.rows, state.block_start);
	write_rows(&state);
	if (state.nentries > 0)
		rtscan_switch(index, add_segments, &state);
	rtscan_prewarm_built(index);
	result->index_tuples = state.total;
	return result;
}

void
rtscan_build_empty(Relation index)
{
	rtscan_create_metapage(index, INIT_FORKNUM);
}
