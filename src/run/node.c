/*
 * node.c
 *		Execute Custom Scan (RtscanAggregate).
 */
#include "run/node.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "catalog/objectaccess.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "run/by_bits.h"
#include "run/by_rows.h"
#include "run/failure.h"
#include "run/filter.h"
#include "run/shared.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

typedef struct AggregateState
{
	CustomScanState custom;
	Relation	heap;
	Relation	index;
	RtscanSchema *schema;
	RtscanNodePlan *plan;
	List	   *arguments;		/* of ExprState: WHERE's, then FILTERs' */
	bool		filters_may_fail;	/* evaluating FILTERs' arguments */
	RtscanRowsTask *rows;		/* NULL: from bits */
	MemoryContext context;		/* of the answer at hand, or NULL: */
	RtscanArguments values;
	RtscanFilter filter;
	RtscanQuestion question;
	RtscanRowsAnswer *answer;	/* from rows */
	bool		done;			/* all results have been returned */
	RtscanVisibility visibility;	/* the leader's, of a parallel query, */
	RtscanImage *image;			/* with the image, */
	RtscanShared *shared;		/* and what all its processes share */
	RtscanTotals totals;
} AggregateState;

/* ---------------------------------------------------------------- start */

static const CustomExecMethods exec_methods;

static Node *
create_state(CustomScan *scan)
{
	AggregateState *state = (AggregateState *) newNode(sizeof(AggregateState), T_CustomScanState);

	state->custom.methods = &exec_methods;
	return (Node *) state;
}

