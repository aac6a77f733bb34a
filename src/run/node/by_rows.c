/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_rows.c
 *		Computes aggregates from the values of an index's rows, with or without GROUP BY.
 */
#include "run/node/by_rows.h"

#include "miscadmin.h"
#include "run/aggregate/collection.h"
#include "run/aggregate/quantiles.h"
#include "run/answer/sets.h"
#include "run/device_aggregate/breakpoints.h"
#include "run/device_aggregate/device_results.h"
#include "run/node/add_rows.h"
#include "run/node/quantile_searches.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- begin */

/* Make the arithmetic of an aggregate's arguments, and of the results of its CASE's arms (case_arms.h). */
static void
make_arithmetic(RtscanCalculated *calculated, const RtscanRowsTask *task, int number, List **of_results)
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
	List	   *of_results = NIL;	/* arithmetic of arms' results, not in "known" because it is never calculated */

	calculated->quals = rtscan_make_row_condition(&task->quals, &calculated->known);
	calculated->arguments = palloc0(n * sizeof(*calculated->arguments));
	calculated->results = palloc0(n * sizeof(RtscanArithmetic **));
	calculated->filters = palloc0(n * sizeof(RtscanRowCondition));
	for (int i = 0; i < task->naggregates; i++)
	{
		calculated->filters[i] = rtscan_make_row_condition(&task->aggregates[i].filter, &calculated->known);
		make_arithmetic(calculated, task, i, &of_results);
	}
}

/*
 * Copy the task's breakpoints, which have not been found yet.  Each answer finds them anew, because the constants
 * that they depend on may be parameters.
 */
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
begin_visit_keys(RtscanVisit *visit, int nkeys)
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
	begin_visit_keys(&answer->visit, Max(task->nkeys, 1));
	if (task->top)
		answer->top = rtscan_create_top_groups(task->top);
	return answer;
}

/* ---------------------------------------------------------------- all rows */

/*
 * Make the groups of the current set from rows.  If not all groups fit into memory, spill them.  But if results are
 * partial, stop with the groups of the rows so far: the node above combines these groups with those of the remaining
 * rows.
 */
static void
take_rows(RtscanRowsAnswer *answer)
{
	if (answer->cursor == NULL)
		rtscan_open_rows(answer);
	else
	{
		rtscan_forget_groups(answer->current.groups);
		rtscan_forget_row_groups(answer->current.row_groups);
	}
	while ((answer->more_rows = !rtscan_add_rows(answer)) && !answer->task->partial)
	{
		rtscan_spill_groups(answer->current.groups);
		rtscan_forget_row_groups(answer->current.row_groups);
	}
	if (!answer->more_rows && answer->cursor)
		rtscan_close_rows(answer);
	rtscan_search_for_quantile(answer);
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

/*
 * Begin to visit groups.  If results are partial, and the last ones did not contain all rows, visit the groups of
 * further rows.  Otherwise visit the groups of the next set.  Return false if there is no next set.
 */
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

/* Return the next group of the current set that may be wanted; NULL at the end. */
static RtscanState *
next_wanted_group(RtscanRowsAnswer *answer)
{
	RtscanState *group;

	do
	{
		CHECK_FOR_INTERRUPTS();
		group = rtscan_visit_group(answer);
	} while (group && answer->top && !rtscan_may_be_top_group(answer->top, answer->current.transitions, group));
	return group;
}

/*
 * Go on to the next group, and store its result if the set's groups are results.  Return false if no group of the set
 * is left.
 */
static bool
next_of_part(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	RtscanState *group;

	if (answer->kept)
		return rtscan_next_kept_result(answer, values, isnull);
	group = next_wanted_group(answer);
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
		rtscan_close_rows(answer);
	rtscan_end_sets(answer);
	rtscan_end_batch(answer->batch);
}
