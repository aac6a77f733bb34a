/*
 * plan.c
 *		From a path to the plan of RtscanAggregate.
 */
#include "plan/path.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "run/expressions.h"

/* FILTER clauses, that the index answers. */
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

/* Arguments and FILTERs that are evaluated on rows. */
static List *
aggregated_expressions(const RtscanPath *path)
{
	List	   *expressions = NIL;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (path->by_rows && aggregate->argument)
			expressions = lappend(expressions, aggregate->argument);
		if (path->by_rows && aggregate->aggref->aggfilter)
			expressions = lappend(expressions, aggregate->aggref->aggfilter);
	}
	return expressions;
}

/* In the order of RtscanAggregateExpressions. */
static List *
make_expressions(const RtscanPath *path)
{
	return list_make5(path->clauses, filter_clauses(path), path->residual, path->request->keys,
					  aggregated_expressions(path));
}

/* As the planner would leave them, but for references to other nodes. */
static List *
make_arguments(List *arguments)
{
	List	   *copies = copyObject(arguments);

	fix_opfuncids((Node *) copies);
	return copies;
}

/* What the node has in its tuples: keys, aggregates, and columns that only expressions refer to. */
static List *
make_scan_tlist(const RtscanPath *path, List *expressions)
{
	List	   *tlist = NIL;
	List	   *columns = pull_var_clause((Node *) expressions, PVC_RECURSE_PLACEHOLDERS);
	List	   *all = list_concat_copy(path->request->keys, path->request->aggrefs);
	ListCell   *cell;

	foreach(cell, list_concat_unique(all, columns))
		tlist = lappend(tlist, makeTargetEntry(lfirst(cell), list_length(tlist) + 1, NULL, false));
	return tlist;
}

static List *
plan_by_bits(const RtscanPath *path, List **arguments)
{
	List	   *aggregates = NIL;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		aggregates = lappend(aggregates, list_make2(list_make2_int(aggregate->kind, aggregate->column),
													rtscan_quals_plan(&aggregate->filter, path->index, arguments)));
	}
	return aggregates;
}

/* In the order of RtscanRowAggregatePlan. */
static List *
plan_row_aggregate(const RtscanPathAggregate *aggregate)
{
	Oid			type = aggregate->argument ? exprType(aggregate->argument) : InvalidOid;

	return list_make4(list_make1_int(aggregate->kind),
					  list_make3_oid(type, aggregate->choosing, aggregate->aggref->inputcollid),
					  aggregate->row_argument ? list_make1(aggregate->row_argument) : NIL,
					  aggregate->row_filter ? list_make1(aggregate->row_filter) : NIL);
}

/* In the order of RtscanRowsPlan. */
static List *
plan_by_rows(const RtscanPath *path)
{
	List	   *operators = NIL,
			   *collations = NIL,
			   *aggregates = NIL,
			   *numbers;
	ListCell   *cell;

	foreach(cell, path->request->group_clauses)
		operators = lappend_oid(operators, lfirst_node(SortGroupClause, cell)->eqop);
	foreach(cell, path->request->keys)
		collations = lappend_oid(collations, exprCollation(lfirst(cell)));
	foreach(cell, path->aggregates)
		aggregates = lappend(aggregates, plan_row_aggregate(lfirst(cell)));
	numbers = list_make3_int(path->request->grouped, (int) Min(path->groups, INT_MAX), path->request->partial);
	return list_make5(lappend(list_make1(path->row_quals), path->row_keys), operators, collations, numbers, aggregates);
}

/* check_function_callback */
static bool
collect_function(Oid function, void *arg)
{
	List	  **functions = (List **) arg;

	*functions = list_append_unique_oid(*functions, function);
	return false;
}

static bool
collect_functions(Node *node, List **functions)
{
	if (node == NULL)
		return false;
	/* As the executor, which does not ask for what these call. */
	if (!IsA(node, Aggref) && !IsA(node, CoerceViaIO) && !IsA(node, RowCompareExpr))
		(void) check_functions_in_node(node, collect_function, functions);
	return expression_tree_walker(node, collect_functions, functions);
}

/* All functions of what is asked, also of what the index has already called. */
static List *
functions_of(List *expressions)
{
	List	   *functions = NIL;

	collect_functions((Node *) expressions, &functions);
	return functions;
}

Plan *
rtscan_plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist, List *clauses, List *custom_plans)
{
	const RtscanPath *path = (const RtscanPath *) custom_path;
	CustomScan *scan = makeNode(CustomScan);
	List	   *arguments = NIL;
	List	   *filter = rtscan_quals_plan(path->quals, path->index, &arguments);
	int			where_arguments = list_length(arguments);
	List	   *bits = path->by_rows ? NIL : plan_by_bits(path, &arguments);
	RangeTblEntry *entry = planner_rt_fetch(path->request->table->relid, root);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = rtscan_order_quals(root, path->request->having);
	scan->flags = custom_path->flags;
	scan->methods = &rtscan_aggregate_scan_methods;
	scan->custom_exprs = make_expressions(path);
	scan->custom_scan_tlist = make_scan_tlist(path, scan->custom_exprs);
	scan->custom_private = list_make5(list_make2_oid(entry->relid, path->index->indexoid), filter,
									  make_arguments(arguments), list_make1_int(where_arguments),
									  functions_of(list_make2(scan->custom_exprs, path->request->aggrefs)));
	scan->custom_private = lappend(scan->custom_private, bits);
	if (path->by_rows)
		scan->custom_private = lappend(scan->custom_private, plan_by_rows(path));
	return &scan->scan.plan;
}
