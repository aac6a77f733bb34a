/* SPDX-License-Identifier: PostgreSQL */
/*
 * node.c
 *		Implements what RtscanScan and RtscanAggregate share.
 */
#include "run/node/node.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "run/answer/shared.h"
#include "search/filter/segment_blooms.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- begin and end */

Node *
rtscan_create_node(Size size, const CustomExecMethods *methods, RtscanEndAnswer end_answer)
{
	RtscanNode *node = (RtscanNode *) newNode(size, T_CustomScanState);

	node->custom.methods = methods;
	node->end_answer = end_answer;
	return (Node *) node;
}

static int
count_result_columns(const List *plans)
{
	int			n = 0;
	ListCell   *cell;

	foreach(cell, plans)
		n += list_length(((Plan *) lfirst(cell))->targetlist);
	return n;
}

/* Initialize the plans below the node, which return the rows of dimensions. */
static void
begin_dimensions(RtscanNode *node, int eflags)
{
	EState	   *estate = node->custom.ss.ps.state;
	const CustomScan *scan = (const CustomScan *) node->custom.ss.ps.plan;
	ListCell   *plan,
			   *dimension;
	int			nkeys = 0;

	node->values.dimensions = palloc(Max(list_length(scan->custom_plans), 1) * sizeof(RtscanDimension *));
	node->values.keys = palloc(Max(count_result_columns(scan->custom_plans), 1) * sizeof(RtscanDimension *));
	forboth(plan, scan->custom_plans, dimension, node->plan->dimensions)
	{
		PlanState  *state = ExecInitNode(lfirst(plan), estate, eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));

		node->custom.custom_ps = lappend(node->custom.custom_ps, state);
		node->values.dimensions[node->ndimensions] = rtscan_begin_common_dimension(lfirst(dimension), state);
		rtscan_collect_keys(node->values.dimensions[node->ndimensions++], node->values.keys, &nkeys);
	}
}

static void
end_dimensions(RtscanNode *node)
{
	for (int i = 0; i < node->ndimensions; i++)
	{
		RtscanDimension *dimension = node->values.dimensions[i];
		PlanState  *state = list_nth(node->custom.custom_ps, i);

		if (dimension->state == state)
			rtscan_end_dimension(dimension);
		else
			ExecEndNode(state);
	}
}

/*
 * An argument that may be a subquery.  The subquery's value, which may be large, is kept until a parameter that it
 * depends on changes.
 */
typedef struct RtscanSubquery
{
	const SubPlanState *state;	/* NULL: the argument is no subquery */
	MemoryContext context;		/* memory context of the value; NULL: the subquery has not been executed */
	Datum		value;
	bool		isnull;
} RtscanSubquery;

/*
 * Return the state of an argument that is a subquery; NULL if the argument is no subquery.  NULL, too, for a subquery
 * with SubPlan.args: its value depends on the args, and extParam of its plan does not tell when an arg changes.
 */
static const SubPlanState *
find_subquery(RtscanNode *node, const Node *argument)
{
	ListCell   *cell;

	if (IsA(argument, RelabelType))
		argument = (const Node *) ((const RelabelType *) argument)->arg;
	foreach(cell, node->custom.ss.ps.subPlan)
	{
		const SubPlanState *state = lfirst_node(SubPlanState, cell);

		if ((const Node *) state->subplan == argument && state->subplan->args == NIL)
			return state;
	}
	return NULL;
}

static void
begin_subqueries(RtscanNode *node)
{
	int			n = list_length(node->plan->arguments);

	node->subqueries = palloc0(Max(n, 1) * sizeof(RtscanSubquery));
	for (int i = 0; i < n; i++)
		node->subqueries[i].state = find_subquery(node, list_nth(node->plan->arguments, i));
}

/* Forget the values of subqueries that depend on changed parameters. */
static void
forget_subqueries(RtscanNode *node)
{
	for (int i = 0; i < list_length(node->arguments); i++)
	{
		RtscanSubquery *subquery = &node->subqueries[i];

		if (subquery->context == NULL ||
			!bms_overlap(subquery->state->planstate->plan->extParam, node->custom.ss.ps.chgParam))
			continue;
		MemoryContextDelete(subquery->context);
		subquery->context = NULL;
	}
}

