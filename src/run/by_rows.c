/*
 * by_rows.c
 *		Aggregates from the values of an index's rows, with GROUP BY or without.
 */
#include "run/by_rows.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "run/by_chunks.h"
#include "run/expressions.h"
#include "run/quantiles.h"
#include "run/shared.h"
#include "run/slice.h"
#include "utils/memutils.h"

/* A slice brings far too much if groups take so many times the memory that they may; and how small slices get. */
#define LARGE_SLICE		2
#define MIN_SLICE		16

/* ---------------------------------------------------------------- the task */

static void
prepare_aggregate(RtscanRowsTask *task, int number, PlanState *parent, const RtscanPlanAggregate *plan)
{
	RtscanRowAggregate *aggregate = &task->aggregates[number];

	rtscan_init_transition(&task->transitions[number], plan->kind, plan->type, plan->fold, plan->collation);
	if (plan->collected.purpose != RTSCAN_NO_COLLECTION)
		rtscan_collect(&task->transitions[number], &plan->collected);
	aggregate->fractions = ExecInitExpr(plan->fractions, parent);
	aggregate->narguments = list_length(plan->arguments);
	for (int i = 0; i < aggregate->narguments; i++)
	{
		Expr	   *argument = list_nth(plan->arguments, i);

		aggregate->columns[i] = rtscan_row_column(argument);
		aggregate->arguments[i] = rtscan_begin_expression(parent, argument);
	}
	aggregate->columns_of_arguments = rtscan_row_columns((Node *) plan->arguments);
	if (plan->row_filter)
		aggregate->filter = rtscan_begin_quals(parent, list_make1(plan->row_filter));
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
	TupleDescFinalize(tupdesc);
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
prepare_keys(RtscanRowsTask *task, PlanState *parent, const RtscanNodePlan *plan)
{
	List	   *keys = plan->row_keys;

	task->nkeys = list_length(keys);
	task->keys = palloc(task->nkeys * sizeof(RtscanExpression));
	task->key_columns = palloc(task->nkeys * sizeof(int));
	for (int i = 0; i < task->nkeys; i++)
	{
		task->keys[i] = rtscan_begin_expression(parent, list_nth(keys, i));
		task->key_columns[i] = rtscan_row_column(list_nth(keys, i));
		task->computes_keys |= task->key_columns[i] < 0;
	}
	task->columns_of_keys = rtscan_row_columns((Node *) keys);
	task->key_types = describe_keys(keys);
	task->operators = oid_array(plan->operators);
	task->collations = oid_array(plan->collations);
	task->expected_groups = plan->groups;
}

RtscanRowsTask *
rtscan_prepare_rows(PlanState *parent, const RtscanNodePlan *plan)
{
	RtscanRowsTask *task = palloc0(sizeof(RtscanRowsTask));

	task->estate = parent->state;
	task->quals = rtscan_begin_quals(parent, plan->row_quals);
	task->naggregates = list_length(plan->aggregates);
	task->aggregates = palloc0(Max(task->naggregates, 1) * sizeof(RtscanRowAggregate));
	task->transitions = palloc0(Max(task->naggregates, 1) * sizeof(RtscanTransition));
	for (int i = 0; i < task->naggregates; i++)
		prepare_aggregate(task, i, parent, list_nth(plan->aggregates, i));
	task->grouped = plan->grouped;
	task->partial = plan->partial;
	if (task->grouped)
		prepare_keys(task, parent, plan);
	return task;
}

/* ---------------------------------------------------------------- begin and end */

static void
begin_arithmetic(RtscanRowsAnswer *answer)
{
	const RtscanRowsTask *task = answer->task;

	answer->quals = rtscan_make_row_condition(&task->quals, &answer->known);
	answer->arithmetic = palloc0(Max(task->naggregates, 1) * sizeof(*answer->arithmetic));
	answer->filters = palloc0(Max(task->naggregates, 1) * sizeof(RtscanRowCondition));
	for (int i = 0; i < task->naggregates; i++)
	{
		const RtscanRowAggregate *aggregate = &task->aggregates[i];

		answer->filters[i] = rtscan_make_row_condition(&aggregate->filter, &answer->known);
		for (int j = 0; j < aggregate->narguments && rtscan_takes_vectors(&task->transitions[i]); j++)
			answer->arithmetic[i][j] = rtscan_arithmetic(aggregate->arguments[j].row_expression, &answer->known);
	}
}

/* The keys as integers: NIL if some are none, or all are columns, whose own integers do. */
static List *
key_expressions(RtscanRowsAnswer *answer)
{
	const RtscanRowsTask *task = answer->task;
	List	   *expressions = NIL;

	for (int i = 0; i < task->nkeys && task->computes_keys; i++)
	{
		RtscanArithmetic *arithmetic = rtscan_arithmetic(task->keys[i].row_expression, &answer->known);

		if (arithmetic == NULL || !rtscan_gives_integers(arithmetic))
			return NIL;
		expressions = lappend(expressions, arithmetic);
	}
	return expressions;
}

/* For the aggregates that are added by cell; or NULL. */
static RtscanCells *
create_cells(RtscanRowsAnswer *answer)
{
	const RtscanRowsTask *task = answer->task;
	RtscanCells *cells = rtscan_create_cells(task->transitions, task->naggregates, rtscan_groups_context(answer->groups));

	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].narguments <= 1)
			rtscan_let_cells_take(cells, i, task->aggregates[i].filter.state != NULL);
	return rtscan_cells_are_of_use(cells) ? cells : NULL;
}

