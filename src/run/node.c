/*
 * node.c
 *		What RtscanScan and RtscanAggregate have in common.
 */
#include "run/node.h"

#include "access/genam.h"
#include "access/table.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "run/shared.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

/* ---------------------------------------------------------------- begin and end */

void
rtscan_begin_node(RtscanNode *node)
{
	CustomScan *scan = (CustomScan *) node->custom.ss.ps.plan;

	node->plan = rtscan_read_plan(scan->custom_private);
	node->heap = node->custom.ss.ss_currentRelation;
	if (node->heap == NULL)
		node->heap = table_open(node->plan->table, AccessShareLock);
	node->checked_heap = node->heap;
	node->index = index_open(node->plan->index, AccessShareLock);
	node->schema = rtscan_schema(node->index);
	Assert(!contain_var_clause((Node *) node->plan->arguments));
	node->arguments = ExecInitExprList(node->plan->arguments, &node->custom.ss.ps);
}

void
rtscan_end_node(RtscanNode *node)
{
	rtscan_end_answer(node);
	index_close(node->index, NoLock);
	if (node->heap != node->custom.ss.ss_currentRelation)
		table_close(node->heap, NoLock);
}

/* ---------------------------------------------------------------- an answer */

void
rtscan_evaluate_arguments(RtscanNode *node, int first, int end)
{
	for (int i = first; i < end; i++)
		node->values.values[i] = ExecEvalExpr(list_nth(node->arguments, i), node->custom.ss.ps.ps_ExprContext,
											  &node->values.isnull[i]);
}

static void
make_where(RtscanNode *node)
{
	int			n = list_length(node->arguments);

	node->values.values = palloc0(Max(n, 1) * sizeof(Datum));
	node->values.isnull = palloc0(Max(n, 1) * sizeof(bool));
	rtscan_evaluate_arguments(node, 0, node->plan->where_arguments);
	rtscan_make_filter(node->plan->filter, node->index, node->schema, &node->values, &node->filter);
}

void
rtscan_begin_answer(RtscanNode *node)
{
	EState	   *estate = node->custom.ss.ps.state;
	MemoryContext old;

	node->context = AllocSetContextCreate(estate->es_query_cxt, "rtscan answer", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(node->context);
	pgstat_count_index_scan(node->index);
	make_where(node);
	node->question = (RtscanQuestion) {
		.heap = node->heap,
		.index = node->index,
		.schema = node->schema,
		.snapshot = estate->es_snapshot,
		.filter = &node->filter,
		.shared = node->shared,
		.totals = &node->totals,
	};
	MemoryContextSwitchTo(old);
}

void
rtscan_end_answer(RtscanNode *node)
{
	if (node->context)
		MemoryContextDelete(node->context);
	node->context = NULL;
}

/* ---------------------------------------------------------------- parallel queries */

Size
rtscan_estimate_shared(CustomScanState *custom, ParallelContext *context)
{
	RtscanNode *node = (RtscanNode *) custom;
	EState	   *estate = custom->ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	node->image = rtscan_begin_visibility(&node->visibility, node->checked_heap, node->index,
										  estate->es_snapshot);
	MemoryContextSwitchTo(old);
	return rtscan_shared_size(&node->visibility, node->image);
}

void
rtscan_initialize_shared(CustomScanState *custom, ParallelContext *context, void *memory)
{
	RtscanNode *node = (RtscanNode *) custom;

	node->shared = memory;
	rtscan_share(node->shared, &node->visibility, node->image, &node->totals);
	if (node->visibility.map)
		pfree(node->visibility.map);
	pfree(unconstify(RtscanImage *, node->image));
	node->image = NULL;
}

void
rtscan_reinitialize_shared(CustomScanState *custom, ParallelContext *context, void *memory)
{
	rtscan_reset_shared(memory);
}

void
rtscan_initialize_worker(CustomScanState *custom, shm_toc *toc, void *memory)
{
	((RtscanNode *) custom)->shared = memory;
}

void
rtscan_leave_shared(RtscanNode *node)
{
	node->totals = rtscan_shared_totals(node->shared);
	node->shared = NULL;
}

/* ---------------------------------------------------------------- EXPLAIN */

static char *
deparse(RtscanNode *node, Node *expression, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->custom.ss.ps.plan, ancestors);

	return deparse_expression(expression, context, es->verbose || rtscan_compat_count_tables(es) > 1, false);
}

