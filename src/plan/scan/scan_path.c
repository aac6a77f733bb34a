/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_path.c
 *		Makes and prices paths in which an index returns a table's rows.
 */
#include "plan/scan/scan_path.h"

#include <float.h>
#include <math.h>

#include "access/nbtree.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "plan/cost/cost.h"
#include "plan/cost/expression_cost.h"
#include "plan/cost/late_rows.h"
#include "plan/cost/leaves.h"
#include "plan/cost/quals_cost.h"
#include "plan/cost/resolve.h"
#include "plan/quals/imply.h"
#include "plan/quals/restrictions.h"
#include "plan/quals/volatile.h"
#include "plan/star/advice.h"
#include "run/plan/expressions.h"
#include "search/scan/cursor.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Memory that a bounded heap needs for a row, and for each of its columns, which may be passed by reference. */
#define FIRST_ROW_BYTES			64
#define FIRST_ROW_COLUMN_BYTES	64

/* Skipping rows one by one, besides RTSCAN_ROW_COST for each. */
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

/* Divide the others: clauses for which the index's rows suffice, up to the first that needs the heap, and the rest. */
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

/* Divide the quals by what the index has, and decide whether rows are fetched from the heap. */
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

/* ---------------------------------------------------------------- cost */

/* Estimate the number of rescans as get_loop_count() does: by the outer table with the fewest rows. */
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

/* Return the index's columns whose values are read. */
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

/* Cost of reading the index's values of this many rows. */
static RtscanCost
values_cost(const RtscanScanPath *path, PlannerInfo *root, double rows, double loops)
{
	Bitmapset  *columns = columns_read(path);
	int			column = -1;
	RtscanCost	cost = {.work = rows * RTSCAN_ROW_COST};

	while ((column = bms_next_member(columns, column)) >= 0)
		rtscan_add_cost(&cost, rtscan_value_cost(root, path->index, column, rows, loops));
	return cost;
}

/* Cost of evaluating quals and checking visibility, from the index's rows to the node's, in the order of evaluation. */
static RtscanCost
quals_cost(const RtscanScanPath *path, PlannerInfo *root, double rows, double loops)
{
	RtscanCost	cost = {.startup = path->path.path.pathtarget->cost.startup};
	QualCost	quals = rtscan_expressions_cost(root, path->row_quals);

	cost.startup += quals.startup;
	cost.work += rows * quals.per_tuple;
	if (!path->from_heap || path->row_clauses != NIL)
		rtscan_add_cost(&cost, rtscan_visibility_cost(root, path->index, rows, loops));
	rows *= rtscan_residual_selectivity(path->quals, root, path->index, path->row_clauses, rows);
	if (path->from_heap)
		rtscan_add_cost(&cost, rtscan_heap_cost(root, path->index, rows, loops));
	else
		cost.work += rows * RTSCAN_TUPLE_COST;
	cost_qual_eval(&quals, path->others, root);
	cost.startup += quals.startup;
	cost.work += rows * quals.per_tuple;
	return cost;
}

static RtscanCost
rows_cost(const RtscanScanPath *path, PlannerInfo *root, double rows, double loops)
{
	RtscanCost	cost = values_cost(path, root, rows, loops);

	rtscan_add_cost(&cost, quals_cost(path, root, rows, loops));
	return cost;
}

/* Cost of rows in an order: walking ranks of searched segments, and reading each row's values at random. */
static RtscanCost
ordered_rows_cost(const RtscanScanPath *path, PlannerInfo *root, double rows)
{
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);
	double		ranks = size ? size->rows * rtscan_quals_selectivity(path->quals, root, path->index,
																	 path->order->columns[0].column) : rows;
	RtscanCost	cost = rtscan_order_cost(ranks, rows, path->order->wanted, bms_num_members(columns_read(path)));

	/* Values are read one by one at random. */
	cost.pages += values_cost(path, root, rows, 1).pages;
	rtscan_add_cost(&cost, quals_cost(path, root, rows, 1));
	return cost;
}

/*
 * Cost of the first rows by a bounded heap.  Before the first row, one pass over all rows reads and compares a value
 * of each; rows that may belong to the first ones are tried, some for each row that is wanted.  Then the wanted rows
 * are returned; returning all rows would cost proportionally more.
 */
static RtscanCost
first_rows_cost(RtscanScanPath *path, PlannerInfo *root, double rows)
{
	const RtscanOrder *order = path->order;
	double		wanted = Max(Min(order->wanted, rows), 1);
	double		tried = Min(wanted * (1 + log(Max(rows / wanted, 1))), rows);
	double		comparisons = tried * order->ncolumns * log2(Max(2 * wanted, 2));
	RtscanCost	pass = {.work = rows * RTSCAN_ROW_COST + comparisons * 2 * cpu_operator_cost};
	RtscanCost	cost = rows_cost(path, root, wanted, 1);

	rtscan_add_cost(&pass, rtscan_value_cost(root, path->index, order->columns[0].column, rows, 1));
	for (int i = 1; i < order->ncolumns; i++)
		rtscan_add_cost(&pass, rtscan_value_cost(root, path->index, order->columns[i].column, tried, 1));
	rtscan_add_cost(&pass, rtscan_visibility_cost(root, path->index, tried, 1));
	cost.startup += rtscan_total_cost(&pass);
	cost.work *= Max(rows, 1) / wanted;
	cost.pages *= Max(rows, 1) / wanted;
	return cost;
}