/* Conditions on rows are the CPU's, whatever executor finds the rows. */
static void
leave_conditions_to_cpu(const RtscanRowsTask *task)
{
	if (task->quals.state)
		rtscan_leave_to_cpu(RTSCAN_ROW_FILTER_IS_CPUS);
	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].filter.state)
			rtscan_leave_to_cpu(RTSCAN_FILTER_IS_CPUS);
}

RtscanRowsAnswer *
rtscan_begin_rows(const RtscanRowsTask *task, const RtscanQuestion *question)
{
	RtscanRowsAnswer *answer = palloc(sizeof(RtscanRowsAnswer));

	memset(answer, 0, offsetof(RtscanRowsAnswer, rows));
	answer->task = task;
	answer->question = question;
	answer->context = CurrentMemoryContext;
	leave_conditions_to_cpu(task);
	answer->batch = rtscan_create_batch(question->index, task->estate);
	begin_arithmetic(answer);
	if (task->grouped)
	{
		answer->groups = rtscan_create_groups(task->key_types, task->operators, task->collations, task->transitions,
											  task->naggregates, task->expected_groups);
		answer->row_groups = rtscan_create_row_groups(task->columns_of_keys, key_expressions(answer),
													   rtscan_find_group_of_row, answer);
		rtscan_let_row_groups_use(answer->row_groups, create_cells(answer), create_cells(answer));
	}
	else
	{
		answer->only = rtscan_make_group(answer->context, task->naggregates);
		rtscan_let_sort(task->transitions, task->naggregates, true);
	}
	return answer;
}

/* ---------------------------------------------------------------- the answer */

/* Are all arguments calculated?  Others' values may be large: those of rows that nobody wants are better left alone. */
static bool
calculates_all(const RtscanRowsAnswer *answer)
{
	for (int i = 0; i < answer->task->naggregates; i++)
		for (int j = 0; j < answer->task->aggregates[i].narguments; j++)
			if (answer->arithmetic[i][j] == NULL)
				return false;
	return true;
}

/* Open a cursor for all rows, or for this process's part of them. */
static RtscanCursor *
open_cursor(RtscanRowsAnswer *answer)
{
	const RtscanQuestion *question = answer->question;
	MemoryContext old = MemoryContextSwitchTo(answer->context);
	RtscanCursor *cursor;

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
	if (calculates_all(answer))
		rtscan_cursor_take_stretches(cursor);
	if (rtscan_takes_chunks(answer))
		rtscan_cursor_offer_chunks(cursor, rtscan_add_chunk, answer);
	answer->slice = RTSCAN_CURSOR_ROWS;
	MemoryContextSwitchTo(old);
	return cursor;
}

static void
close_cursor(RtscanRowsAnswer *answer)
{
	rtscan_add_totals(answer->question, rtscan_cursor_search(answer->cursor), rtscan_cursor_heap_fetches(answer->cursor), 0,
					  answer->batch->single_rows);
	answer->batch->single_rows = 0;
	rtscan_close_cursor(answer->cursor);
	answer->cursor = NULL;
}

static bool
fails(RtscanArithmetic *arithmetic, RtscanBatch *batch)
{
	return arithmetic && rtscan_calculate(arithmetic, batch) == NULL;
}

/* Is there something that cannot be calculated of all rows of the batch? */
static bool
any_fails(RtscanRowsAnswer *answer)
{
	bool		failed = fails(answer->quals.arithmetic, answer->batch);

	for (int i = 0; i < answer->task->naggregates && !failed; i++)
	{
		failed = fails(answer->filters[i].arithmetic, answer->batch);
		for (int j = 0; j < answer->task->aggregates[i].narguments && !failed; j++)
			failed = fails(answer->arithmetic[i][j], answer->batch);
	}
	return failed;
}

