/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_rows.c
 *		Computes aggregates from the values of an index's rows, with or without GROUP BY.
 */
#include "run/node/by_rows.h"

#include "miscadmin.h"
#include "run/aggregate/collection.h"
#include "run/aggregate/quantiles.h"
#include "run/answer/by_chunks.h"
#include "run/answer/sampled_quantile.h"
#include "run/answer/sets.h"
#include "run/answer/shared.h"
#include "run/answer/slice.h"
#include "run/node/node.h"
#include "run/plan/expressions.h"
#include "run/tally/breakpoints.h"
#include "run/tally/by_tally.h"
#include "run/tally/case_arms.h"
#include "run/tally/entries.h"
#include "run/tally/histogram_quantile.h"
#include "run/tally/tally_results.h"
#include "utils/memutils.h"

/* If groups take more than this multiple of a hash table's memory, slices are divided by the same number. */
#define LARGE_SLICE		2

/* Least number of rows in a slice. */
#define MIN_SLICE		16

/* ---------------------------------------------------------------- the task */

static void
prepare_arms(RtscanRowAggregate *aggregate, PlanState *parent, const List *arms)
{
	aggregate->arms = palloc0(Max(list_length(arms), 1) * sizeof(RtscanRowCaseArm));
	for (int i = 0; i < list_length(arms); i++)
	{
		const RtscanCaseArm *arm = list_nth(arms, i);

		if (arm->condition)
			aggregate->arms[i].condition = rtscan_begin_quals(parent, list_make1(arm->condition));
		aggregate->arms[i].result = arm->result;
	}
	aggregate->narms = list_length(arms);
}

/* Prepare an argument of which tallies have no totals: the arms of a CASE, or an expression for each entry. */
static void
prepare_for_tallies(RtscanRowAggregate *aggregate, PlanState *parent, const RtscanPlanAggregate *plan,
					RtscanTotalKind kind, int own_columns)
{
	Expr	   *argument;

	if (aggregate->narguments != 1 || plan->collected.purpose != RTSCAN_NO_COLLECTION)
		return;
	argument = linitial(plan->arguments);
	if (kind == RTSCAN_TOTAL_SUM)
		prepare_arms(aggregate, parent, rtscan_case_arms_of(argument, own_columns));
	aggregate->of_entries = aggregate->narms == 0 && rtscan_is_of_entries(argument, kind, own_columns);
}

static void
prepare_aggregate(RtscanRowsTask *task, int number, PlanState *parent, const RtscanPlanAggregate *plan,
				  int own_columns)
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
	prepare_for_tallies(aggregate, parent, plan, rtscan_total_kind(&task->transitions[number]), own_columns);
	if (plan->row_filter)
		aggregate->filter = rtscan_begin_quals(parent, list_make1(plan->row_filter));
}

static void
prepare_keys(RtscanRowsTask *task, PlanState *parent, const RtscanNodePlan *plan)
{
	task->nkeys = list_length(plan->row_keys);
	task->keys = palloc(Max(task->nkeys, 1) * sizeof(RtscanRowKey));
	for (int i = 0; i < task->nkeys; i++)
	{
		task->keys[i].expression = rtscan_begin_expression(parent, list_nth(plan->row_keys, i));
		task->keys[i].column = rtscan_row_column(list_nth(plan->row_keys, i));
	}
}

/*
 * List all that is evaluated on entries of tallies (entries.h), except distinct values: conditions that the index does
 * not look up, and expressions.
 */
static List *
list_conditions(const RtscanRowsTask *task, const RtscanNodePlan *plan)
{
	List	   *conditions = list_copy(plan->row_quals);

	for (int i = 0; i < task->naggregates; i++)
	{
		const RtscanPlanAggregate *aggregate = list_nth(plan->aggregates, i);

		if (aggregate->row_filter)
			conditions = lappend(conditions, aggregate->row_filter);
		if (task->aggregates[i].of_entries)
			conditions = lappend(conditions, linitial(aggregate->arguments));
		for (int k = 0; k + 1 < task->aggregates[i].narms; k++)
			conditions = lappend(conditions, unconstify(Expr *,
														task->aggregates[i].arms[k].condition.row_expression));
	}
	return conditions;
}

