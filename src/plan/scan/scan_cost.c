/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_cost.c
 *		Estimates the cost of a path in which an index returns rows.
 */
#include "plan/scan/scan_path.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "plan/cost/cost.h"
#include "plan/cost/expression_cost.h"
#include "plan/cost/heap_order.h"
#include "plan/cost/late_rows.h"
#include "plan/cost/quals_cost.h"
#include "plan/cost/resolve.h"
#include "plan/star/advice.h"
#include "run/plan/expressions.h"
#include "search/scan/cursor.h"
#include "settings.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* The first rows of each group: memory of a group, and of each column of the group or of one of its rows, in bytes. */
#define GROUP_BYTES			32
#define GROUP_COLUMN_BYTES	16

/* The first rows of each group: finding a row's group, and comparing the row with those of the group. */
#define GROUP_COST			(0.4 * cpu_operator_cost)
#define FOUND_COST			(0.001 * cpu_operator_cost) /* a row that the search finds, whether or not it is read */

/* Segments that are read later may be skipped if there are at most FEW_GROUPS, and the heap's order is this close. */
#define FEW_GROUPS			65536
#define IN_HEAP_ORDER		0.9

/* ---------------------------------------------------------------- the search */

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

/* Cost of finding rows, by the quals and a star's dimensions.  Sets *found to the number of rows. */
static RtscanCost
search_cost(const RtscanScanPath *path, PlannerInfo *root, double loops, double *found)
{
	RtscanCost	cost = rtscan_quals_cost(path->quals, root, path->index, loops, found);

	if (path->join)
		rtscan_add_cost(&cost, rtscan_join_cost(path->join, root, found));
	return cost;
}

/*
 * May rows be tested one by one, in the path's order, until enough of them match (search/order/order_stream.h)?  Only
 * the CPU can test rows, and only by quals that are one region.
 */
static bool
may_test_rows(const RtscanScanPath *path, double found)
{
	return !path->order->by_heap && !path->join && path->row_clauses == NIL && path->others == NIL &&
		path->order->wanted <= found &&
		(rtscan_executor == RTSCAN_EXECUTOR_AUTO || rtscan_executor == RTSCAN_EXECUTOR_CPU) &&
		rtscan_quals_are_region(path->quals, path->index, false);
}

/*
 * Return the fraction of a search that precedes the first row.  Without an order, it is the search of one segment.  In
 * an order, it is the whole search, unless rows may be tested one by one (may_test_rows()).  The tests then go on until
 * as many rows match as are wanted, and one more in each segment.
 */
static double
searched_part(const RtscanScanPath *path, PlannerInfo *root, double found, const RtscanCost *search)
{
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);
	double		ranks,
				tested;

	if (!path->order)
		return 1 / (size ? Max(size->segments, 1) : 1);
	if (size == NULL || !may_test_rows(path, found))
		return 1;
	ranks = size->rows * rtscan_quals_selectivity(path->quals, root, path->index, path->order->columns[0].column);
	tested = (path->order->wanted + size->segments) * Max(ranks / Max(found, 1), 1);
	return Min(rtscan_tests_cost(tested, list_length(path->quals->all)) / Max(search->work + search->pages, 1), 1);
}

/* ---------------------------------------------------------------- the rows */

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

/*
 * Cost of everything between the index's rows and the node's: row quals, the visibility check, heap rows and the quals
 * on them, in the order of evaluation.
 */
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

	/* Each row's values are read at random.  rtscan_order_cost() has the CPU's work, so only the pages are added. */
	cost.pages += values_cost(path, root, rows, 1).pages;
	rtscan_add_cost(&cost, quals_cost(path, root, rows, 1));
	return cost;
}

