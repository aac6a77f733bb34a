/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_path.c
 *		Makes paths in which an index returns a table's rows, or a star's.
 */
#include "plan/scan/scan_path.h"

#include "nodes/extensible.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "plan/cost/cost.h"
#include "plan/cost/resolve.h"
#include "plan/quals/imply.h"
#include "plan/quals/restrictions.h"
#include "plan/scan/scan_order.h"
#include "run/plan/expressions.h"

/* Skipping rows by counting bits: the cost of trying pivots, values whose preceding rows are counted, in a segment. */
#define SKIP_SEGMENT_COST		100.0

/* Skipping rows one by one: a fixed cost, besides RTSCAN_ROW_COST for each row. */
#define SKIP_COST				1.0

static const CustomPathMethods path_methods = {
	.CustomName = "RtscanScan",
	.PlanCustomPath = rtscan_plan_scan,
};

/* ---------------------------------------------------------------- quals and columns */

/* Divide the quals into those that the index looks up, and others, which are returned in the order of evaluation. */
static List *
match_quals(RtscanScanPath *path, PlannerInfo *root, ParamPathInfo *parameters)
{
	List	   *all = list_concat_copy(path->index->indrestrictinfo, parameters ? parameters->ppi_clauses : NIL);
	List	   *others = NIL;
	ListCell   *cell;

	path->quals = palloc0(sizeof(RtscanQuals));
	foreach(cell, all)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (info->pseudoconstant)
			continue;
		if (rtscan_quals_add_restriction(path->quals, root, path->index, info))
			path->clauses = lappend(path->clauses, info);
		else
			others = lappend(others, info);
	}
	others = rtscan_order_quals(root, others);
	rtscan_quals_imply(path->quals, root, path->index, others);
	return others;
}

/*
 * Divide the clauses "others", which are in the order of evaluation.  Those before the first clause that needs the heap
 * are evaluated on the index's rows, the rest on the table's rows.
 */
static void
match_row_quals(RtscanScanPath *path, List *others)
{
	ListCell   *cell;

	foreach(cell, others)
	{
		Expr	   *row_qual = path->others != NIL ? NULL :
			rtscan_row_expression(path->index, (Node *) lfirst_node(RestrictInfo, cell)->clause);

		if (row_qual == NULL)
		{
			path->others = lappend(path->others, lfirst(cell));
			continue;
		}
		path->row_clauses = lappend(path->row_clauses, lfirst(cell));
		path->row_quals = lappend(path->row_quals, row_qual);
	}
}

/* Does the index have all columns that are needed? */
static bool
has_columns(const RtscanScanPath *path)
{
	ListCell   *cell;

	foreach(cell, path->wanted)
	{
		Expr	   *column = rtscan_row_expression(path->index, lfirst(cell));

		if (column == NULL || rtscan_row_column(column) < 0)
			return false;
	}
	return true;
}

/*
 * Divide the clauses into those that the index looks up, those that are evaluated on the index's rows, and those that
 * are evaluated on the table's rows.  Decide whether rows are fetched from the heap.
 */
static void
part_quals(RtscanScanPath *path, PlannerInfo *root)
{
	List	   *others;

	path->parameters = path->path.path.param_info;
	path->clauses = path->row_clauses = path->row_quals = path->others = NIL;
	others = match_quals(path, root, path->parameters);
	if (path->join)
	{
		path->row_quals = list_copy(path->join->row_quals);
		others = rtscan_order_quals(root, list_concat(others, rtscan_join_residual(path->join)));
	}
	match_row_quals(path, others);
	path->from_heap = path->others != NIL || !has_columns(path);
}

/* Does the index do anything that a sequential scan cannot? */
static bool
is_useful(const RtscanScanPath *path)
{
	return !path->from_heap || path->clauses != NIL || path->row_clauses != NIL || path->quals->implied != NIL ||
		path->index->indpred != NIL;
}

/* ---------------------------------------------------------------- the path */

/* Begin a path of a relation: a table, or a star's join. */
static RtscanScanPath *
begin_path(RelOptInfo *rel, IndexOptInfo *index, int workers)
{
	RtscanScanPath *path = palloc0(sizeof(RtscanScanPath));
	Path	   *result = &path->path.path;

	result->type = T_CustomPath;
	result->pathtype = T_CustomScan;
	result->parent = rel;
	result->pathtarget = rel->reltarget;
	result->parallel_aware = workers > 0;
	result->parallel_safe = rel->consider_parallel;
	result->parallel_workers = workers;
	path->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.methods = &path_methods;
	path->path.custom_private = list_make1(path);
	path->index = index;
	path->wanted = list_copy(rel->reltarget->exprs);
	return path;
}

static RtscanScanPath *
make_path(PlannerInfo *root, IndexOptInfo *index, Relids required_outer, int workers)
{
	RtscanScanPath *path = begin_path(index->rel, index, workers);

	path->path.path.param_info = get_baserel_parampathinfo(root, index->rel, required_outer);
	part_quals(path, root);
	return path;
}

Path *
rtscan_scan_path(PlannerInfo *root, IndexOptInfo *index, Relids required_outer, int workers)
{
	RtscanScanPath *path = make_path(root, index, required_outer, workers);

	if (!is_useful(path))
		return NULL;
	rtscan_cost_scan(path, root);
	return &path->path.path;
}