void
rtscan_check_permission(Oid function, ObjectType type)
{
	AclResult	result = object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, type, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/*
 * Check that the user may call plan->functions, the functions that a plan without the index would call.  They are not
 * checked elsewhere: the index calls them unchecked, or has called them when rows were inserted.
 */
static void
check_functions(const RtscanNodePlan *plan)
{
	ListCell   *cell;

	foreach(cell, plan->functions)
		rtscan_check_permission(lfirst_oid(cell), OBJECT_FUNCTION);
}

void
rtscan_begin_node(RtscanNode *node, int eflags)
{
	CustomScan *scan = (CustomScan *) node->custom.ss.ps.plan;

	node->plan = rtscan_read_plan(scan->custom_private);
	check_functions(node->plan);
	node->heap = node->custom.ss.ss_currentRelation;
	if (node->heap == NULL)
		node->heap = table_open(node->plan->table, AccessShareLock);
	node->checked_heap = node->heap;
	node->index = index_open(node->plan->index, AccessShareLock);
	node->schema = rtscan_schema(node->index);
	Assert(!contain_var_clause((Node *) node->plan->arguments));
	node->arguments = ExecInitExprList(node->plan->arguments, &node->custom.ss.ps);
	begin_subqueries(node);
	begin_dimensions(node, eflags);
}

void
rtscan_end_node(RtscanNode *node)
{
	end_dimensions(node);
	index_close(node->index, NoLock);
	if (node->heap != node->custom.ss.ss_currentRelation)
		table_close(node->heap, NoLock);
}

void
rtscan_rescan_node(RtscanNode *node)
{
	node->end_answer(node);
	node->done = false;
	ExecClearTuple(node->custom.ss.ss_ScanTupleSlot);
	if (node->values.blooms == NULL)
		node->values.blooms = rtscan_create_segment_blooms(node->custom.ss.ps.state->es_query_cxt);
	forget_subqueries(node);
	for (int i = 0; i < node->ndimensions; i++)
		rtscan_rescan_dimension(node->values.dimensions[i], node->custom.ss.ps.chgParam);
}

/* ---------------------------------------------------------------- an answer */

static Datum
evaluate(RtscanNode *node, int argument, bool *isnull)
{
	return ExecEvalExpr(list_nth(node->arguments, argument), node->custom.ss.ps.ps_ExprContext, isnull);
}

static void
execute_subquery(RtscanNode *node, int argument)
{
	RtscanSubquery *subquery = &node->subqueries[argument];
	MemoryContext context = AllocSetContextCreate(node->custom.ss.ps.state->es_query_cxt, "rtscan subquery",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	subquery->value = evaluate(node, argument, &subquery->isnull);
	MemoryContextSwitchTo(old);
	subquery->context = context;
}

void
rtscan_evaluate_arguments(RtscanNode *node, int first, int end)
{
	for (int i = first; i < end; i++)
	{
		RtscanSubquery *subquery = &node->subqueries[i];

		if (subquery->state && subquery->context == NULL)
			execute_subquery(node, i);
		node->values.isnull[i] = subquery->state ? subquery->isnull : false;
		node->values.values[i] = subquery->state ? subquery->value : evaluate(node, i, &node->values.isnull[i]);
	}
}

/* NULL and negative numbers are treated as in PostgreSQL's Limit node. */
uint64
rtscan_find_skip(RtscanNode *node)
{
	int			argument = node->plan->where_arguments;
	int64		rows;

	if (!node->plan->skips)
		return 0;
	rtscan_evaluate_arguments(node, argument, argument + 1);
	rows = node->values.isnull[argument] ? 0 : DatumGetInt64(node->values.values[argument]);
	if (rows < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE),
				 errmsg("OFFSET must not be negative")));
	return (uint64) rows;
}

/* Load the dimensions in order.  Stop after a dimension that has no rows, if the answer is therefore empty. */
static void
load_dimensions(RtscanNode *node)
{
	for (int i = 0; i < node->ndimensions; i++)
	{
		rtscan_load_dimension(node->values.dimensions[i]);
		if (node->values.dimensions[i]->n == 0 && rtscan_dimension_is_needed(node->values.dimensions[i]))
			return;
	}
}

static void
evaluate_where(RtscanNode *node)
{
	int			n = list_length(node->arguments);

	node->values.values = palloc0(Max(n, 1) * sizeof(Datum));
	node->values.isnull = palloc0(Max(n, 1) * sizeof(bool));
	rtscan_evaluate_arguments(node, 0, node->plan->where_arguments);
	load_dimensions(node);
}

/* Make the filter of a pass, with the dimensions' current ranges. */
static void
begin_pass(RtscanNode *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->pass_context);

	rtscan_trace_pass(node);
	rtscan_make_filter(node->plan->filter, node->index, node->schema, &node->values, &node->filter);
	rtscan_add_ranges(&node->filter, node->index, node->schema, node->ndimensions, node->values.dimensions);
	MemoryContextSwitchTo(old);
}

/*
 * Load the next combination of the dimensions' ranges; the last dimension's range changes fastest.  Return false if
 * there is no combination left.
 */
