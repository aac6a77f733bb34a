/*
 * make_scan.c
 *		From a path to the plan of RtscanScan.
 */
#include "plan/scan_path.h"

#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "plan/imply.h"
#include "plan/runnable.h"
#include "run/expressions.h"
#include "run/node.h"

/* ---------------------------------------------------------------- columns */

/*
 * The node's tuple: columns of the index that are wanted, then those that only shown expressions refer to, which it has not.
 * (The target list is no help: the planner may give another one later.)
 */
static List *
make_scan_tlist(const RtscanScanPath *path, List *shown, List **columns)
{
	List	   *wanted = list_copy(path->wanted);
	List	   *entries = NIL;
	ListCell   *cell;

	*columns = NIL;
	foreach(cell, wanted)
		*columns = lappend_int(*columns, rtscan_row_column(rtscan_row_expression(path->index, lfirst(cell))));
	foreach(cell, pull_var_clause((Node *) shown, PVC_RECURSE_PLACEHOLDERS))
		if (bms_is_member(lfirst_node(Var, cell)->varno, path->index->rel->relids))
			wanted = list_append_unique(wanted, lfirst(cell));
	foreach(cell, wanted)
		entries = lappend(entries, makeTargetEntry(lfirst(cell), list_length(entries) + 1, NULL, false));
	return entries;
}

/* ---------------------------------------------------------------- the plan */

Plan *
rtscan_plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist, List *clauses, List *custom_plans)
{
	const RtscanScanPath *path = rtscan_whole_scan_path(root, custom_path);
	CustomScan *scan = makeNode(CustomScan);
	RtscanShown shown = {
		.quals = extract_actual_clauses(path->clauses, false),
		.implied = rtscan_implied_columns(path->quals, path->index),
		.row_quals = extract_actual_clauses(path->row_clauses, false),
	};
	RtscanNodePlan plan = {
		.table = planner_rt_fetch(rel->relid, root)->relid,
		.index = path->index->indexoid,
		.from_heap = path->from_heap,
		.ordered = path->ordered,
		.order = path->order,
		.row_quals = rtscan_make_runnable(root, path->row_quals),
	};
	List	   *arguments = NIL;

	plan.filter = rtscan_quals_plan(path->quals, &arguments);
	plan.where_arguments = list_length(arguments);
	if (path->skip)
	{
		plan.skips = true;
		arguments = lappend(arguments, path->skip);
		shown.skip = list_make1(path->skip);
	}
	plan.arguments = rtscan_make_runnable(root, arguments);
	scan->scan.scanrelid = rel->relid;
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(path->others, false);
	scan->flags = custom_path->flags;
	scan->methods = &rtscan_rows_scan_methods;
	scan->custom_exprs = rtscan_write_shown(&shown);
	if (!path->from_heap)
		scan->custom_scan_tlist = make_scan_tlist(path, scan->custom_exprs, &plan.columns);
	scan->custom_private = rtscan_write_plan(&plan);
	return &scan->scan.plan;
}
