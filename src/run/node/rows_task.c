/* SPDX-License-Identifier: PostgreSQL */
/*
 * rows_task.c
 *		Prepares the task of computing a plan's aggregates from rows.
 */
#include "run/node/rows_task.h"

#include "run/aggregate/aggregates.h"
#include "run/aggregate/collection.h"
#include "run/answer/sets.h"
#include "run/device_aggregate/breakpoints.h"
#include "run/device_aggregate/case_arms.h"
#include "run/device_aggregate/entries.h"
#include "run/plan/expressions.h"

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

/*
 * Prepare an aggregate's argument for device aggregates that have no total of the argument: as the arms of a CASE
 * (case_arms.h), or as an expression that is evaluated on each entry (entries.h).
 */
static void
prepare_for_device_aggs(RtscanRowAggregate *aggregate, PlanState *parent, const RtscanPlanAggregate *plan,
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
	aggregate->of_groups = plan->of_groups;
	aggregate->narguments = list_length(plan->arguments);
	for (int i = 0; i < aggregate->narguments; i++)
	{
		Expr	   *argument = list_nth(plan->arguments, i);

		aggregate->columns[i] = rtscan_row_column(argument);
		aggregate->arguments[i] = rtscan_begin_expression(parent, argument);
	}
	aggregate->columns_of_arguments = rtscan_row_columns((Node *) plan->arguments);
	prepare_for_device_aggs(aggregate, parent, plan, rtscan_total_kind(&task->transitions[number]), own_columns);
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
 * List the expressions that are evaluated on entries of device aggregates (entries.h): quals that the index does not
 * look up, FILTERs, conditions of CASE and arguments, but not arguments of aggregates with DISTINCT.
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
	/* Only device aggregates use breakpoints, and the CPU makes no device aggregates. */
	if (!rtscan_executor_is_cpu())
		task->breakpoints = rtscan_prepare_breakpoints(parent, list_conditions(task, plan));
	task->partial = plan->partial;
	prepare_keys(task, parent, plan);
	rtscan_prepare_sets(task, plan);
	return task;
}
