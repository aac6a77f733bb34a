/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_scan.c
 *		Makes the plan of RtscanScan from a path.
 */
#include "plan/scan/scan_path.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "plan/quals/imply.h"
#include "plan/quals/runnable.h"
#include "run/node/node.h"
#include "run/plan/expressions.h"

/* ---------------------------------------------------------------- columns */

/* Return the relations whose columns EXPLAIN shows as columns, not as parameters. */
static Relids
shown_relations(const RtscanScanPath *path)
{
	Relids		relids = path->path.path.parent->relids;
	ListCell   *cell;

	if (path->join)
		foreach(cell, path->join->star->dimensions)
			relids = bms_union(relids, ((RtscanStarDimension *) lfirst(cell))->rel->relids);
	return relids;
}

/*
 * Make the node's tuple: the needed columns of the index, then columns that only EXPLAIN needs, which have no values.
 * (The planner's target list cannot be used, as the planner may replace it later.)
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
		if (bms_is_member(lfirst_node(Var, cell)->varno, shown_relations(path)))
			wanted = list_append_unique(wanted, lfirst(cell));
	foreach(cell, wanted)
		entries = lappend(entries, makeTargetEntry(lfirst(cell), list_length(entries) + 1, NULL, false));
	return entries;
}

/*
 * Make the tuple of a star's rows that are fetched from the heap: the fact's columns in their order, with NULL for
 * dropped columns, then columns that only EXPLAIN needs.
 */
static List *
make_heap_tlist(const RtscanScanPath *path, Oid table, List *shown)
{
	Relation	heap = RelationIdGetRelation(table);
	TupleDesc	tupdesc = RelationGetDescr(heap);
	List	   *entries = NIL;
	ListCell   *cell;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(tupdesc, i);
		Expr	   *column = attribute->attisdropped ? (Expr *) makeNullConst(INT4OID, -1, InvalidOid) :
			(Expr *) makeVar(path->index->rel->relid, i + 1, attribute->atttypid, attribute->atttypmod,
							 attribute->attcollation, 0);

		entries = lappend(entries, makeTargetEntry(column, i + 1, NULL, false));
	}
	RelationClose(heap);
	foreach(cell, pull_var_clause((Node *) shown, PVC_RECURSE_PLACEHOLDERS))
		if (lfirst_node(Var, cell)->varno != (int) path->index->rel->relid)
			entries = lappend(entries, makeTargetEntry(lfirst(cell), list_length(entries) + 1, NULL, false));
	return entries;
}

/* ---------------------------------------------------------------- the plan */

/* Make the filter of the plan: the quals that the index looks up, and the conditions of a star's keys. */
static RtscanPlanFilter *
plan_filter(const RtscanScanPath *path, List **arguments)
{
	RtscanQuals quals = path->join ? rtscan_join_quals(path->join, path->quals) : *path->quals;

	return rtscan_quals_plan(&quals, arguments);
}

/* Make the RtscanNodePlan of a path (run/plan/node_plan.h), without the columns of the node's tuple. */
static RtscanNodePlan
plan_node(PlannerInfo *root, const RtscanScanPath *path)
{
	RtscanNodePlan plan = {
		.table = planner_rt_fetch(path->index->rel->relid, root)->relid,
		.index = path->index->indexoid,
		.from_heap = path->from_heap,
		.ordered = path->order != NULL,
		.skips = path->skip != NULL,
		.row_quals = rtscan_make_runnable(root, path->row_quals),
		.dimensions = path->join ? rtscan_plan_dimensions(path->join) : NIL,
		.may_tell = path->join && rtscan_join_may_tell(root, path->join),
	};
	List	   *arguments = NIL;

	if (path->order)
		plan.order = *path->order;
	plan.filter = plan_filter(path, &arguments);
	plan.where_arguments = list_length(arguments);
	if (path->skip)
		arguments = lappend(arguments, path->skip);
	plan.arguments = rtscan_make_runnable(root, arguments);
	return plan;
}

static List *
shown_expressions(const RtscanScanPath *path)
{
	const RtscanShown shown = {
		.quals = extract_actual_clauses(path->clauses, false),
		.implied = rtscan_implied_columns(path->quals, path->index),
		.row_quals = extract_actual_clauses(path->row_clauses, false),
		.joins = path->join ? rtscan_join_clauses(path->join) : NIL,
		.skip = path->skip ? list_make1(path->skip) : NIL,
	};

	return rtscan_write_shown(&shown);
}

Plan *
rtscan_plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist, List *clauses,
				 List *custom_plans)
{
	const RtscanScanPath *path = rtscan_whole_scan_path(root, custom_path);
	CustomScan *scan = makeNode(CustomScan);
	RtscanNodePlan plan = plan_node(root, path);

	scan->scan.scanrelid = path->join ? 0 : rel->relid;
	scan->custom_plans = rtscan_own_plans(custom_plans);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(path->others, false);
	scan->flags = custom_path->flags;
	scan->methods = &rtscan_rows_scan_methods;
	scan->custom_exprs = shown_expressions(path);
	if (path->join)
		plan.functions = rtscan_functions_of(scan->custom_exprs);
	if (path->from_heap && path->join)
		scan->custom_scan_tlist = make_heap_tlist(path, plan.table, scan->custom_exprs);
	else if (!path->from_heap)
		scan->custom_scan_tlist = make_scan_tlist(path, scan->custom_exprs, &plan.columns);
	scan->custom_private = rtscan_write_plan(&plan);
	return &scan->scan.plan;
}
