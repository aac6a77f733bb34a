/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_node.c
 *		Makes the plan of RtscanAggregate from a path.
 */
#include "plan/aggregate/path.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "plan/quals/imply.h"
#include "plan/quals/runnable.h"
#include "run/node/node.h"
#include "run/plan/expressions.h"
#include "run/plan/node_plan.h"
#include "utils/lsyscache.h"

/* Return the FILTER clauses that the index answers. */
static List *
filter_clauses(const RtscanPath *path)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, path->request->aggrefs)
		if (!path->by_rows && lfirst_node(Aggref, cell)->aggfilter)
			clauses = lappend(clauses, lfirst_node(Aggref, cell)->aggfilter);
	return clauses;
}

/* Return the arguments and FILTERs that are evaluated on rows, and the fractions of percentiles. */
static List *
aggregated_expressions(const RtscanPath *path)
{
	List	   *expressions = NIL;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (path->by_rows)
			expressions = list_concat(expressions, aggregate->arguments);
		if (aggregate->fractions)
			expressions = lappend(expressions, aggregate->fractions);
		if (path->by_rows && aggregate->aggref->aggfilter)
			expressions = lappend(expressions, aggregate->aggref->aggfilter);
	}
	return expressions;
}

/*
 * In an expression that is evaluated on rows, replace each of the request's keys by its form in the node's tuples
 * (output_keys).
 */
static Node *
use_output_keys(Node *node, const RtscanRequest *request)
{
	ListCell   *key,
			   *output_key;

	if (node == NULL)
		return NULL;
	forboth(key, request->keys, output_key, request->output_keys)
		if (!IsA(node, Const) && equal(node, lfirst(key)))
			return copyObject(lfirst(output_key));
	return expression_tree_mutator(node, use_output_keys, unconstify(RtscanRequest *, request));
}

static List *
shown_expressions(const RtscanPath *path)
{
	const RtscanRequest *request = path->request;
	const RtscanShown shown = {
		.quals = path->clauses,
		.implied = rtscan_implied_columns(path->quals, path->index),
		.filters = filter_clauses(path),
		.row_quals = path->residual,
		.keys = request->keys,
		.row_aggregates = aggregated_expressions(path),
		.joins = path->join ? rtscan_join_clauses(path->join) : NIL,
	};

	List	   *expressions = rtscan_expressions_of_rows(request->root, rtscan_write_shown(&shown));

	return request->keys == request->output_keys ? expressions :
		(List *) use_output_keys((Node *) expressions, request);
}

/* Collects the columns that occur in expressions outside of keys. */
typedef struct Columns
{
	const List *keys;			/* the keys */
	List	   *columns;		/* the columns found */
} Columns;

static bool
collect_columns(Node *node, Columns *columns)
{
	if (node == NULL || list_member(columns->keys, node))
		return false;
	if (IsA(node, Var))
		columns->columns = list_append_unique(columns->columns, node);
	return expression_tree_walker(node, collect_columns, columns);
}

/* Make the node's tuple: keys, aggregates, GROUPING()s, and columns that only shown expressions refer to. */
static List *
make_scan_tlist(const RtscanPath *path, List *expressions)
{
	const RtscanRequest *request = path->request;
	Columns		columns = {.keys = request->output_keys};
	List	   *all = list_concat(list_concat_copy(request->output_keys, request->aggrefs), request->groupings);
	List	   *tlist = NIL;
	ListCell   *cell;

	collect_columns((Node *) expressions, &columns);
	foreach(cell, list_concat(all, columns.columns))
		tlist = lappend(tlist, makeTargetEntry(lfirst(cell), list_length(tlist) + 1, NULL, false));
	return tlist;
}

/* Make an aggregate of the plan, and append the arguments of its filter to *arguments. */
static RtscanPlanAggregate *
plan_aggregate(const RtscanPath *path, const RtscanPathAggregate *aggregate, List **arguments)
{
	RtscanPlanAggregate *plan = palloc0(sizeof(RtscanPlanAggregate));

	plan->kind = path->by_rows ? aggregate->line : aggregate->kind;
	plan->column = aggregate->column;
	if (!path->by_rows)
	{
		plan->filter = rtscan_quals_plan(&aggregate->filter, arguments);
		return plan;
	}
	plan->type = aggregate->arguments ? exprType(linitial(aggregate->arguments)) : InvalidOid;
	plan->fold = aggregate->fold;
	plan->collation = aggregate->aggref->inputcollid;
	plan->arguments = aggregate->row_arguments;
	plan->row_filter = aggregate->row_filter;
	plan->of_groups = aggregate->of_groups;
	plan->collected = aggregate->collected;
	if (aggregate->fractions)
		plan->fractions = linitial(rtscan_make_runnable(path->request->root, list_make1(aggregate->fractions)));
	return plan;
}