RtscanRowsTask *
rtscan_prepare_rows(PlanState *parent, const RtscanNodePlan *plan, int own_columns)
{
	RtscanRowsTask *task = palloc0(sizeof(RtscanRowsTask));

	task->estate = parent->state;
	task->quals = rtscan_begin_quals(parent, plan->row_quals);
	task->naggregates = list_length(plan->aggregates);
	task->aggregates = palloc0(Max(task->naggregates, 1) * sizeof(RtscanRowAggregate));
	task->transitions = palloc0(Max(task->naggregates, 1) * sizeof(RtscanTransition));
	for (int i = 0; i < task->naggregates; i++)
		prepare_aggregate(task, i, parent, list_nth(plan->aggregates, i), own_columns);
	/* Only tallies have breakpoints, and the CPU makes no tallies. */
	if (!rtscan_executor_is_cpu())
		task->breakpoints = rtscan_prepare_breakpoints(parent, list_conditions(task, plan));
	task->partial = plan->partial;
	prepare_keys(task, parent, plan);
	rtscan_prepare_sets(task, plan);
	return task;
}

/* ---------------------------------------------------------------- begin and end */

/* Make the arithmetic of an aggregate's arguments and of the results of its arms. */
static void
begin_aggregate(RtscanCalculated *calculated, const RtscanRowsTask *task, int number, List **of_results)
{
	const RtscanRowAggregate *aggregate = &task->aggregates[number];
	RtscanArithmetic **results = palloc0(Max(aggregate->narms, 1) * sizeof(RtscanArithmetic *));

	for (int i = 0; i < aggregate->narguments && rtscan_takes_vectors(&task->transitions[number]); i++)
		calculated->arguments[number][i] = rtscan_arithmetic(aggregate->arguments[i].row_expression,
															 &calculated->known);
	for (int i = 0; i < aggregate->narms; i++)
		if (aggregate->arms[i].result)
			results[i] = rtscan_arithmetic(aggregate->arms[i].result, of_results);
	calculated->results[number] = results;
}

static void
begin_calculated(RtscanCalculated *calculated, const RtscanRowsTask *task)
{
	int			n = Max(task->naggregates, 1);
	List	   *of_results = NIL;	/* never calculated, so others must not use these as parts */

	calculated->quals = rtscan_make_row_condition(&task->quals, &calculated->known);
	calculated->arguments = palloc0(n * sizeof(*calculated->arguments));
	calculated->results = palloc0(n * sizeof(RtscanArithmetic **));
	calculated->filters = palloc0(n * sizeof(RtscanRowCondition));
	for (int i = 0; i < task->naggregates; i++)
	{
		calculated->filters[i] = rtscan_make_row_condition(&task->aggregates[i].filter, &calculated->known);
		begin_aggregate(calculated, task, i, &of_results);
	}
}

/* Copy the task's breakpoints, not found yet: each answer finds them anew, as constants may be parameters. */
static List *
copy_breakpoints(const RtscanRowsTask *task)
{
	List	   *breakpoints = NIL;
	ListCell   *cell;

	foreach(cell, task->breakpoints)
	{
		RtscanBreakpoints *copy = palloc(sizeof(RtscanBreakpoints));

		*copy = *(const RtscanBreakpoints *) lfirst(cell);
		breakpoints = lappend(breakpoints, copy);
	}
	return breakpoints;
}

/* Allocate the arrays for the keys of a group. */
static void
begin_keys(RtscanVisit *visit, int nkeys)
{
	visit->keys = palloc(nkeys * sizeof(Datum));
	visit->isnull = palloc(nkeys * sizeof(bool));
	visit->set_keys = palloc(nkeys * sizeof(Datum));
	visit->set_isnull = palloc(nkeys * sizeof(bool));
}

RtscanRowsAnswer *
rtscan_begin_rows(const RtscanRowsTask *task, const RtscanQuestion *question)
{
	RtscanRowsAnswer *answer = palloc(sizeof(RtscanRowsAnswer));

	memset(answer, 0, offsetof(RtscanRowsAnswer, slice.rows));
	answer->task = task;
	answer->question = question;
	answer->context = CurrentMemoryContext;
	answer->sets = palloc0(task->nsets * sizeof(RtscanSetGroups));
	answer->current.number = -1;
	answer->batch = rtscan_create_batch(question->index, task->estate, question->ndimensions, question->dimensions);
	answer->breakpoints = copy_breakpoints(task);
	begin_calculated(&answer->calculated, task);
	begin_keys(&answer->visit, Max(task->nkeys, 1));
	return answer;
}