static bool
load_next_ranges(RtscanNode *node)
{
	for (int i = node->ndimensions - 1; i >= 0; i--)
		if (rtscan_load_next_range(node->values.dimensions[i]))
		{
			for (int k = i + 1; k < node->ndimensions; k++)
				rtscan_load_dimension(node->values.dimensions[k]);
			return true;
		}
	return false;
}

bool
rtscan_next_pass(RtscanNode *node)
{
	MemoryContextReset(node->pass_context);
	node->claim.again = true;
	if (!load_next_ranges(node))
		return false;
	begin_pass(node);
	return true;
}

void
rtscan_first_pass(RtscanNode *node)
{
	MemoryContextReset(node->pass_context);
	load_dimensions(node);
	begin_pass(node);
}

static bool
has_ranges(const RtscanNode *node)
{
	for (int i = 0; i < node->ndimensions; i++)
		if (rtscan_dimension_has_ranges(node->values.dimensions[i]))
			return true;
	return false;
}

void
rtscan_begin_answer(RtscanNode *node)
{
	EState	   *estate = node->custom.ss.ps.state;
	MemoryContext old;

	node->context = AllocSetContextCreate(estate->es_query_cxt, "rtscan answer", ALLOCSET_START_SMALL_SIZES);
	old = MemoryContextSwitchTo(node->context);
	pgstat_count_index_scan(node->index);
	node->pass_context = AllocSetContextCreate(node->context, "rtscan pass", ALLOCSET_START_SMALL_SIZES);
	node->claim = (RtscanClaim) {.context = node->context};
	evaluate_where(node);
	begin_pass(node);
	node->question = (RtscanQuestion) {
		.heap = node->heap,
		.index = node->index,
		.schema = node->schema,
		.snapshot = estate->es_snapshot,
		.reads_only = rtscan_compat_reads_only(&node->custom.ss),
		.filter = &node->filter,
		.shared = node->shared,
		.area = estate->es_query_dsa,
		.ndimensions = node->ndimensions,
		.dimensions = node->values.dimensions,
		.claim = has_ranges(node) ? &node->claim : NULL,
		.node = node,
		.totals = &node->totals,
	};
	MemoryContextSwitchTo(old);
}

const RtscanImage *
rtscan_find_image(RtscanNode *node, MemoryContext context, bool keep)
{
	EState	   *estate = node->custom.ss.ps.state;
	bool		reads_only = rtscan_compat_reads_only(&node->custom.ss);
	MemoryContext old;
	const RtscanImage *image;

	if (node->image)
		return node->image;
	old = MemoryContextSwitchTo(context);
	if (node->shared)
		image = rtscan_use_shared(node->shared, node->checked_heap, node->index, estate->es_snapshot, reads_only,
								  &node->visibility);
	else
		image = rtscan_begin_visibility(&node->visibility, node->checked_heap, node->index, estate->es_snapshot,
										reads_only);
	MemoryContextSwitchTo(old);
	if (keep)
		node->image = image;
	return image;
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

	node->image = rtscan_begin_visibility(&node->visibility, node->checked_heap, node->index, estate->es_snapshot,
										  rtscan_compat_reads_only(&custom->ss));
	MemoryContextSwitchTo(old);
	return rtscan_shared_size(node->image);
}

/*
 * Return how many processes are likely to share the search.  Returns 1 for a partition: a Parallel Append mostly
 * assigns one process to each partition.
 */
static int
planned_processes(const RtscanNode *node, const ParallelContext *context)
{
	if (get_rel_relispartition(node->index->rd_index->indrelid))
		return 1;
	return Max(context->nworkers + parallel_leader_participation, 1);
}

void
rtscan_initialize_shared(CustomScanState *custom, ParallelContext *context, void *memory)
{
	RtscanNode *node = (RtscanNode *) custom;

	node->shared = memory;
	rtscan_share(node->shared, planned_processes(node, context), &node->visibility, node->image, &node->totals);
	pfree(unconstify(RtscanImage *, node->image));
	node->image = NULL;
}

void
rtscan_reinitialize_shared(CustomScanState *custom, ParallelContext *context, void *memory)
{
	rtscan_reset_shared(memory, custom->ss.ps.state->es_query_dsa);
}

void
rtscan_initialize_worker(CustomScanState *custom, shm_toc *toc, void *memory)
{
	((RtscanNode *) custom)->shared = memory;
}

void
rtscan_shut_down_node(CustomScanState *custom)
{
	RtscanNode *node = (RtscanNode *) custom;

	if (node->shared == NULL)
		return;
	node->end_answer(node);
	node->done = true;
	node->totals = rtscan_shared_totals(node->shared);
	node->shared = NULL;
}