static RtscanPlanSet *
plan_set(const RtscanPathSet *set)
{
	RtscanPlanSet *plan = palloc(sizeof(RtscanPlanSet));
	int			key = -1;

	*plan = (RtscanPlanSet) {.parent = set->parent, .asked = set->asked, .groups = (int) Min(set->groups, INT_MAX)};
	while ((key = bms_next_member(set->keys, key)) >= 0)
		plan->keys = lappend_int(plan->keys, key);
	return plan;
}

/* Return the numbers of a GROUPING()'s keys. */
static List *
plan_grouping(const RtscanRequest *request, const GroupingFunc *grouping)
{
	List	   *keys = NIL;
	ListCell   *cell;

	foreach(cell, grouping->refs)
		keys = lappend_int(keys, rtscan_number_of_key(request, lfirst_int(cell)));
	return keys;
}

static void
plan_rows(const RtscanPath *path, RtscanNodePlan *plan)
{
	ListCell   *cell;

	plan->by_rows = true;
	foreach(cell, path->sets)
		plan->sets = lappend(plan->sets, plan_set(lfirst(cell)));
	plan->most_parts = path->most_parts;
	rtscan_find_top(path, &plan->top);
	foreach(cell, path->request->groupings)
		plan->groupings = lappend(plan->groupings, plan_grouping(path->request, lfirst_node(GroupingFunc, cell)));
	plan->partial = path->request->partial;
	plan->row_quals = path->row_quals;
	plan->row_keys = path->row_keys;
	foreach(cell, path->request->group_clauses)
		plan->operators = lappend_oid(plan->operators, lfirst_node(SortGroupClause, cell)->eqop);
	foreach(cell, path->request->keys)
		plan->collations = lappend_oid(plan->collations, exprCollation(lfirst(cell)));
}

/* Make the RtscanNodePlan of a path: what the node executes (run/plan/node_plan.h). */
static RtscanNodePlan
plan_node(PlannerInfo *root, const RtscanPath *path)
{
	RtscanNodePlan plan = {
		.table = planner_rt_fetch(path->request->table->relid, root)->relid,
		.index = path->index->indexoid,
	};
	RtscanQuals quals = *path->quals;
	List	   *arguments = NIL;
	ListCell   *cell;

	if (path->join)
	{
		quals = rtscan_join_quals(path->join, &quals);
		plan.dimensions = rtscan_plan_dimensions(path->join);
		plan.may_tell = rtscan_join_may_tell(root, path->join);
	}
	plan.filter = rtscan_quals_plan(&quals, &arguments);
	plan.where_arguments = list_length(arguments);
	foreach(cell, path->aggregates)
		plan.aggregates = lappend(plan.aggregates, plan_aggregate(path, lfirst(cell), &arguments));
	plan.arguments = rtscan_make_runnable(path->request->root, arguments);
	if (path->by_rows)
		plan_rows(path, &plan);
	return plan;
}

Plan *
rtscan_plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist, List *clauses,
				 List *custom_plans)
{
	const RtscanPath *path = (const RtscanPath *) custom_path;
	CustomScan *scan = makeNode(CustomScan);
	RtscanNodePlan plan = plan_node(root, path);
	ListCell   *cell;

	scan->scan.plan.targetlist = tlist;
	scan->custom_plans = rtscan_own_plans(custom_plans);
	scan->scan.plan.qual = rtscan_order_quals(root, path->request->having);
	scan->flags = custom_path->flags;
	scan->methods = &rtscan_aggregate_scan_methods;
	scan->custom_exprs = shown_expressions(path);
	scan->custom_scan_tlist = make_scan_tlist(path, scan->custom_exprs);
	plan.functions = rtscan_functions_of(list_make2(scan->custom_exprs, path->request->aggrefs));
	foreach(cell, plan.operators)
		plan.functions = list_append_unique_oid(plan.functions, get_opcode(lfirst_oid(cell)));
	scan->custom_private = rtscan_write_plan(&plan);
	return &scan->scan.plan;
}