/* ---------------------------------------------------------------- groups of rows */

/* Return a set's keys as arithmetic.  NIL if some are no integers, or if all are columns, which need none. */
static List *
key_expressions(const RtscanRowsTask *task, const RtscanRowSet *set, List **known)
{
	List	   *expressions = NIL;

	for (int i = 0; i < set->nkeys && set->computes_keys; i++)
	{
		RtscanArithmetic *arithmetic = rtscan_arithmetic(task->keys[set->keys[i]].expression.row_expression, known);

		if (arithmetic == NULL || !rtscan_gives_integers(arithmetic))
			return NIL;
		expressions = lappend(expressions, arithmetic);
	}
	return expressions;
}

/* Create cells for the aggregates that can be added by cell.  NULL if that is of no use. */
static RtscanCells *
create_cells(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	RtscanCells *cells = rtscan_create_cells(current->transitions, task->naggregates, current->state_context);

	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].narguments <= 1)
			rtscan_let_cells_take(cells, i, task->aggregates[i].filter.state != NULL);
	return rtscan_cells_are_of_use(cells) ? cells : NULL;
}

/* Prepare to find the rows' groups of the current set. */
static void
begin_row_groups(RtscanRowsAnswer *answer)
{
	RtscanCurrentSet *current = &answer->current;
	MemoryContext old = MemoryContextSwitchTo(answer->context);
	List	   *expressions = key_expressions(answer->task, current->set, &answer->calculated.known);

	MemoryContextSwitchTo(answer->sets[current->number].context);
	current->row_groups = rtscan_create_row_groups(current->set->columns, expressions, rtscan_find_group_of_row,
												   answer);
	rtscan_let_row_groups_use(current->row_groups, create_cells(answer->task, current),
							  create_cells(answer->task, current));
	MemoryContextSwitchTo(old);
}

/*
 * Are all arguments calculated for many rows at a time?  Only then are whole stretches of rows read: values of other
 * arguments may be large, and should not be read for rows that are not wanted.
 */
static bool
calculates_all(const RtscanRowsTask *task, const RtscanCalculated *calculated)
{
	for (int i = 0; i < task->naggregates; i++)
		for (int j = 0; j < task->aggregates[i].narguments; j++)
			if (calculated->arguments[i][j] == NULL)
				return false;
	return true;
}

/* Open a cursor for rows that match a filter, or for this process's part of them. */
static RtscanCursor *
open_cursor(RtscanRowsAnswer *answer, const RtscanFilter *filter)
{
	const RtscanQuestion *question = answer->question;
	MemoryContext old = MemoryContextSwitchTo(answer->context);
	RtscanCursor *cursor;

	rtscan_restart_batch(answer->batch);
	if (question->shared)
	{
		RtscanVisibility visibility;
		const RtscanImage *image = rtscan_use_shared(question->shared, question->heap, question->index,
													 question->snapshot, question->reads_only, &visibility);

		cursor = rtscan_open_shared_cursor(&visibility, image, &question->shared->search, question->claim,
										   question->schema, filter);
	}
	else
		cursor = rtscan_open_cursor(question->heap, question->index, question->snapshot, question->reads_only,
									question->schema, filter);
	if (calculates_all(answer->task, &answer->calculated))
		rtscan_cursor_take_stretches(cursor);
	answer->slice.most = RTSCAN_CURSOR_ROWS;
	MemoryContextSwitchTo(old);
	return cursor;
}

static void
close_cursor(RtscanRowsAnswer *answer)
{
	rtscan_note_tallies(answer->question, answer->cursor);
	rtscan_add_totals(answer->question, rtscan_cursor_search(answer->cursor),
					  rtscan_cursor_heap_fetches(answer->cursor), 0, answer->batch->single_rows);
	answer->batch->single_rows = 0;
	rtscan_close_cursor(answer->cursor);
	answer->cursor = NULL;
}

