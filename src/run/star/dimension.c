/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension.c
 *		Loads the rows of a star's dimension from a plan below the node.
 */
#include "run/star/dimension.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- begin and end */

static RtscanColumn
describe_column(Form_pg_attribute attribute)
{
	RtscanColumn column = {
		.collation = attribute->attcollation,
		.typlen = attribute->attlen,
		.typbyval = attribute->attbyval,
		.typalign = attribute->attalign,
	};
	Oid			type = getBaseType(attribute->atttypid);

	column.numeric = type == NUMERICOID;
	column.exact = rtscan_exact_kind(type, column.typlen, column.typbyval, &column.exact_sorts);
	return column;
}

static void
find_compare_function(const RtscanPlanDimension *plan, Oid lefttype, FmgrInfo *compare)
{
	Oid			function = get_opfamily_proc(plan->family, lefttype, plan->subtype, RTSCAN_COMPARE_PROC);

	if (!OidIsValid(function))
		elog(ERROR, "missing support function %d(%u,%u) in operator family %u", RTSCAN_COMPARE_PROC, lefttype,
			 plan->subtype, plan->family);
	fmgr_info(function, compare);
}

/*
 * Return the kind of the 64-bit keys of the index's column.  But return RTSCAN_KEY_NONE if a key of the dimension and
 * an equal value of the column may have different 64-bit keys.
 */
static RtscanKeyKind
find_column_kind(const RtscanDimension *dimension)
{
	const RtscanPlanDimension *plan = dimension->plan;

	if (plan->lefttype != plan->subtype && rtscan_key_kind_beside(dimension->compare_column.fn_oid) == RTSCAN_KEY_NONE)
		return RTSCAN_KEY_NONE;
	return rtscan_key_kind(get_opfamily_proc(plan->family, plan->lefttype, plan->lefttype, RTSCAN_COMPARE_PROC));
}

static void
begin_key(RtscanDimension *dimension, Form_pg_attribute attribute)
{
	const RtscanPlanDimension *plan = dimension->plan;

	dimension->key_type = describe_column(attribute);
	find_compare_function(plan, plan->subtype, &dimension->compare);
	find_compare_function(plan, plan->lefttype, &dimension->compare_column);
	dimension->key_type.key_kind = rtscan_key_kind(dimension->compare.fn_oid);
	dimension->column_kind = find_column_kind(dimension);
}

/*
 * Create a dimension.  Its key column, or its key columns if its keys are pairs, begin at *column of the plan's
 * result.  Move *column behind the dimension's key columns.
 */
static RtscanDimension *
begin_keys(const RtscanPlanDimension *plan, TupleDesc tupdesc, MemoryContext context, MemoryContext values, int *column)
{
	RtscanDimension *dimension = palloc0(sizeof(RtscanDimension));

	dimension->plan = plan;
	dimension->context = context;
	dimension->values = values;
	if (plan->parts[0] == NULL)
	{
		begin_key(dimension, TupleDescAttr(tupdesc, (*column)++));
		return dimension;
	}
	dimension->key_type = (RtscanColumn) {.typlen = sizeof(uint64), .typbyval = true, .key_kind = RTSCAN_KEY_UINT64};
	for (int i = 0; i < 2; i++)
	{
		dimension->parts[i] = begin_keys(plan->parts[i], tupdesc, context, values, column);
		dimension->parts[i]->asks_rows = true;
	}
	return dimension;
}

RtscanDimension *
rtscan_begin_dimension(const RtscanPlanDimension *plan, PlanState *state)
{
	TupleDesc	tupdesc = ExecGetResultType(state);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan dimension", ALLOCSET_DEFAULT_SIZES);
	MemoryContext values = AllocSetContextCreate(CurrentMemoryContext, "rtscan dimension's values",
												 ALLOCSET_DEFAULT_SIZES);
	int			column = 0;
	RtscanDimension *dimension = begin_keys(plan, tupdesc, context, values, &column);

	dimension->state = state;
	dimension->asks_rows = plan->attributes > 0 || plan->repeats;
	dimension->nkeys = column;
	dimension->row_bytes = column * RTSCAN_DIMENSION_KEY_BYTES + plan->attributes * RTSCAN_DIMENSION_ATTRIBUTE_BYTES;
	dimension->attributes = palloc0(Max(plan->attributes, 1) * sizeof(RtscanAttribute));
	for (int i = 0; i < plan->attributes; i++)
		dimension->attributes[i].type = describe_column(TupleDescAttr(tupdesc, column + i));
	return dimension;
}