/* As the executor does where it initializes aggregates and calls. */
static void
check_permission(Oid function, ObjectType type)
{
	AclResult	result = object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, type, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* The index calls functions, or has called them when rows were inserted, without asking who may. */
static void
check_permissions(CustomScan *scan, const RtscanNodePlan *plan)
{
	ListCell   *cell;

	foreach(cell, scan->custom_scan_tlist)
		if (IsA(lfirst_node(TargetEntry, cell)->expr, Aggref))
			check_permission(((Aggref *) lfirst_node(TargetEntry, cell)->expr)->aggfnoid, OBJECT_AGGREGATE);
	foreach(cell, plan->functions)
		check_permission(lfirst_oid(cell), OBJECT_FUNCTION);
}

static void
begin_arguments(AggregateState *state)
{
	List	   *arguments = state->plan->arguments;

	Assert(!contain_var_clause((Node *) arguments));
	state->arguments = ExecInitExprList(arguments, &state->custom.ss.ps);
	for (int i = state->plan->where_arguments; i < list_length(arguments); i++)
		state->filters_may_fail |= rtscan_has_subplan_result(list_nth(arguments, i));
}

static void
begin(CustomScanState *node, EState *estate, int eflags)
{
	AggregateState *state = (AggregateState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->plan = rtscan_read_plan(scan->custom_private);
	state->heap = table_open(state->plan->table, AccessShareLock);
	state->index = index_open(state->plan->index, AccessShareLock);
	state->schema = rtscan_schema(state->index);
	begin_arguments(state);
	check_permissions(scan, state->plan);
	if (state->plan->by_rows)
		state->rows = rtscan_prepare_rows(&node->ss.ps, state->index, state->plan);
}

/* ---------------------------------------------------------------- quals */

static void
evaluate_arguments(AggregateState *state, int first, int end)
{
	for (int i = first; i < end; i++)
		state->values.values[i] = ExecEvalExpr(list_nth(state->arguments, i), state->custom.ss.ps.ps_ExprContext,
											   &state->values.isnull[i]);
}

static void
make_where(AggregateState *state)
{
	int			n = list_length(state->arguments);

	state->values.values = palloc0(Max(n, 1) * sizeof(Datum));
	state->values.isnull = palloc0(Max(n, 1) * sizeof(bool));
	evaluate_arguments(state, 0, state->plan->where_arguments);
	rtscan_make_filter(state->plan->filter, state->index, state->schema, &state->values, &state->filter);
}

/* RtscanBitsFilters.make */
static void
make_filter(const RtscanPlanFilter *plan, RtscanFilter *filter, void *arg)
{
	AggregateState *state = (AggregateState *) arg;

	rtscan_make_filter(plan, state->index, state->schema, &state->values, filter);
}

/* RtscanBitsFilters.prepare */
static void
prepare_filters(void *arg)
{
	AggregateState *state = (AggregateState *) arg;

	evaluate_arguments(state, state->plan->where_arguments, list_length(state->arguments));
}

/* ---------------------------------------------------------------- the answer */

/* Begin an answer, in its context, with parameters and the like as they are now. */
static void
begin_answer(AggregateState *state)
{
	pgstat_count_index_scan(state->index);
	make_where(state);
	state->question = (RtscanQuestion) {
		.heap = state->heap,
		.index = state->index,
		.schema = state->schema,
		.snapshot = state->custom.ss.ps.state->es_snapshot,
		.filter = &state->filter,
		.shared = state->shared,
		.totals = &state->totals,
	};
	if (state->rows)
		state->answer = rtscan_begin_rows(state->rows, &state->question);
}

/* Give back what the answer at hand took, if there is one. */
static void
end_answer(AggregateState *state)
{
	if (state->answer)
		rtscan_end_rows(state->answer);
	state->answer = NULL;
	if (state->context)
		MemoryContextDelete(state->context);
	state->context = NULL;
}

/* The next result; the columns behind it are EXPLAIN's. */
static bool
next_result(AggregateState *state, TupleTableSlot *slot)
{
	RtscanBitsFilters filters = {state->filters_may_fail, prepare_filters, make_filter, state};
	bool		first = state->context == NULL;
	MemoryContext old;

	if (first)
		state->context = AllocSetContextCreate(state->custom.ss.ps.state->es_query_cxt, "rtscan aggregate",
											   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(state->context);
	if (first)
		begin_answer(state);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	if (!state->rows && first)
		rtscan_answer_by_bits(state->plan->aggregates, &state->question, &filters, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	return !state->rows ? first : rtscan_next_rows_result(state->answer, slot->tts_values, slot->tts_isnull);
}

/*
 * A result that HAVING lets pass.  ExecScan() would not do: in a recheck of EvalPlanQual() it takes
 * a node above relations for one whose tuple it has already.
 */
static TupleTableSlot *
execute(CustomScanState *node)
{
	AggregateState *state = (AggregateState *) node;
	ExprContext *context = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	while (!state->done)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		ResetExprContext(context);
		old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
		state->done = !next_result(state, slot);
		MemoryContextSwitchTo(old);
		if (state->done)
			break;
		context->ecxt_scantuple = ExecStoreVirtualTuple(slot);
		if (ExecQual(node->ss.ps.qual, context))
			return node->ss.ps.ps_ProjInfo ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
		InstrCountFiltered1(node, 1);
	}
	end_answer(state);
	return NULL;
}

static void
rescan(CustomScanState *node)
{
	AggregateState *state = (AggregateState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	end_answer(state);
	state->done = false;
}

static void
end(CustomScanState *node)
{
	AggregateState *state = (AggregateState *) node;

	end_answer(state);
	index_close(state->index, NoLock);
	table_close(state->heap, NoLock);
}

/* ---------------------------------------------------------------- parallel queries */

static Size
estimate_shared(CustomScanState *node, ParallelContext *context)
{
	AggregateState *state = (AggregateState *) node;
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	state->image = rtscan_begin_visibility(&state->visibility, state->heap, state->index, node->ss.ps.state->es_snapshot);
	MemoryContextSwitchTo(old);
	return rtscan_shared_size(&state->visibility, state->image);
}

static void
initialize_shared(CustomScanState *node, ParallelContext *context, void *memory)
{
	AggregateState *state = (AggregateState *) node;

	state->shared = memory;
	rtscan_share(state->shared, &state->visibility, state->image);
	pfree(state->visibility.map);
	pfree(state->image);
}

static void
reinitialize_shared(CustomScanState *node, ParallelContext *context, void *memory)
{
	rtscan_reset_shared(memory);
}

static void
initialize_worker(CustomScanState *node, shm_toc *toc, void *memory)
{
	((AggregateState *) node)->shared = memory;
}

/* Shared memory is going to be released: keep what EXPLAIN shows, and look at it no more. */
static void
shut_down(CustomScanState *node)
{
	AggregateState *state = (AggregateState *) node;

	if (state->shared == NULL)
		return;
	end_answer(state);
	state->done = true;
	state->totals = rtscan_shared_totals(state->shared);
	state->shared = NULL;
}

/* ---------------------------------------------------------------- EXPLAIN */

static char *
deparse(CustomScanState *node, Node *expression, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);

	return deparse_expression(expression, context, es->verbose || rtscan_compat_count_tables(es) > 1, false);
}

static void
explain_quals(CustomScanState *node, List *quals, const char *label, List *ancestors, ExplainState *es)
{
	if (quals != NIL)
		ExplainPropertyText(label, deparse(node, (Node *) make_ands_explicit(quals), ancestors, es), es);
}

static void
explain_keys(CustomScanState *node, List *keys, List *ancestors, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *cell;

	foreach(cell, keys)
		texts = lappend(texts, deparse(node, lfirst(cell), ancestors, es));
	if (keys != NIL)
		ExplainPropertyList("Group Key", texts, es);
}

static void
explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	AggregateState *state = (AggregateState *) node;
	const RtscanTotals *totals = &state->totals;
	RtscanShown shown = rtscan_read_shown(((CustomScan *) node->ss.ps.plan)->custom_exprs);

	explain_keys(node, shown.keys, ancestors, es);
	ExplainPropertyText("Relation", RelationGetRelationName(state->heap), es);
	ExplainPropertyText("Index", RelationGetRelationName(state->index), es);
	explain_quals(node, shown.quals, "Index Cond", ancestors, es);
	explain_quals(node, shown.row_quals, "Row Filter", ancestors, es);
	if (!es->analyze || !totals->searched)
		return;
	ExplainPropertyText("Executor", rtscan_executor_names[totals->executor], es);
	if (totals->executor == RTSCAN_EXECUTOR_RT)
		ExplainPropertyUInteger("Rays", NULL, totals->rays, es);
	ExplainPropertyUInteger("Segments", NULL, totals->segments, es);
	if (totals->executor != RTSCAN_EXECUTOR_CPU)
		ExplainPropertyUInteger("Segments on CPU", NULL, totals->cpu_segments, es);
	ExplainPropertyUInteger("Chunks Skipped", NULL, totals->chunks_skipped, es);
	ExplainPropertyUInteger("Pending Rows", NULL, totals->pending_rows, es);
	ExplainPropertyUInteger("Heap Fetches", NULL, totals->heap_fetches, es);
	if (totals->spilled_groups > 0)
		ExplainPropertyUInteger("Spilled Groups", NULL, totals->spilled_groups, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "RtscanAggregate",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = estimate_shared,
	.InitializeDSMCustomScan = initialize_shared,
	.ReInitializeDSMCustomScan = reinitialize_shared,
	.InitializeWorkerCustomScan = initialize_worker,
	.ShutdownCustomScan = shut_down,
	.ExplainCustomScan = explain,
};

const CustomScanMethods rtscan_aggregate_scan_methods = {
	.CustomName = "RtscanAggregate",
	.CreateCustomScanState = create_state,
};
