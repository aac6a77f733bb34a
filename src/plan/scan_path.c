/*
 * scan_path.c
 *		How an index would return a table's rows, and what that costs.
 */
#include "plan/scan_path.h"

#include <float.h>

#include "access/nbtree.h"
#include "nodes/extensible.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "plan/cost.h"
#include "plan/resolve.h"
#include "run/expressions.h"
#include "utils/lsyscache.h"

static const CustomPathMethods path_methods = {
	.CustomName = "RtscanScan",
	.PlanCustomPath = rtscan_plan_scan,
};

/* ---------------------------------------------------------------- what the index can do */

/* Part WHERE, and what joins give as parameters, into what the index looks up and the rest, in the order of evaluation. */
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
		RtscanQuals quals = {NIL};

		if (info->pseudoconstant)
			continue;
		if (restriction_is_securely_promotable(info, path->index->rel) && rtscan_quals_add(&quals, path->index, info->clause))
		{
			rtscan_quals_join(path->quals, &quals);
			path->clauses = lappend(path->clauses, info);
		}
		else
			others = lappend(others, info);
	}
	return rtscan_order_quals(root, others);
}

/* Of the others, those that the index's rows have all for: up to the first that has to be asked of the table's. */
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

/* Has the index all columns that are wanted? */
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

/* Part the quals anew, as far as the index has what they need. */
static void
part_quals(RtscanScanPath *path, PlannerInfo *root)
{
	path->parameters = path->path.path.param_info;
	path->clauses = path->row_clauses = path->row_quals = path->others = NIL;
	match_row_quals(path, match_quals(path, root, path->parameters));
	path->from_heap = path->others != NIL || !has_columns(path);
}

/* Does the index do anything that a sequential scan does not? */
static bool
is_useful(const RtscanScanPath *path)
{
	return !path->from_heap || path->clauses != NIL || path->row_clauses != NIL || path->index->indpred != NIL;
}

/* ---------------------------------------------------------------- cost */

/* How often it will be scanned: as get_loop_count() has it, for the fewest rows of an outer table. */
static double
loop_count(PlannerInfo *root, Relids required_outer)
{
	double		loops = 0;
	int			relid = -1;

	while ((relid = bms_next_member(required_outer, relid)) >= 0)
	{
		const RelOptInfo *outer = relid < root->simple_rel_array_size ? root->simple_rel_array[relid] : NULL;

		if (outer && outer->rows > 0 && (loops == 0 || outer->rows < loops))
			loops = outer->rows;
	}
	return Max(loops, 1);
}

/* The index's columns that values are read of. */
static Bitmapset *
columns_read(const RtscanScanPath *path)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) path->row_quals);
	ListCell   *cell;

	if (!path->from_heap)
		foreach(cell, path->wanted)
			columns = bms_add_member(columns, rtscan_row_column(rtscan_row_expression(path->index, lfirst(cell))));
	return columns;
}

/* What is done with so many rows of the index, until some are left as the node's. */
static RtscanCost
rows_cost(const RtscanScanPath *path, PlannerInfo *root, double rows, double loops)
{
	const PathTarget *target = path->index->rel->reltarget;
	Bitmapset  *columns = columns_read(path);
	int			column = -1;
	RtscanCost	cost = {.work = rows * RTSCAN_ROW_COST};
	QualCost	quals;

	while ((column = bms_next_member(columns, column)) >= 0)
		rtscan_add_cost(&cost, rtscan_column_cost(root, path->index, column, rows, loops));
	cost_qual_eval(&quals, path->row_clauses, root);
	cost.startup += quals.startup + target->cost.startup;
	cost.work += rows * quals.per_tuple;
	if (!path->from_heap || path->row_clauses != NIL)
		rtscan_add_cost(&cost, rtscan_visibility_cost(path->index->rel, rows));
	rows *= clauselist_selectivity(root, path->row_clauses, path->index->rel->relid, JOIN_INNER, NULL);
	if (path->from_heap)
		rtscan_add_cost(&cost, rtscan_heap_cost(root, path->index, rows, loops));
	cost_qual_eval(&quals, path->others, root);
	cost.startup += quals.startup;
	cost.work += rows * quals.per_tuple;
	return cost;
}

