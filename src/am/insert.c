/* SPDX-License-Identifier: PostgreSQL */
/*
 * insert.c
 *		Insert a row: append it to the pending list, at once.
 *
 * The row must not be appended later: VACUUM would miss a row that is added to the index after its tuple has died,
 * and the row would later point to another tuple with the same TID.
 */
#include "am/am.h"

#include "maintain/back_pressure.h"
#include "row/schema.h"
#include "settings.h"
#include "storage/pending.h"
#include "utils/memutils.h"

/* State shared by the insertions of a statement; allocated in IndexInfo.ii_Context. */
typedef struct InsertState
{
	RtscanSchema *schema;
	MemoryContext context;		/* memory context of one insertion */
} InsertState;

static InsertState *
get_state(Relation index, IndexInfo *info)
{
	InsertState *state = (InsertState *) info->ii_AmCache;

	if (state == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(info->ii_Context);

		state = palloc(sizeof(InsertState));
		state->schema = rtscan_schema(index);
		state->context = AllocSetContextCreate(info->ii_Context, "rtscan insert",
											   ALLOCSET_DEFAULT_SIZES);
		info->ii_AmCache = state;
		MemoryContextSwitchTo(old);
	}
	return state;
}

bool
rtscan_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			  Relation heap, IndexUniqueCheck check_unique,
			  bool index_unchanged, IndexInfo *info)
{
	InsertState *state = get_state(index, info);
	MemoryContext old = MemoryContextSwitchTo(state->context);
	int64		list_weight;

	rtscan_check_comparable(state->schema, values, isnull);
	list_weight = rtscan_pending_append(index, rtscan_form_tuple(index, state->schema, values, isnull, tid));
	if (list_weight >= rtscan_pending_list_limit)
		rtscan_apply_back_pressure(index, list_weight);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
	return false;
}