void
rtscan_explain_quals(RtscanNode *node, List *quals, const char *label, List *ancestors, ExplainState *es)
{
	if (quals != NIL)
		ExplainPropertyText(label, deparse(node, (Node *) make_ands_explicit(quals), ancestors, es), es);
}

static List *
texts_of_set(const RtscanPlanSet *set, const List *texts)
{
	List	   *of_set = NIL;
	ListCell   *cell;

	foreach(cell, set->keys)
		of_set = lappend(of_set, list_nth(texts, lfirst_int(cell)));
	return of_set;
}

static void
explain_set(const List *texts, ExplainState *es)
{
	if (texts == NIL && es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Group Key", "()", es);
	else
		ExplainPropertyListNested("Group Key", unconstify(List *, texts), es);
}

/* As PostgreSQL's aggregation does; then those that rows are grouped by only for others. */
static void
explain_sets(const List *sets, const List *texts, ExplainState *es)
{
	ListCell   *cell;

	ExplainOpenGroup("Grouping Sets", "Grouping Sets", false, es);
	ExplainOpenGroup("Grouping Set", NULL, true, es);
	ExplainOpenGroup("Group Keys", "Group Keys", false, es);
	foreach(cell, sets)
		if (((RtscanPlanSet *) lfirst(cell))->asked)
			explain_set(texts_of_set(lfirst(cell), texts), es);
	ExplainCloseGroup("Group Keys", "Group Keys", false, es);
	ExplainCloseGroup("Grouping Set", NULL, true, es);
	ExplainCloseGroup("Grouping Sets", "Grouping Sets", false, es);
	foreach(cell, sets)
		if (!((RtscanPlanSet *) lfirst(cell))->asked)
			ExplainPropertyList("Combined From", texts_of_set(lfirst(cell), texts), es);
}

static List *
deparse_all(RtscanNode *node, List *expressions, List *ancestors, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *cell;

	foreach(cell, expressions)
		texts = lappend(texts, deparse(node, lfirst(cell), ancestors, es));
	return texts;
}

void
rtscan_explain_columns(RtscanNode *node, List *columns, const char *label, List *ancestors, ExplainState *es)
{
	if (columns != NIL)
		ExplainPropertyList(label, deparse_all(node, columns, ancestors, es), es);
}

void
rtscan_explain_keys(RtscanNode *node, List *keys, List *ancestors, ExplainState *es)
{
	const List *sets = node->plan->sets;
	List	   *texts = deparse_all(node, keys, ancestors, es);

	if (list_length(sets) > 1)
		explain_sets(sets, texts, es);
	else if (keys != NIL)
		ExplainPropertyList("Group Key", texts, es);
}

void
rtscan_explain_totals(const RtscanNode *node, ExplainState *es)
{
	const RtscanTotals *totals = &node->totals;

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
	if (totals->filtered_rows > 0)
		ExplainPropertyUInteger("Rows Removed by Row Filter", NULL, totals->filtered_rows, es);
	if (totals->single_rows > 0)
		ExplainPropertyUInteger("Rows Evaluated Singly", NULL, totals->single_rows, es);
	if (totals->spilled_groups > 0)
		ExplainPropertyUInteger("Spilled Groups", NULL, totals->spilled_groups, es);
	if (totals->spilled_values > 0)
		ExplainPropertyUInteger("Spilled Values", NULL, totals->spilled_values, es);
}