/* Rows come up after all segments have been searched: some ranks are walked for each, and it is looked up here and there. */
static RtscanCost
ordered_rows_cost(const RtscanScanPath *path, PlannerInfo *root, double rows)
{
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);
	RtscanCost	cost = rtscan_order_cost(size ? size->rows : rows, rows, bms_num_members(columns_read(path)));
	RtscanCost	others = rows_cost(path, root, rows, 1);

	/* What would be read of the columns of all rows is read of each row. */
	cost.startup += others.startup;
	if (path->from_heap)
		rtscan_add_cost(&cost, rtscan_heap_cost(root, path->index, rows, 1));
	return cost;
}

static void
cost_path(RtscanScanPath *path, PlannerInfo *root)
{
	RelOptInfo *table = path->index->rel;
	Path	   *result = &path->path.path;
	double		loops = loop_count(root, PATH_REQ_OUTER(result));
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);
	double		found;
	RtscanCost	search = rtscan_quals_cost(path->quals, root, path->index, loops, &found);
	RtscanCost	rows = path->ordered ? ordered_rows_cost(path, root, found) : rows_cost(path, root, found, loops);
	double		speedup = rtscan_speedup(root, path->index, result->parallel_workers);
	double		searched = path->ordered ? 1 : 1 / (size ? Max(size->segments, 1) : 1);	/* before the first row, of all */

	result->rows = result->param_info ? result->param_info->ppi_rows : table->rows;
	rows.work += result->rows * table->reltarget->cost.per_tuple;
	search.work /= speedup;
	rows.work /= speedup;
	result->rows = clamp_row_est(result->rows / speedup);
	result->startup_cost = search.startup + rows.startup + searched * (search.work + search.pages);
	if (!path->ordered)
		result->startup_cost += searched * (rows.work + rows.pages);
	result->total_cost = rtscan_total_cost(&search) + rtscan_total_cost(&rows);
}

/* ---------------------------------------------------------------- order */

/* Is a column of the index what a path key sorts by, in the order that the index knows? */
static bool
has_order(IndexOptInfo *index, int column, PathKey *key)
{
	Oid			type = index->opcintype[column];
	Expr	   *expression = list_nth_node(TargetEntry, index->indextlist, column)->expr;

	return key->pk_eclass->ec_collation == index->indexcollations[column] &&
		get_opfamily_proc(key->pk_opfamily, type, type, BTORDER_PROC) ==
		get_opfamily_proc(index->opfamily[column], type, type, RTSCAN_COMPARE_PROC) &&
		find_ec_member_matching_expr(key->pk_eclass, expression, index->rel->relids) != NULL;
}

static int
find_order(IndexOptInfo *index, PathKey *key)
{
	for (int column = 0; column < index->nkeycolumns; column++)
		if (has_order(index, column, key))
			return column;
	return -1;
}

/* ---------------------------------------------------------------- the path */

static RtscanScanPath *
make_path(PlannerInfo *root, IndexOptInfo *index, Relids required_outer, int workers)
{
	RelOptInfo *table = index->rel;
	RtscanScanPath *path = palloc0(sizeof(RtscanScanPath));
	Path	   *result = &path->path.path;

	result->type = T_CustomPath;
	result->pathtype = T_CustomScan;
	result->parent = table;
	result->pathtarget = table->reltarget;
	result->param_info = get_baserel_parampathinfo(root, table, required_outer);
	result->parallel_aware = workers > 0;
	result->parallel_safe = table->consider_parallel;
	result->parallel_workers = workers;
	path->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.methods = &path_methods;
	path->path.custom_private = list_make1(path);
	path->index = index;
	path->wanted = list_copy(table->reltarget->exprs);
	part_quals(path, root);
	return path;
}

Path *
rtscan_scan_path(PlannerInfo *root, IndexOptInfo *index, Relids required_outer, int workers)
{
	RtscanScanPath *path = make_path(root, index, required_outer, workers);

	if (!is_useful(path))
		return NULL;
	cost_path(path, root);
	return &path->path.path;
}

Path *
rtscan_ordered_path(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	int			column = find_order(index, key);
	RtscanScanPath *path;

	if (column < 0)
		return NULL;
	path = make_path(root, index, index->rel->lateral_relids, 0);
	path->ordered = true;
	path->order = (RtscanOrder) {
		.column = column,
		.descending = rtscan_compat_is_descending(key),
		.nulls_first = key->pk_nulls_first,
		.wanted = root->limit_tuples > 0 ? root->limit_tuples : DBL_MAX,
	};
	path->path.path.pathkeys = list_make1(key);
	cost_path(path, root);
	return &path->path.path;
}

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