/* Can a condition be calculated, but not for all rows of the batch? */
static bool
condition_fails(RtscanRowCondition *condition, RtscanBatch *batch)
{
	return condition->arithmetic && !rtscan_is_calculated(condition, batch);
}

/* Is there an argument of an aggregate that can be calculated, but not for all rows of the batch? */
static bool
argument_fails(const RtscanRowsAnswer *answer, int number)
{
	bool		failed = false;

	if (rtscan_can_add_sum(answer, number))
		return false;
	for (int i = 0; i < answer->task->aggregates[number].narguments && !failed; i++)
	{
		RtscanArithmetic *argument = answer->calculated.arguments[number][i];

		failed = argument && rtscan_calculate(argument, answer->batch) == NULL;
	}
	return failed;
}

/* Is there any expression that cannot be calculated for all rows of the batch? */
static bool
any_fails(RtscanRowsAnswer *answer)
{
	bool		failed = condition_fails(&answer->calculated.quals, answer->batch);

	for (int i = 0; i < answer->task->naggregates && !failed; i++)
		failed = condition_fails(&answer->calculated.filters[i], answer->batch) || argument_fails(answer, i);
	return failed;
}

static void
open_pass(RtscanRowsAnswer *answer)
{
	answer->cursor = open_cursor(answer, answer->question->filter);
	if (answer->question->claim == NULL && rtscan_may_narrow(answer))
	{
		rtscan_ask_for_bins(answer);
		rtscan_cursor_offer_chunks(answer->cursor, rtscan_sample_not_counted, answer);
		return;
	}
	rtscan_ask_for_tallies(answer);
	if (rtscan_takes_chunks(answer))
		rtscan_cursor_offer_chunks(answer->cursor, rtscan_add_chunk, answer);
}

/*
 * Go on to the next of several passes.  What was added by codes is folded into the groups first, because segments may
 * have other codes there.  Return false if there is none; if there were several, no cursor is open then.
 */
static bool
next_pass(RtscanRowsAnswer *answer)
{
	if (answer->question->claim == NULL)
		return false;
	close_cursor(answer);
	if (!rtscan_next_pass(answer->question->node))
		return false;
	if (answer->current.groups)
	{
		rtscan_fold_row_groups(answer->current.row_groups);
		rtscan_forget_row_groups(answer->current.row_groups);
	}
	open_pass(answer);
	return true;
}

/* Is there a count(*) without FILTER, GROUP BY and row quals, which counts all rows? */
static bool
counts_all_rows(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	for (int i = 0; i < task->naggregates && current->groups == NULL && task->quals.state == NULL; i++)
		if (task->aggregates[i].narguments == 0 && task->aggregates[i].filter.state == NULL)
			return true;
	return false;
}

/* Raise count(*)'s overflow error in advance, if a star repeats rows more often than a bigint can count. */
static void
check_count(const RtscanRowsAnswer *answer)
{
	if (answer->batch->sources && !rtscan_copies_are_countable(answer->batch->attributes) &&
		counts_all_rows(answer->task, &answer->current))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
}

/*
 * Read the next batch.  If it has unwanted rows, and some expression cannot be calculated for all rows, remove the
 * unwanted ones: they may be the reason.
 */
static bool
next_batch(RtscanRowsAnswer *answer)
{
	RtscanBatch *batch = answer->batch;

	answer->slice.next = 0;
	do
		while (rtscan_next_batch(batch, answer->cursor) > 0)
		{
			check_count(answer);
			if (batch->wanted && any_fails(answer))
				rtscan_narrow_batch(batch);
			if (batch->n > 0)
				return true;
		}
	while (next_pass(answer));
	return false;
}

/*
 * Do groups (NULL: there is only one) take too much memory?  If they take far too much after one slice, make the next
 * ones smaller.
 */
static bool
groups_are_full(const RtscanGroups *groups, RtscanCurrentSlice *slice)
{
	if (groups == NULL || !rtscan_groups_are_full(groups))
		return false;
	if (rtscan_groups_memory(groups) > LARGE_SLICE * get_hash_memory_limit())
		slice->most = Max(slice->most / LARGE_SLICE, MIN_SLICE);
	return true;
}