/* Return how many rows are made before the first one is returned.  From the heap, rows come block by block. */
static double
first_batch(const RtscanScanPath *path)
{
	return path->from_heap && path->row_clauses == NIL ? 1 : RTSCAN_CURSOR_ROWS;
}

/* In an order, rows that pass the quals which the index does not answer may come late among those that it finds. */
static Cost
late_cost(const RtscanScanPath *path, PlannerInfo *root, double found)
{
	const Path *result = &path->path.path;
	List	   *clauses = path->order ? list_concat_copy(path->row_clauses, path->others) : NIL;
	const RtscanOrderColumn *order;

	if (clauses == NIL)
		return 0;
	order = &path->order->columns[0];
	return (result->total_cost - result->startup_cost) *
		rtscan_late_part(root, clauses, list_nth_node(TargetEntry, path->index->indextlist, order->column)->expr,
						 order->descending, Min(result->rows / Max(found, 1), 1));
}

/*
 * Return the fraction of a search that precedes the first row.  Without an order, that is one segment.  In an order, it
 * is the whole search, unless few rows are wanted: then rows are tested one by one until enough of them match, which is
 * one in each segment besides those that are returned (search/order/order_stream.h).
 */
static double
searched_part(const RtscanScanPath *path, PlannerInfo *root, const RtscanIndexSize *size, double found,
			  const RtscanCost *search)
{
	double		ranks;

	if (!path->order)
		return 1 / (size ? Max(size->segments, 1) : 1);
	if (path->order->by_heap || size == NULL || path->join || path->row_clauses != NIL || path->others != NIL ||
		path->order->wanted > found ||
		(rtscan_executor != RTSCAN_EXECUTOR_AUTO && rtscan_executor != RTSCAN_EXECUTOR_CPU) ||
		!rtscan_quals_are_region(path->quals, path->index, false))
		return 1;
	ranks = size->rows * rtscan_quals_selectivity(path->quals, root, path->index, path->order->columns[0].column);
	return Min(rtscan_tests_cost((path->order->wanted + size->segments) * Max(ranks / Max(found, 1), 1),
								 list_length(path->quals->all)) / Max(search->work + search->pages, 1), 1);
}

/* Are so few rows wanted that a single segment can be expected to have them? */
static bool
wants_few(const RtscanOrder *order, const RtscanIndexSize *size, double rows)
{
	return !order->by_heap && size && order->wanted * size->segments <= rows;
}

static void
cost_path(RtscanScanPath *path, PlannerInfo *root)
{
	Path	   *result = &path->path.path;
	double		loops = loop_count(root, PATH_REQ_OUTER(result));
	const PathTarget *target = result->pathtarget;
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);
	double		found;
	RtscanCost	search = rtscan_quals_cost(path->quals, root, path->index, loops, &found);
	RtscanCost	joined = path->join ? rtscan_join_cost(path->join, root, &found) : (RtscanCost) {0};
	RtscanCost	rows = path->order == NULL ? rows_cost(path, root, found, loops) :
		path->order->by_heap ? first_rows_cost(path, root, found) : ordered_rows_cost(path, root, found);
	int			workers = result->parallel_workers;
	double		searched = searched_part(path, root, size, found, &search);

	rtscan_count_disabled(root, result, result->parent, path->index, path->join);
	result->rows = result->param_info ? result->param_info->ppi_rows : result->parent->rows;
	if (path->order)
		path->order->few = wants_few(path->order, size, Min(found, result->rows));
	rows.work += result->rows * target->cost.per_tuple;
	rtscan_add_cost(&search, joined);
	rtscan_share_cost(&search, root, path->index, workers);
	rtscan_share_cost(&rows, root, path->index, workers);
	result->rows = clamp_row_est(result->rows / rtscan_speedup(root, path->index, workers));
	search.startup += rtscan_workers_cost(workers);
	result->startup_cost = search.startup + search.lookups + rows.startup + searched * (search.work + search.pages);
	path->unsearched = path->order ? (1 - searched) * (search.work + search.pages) : 0;
	if (!path->order)
		result->startup_cost += Min(first_batch(path) / Max(found, 1), 1) * (rows.work + rows.pages);
	result->total_cost = rtscan_total_cost(&search) + rtscan_total_cost(&rows);
	result->startup_cost += late_cost(path, root, found);
}

/* ---------------------------------------------------------------- order */

