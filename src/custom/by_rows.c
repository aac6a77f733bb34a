/*
 * by_rows.c
 *		Aggregates from the values of an index's rows, with GROUP BY or without.
 */
#include "custom/by_rows.h"

#include "custom/expressions.h"
#include "custom/shared.h"
#include "custom/slice.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

/* A slice brings far too much if groups take so many times the memory that they may; and how small slices get. */
#define LARGE_SLICE		2
#define MIN_SLICE		16

/* ---------------------------------------------------------------- begin and end */

static void
begin_aggregate(RtscanRowsAnswer *answer, int number, PlanState *parent, List *plan)
{
	RtscanRowAggregate *aggregate = &answer->aggregates[number];
	RtscanTransition *transition = &answer->transitions[number];
	List	   *oids = list_nth(plan, RTSCAN_ROW_OIDS);
	List	   *argument = list_nth(plan, RTSCAN_ROW_ARGUMENT);
	List	   *filter = list_nth(plan, RTSCAN_ROW_FILTER);

	rtscan_init_transition(transition, linitial_int(list_nth(plan, RTSCAN_ROW_KIND)),
						   linitial_oid(oids), lsecond_oid(oids), lthird_oid(oids));
	aggregate->column = -1;
	if (argument != NIL)
	{
		aggregate->column = rtscan_row_column(linitial(argument));
		aggregate->argument = rtscan_begin_expression(parent, linitial(argument));
		if (rtscan_adds_decimals(transition))
			aggregate->arithmetic = rtscan_arithmetic(linitial(argument), &answer->known);
	}
	aggregate->filter = rtscan_begin_quals(parent, filter);
}

/* Which columns the keys are functions of, and whether all of these have codes. */
static void
find_columns_of_keys(RtscanRowsAnswer *answer, List *keys, int nkeys)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) keys);
	int			column = -1;

	answer->columns_of_keys = columns;
	answer->cells.columns = palloc(Max(bms_num_members(columns), 1) * sizeof(int));
	answer->cells.strides = palloc(Max(bms_num_members(columns), 1) * sizeof(uint32));
	while ((column = bms_next_member(columns, column)) >= 0)
		answer->cells.columns[answer->cells.ncolumns++] = column;
	answer->keys_have_codes = bms_prev_member(columns, -1) < nkeys;
}

static TupleDesc
describe_keys(List *keys)
{
	TupleDesc	tupdesc = CreateTemplateTupleDesc(list_length(keys));

	for (int i = 0; i < list_length(keys); i++)
	{
		Node	   *key = list_nth(keys, i);

		TupleDescInitEntry(tupdesc, i + 1, NULL, exprType(key), exprTypmod(key), 0);
		TupleDescInitEntryCollation(tupdesc, i + 1, exprCollation(key));
	}
	return tupdesc;
}

static Oid *
oid_array(List *list)
{
	Oid		   *oids = palloc(Max(list_length(list), 1) * sizeof(Oid));

	for (int i = 0; i < list_length(list); i++)
		oids[i] = list_nth_oid(list, i);
	return oids;
}

static void
begin_groups(RtscanRowsAnswer *answer, PlanState *parent, Relation index, List *plan)
{
	List	   *keys = lsecond(list_nth(plan, RTSCAN_ROWS_EXPRESSIONS));

	answer->nkeys = list_length(keys);
	answer->keys = palloc(answer->nkeys * sizeof(RtscanExpression));
	answer->key_columns = palloc(answer->nkeys * sizeof(int));
	for (int i = 0; i < answer->nkeys; i++)
	{
		answer->keys[i] = rtscan_begin_expression(parent, list_nth(keys, i));
		answer->key_columns[i] = rtscan_row_column(list_nth(keys, i));
	}
	find_columns_of_keys(answer, keys, IndexRelationGetNumberOfKeyAttributes(index));
	answer->groups = rtscan_create_groups(parent, describe_keys(keys),
										  oid_array(list_nth(plan, RTSCAN_ROWS_OPERATORS)),
										  oid_array(list_nth(plan, RTSCAN_ROWS_COLLATIONS)),
										  answer->transitions, answer->naggregates,
										  list_nth_int(list_nth(plan, RTSCAN_ROWS_NUMBERS), RTSCAN_NUMBER_GROUPS));
}

RtscanRowsAnswer *
rtscan_begin_rows(PlanState *parent, Relation index, List *plan)
{
	RtscanRowsAnswer *answer = palloc0(sizeof(RtscanRowsAnswer));
	List	   *aggregates = list_nth(plan, RTSCAN_ROWS_AGGREGATES);
	List	   *quals = linitial(list_nth(plan, RTSCAN_ROWS_EXPRESSIONS));
	List	   *numbers = list_nth(plan, RTSCAN_ROWS_NUMBERS);

	answer->batch = rtscan_create_batch(index, parent->state);
	answer->quals = rtscan_begin_quals(parent, quals);
	answer->naggregates = list_length(aggregates);
	answer->aggregates = palloc0(Max(answer->naggregates, 1) * sizeof(RtscanRowAggregate));
	answer->transitions = palloc0(Max(answer->naggregates, 1) * sizeof(RtscanTransition));
	for (int i = 0; i < answer->naggregates; i++)
		begin_aggregate(answer, i, parent, list_nth(aggregates, i));
	answer->grouped = list_nth_int(numbers, RTSCAN_NUMBER_GROUPED) != 0;
	answer->partial = list_nth_int(numbers, RTSCAN_NUMBER_PARTIAL) != 0;
	if (answer->grouped)
		begin_groups(answer, parent, index, plan);
	answer->only_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan aggregates", ALLOCSET_SMALL_SIZES);
	answer->scan_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan rows", ALLOCSET_DEFAULT_SIZES);
	return answer;
}