/* Add rows to groups.  Return true at the end of rows, false if the groups take too much memory. */
static bool
add_rows(RtscanRowsAnswer *answer)
{
	bool		full = false;

	while (!full && (answer->slice.next < answer->batch->n || next_batch(answer)))
	{
		rtscan_add_kept_entries(answer);
		rtscan_add_slice(answer);
		full = groups_are_full(answer->current.groups, &answer->slice);
	}
	if (answer->current.groups)
		rtscan_fold_row_groups(answer->current.row_groups);
	return !full;
}

/* Begin to read rows for the current set, from the first pass on: earlier sets have gone through all passes. */
static void
begin_rows(RtscanRowsAnswer *answer)
{
	if (answer->current.number > 0 && answer->question->claim)
		rtscan_first_pass(answer->question->node);
	open_pass(answer);
	if (answer->current.groups)
		begin_row_groups(answer);
}

/* ---------------------------------------------------------------- sampled percentiles */

/* Close the cursor of a further search for the same rows.  EXPLAIN counts only its heap fetches. */
static void
close_further_cursor(RtscanRowsAnswer *answer)
{
	static const RtscanSearch none = {0};

	rtscan_add_totals(answer->question, &none, rtscan_cursor_heap_fetches(answer->cursor), 0, 0);
	rtscan_close_cursor(answer->cursor);
	answer->cursor = NULL;
}

static uint64
count_rows(RtscanRowsAnswer *answer, const RtscanFilter *filter)
{
	uint64		count;

	answer->cursor = open_cursor(answer, filter);
	count = rtscan_count_matching(answer->cursor);
	close_further_cursor(answer);
	return count;
}

/* Collect the values of rows that match a filter; if sampled is true and they are many, a sample of them. */
static void
collect_rows(RtscanRowsAnswer *answer, const RtscanFilter *filter, bool sampled)
{
	rtscan_forget_collected(&answer->current);
	answer->cursor = open_cursor(answer, filter);
	if (sampled)
		rtscan_cursor_offer_chunks(answer->cursor, rtscan_sample_chunk, answer);
	add_rows(answer);
	close_further_cursor(answer);
}

/* Narrow the range of values and collect those in it.  False if it cannot be narrowed any more. */
static bool
take_rows_between(RtscanRowsAnswer *answer, RtscanSampledQuantile *quantile)
{
	uint64		others = quantile->rows_below + quantile->rows_above;

	if (!rtscan_narrow(answer, quantile))
		return false;
	quantile->rows_below = count_rows(answer, &quantile->below);
	if (!quantile->counted)
		quantile->rows_above = count_rows(answer, &quantile->above);
	rtscan_sample_within(answer->sample);
	collect_rows(answer, &quantile->between, quantile->many);
	if (quantile->counted)
		quantile->rows_above = others + quantile->all - quantile->rows_below -
			rtscan_sampled_rows(answer->sample, &answer->current.only[0]);
	quantile->counted = true;
	return true;
}

/* After chunks were sampled, narrow the range until all of its values are collected.  False if it has no percentile. */
static bool
take_sampled_quantile(RtscanRowsAnswer *answer)
{
	RtscanSampledQuantile quantile;

	rtscan_begin_to_narrow(&quantile, answer->sample);
	if (!take_rows_between(answer, &quantile))
		return false;
	while (rtscan_is_sampled(answer->sample))
		if (!take_rows_between(answer, &quantile))
		{
			rtscan_sample_within(answer->sample);
			collect_rows(answer, &quantile.between, false);
		}
	return rtscan_add_uncollected(answer, quantile.rows_below, quantile.rows_above);
}

static void
take_sampled_rows(RtscanRowsAnswer *answer)
{
	MemoryContext old = MemoryContextSwitchTo(answer->context);

	if (!take_sampled_quantile(answer))
		collect_rows(answer, answer->question->filter, false);
	MemoryContextSwitchTo(old);
}

/* Start over with samples, after bins have failed. */
static void
sample_anew(RtscanRowsAnswer *answer)
{
	rtscan_sample_all(answer->sample);
	collect_rows(answer, answer->question->filter, true);
	if (rtscan_is_sampled(answer->sample))
		take_sampled_rows(answer);
}

/* ---------------------------------------------------------------- percentiles by histograms */