void
rtscan_collect_keys(RtscanDimension *dimension, RtscanDimension **keys, int *n)
{
	if (dimension->parts[0] == NULL)
	{
		keys[(*n)++] = dimension;
		return;
	}
	for (int i = 0; i < 2; i++)
		rtscan_collect_keys(dimension->parts[i], keys, n);
}

static void
end_ranges(RtscanDimension *dimension)
{
	if (dimension->ranges)
		rtscan_end_ranges(dimension->ranges);
	dimension->ranges = NULL;
}

void
rtscan_end_dimension(RtscanDimension *dimension)
{
	end_ranges(dimension);
	ExecEndNode(dimension->state);
}

/* ---------------------------------------------------------------- rows */

static bool
has_null_key(const RtscanDimension *dimension, const TupleTableSlot *slot)
{
	for (int i = 0; i < dimension->nkeys; i++)
		if (slot->tts_isnull[i])
			return true;
	return false;
}

/* Return the plan's next row.  Use the query's memory context: the plan's nodes may keep what they allocate. */
static TupleTableSlot *
next_row(RtscanDimension *dimension)
{
	MemoryContext old = MemoryContextSwitchTo(dimension->state->state->es_query_cxt);
	TupleTableSlot *slot;

	CHECK_FOR_INTERRUPTS();
	slot = ExecProcNode(dimension->state);
	MemoryContextSwitchTo(old);
	return slot;
}

/* Return the plan's next row whose keys are not NULL, or NULL at the end. */
static TupleTableSlot *
next_key(RtscanDimension *dimension)
{
	TupleTableSlot *slot;

	do
	{
		slot = next_row(dimension);
		if (TupIsNull(slot))
			return NULL;
		slot_getallattrs(slot);
	} while (has_null_key(dimension, slot));
	return slot;
}

/* Prepare to execute the plan, for the first time or again. */
static void
begin_plan(RtscanDimension *dimension)
{
	MemoryContext old = MemoryContextSwitchTo(dimension->state->state->es_query_cxt);

	if (dimension->executed)
		ExecReScan(dimension->state);
	dimension->executed = true;
	MemoryContextSwitchTo(old);
}

/* Add the row of NULLs, for fact rows without match. */
static void
add_null_row(RtscanDimension *dimension)
{
	for (int i = 0; i < dimension->plan->attributes; i++)
	{
		dimension->attributes[i].values[dimension->nrows] = (Datum) 0;
		dimension->attributes[i].isnull[dimension->nrows] = true;
	}
}

/* Reset all pointers to rows: their memory has been freed. */
static void
clear_rows(RtscanDimension *dimension)
{
	dimension->loaded = false;
	dimension->n = dimension->nrows = dimension->capacity = 0;
	dimension->keys = NULL;
	dimension->first_rows = NULL;
	dimension->encoded = NULL;
	dimension->table = NULL;
	dimension->by_distance = NULL;
	dimension->starts = NULL;
	for (int i = 0; i < dimension->plan->attributes; i++)
		dimension->attributes[i] = (RtscanAttribute) {.type = dimension->attributes[i].type};
	for (int i = 0; i < 2 && dimension->parts[0]; i++)
		clear_rows(dimension->parts[i]);
}

/* Free the rows in memory. */
static void
forget_rows(RtscanDimension *dimension)
{
	MemoryContextReset(dimension->context);
	MemoryContextReset(dimension->values);
	clear_rows(dimension);
}

/* Free the rows in memory and in ranges. */
static void
forget_all(RtscanDimension *dimension)
{
	forget_rows(dimension);
	end_ranges(dimension);
}

static void
count_load(RtscanDimension *dimension)
{
	dimension->loads++;
	for (int i = 0; i < 2 && dimension->parts[0]; i++)
		count_load(dimension->parts[i]);
}

/* Store the key columns of a row in values[], from *column on.  Move *column behind the key columns. */
static void
put_keys(const RtscanDimension *dimension, uint32 row, Datum *values, int *column)
{
	uint64		pair = DatumGetUInt64(dimension->keys[row]);

	if (dimension->parts[0] == NULL)
	{
		values[(*column)++] = dimension->keys[row];
		return;
	}
	put_keys(dimension->parts[0], pair >> 32, values, column);
	put_keys(dimension->parts[1], (uint32) pair, values, column);
}

