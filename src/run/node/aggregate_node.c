/* SPDX-License-Identifier: PostgreSQL */
/*
 * aggregate_node.c
 *		Executes Custom Scan (RtscanAggregate), which computes aggregates from an index without the table.
 *
 * The index has all columns that the query needs.  Aggregates are computed either from bits of rows alone
 * (by_bits.c), or from the values of rows (by_rows.c).
 *
 * PostgreSQL initializes all nodes below an Append when the query begins.  To save memory, a node allocates an answer
 * only when its first result is fetched, and frees it after its last result.
 */
#include "run/node/node.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "run/node/by_bits.h"
#include "run/node/by_rows.h"
#include "run/node/memoize.h"
#include "run/node/rows_task.h"
#include "run/plan/may_raise.h"

typedef struct AggregateState
{
	RtscanNode	node;
	bool		filters_may_raise;	/* evaluating the arguments of FILTERs may raise an error */
	RtscanRowsTask *rows;		/* task of computing aggregates from rows; NULL: they are computed from bits */
	RtscanRowsAnswer *answer;	/* the current answer, if it is computed from rows; or NULL */
	RtscanMemoize *memoize;		/* cache of results by parameters, see change_parameters(); or NULL */
	bool		recalled;		/* the answer's only result has been found in the cache and returned */
	bool		begins;			/* the target list is the first columns of a result, so it needs no projection */
} AggregateState;

/* ---------------------------------------------------------------- start */

static void
check_permissions(const CustomScan *scan)
{
	ListCell   *cell;

	foreach(cell, scan->custom_scan_tlist)
		if (IsA(lfirst_node(TargetEntry, cell)->expr, Aggref))
			rtscan_check_permission(((Aggref *) lfirst_node(TargetEntry, cell)->expr)->aggfnoid, OBJECT_AGGREGATE);
}

static bool
filters_may_raise(const RtscanNodePlan *plan)
{
	for (int i = plan->where_arguments; i < list_length(plan->arguments); i++)
		if (rtscan_has_subplan_result(list_nth(plan->arguments, i)))
			return true;
	return false;
}

/* Is column n of the target list column n of the result, for all n? */
static bool
begins_result(const CustomScan *scan)
{
	ListCell   *cell;

	foreach(cell, scan->scan.plan.targetlist)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!IsA(entry->expr, Var) || castNode(Var, entry->expr)->varattno != entry->resno)
			return false;
	}
	return true;
}

static void
begin_aggregation(CustomScanState *custom, EState *estate, int eflags)
{
	AggregateState *state = (AggregateState *) custom;
	RtscanNode *node = &state->node;

	rtscan_begin_node(node, eflags);
	state->filters_may_raise = filters_may_raise(node->plan);
	state->begins = begins_result((CustomScan *) custom->ss.ps.plan);
	check_permissions((CustomScan *) custom->ss.ps.plan);
	if (node->plan->by_rows)
		state->rows = rtscan_prepare_rows(&custom->ss.ps, node->plan, node->schema->ncolumns);
}

/* ---------------------------------------------------------------- the answer */

/* RtscanEndAnswer */
static void
end_aggregate_answer(RtscanNode *node)
{
	AggregateState *state = (AggregateState *) node;

	if (state->answer)
		rtscan_end_rows(state->answer);
	state->answer = NULL;
	rtscan_end_answer(node);
}