/* Does a path key sort by a key column of the index, in the order that the index has? */
static bool
has_order(PlannerInfo *root, IndexOptInfo *index, int column, PathKey *key)
{
	Oid			type = index->opcintype[column];
	Expr	   *expression = list_nth_node(TargetEntry, index->indextlist, column)->expr;

	return key->pk_eclass->ec_collation == index->indexcollations[column] &&
		rtscan_is_member(root, key->pk_eclass, expression, index->rel) &&
		get_opfamily_proc(key->pk_opfamily, type, type, BTORDER_PROC) ==
		get_opfamily_proc(index->opfamily[column], type, type, RTSCAN_COMPARE_PROC);
}

static int
find_order(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	for (int column = 0; column < index->nkeycolumns; column++)
		if (has_order(root, index, column, key))
			return column;
	return -1;
}

static RtscanOrderColumn
order_column(const PathKey *key, int column)
{
	return (RtscanOrderColumn) {
		.column = column,
		.descending = rtscan_compat_is_descending(key),
		.nulls_first = key->pk_nulls_first,
		.collation = key->pk_eclass->ec_collation,
	};
}

/* Does a path key sort by a column whose values the index has, in the default order of its type? */
static bool
sorts_by(PlannerInfo *root, IndexOptInfo *index, int column, PathKey *key)
{
	Expr	   *expression = list_nth_node(TargetEntry, index->indextlist, column)->expr;
	const TypeCacheEntry *type;

	if (!index->canreturn[column] || !rtscan_is_member(root, key->pk_eclass, expression, index->rel))
		return false;
	type = lookup_type_cache(exprType((Node *) expression), TYPECACHE_CMP_PROC | TYPECACHE_BTREE_OPFAMILY);
	return OidIsValid(type->cmp_proc) && type->btree_opf == key->pk_opfamily;
}

static int
find_sorted_column(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	for (int column = 0; column < index->ncolumns; column++)
		if (sorts_by(root, index, column, key))
			return column;
	return -1;
}

/* Get the order of all of these path keys; false if the index does not have all their columns. */
static bool
find_orders(PlannerInfo *root, IndexOptInfo *index, List *keys, RtscanOrder *order)
{
	ListCell   *cell;

	*order = (RtscanOrder) {0};
	if (list_length(keys) > INDEX_MAX_KEYS)
		return false;
	foreach(cell, keys)
	{
		int			column = find_sorted_column(root, index, lfirst(cell));

		if (column < 0)
			return false;
		order->columns[order->ncolumns++] = order_column(lfirst(cell), column);
	}
	return true;
}

/*
 * Is the number of wanted rows known, and small enough for memory?  The table has to be the only one, since a join may
 * need more rows to find that many.
 */
static bool
limit_fits(PlannerInfo *root, int ncolumns)
{
	double		row = FIRST_ROW_BYTES + ncolumns * FIRST_ROW_COLUMN_BYTES;

	return root->limit_tuples > 0 && root->limit_tuples * row <= work_mem * 1024.0 &&
		bms_membership(root->all_baserels) == BMS_SINGLETON;
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
	cost_path(path, root);
	return &path->path.path;
}

/* Does a star have a pseudoconstant clause?  The planner adds the Result node for these only above scans of tables. */
static bool
has_pseudoconstant(const RtscanJoin *join)
{
	ListCell   *cell;

	foreach(cell, list_concat_copy(join->index->indrestrictinfo, rtscan_join_residual(join)))
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return true;
	return false;
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
	if ((path->from_heap && (!heap_has(path) || rtscan_repeats_rows(star))) || has_pseudoconstant(join))
		return NULL;
	cost_path(path, root);
	return &path->path.path;
}

Path *
rtscan_ordered_path(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	int			column = find_order(root, index, key);
	RtscanScanPath *path;

	if (column < 0)
		return NULL;
	path = make_path(root, index, index->rel->lateral_relids, 0);
	path->order = palloc(sizeof(RtscanOrder));
	*path->order = (RtscanOrder) {
		.ncolumns = 1,
		.columns = {order_column(key, column)},
		.wanted = root->limit_tuples > 0 ? root->limit_tuples : DBL_MAX,
	};
	path->path.path.pathkeys = list_make1(key);
	cost_path(path, root);
	return &path->path.path;
}

Path *
rtscan_first_rows_path(PlannerInfo *root, IndexOptInfo *index, List *keys)
{
	RtscanScanPath *path;
	RtscanOrder order;

	if (!limit_fits(root, list_length(keys)) || !find_orders(root, index, keys, &order))
		return NULL;
	path = make_path(root, index, index->rel->lateral_relids, 0);
	if (path->row_clauses != NIL || path->others != NIL)
		return NULL;
	order.by_heap = true;
	order.wanted = root->limit_tuples + (root->parse->limitOption == LIMIT_OPTION_WITH_TIES ? 1 : 0);
	path->order = palloc(sizeof(RtscanOrder));
	*path->order = order;
	path->path.path.pathkeys = keys;
	cost_path(path, root);
	return &path->path.path;
}

/* Cost of skipping rows: pivots are tried in each segment, or rows are dropped one by one. */
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