/* Count the values of all ranges that contain percentiles.  False if the percentiles have not been found. */
static bool
take_ranges(RtscanRowsAnswer *answer)
{
	RtscanFilter filter;

	while (rtscan_enter_next_range(answer, &filter))
	{
		rtscan_forget_collected(&answer->current);
		answer->cursor = open_cursor(answer, &filter);
		rtscan_ask_for_bins(answer);
		add_rows(answer);
		close_further_cursor(answer);
	}
	return rtscan_take_from_bins(answer->histogram_quantile, &answer->current);
}

/* Find the percentiles by bins (histogram_quantile.h).  If that fails, start over without bins. */
static void
take_histogram_quantile(RtscanRowsAnswer *answer)
{
	MemoryContext old = MemoryContextSwitchTo(answer->context);

	if (!take_ranges(answer))
		sample_anew(answer);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- all rows */

/*
 * Make the groups of the current set from rows.  If not all groups fit into memory, spill them.  But if results are
 * partial, stop with the groups of the rows so far: the node above combines them with those of the other rows.
 */
static void
take_rows(RtscanRowsAnswer *answer)
{
	if (answer->cursor == NULL)
		begin_rows(answer);
	else
	{
		rtscan_forget_groups(answer->current.groups);
		rtscan_forget_row_groups(answer->current.row_groups);
	}
	while ((answer->more_rows = !add_rows(answer)) && !answer->task->partial)
	{
		rtscan_spill_groups(answer->current.groups);
		rtscan_forget_row_groups(answer->current.row_groups);
	}
	if (!answer->more_rows && answer->cursor)
		close_cursor(answer);
	if (rtscan_has_histogram(answer->histogram_quantile))
		take_histogram_quantile(answer);
	else if (rtscan_is_sampled(answer->sample))
		take_sampled_rows(answer);
}

/* ---------------------------------------------------------------- results */

static Datum
finish_collected(const RtscanRowsAnswer *answer, int number, RtscanState *state, bool *isnull)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
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

/* Store the result of the group that is being visited. */
static void
finish_group(const RtscanRowsAnswer *answer, RtscanState *group, Datum *values, bool *isnull)
{
	const RtscanCurrentSet *current = &answer->current;
	int			nkeys = answer->task->nkeys;

	for (int i = 0; i < current->set->nkeys; i++)
	{
		int			key = current->set->keys[i];

		values[key] = answer->visit.keys[key];
		isnull[key] = answer->visit.isnull[key];
	}
	for (int i = 0; i < answer->task->naggregates; i++)
		values[nkeys + i] = current->transitions[i].collecting ?
			finish_collected(answer, i, &group[i], &isnull[nkeys + i]) :
			rtscan_result_of(answer->task, &current->transitions[i], &group[i], &isnull[nkeys + i]);
}

/* Begin to visit groups: those of the next set, or of the remaining rows of partial results. */
static bool
begin_part(RtscanRowsAnswer *answer)
{
	if (!answer->more_rows && !rtscan_next_set(answer))
		return false;
	if (answer->current.set->parent < 0)
		take_rows(answer);
	rtscan_begin_visit(answer);
	return true;
}

/* Go on to the next group, and store its result if the set's groups are results.  False if there is none. */
static bool
next_of_part(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	RtscanState *group;

	if (answer->kept)
		return rtscan_next_kept_result(answer, values, isnull);
	group = rtscan_visit_group(answer);
	if (group && answer->current.set->asked)
		finish_group(answer, group, values, isnull);
	return group != NULL;
}

static void
write_groupings(const RtscanRowsTask *task, const RtscanRowSet *set, Datum *values, bool *isnull)
{
	int			first = task->nkeys + task->naggregates;

	for (int i = 0; i < task->ngroupings; i++)
	{
		values[first + i] = set->groupings[i];
		isnull[first + i] = false;
	}
}

bool
rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	while (answer->in_part || begin_part(answer))
	{
		CHECK_FOR_INTERRUPTS();
		answer->in_part = next_of_part(answer, values, isnull);
		if (answer->in_part && answer->current.set->asked)
		{
			write_groupings(answer->task, answer->current.set, values, isnull);
			return true;
		}
	}
	return false;
}

void
rtscan_end_rows(RtscanRowsAnswer *answer)
{
	if (answer->cursor)
		close_cursor(answer);
	rtscan_end_sets(answer);
	rtscan_end_batch(answer->batch);
}