/* Begin an answer.  If it is computed from bits, store its only result in "slot". */
static void
begin_aggregate_answer(AggregateState *state, TupleTableSlot *slot)
{
	RtscanNode *node = &state->node;
	MemoryContext old;

	rtscan_begin_answer(node);
	old = MemoryContextSwitchTo(node->context);
	if (state->rows)
		state->answer = rtscan_begin_rows(state->rows, &node->question);
	else
		rtscan_answer_by_bits(&node->question, state->filters_may_raise, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
}

/*
 * Compute the next result, and store it in "slot"; the first call begins an answer.  Columns of the slot that follow
 * the result's are for EXPLAIN only, and stay NULL.  Return false if there is no result left.
 */
static bool
calculate_result(AggregateState *state, TupleTableSlot *slot)
{
	RtscanNode *node = &state->node;
	bool		first = node->context == NULL;

	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	if (first)
		begin_aggregate_answer(state, slot);
	return !state->rows ? first : rtscan_next_rows_result(state->answer, slot->tts_values, slot->tts_isnull);
}

static bool
next_result(AggregateState *state, TupleTableSlot *slot)
{
	bool		first = state->node.context == NULL;

	if (state->recalled)
		return false;
	if (state->memoize && first && rtscan_memoize_lookup(state->memoize, slot->tts_values, slot->tts_isnull))
	{
		state->recalled = true;
		return true;
	}
	if (!calculate_result(state, slot))
		return false;
	if (state->memoize && first)
		rtscan_memoize_store(state->memoize, slot->tts_values, slot->tts_isnull);
	return true;
}

/* Return the columns of the target list, given a result. */
static TupleTableSlot *
project(AggregateState *state, TupleTableSlot *result)
{
	const PlanState *plan = &state->node.custom.ss.ps;
	TupleTableSlot *slot = plan->ps_ResultTupleSlot;
	int			n;

	if (plan->ps_ProjInfo == NULL)
		return result;
	if (!state->begins)
		return ExecProject(plan->ps_ProjInfo);
	n = slot->tts_tupleDescriptor->natts;
	ExecClearTuple(slot);
	memcpy(slot->tts_values, result->tts_values, n * sizeof(Datum));
	memcpy(slot->tts_isnull, result->tts_isnull, n * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

/*
 * Return the next result that passes HAVING.  ExecScan() cannot be used: during a recheck by EvalPlanQual(), it takes
 * a node without a relation for a join whose tuple has been found already.
 */
static TupleTableSlot *
execute_aggregation(CustomScanState *node)
{
	AggregateState *state = (AggregateState *) node;
	ExprContext *context = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	while (!state->node.done)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		ResetExprContext(context);
		old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
		state->node.done = !next_result(state, slot);
		MemoryContextSwitchTo(old);
		if (state->node.done)
			break;
		context->ecxt_scantuple = ExecStoreVirtualTuple(slot);
		if (ExecQual(node->ss.ps.qual, context))
			return project(state, slot);
		InstrCountFiltered1(node, 1);
	}
	end_aggregate_answer(&state->node);
	return NULL;
}

static bool
may_memoize(const RtscanNode *node)
{
	const RtscanNodePlan *plan = node->plan;

	return rtscan_may_memoize(list_length(plan->row_keys), list_length(plan->sets), plan->partial,
							  node->shared != NULL,
							  node->custom.ss.ps.subPlan != NIL || node->custom.ss.ps.initPlan != NIL ||
							  node->ndimensions > 0);
}

/* Return all expressions that are evaluated to compute a result, to find the parameters in them. */
static List *
evaluated_expressions(const RtscanNodePlan *plan)
{
	List	   *expressions = list_concat_copy(plan->arguments, plan->row_quals);
	ListCell   *cell;

	foreach(cell, plan->aggregates)
	{
		const RtscanPlanAggregate *aggregate = lfirst(cell);

		expressions = list_concat(expressions, aggregate->arguments);
		expressions = lappend(expressions, aggregate->row_filter);
		expressions = lappend(expressions, aggregate->fractions);
	}
	return expressions;
}

/*
 * Handle a rescan with changed parameters.  The first of these rescans creates the cache of results, if they may be
 * memoized, because further rescans are likely.
 */
static void
change_parameters(AggregateState *state)
{
	CustomScanState *custom = &state->node.custom;
	MemoryContext old = MemoryContextSwitchTo(custom->ss.ps.state->es_query_cxt);

	if (state->memoize == NULL && may_memoize(&state->node))
		state->memoize = rtscan_create_memoize(custom->ss.ps.state, evaluated_expressions(state->node.plan),
											   list_concat_copy(custom->ss.ps.plan->targetlist,
																custom->ss.ps.plan->qual),
											   custom->ss.ss_ScanTupleSlot->tts_tupleDescriptor);
	if (state->memoize)
		rtscan_memoize_change_parameters(state->memoize, custom->ss.ps.chgParam);
	MemoryContextSwitchTo(old);
}

static void
rescan_aggregation(CustomScanState *node)
{
	AggregateState *state = (AggregateState *) node;

	rtscan_rescan_node(&state->node);
	if (node->ss.ps.chgParam)
		change_parameters(state);
	state->recalled = false;
}

static void
end_aggregation(CustomScanState *custom)
{
	end_aggregate_answer((RtscanNode *) custom);
	rtscan_end_node((RtscanNode *) custom);
}

static void
explain_aggregation(CustomScanState *custom, List *ancestors, ExplainState *es)
{
	RtscanNode *node = (RtscanNode *) custom;
	RtscanShown shown = rtscan_read_shown(((CustomScan *) custom->ss.ps.plan)->custom_exprs);
	const RtscanMemoize *memoize = ((AggregateState *) custom)->memoize;
	uint64		reused = memoize ? rtscan_memoize_hits(memoize) : 0;

	rtscan_explain_keys(node, shown.keys, ancestors, es);
	rtscan_explain_relation(node, es);
	rtscan_explain_search(node, &shown, ancestors, es);
	if (node->plan->top.groups > 0)
		ExplainPropertyInteger("Top Groups", NULL, node->plan->top.groups, es);
	rtscan_explain_totals(node, es);
	if (es->analyze && reused > 0)
		ExplainPropertyUInteger("Results Reused", NULL, reused, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "RtscanAggregate",
	.BeginCustomScan = begin_aggregation,
	.ExecCustomScan = execute_aggregation,
	.EndCustomScan = end_aggregation,
	.ReScanCustomScan = rescan_aggregation,
	.EstimateDSMCustomScan = rtscan_estimate_shared,
	.InitializeDSMCustomScan = rtscan_initialize_shared,
	.ReInitializeDSMCustomScan = rtscan_reinitialize_shared,
	.InitializeWorkerCustomScan = rtscan_initialize_worker,
	.ShutdownCustomScan = rtscan_shut_down_node,
	.ExplainCustomScan = explain_aggregation,
};

static Node *
create_aggregation(CustomScan *scan)
{
	return rtscan_create_node(sizeof(AggregateState), &exec_methods, end_aggregate_answer);
}

const CustomScanMethods rtscan_aggregate_scan_methods = {
	.CustomName = "RtscanAggregate",
	.CreateCustomScanState = create_aggregation,
};