/*
 * Cost of the first rows by a bounded heap.  Before a row is returned, one pass over all rows reads a value of each row
 * and compares it.  Rows that may belong to the first ones are tried: 1 + ln(rows / wanted) for each wanted row.  Then
 * the wanted rows are returned; to return all rows would cost proportionally more.
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

/* Return an estimate of the number of groups of which a path has the first rows. */
static double
count_groups(const RtscanScanPath *path, PlannerInfo *root, double rows)
{
	const RtscanOrder *order = path->order;
	List	   *keys = NIL;

	for (int i = 0; i < order->group_columns; i++)
		keys = lappend(keys, list_nth_node(TargetEntry, path->index->indextlist, order->columns[i].column)->expr);
	return Min(estimate_num_groups(root, keys, Max(rows, 1), NULL, NULL), Max(rows, 1));
}

/* Return an estimate of the memory that a value of a column takes besides its place, in bytes. */
static double
referenced_bytes(const RtscanScanPath *path, PlannerInfo *root, int column)
{
	Node	   *expression = (Node *) list_nth_node(TargetEntry, path->index->indextlist, column)->expr;
	int32		width = IsA(expression, Var) ?
		get_attavgwidth(planner_rt_fetch(path->index->rel->relid, root)->relid, ((Var *) expression)->varattno) : 0;

	if (get_typbyval(exprType(expression)))
		return 0;
	return GROUP_COLUMN_BYTES + (width > 0 ? width : get_typavgwidth(exprType(expression), exprTypmod(expression)));
}

/* Return an estimate of the number of passes that find the groups: one if all of them fit into memory. */
static double
count_passes(const RtscanScanPath *path, PlannerInfo *root, double groups)
{
	const RtscanOrder *order = path->order;
	double		bytes = GROUP_BYTES;
	double		parts;

	for (int i = 0; i < order->ncolumns; i++)
		bytes += (i < order->group_columns ? 1 : order->of_each) *
			(GROUP_COLUMN_BYTES + referenced_bytes(path, root, order->columns[i].column));
	parts = groups * bytes / get_hash_memory_limit();
	return parts <= 1 ? 1 : ceil(2 * parts);
}

/*
 * Return an estimate of the fraction of rows that is read to find the first ones of few groups, without conditions.  If
 * the heap is in the order of the first column behind the group's, as of time, the newest segment is read, and others
 * until all groups have been found: groups * (ln(groups) + 1) rows, if groups take turns at random.
 */
static double
read_part(const RtscanScanPath *path, PlannerInfo *root, double rows, double groups)
{
	const RtscanOrder *order = path->order;
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);
	Expr	   *column;

	if (size == NULL || path->quals->all != NIL || path->index->indpred != NIL || order->group_columns != 1 ||
		order->ncolumns == 1 || groups > FEW_GROUPS)
		return 1;
	column = list_nth_node(TargetEntry, path->index->indextlist, order->columns[1].column)->expr;
	if (fabs(rtscan_heap_correlation(root, (Node *) column)) < IN_HEAP_ORDER)
		return 1;
	return Min(1 / Max(size->segments, 1) + groups * (log(groups) + 1) * order->of_each / Max(rows, 1), 1);
}

/*
 * Cost of the first rows of each group.  Before a row is returned, one pass or several read the group's columns and the
 * next one of all rows, unless read_part() says that fewer suffice.  Rows that may be among the first of their group
 * are tried: 1 + ln(rows of a group) for each that is returned.
 */
static RtscanCost
first_of_groups_cost(RtscanScanPath *path, PlannerInfo *root, double rows)
{
	const RtscanOrder *order = path->order;
	double		groups = count_groups(path, root, rows);
	double		returned = Min(groups * order->of_each, Max(rows, 1));
	double		tried = Min(returned * (1 + log(Max(rows / returned, 1))), rows);
	double		read = rows * read_part(path, root, rows, groups);
	Cost		comparing = order->ncolumns * 2 * cpu_operator_cost;
	RtscanCost	pass = {.work = rows * FOUND_COST + read * (RTSCAN_ROW_COST + GROUP_COST) + tried * comparing};
	RtscanCost	cost = rows_cost(path, root, returned, 1);

	for (int i = 0; i < order->ncolumns; i++)
		rtscan_add_cost(&pass, rtscan_column_cost(root, path->index, order->columns[i].column,
												  i <= order->group_columns ? read : Min(tried, read), 1));
	rtscan_add_cost(&pass, rtscan_visibility_cost(root, path->index, read, 1));
	cost.startup += count_passes(path, root, groups) * rtscan_total_cost(&pass);
	path->path.path.rows = returned;
	return cost;
}