/* Add the rows in memory to the ranges. */
static void
add_rows_to_ranges(const RtscanDimension *dimension, TupleDesc rows)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(rows, &TTSOpsVirtual);

	for (uint32 row = 0; row < dimension->n; row++)
	{
		int			column = 0;

		ExecClearTuple(slot);
		put_keys(dimension, row, slot->tts_values, &column);
		memset(slot->tts_isnull, false, column * sizeof(bool));
		for (int i = 0; i < dimension->plan->attributes; i++, column++)
		{
			slot->tts_values[column] = dimension->attributes[i].values[row];
			slot->tts_isnull[column] = dimension->attributes[i].isnull[row];
		}
		rtscan_add_to_ranges(dimension->ranges, ExecStoreVirtualTuple(slot));
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Move all rows to ranges: the rows in memory, the row in "slot", for which there is no memory, and the plan's
 * remaining rows.
 */
static void
make_ranges(RtscanDimension *dimension, TupleTableSlot *slot)
{
	TupleDesc	rows = ExecGetResultType(dimension->state);

	dimension->ranges = rtscan_create_ranges(dimension->plan, rows, dimension->state->state->es_query_cxt);
	add_rows_to_ranges(dimension, rows);
	forget_rows(dimension);
	do
		rtscan_add_to_ranges(dimension->ranges, slot);
	while ((slot = next_key(dimension)) != NULL);
	rtscan_sort_ranges(dimension->ranges);
}

/* Read the plan's rows as long as there is memory.  Return the first row that does not fit, or NULL if all rows fit. */
static TupleTableSlot *
execute_plan(RtscanDimension *dimension)
{
	TupleTableSlot *slot;

	rtscan_take_rows_at_hand(dimension);
	while ((slot = next_key(dimension)) != NULL)
	{
		if (rtscan_dimension_is_full(dimension))
			return slot;
		rtscan_take_row(dimension, slot);
	}
	return NULL;
}

/* Read the rows of the current range, at least one.  A range ends when memory is full, but never between equal keys. */
static void
read_range(RtscanDimension *dimension)
{
	TupleTableSlot *slot;

	forget_rows(dimension);
	rtscan_make_room_for_rows(dimension, dimension->state->plan->plan_rows);
	while ((slot = rtscan_next_of_ranges(dimension->ranges)) != NULL)
	{
		if (dimension->n > 0 && rtscan_dimension_takes_more(dimension, 1) && !rtscan_has_last_key(dimension->ranges))
		{
			rtscan_end_range_before(dimension->ranges, slot);
			break;
		}
		rtscan_take_row(dimension, slot);
	}
}

/* Sort and count the rows in memory, when all of them have been added. */
static void
finish_rows(RtscanDimension *dimension)
{
	rtscan_sort_rows(dimension, NULL);
	add_null_row(dimension);
	count_load(dimension);
	dimension->all += dimension->n;
	dimension->loaded = true;
}

static void
read_first_range(RtscanDimension *dimension)
{
	rtscan_begin_first_range(dimension->ranges);
	read_range(dimension);
}

/* Read all rows of the plan.  If they are too many, move them to ranges, and read the first range. */
static void
read_plan(RtscanDimension *dimension)
{
	TupleTableSlot *slot;

	/* An error may have interrupted an earlier execution: begin from scratch. */
	forget_all(dimension);
	begin_plan(dimension);
	rtscan_make_room_for_rows(dimension, dimension->state->plan->plan_rows);
	slot = execute_plan(dimension);
	if (slot == NULL)
		return;
	make_ranges(dimension, slot);
	read_first_range(dimension);
}

void
rtscan_load_dimension(RtscanDimension *dimension)
{
	MemoryContext old;

	dimension->most_bytes = get_hash_memory_limit();
	if (dimension->loaded && dimension->range == 0)
		return;
	old = MemoryContextSwitchTo(dimension->context);
	if (dimension->loaded)
		read_first_range(dimension);
	else
		read_plan(dimension);
	dimension->all = 0;
	finish_rows(dimension);
	dimension->range = 0;
	MemoryContextSwitchTo(old);
}

bool
rtscan_load_next_range(RtscanDimension *dimension)
{
	MemoryContext old;

	if (!dimension->loaded || dimension->ranges == NULL || !rtscan_begin_next_range(dimension->ranges))
		return false;
	old = MemoryContextSwitchTo(dimension->context);
	read_range(dimension);
	finish_rows(dimension);
	dimension->range++;
	MemoryContextSwitchTo(old);
	return true;
}

void
rtscan_rescan_dimension(RtscanDimension *dimension, const Bitmapset *changed)
{
	if (changed)
		UpdateChangedParamSet(dimension->state, unconstify(Bitmapset *, changed));
	if (dimension->state->chgParam)
		forget_all(dimension);
}