/* Rows that nobody wants shall not be why others are evaluated one by one. */
static bool
next_batch(RtscanRowsAnswer *answer)
{
	RtscanBatch *batch = answer->batch;

	answer->next = 0;
	while (rtscan_next_batch(batch, answer->cursor) > 0)
	{
		if (batch->wanted && any_fails(answer))
			rtscan_narrow_batch(batch);
		if (batch->n > 0)
			return true;
	}
	return false;
}

/* Do groups take too much memory?  Where a slice of rows brings far too much, the next ones are smaller. */
static bool
groups_are_full(RtscanRowsAnswer *answer)
{
	if (!answer->task->grouped || !rtscan_groups_are_full(answer->groups))
		return false;
	if (rtscan_groups_memory(answer->groups) > LARGE_SLICE * get_hash_memory_limit())
		answer->slice = Max(answer->slice / LARGE_SLICE, MIN_SLICE);
	return true;
}

/* Add rows until there are none left, or the groups take too much memory: then returns false. */
static bool
add_rows(RtscanRowsAnswer *answer)
{
	bool		full = false;

	while (!full && (answer->next < answer->batch->n || next_batch(answer)))
	{
		rtscan_add_slice(answer);
		full = groups_are_full(answer);
	}
	if (answer->task->grouped)
		rtscan_fold_row_groups(answer->row_groups);
	return !full;
}

static Datum
finish_collected(RtscanRowsAnswer *answer, int number, RtscanState *state, bool *isnull)
{
	const RtscanTransition *transition = &answer->task->transitions[number];
	ExprState  *expression = answer->task->aggregates[number].fractions;
	NullableDatum fractions = {(Datum) 0, true};
	Datum		result;

	ResetExprContext(answer->batch->context);
	if (expression)
		fractions.value = ExecEvalExprSwitchContext(expression, answer->batch->context, &fractions.isnull);
	result = rtscan_collected_result(transition, state, fractions, isnull);
	answer->question->totals->spilled_values += transition->collecting->spilled;
	transition->collecting->spilled = 0;
	return result;
}

static void
finish_group(RtscanRowsAnswer *answer, RtscanState *group, Datum *values, bool *isnull)
{
	const RtscanRowsTask *task = answer->task;

	for (int i = 0; i < task->naggregates; i++)
		if (task->transitions[i].collecting)
			values[i] = finish_collected(answer, i, &group[i], &isnull[i]);
		else
			values[i] = (task->partial ? rtscan_partial_result : rtscan_result)
				(&task->transitions[i], &group[i], &isnull[i]);
}

/* The only result, of all rows. */
static bool
next_only_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	if (answer->done)
		return false;
	answer->done = true;
	answer->cursor = open_cursor(answer);
	(void) add_rows(answer);
	close_cursor(answer);
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

	if (answer->done)
		return false;
	if (answer->cursor == NULL)
		answer->cursor = open_cursor(answer);
	rtscan_forget_groups(answer->groups);
	rtscan_forget_row_groups(answer->row_groups);
	while (!(complete = add_rows(answer)) && !answer->task->partial)
	{
		rtscan_spill_groups(answer->groups);
		rtscan_forget_row_groups(answer->row_groups);
	}
	if (complete)
	{
		close_cursor(answer);
		answer->done = true;
	}
	rtscan_begin_groups(answer->groups);
	answer->question->totals->spilled_groups += rtscan_spilled_groups(answer->groups);
	return true;
}

static bool
next_group_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	int			nkeys = answer->task->nkeys;

	for (;;)
	{
		RtscanState *group = answer->in_part ? rtscan_next_group(answer->groups, values, isnull) : NULL;

		if (group)
		{
			finish_group(answer, group, values + nkeys, isnull + nkeys);
			return true;
		}
		answer->in_part = begin_part(answer);
		if (!answer->in_part)
			return false;
	}
}

bool
rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	return answer->task->grouped ? next_group_result(answer, values, isnull) : next_only_result(answer, values, isnull);
}

void
rtscan_end_rows(RtscanRowsAnswer *answer)
{
	if (answer->cursor)
		close_cursor(answer);
	if (answer->groups)
		rtscan_end_groups(answer->groups);
	for (int i = 0; i < answer->task->naggregates; i++)
		if (answer->task->transitions[i].collecting)
			rtscan_end_collecting(answer->task->transitions[i].collecting);
	rtscan_end_batch(answer->batch);
}