/* Cost of returning the rows, in the path's order if it has one. */
static RtscanCost
returned_rows_cost(RtscanScanPath *path, PlannerInfo *root, double found, double loops)
{
	if (path->order == NULL)
		return rows_cost(path, root, found, loops);
	if (path->order->group_columns > 0)
		return first_of_groups_cost(path, root, found);
	return path->order->by_heap ? first_rows_cost(path, root, found) : ordered_rows_cost(path, root, found);
}

/* ---------------------------------------------------------------- the path */

/* Are so few rows wanted that a single segment can be expected to have them? */
static bool
wants_few(const RtscanScanPath *path, PlannerInfo *root, double rows)
{
	const RtscanIndexSize *size = rtscan_index_size(root, path->index);

	return !path->order->by_heap && size && path->order->wanted * size->segments <= rows;
}

/*
 * Return how many rows are read before the first one is returned: a batch, or one row if rows are read from the heap
 * and no quals are evaluated on the index's rows.
 */
static double
first_batch(const RtscanScanPath *path)
{
	return path->from_heap && path->row_clauses == NIL ? 1 : RTSCAN_CURSOR_ROWS;
}

/*
 * Return the cost that precedes the first row because, in an order, the rows that pass the other quals may come late
 * among the rows that the index finds.
 */
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
 * Set the number of rows that all processes together return, unless first_of_groups_cost() has set it.  In an order,
 * also decide whether one segment is expected to have the wanted rows (order->few).
 */
static void
set_rows(RtscanScanPath *path, PlannerInfo *root, double found)
{
	Path	   *result = &path->path.path;

	if (path->order == NULL || path->order->group_columns == 0)
		result->rows = result->param_info ? result->param_info->ppi_rows : result->parent->rows;
	if (path->order)
		path->order->few = wants_few(path, root, Min(found, result->rows));
}

/* Divide the rows and their costs among the path's workers and the leader. */
static void
share(RtscanScanPath *path, PlannerInfo *root, RtscanCost *search, RtscanCost *rows)
{
	Path	   *result = &path->path.path;
	int			workers = result->parallel_workers;

	rtscan_share_cost(search, root, path->index, workers);
	rtscan_share_cost(rows, root, path->index, workers);
	search->startup += rtscan_workers_cost(workers);
	result->rows = clamp_row_est(result->rows / rtscan_speedup(root, path->index, workers));
}

/* Set the costs of a path.  The fraction "searched" of the search precedes the first row. */
static void
set_costs(RtscanScanPath *path, const RtscanCost *search, const RtscanCost *rows, double found, double searched)
{
	Path	   *result = &path->path.path;

	result->startup_cost = search->startup + search->lookups + rows->startup +
		searched * (search->work + search->pages);
	path->unsearched = path->order ? (1 - searched) * (search->work + search->pages) : 0;
	if (!path->order)
		result->startup_cost += Min(first_batch(path) / Max(found, 1), 1) * (rows->work + rows->pages);
	result->total_cost = rtscan_total_cost(search) + rtscan_total_cost(rows);
}

void
rtscan_cost_scan(RtscanScanPath *path, PlannerInfo *root)
{
	Path	   *result = &path->path.path;
	double		loops = loop_count(root, PATH_REQ_OUTER(result));
	double		found;
	RtscanCost	search = search_cost(path, root, loops, &found);
	RtscanCost	rows = returned_rows_cost(path, root, found, loops);
	double		searched = searched_part(path, root, found, &search);

	rtscan_count_disabled(root, result, result->parent, path->index, path->join);
	set_rows(path, root, found);
	rows.work += result->rows * result->pathtarget->cost.per_tuple;
	share(path, root, &search, &rows);
	set_costs(path, &search, &rows, found, searched);
	result->startup_cost += late_cost(path, root, found);
}