void
rtscan_end_rows(RtscanRowsAnswer *answer)
{
	if (answer->groups)
		rtscan_destroy_groups(answer->groups);
	MemoryContextDelete(answer->only_context);
	MemoryContextDelete(answer->scan_context);
	rtscan_destroy_batch(answer->batch);
}

/* ---------------------------------------------------------------- the answer */

/* Open a cursor for all rows, or for this process's part of them. */
static RtscanCursor *
open_cursor(RtscanRowsAnswer *answer)
{
	const RtscanQuestion *question = answer->question;
	MemoryContext old;
	RtscanCursor *cursor;

	MemoryContextReset(answer->scan_context);
	old = MemoryContextSwitchTo(answer->scan_context);
	if (question->shared)
	{
		RtscanVisibility visibility;
		const RtscanImage *image = rtscan_use_shared(question->shared, question->heap, question->index,
													 question->snapshot, &visibility);

		cursor = rtscan_open_shared_cursor(&visibility, image, &question->shared->search, question->schema,
										   question->filter);
	}
	else
		cursor = rtscan_open_cursor(question->heap, question->index, question->snapshot, question->schema,
									question->filter);
	answer->segment = NULL;
	answer->slice = RTSCAN_CURSOR_ROWS;
	answer->next = answer->batch->n = 0;
	MemoryContextSwitchTo(old);
	return cursor;
}

static void
close_cursor(RtscanRowsAnswer *answer, RtscanCursor *cursor)
{
	rtscan_add_totals(answer->question, rtscan_cursor_search(cursor), rtscan_cursor_heap_fetches(cursor));
	rtscan_close_cursor(cursor);
	MemoryContextReset(answer->scan_context);
}

static bool
next_batch(RtscanRowsAnswer *answer, RtscanCursor *cursor)
{
	answer->next = 0;
	return rtscan_next_batch(answer->batch, cursor) > 0;
}

/*
 * Add rows until there are none left, or the groups take too much memory: then returns false.  Where
 * a slice of rows brings far too much, the next ones are smaller.
 */
static bool
add_rows(RtscanRowsAnswer *answer, RtscanCursor *cursor)
{
	while (answer->next < answer->batch->n || next_batch(answer, cursor))
	{
		rtscan_add_slice(answer);
		if (answer->grouped && rtscan_groups_are_full(answer->groups))
		{
			if (rtscan_groups_memory(answer->groups) > LARGE_SLICE * get_hash_memory_limit())
				answer->slice = Max(answer->slice / LARGE_SLICE, MIN_SLICE);
			return false;
		}
	}
	return true;
}

static void
finish_group(RtscanRowsAnswer *answer, const RtscanGroup *group, Datum *values, bool *isnull)
{
	for (int i = 0; i < answer->naggregates; i++)
		values[i] = (answer->partial ? rtscan_partial_result : rtscan_result)
			(&answer->transitions[i], &group->states[i], &isnull[i]);
}

/* The only result, of all rows. */
static bool
next_only_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	RtscanCursor *cursor;

	if (answer->done)
		return false;
	answer->done = true;
	MemoryContextReset(answer->only_context);
	answer->only = rtscan_make_group(answer->only_context, answer->naggregates);
	cursor = open_cursor(answer);
	(void) add_rows(answer, cursor);
	close_cursor(answer, cursor);
	finish_group(answer, answer->only, values, isnull);
	return true;
}

/*
 * Begin to return groups: all of them, or of partial results, where they do not all fit, what the
 * rows so far come to, as somebody else combines them.
 */
static bool
begin_part(RtscanRowsAnswer *answer)
{
	bool		complete;

	if (answer->cursor == NULL)
	{
		if (answer->done)
			return false;
		rtscan_reset_groups(answer->groups);
		answer->cursor = open_cursor(answer);
	}
	rtscan_forget_groups(answer->groups);
	answer->segment = NULL;
	while (!(complete = add_rows(answer, answer->cursor)) && !answer->partial)
	{
		rtscan_spill_groups(answer->groups);
		answer->segment = NULL;
	}
	if (complete)
	{
		close_cursor(answer, answer->cursor);
		answer->cursor = NULL;
		answer->done = true;
	}
	rtscan_begin_groups(answer->groups);
	answer->question->totals->spilled_groups += rtscan_spilled_groups(answer->groups);
	return true;
}

static bool
next_group_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	for (;;)
	{
		RtscanGroup *group = answer->in_part ? rtscan_next_group(answer->groups, values, isnull) : NULL;

		if (group)
		{
			finish_group(answer, group, values + answer->nkeys, isnull + answer->nkeys);
			return true;
		}
		answer->in_part = begin_part(answer);
		if (!answer->in_part)
			return false;
	}
}

void
rtscan_stop_rows(RtscanRowsAnswer *answer)
{
	if (answer->cursor)
		close_cursor(answer, answer->cursor);
	answer->cursor = NULL;
}

void
rtscan_start_rows(RtscanRowsAnswer *answer, const RtscanQuestion *question)
{
	rtscan_stop_rows(answer);
	answer->question = question;
	answer->done = false;
	answer->in_part = false;
}

bool
rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	return answer->grouped ? next_group_result(answer, values, isnull) : next_only_result(answer, values, isnull);
}