/* Can a star's rows be the fact's heap tuples: are only the fact's columns needed, and no system columns? */
static bool
heap_has(const RtscanScanPath *path)
{
	List	   *all = list_concat_copy(path->wanted, extract_actual_clauses(path->others, false));
	ListCell   *cell;

	foreach(cell, pull_var_clause((Node *) all, PVC_INCLUDE_PLACEHOLDERS))
	{
		const Var  *var = lfirst(cell);

		if (!IsA(var, Var) || var->varno != (int) path->index->rel->relid || var->varattno <= 0)
			return false;
	}
	return true;
}

/* Can the path of a star return all that the query needs of the star? */
static bool
has_all(const RtscanScanPath *path)
{
	const RtscanJoin *join = path->join;

	if (path->from_heap && (!heap_has(path) || rtscan_repeats_rows(join->star)))
		return false;
	return !rtscan_has_pseudoconstant(join->index->indrestrictinfo) &&
		!rtscan_has_pseudoconstant(rtscan_join_residual(join));
}

Path *
rtscan_join_scan_path(PlannerInfo *root, const RtscanStar *star, int workers, bool in_worker)
{
	RtscanJoin *join = rtscan_join_star(root, star, star->rel->reltarget->exprs, in_worker);
	RtscanScanPath *path;

	if (join == NULL || (in_worker && !join->parallel_safe))
		return NULL;
	path = begin_path(star->rel, join->index, workers);
	path->join = join;
	path->path.custom_paths = join->paths;
	path->path.path.parallel_safe &= join->parallel_safe && join->index->rel->consider_parallel;
	part_quals(path, root);
	if (!has_all(path))
		return NULL;
	rtscan_cost_scan(path, root);
	return &path->path.path;
}

/* Set the order of a path's rows. */
static void
set_order(RtscanScanPath *path, const RtscanOrder *order, List *keys)
{
	path->order = palloc(sizeof(RtscanOrder));
	*path->order = *order;
	path->path.path.pathkeys = keys;
}

Path *
rtscan_ordered_path(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	RtscanScanPath *path;
	RtscanOrder order;

	if (!rtscan_order_of_key(root, index, key, &order))
		return NULL;
	path = make_path(root, index, index->rel->lateral_relids, 0);
	set_order(path, &order, list_make1(key));
	rtscan_cost_scan(path, root);
	return &path->path.path;
}

/* Return a path in an order that a heap or a table finds.  NULL if quals are left that the index does not look up. */
static Path *
path_by_heap(PlannerInfo *root, IndexOptInfo *index, const RtscanOrder *order, List *keys)
{
	RtscanScanPath *path = make_path(root, index, index->rel->lateral_relids, 0);

	if (path->row_clauses != NIL || path->others != NIL)
		return NULL;
	set_order(path, order, keys);
	rtscan_cost_scan(path, root);
	return &path->path.path;
}

Path *
rtscan_first_rows_path(PlannerInfo *root, IndexOptInfo *index, List *keys)
{
	RtscanOrder order;

	return rtscan_order_of_first_rows(root, index, keys, &order) ? path_by_heap(root, index, &order, keys) : NULL;
}

Path *
rtscan_first_of_groups_path(PlannerInfo *root, IndexOptInfo *index, const RtscanFirstOf *first)
{
	RtscanOrder order;

	return rtscan_order_of_groups(root, index, first, &order) ? path_by_heap(root, index, &order, first->keys) : NULL;
}

/* ---------------------------------------------------------------- OFFSET */

/* Cost of skipping rows: pivots are tried in each segment, or rows are dropped one by one, whichever costs less. */
static Cost
skip_cost(PlannerInfo *root, const RtscanScanPath *path, double rows)
{
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);

	return Min((size ? size->segments : 1) * SKIP_SEGMENT_COST, SKIP_COST + rows * RTSCAN_ROW_COST);
}

static RtscanScanPath *
copy_path(const Path *path)
{
	RtscanScanPath *copy = palloc(sizeof(RtscanScanPath));

	*copy = *(const RtscanScanPath *) linitial(((const CustomPath *) path)->custom_private);
	copy->path.path = *path;
	copy->path.custom_private = list_make1(copy);
	if (copy->order)
	{
		copy->order = palloc(sizeof(RtscanOrder));
		*copy->order = *((const RtscanScanPath *) path)->order;
	}
	return copy;
}

Path *
rtscan_copy_scan_path(const Path *path)
{
	return &copy_path(path)->path.path;
}

Path *
rtscan_skipping_path(PlannerInfo *root, const Path *path, Expr *skip, double rows)
{
	RtscanScanPath *result = copy_path(path);

	if (result->order == NULL || result->order->by_heap || result->row_clauses != NIL || result->others != NIL)
		return NULL;
	result->skip = skip;
	result->order->wanted = Max(result->order->wanted - rows, 1);
	result->path.path.rows = clamp_row_est(path->rows - rows);
	result->path.path.startup_cost += skip_cost(root, result, rows) + result->unsearched;
	result->path.path.total_cost = result->path.path.startup_cost +
		(path->total_cost - path->startup_cost - result->unsearched) * result->path.path.rows / Max(path->rows, 1);
	return &result->path.path;
}

/* ---------------------------------------------------------------- the chosen path */

const RtscanScanPath *
rtscan_whole_scan_path(PlannerInfo *root, const CustomPath *copy)
{
	const RtscanScanPath *path = linitial(copy->custom_private);
	RtscanScanPath *adjusted;

	if (copy->path.param_info == path->parameters)
		return path;
	adjusted = palloc(sizeof(RtscanScanPath));
	*adjusted = *path;
	adjusted->path = *copy;
	part_quals(adjusted, root);
	return adjusted;
}
