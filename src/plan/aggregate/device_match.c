/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_match.c
 *		Finds out whether a device can aggregate a request's rows, as far as types, statistics and sizes tell.
 */
#include "plan/aggregate/device_match.h"

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "plan/cost/resolve.h"
#include "row/exact.h"
#include "run/aggregate/aggregates.h"
#include "run/device_aggregate/breakpoints.h"
#include "run/device_aggregate/case_arms.h"
#include "run/device_aggregate/device_sums.h"
#include "run/device_aggregate/entries.h"
#include "run/plan/expressions.h"
#include "run/star/dimension.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* A column that is a digit in a product has at most this many values, about the limit of device_aggregate.c. */
#define FEW_VALUES		4096

/* An INCLUDEd column has codes if it has at most this many distinct values. */
#define MOST_CODES			65536.0

/* ---------------------------------------------------------------- columns */

/* Are a type's values exact integers, or decimals of one declared scale? */
static bool
is_integer(Oid type, int32 typmod)
{
	bool		sorts;
	RtscanExactKind kind = rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts);

	return kind != RTSCAN_EXACT_NONE && sorts && !rtscan_exact_is_float(kind) &&
		(kind != RTSCAN_EXACT_DECIMAL || typmod >= 0);
}

bool
rtscan_is_integer_column(const RtscanPath *path, int column)
{
	const IndexOptInfo *index = path->index;
	const Node *expression = (Node *) list_nth_node(TargetEntry, index->indextlist, column)->expr;
	const RtscanIndexSize *size = rtscan_index_size(path->request->root, path->index);
	bool		again = false;

	if (!is_integer(exprType(expression), exprTypmod(expression)))
		return false;
	for (int i = Max(index->nkeycolumns, column + 1); i < index->ncolumns && index->indexkeys[column] != 0; i++)
		again |= index->indexkeys[i] == index->indexkeys[column];
	return exprType(expression) != NUMERICOID || column >= index->nkeycolumns || again ||
		size->columns[column].distinct < FEW_VALUES;
}

static bool
are_integer_columns(const RtscanPath *path, Node *expression)
{
	Bitmapset  *columns = rtscan_row_columns(expression);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (column >= rtscan_own_columns(path) || !rtscan_is_integer_column(path, column))
			return false;
	return true;
}

/* Does a column have few distinct values? */
static bool
is_factor(const RtscanPath *path, int column)
{
	List	   *one = list_make1(list_nth_node(TargetEntry, path->index->indextlist, column)->expr);

	return estimate_num_groups(path->request->root, one, path->index->tuples, NULL, NULL) <= FEW_VALUES;
}

/* Does each column of an expression have few enough values to be a digit? */
static bool
are_factors(const RtscanPath *path, Node *expression)
{
	Bitmapset  *columns = rtscan_row_columns(expression);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!is_factor(path, column))
			return false;
	return true;
}

/* ---------------------------------------------------------------- quals and stars */

/* Can a device test rows by the INCLUDEd columns of a qual?  All of them must be integers, or have codes. */
static bool
is_testable(const RtscanPath *path, const RtscanQual *qual)
{
	Bitmapset  *columns = rtscan_qual_columns(qual, NULL);
	int			column = path->index->nkeycolumns - 1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		Node	   *expression = (Node *) list_nth_node(TargetEntry, path->index->indextlist, column)->expr;

		if (!is_integer(exprType(expression), 0) &&
			estimate_num_groups(path->request->root, list_make1(expression), path->index->tuples, NULL,
								NULL) > MOST_CODES)
			return false;
	}
	return true;
}

static bool
are_testable(const RtscanPath *path)
{
	ListCell   *cell;

	if (!rtscan_quals_are_region(path->quals, path->index, true))
		return false;
	foreach(cell, path->quals->all)
		if (!is_testable(path, lfirst(cell)))
			return false;
	return true;
}

/*
 * Are the integers of two keys the same if the keys are equal?  "type" is the type of the fact's column, "other" the
 * type of the dimension's key; InvalidOid: the same type.
 */
static bool
are_integer_keys(Oid type, Oid other)
{
	bool		sorts;
	RtscanExactKind kind = rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts);
	bool		are_numbers = (type == INT2OID || type == INT4OID || type == INT8OID) &&
		(other == INT2OID || other == INT4OID || other == INT8OID);

	return kind >= RTSCAN_EXACT_INT16 && kind <= RTSCAN_EXACT_INT64 &&
		(are_numbers || type == other || other == InvalidOid);
}

/* Does a dimension have a single key, whose integers a device can map to the numbers of the dimension's rows? */
static bool
is_mapped(const RtscanPath *path, const RtscanStarDimension *dimension)
{
	const RtscanAsked *asked = &((const RtscanStarKey *) linitial(dimension->keys))->qual->asked;

	return list_length(dimension->keys) == 1 && dimension->rel->rows < RTSCAN_MOST_MAPPED &&
		are_integer_keys(rtscan_column_type(path->index, asked->column), asked->subtype);
}

/*
 * Can a device add up the path's rows, if the path has a star?  The star must not repeat rows, and the device must be
 * able to map the key of each dimension to the dimension's rows.
 */
static bool
may_aggregate_star(const RtscanPath *path)
{
	const RtscanJoin *join = path->join;
	ListCell   *cell;

	if (join == NULL)
		return true;
	foreach(cell, join->star->dimensions)
		if (!is_mapped(path, lfirst(cell)))
			return false;
	return !rtscan_repeats_rows(join->star);
}

/* ---------------------------------------------------------------- sums */

/*
 * The products in an expression, each with a factor whose columns become digits.  (rtscan_may_be_device_agg_sum()
 * checks the operators.)
 */
typedef struct Products
{
	const RtscanPath *path;		/* the path */
	Bitmapset  *digits;			/* columns that become digits */
	bool		fail;			/* a product has no factor whose columns can be digits */
} Products;

static bool
is_product(const Node *expression)
{
	const OpExpr *operation = (const OpExpr *) expression;
	const char *name = IsA(expression, OpExpr) && list_length(operation->args) == 2 ?
		get_opname(operation->opno) : NULL;

	return name && strcmp(name, "*") == 0;
}

static void
add_product(Products *products, const OpExpr *product)
{
	Node	   *digits = NULL;

	if (are_factors(products->path, linitial(product->args)))
		digits = linitial(product->args);
	else if (are_factors(products->path, lsecond(product->args)))
		digits = lsecond(product->args);
	products->fail |= digits == NULL;
	products->digits = bms_add_members(products->digits, rtscan_row_columns(digits));
}

static bool
look_for_products(Node *expression, Products *products)
{
	if (expression == NULL)
		return false;
	if (is_product(expression))
		add_product(products, (const OpExpr *) expression);
	return expression_tree_walker(expression, look_for_products, products);
}

/* Does a column have NULLs, according to its statistics? */
static bool
has_nulls(const RtscanPath *path, int column)
{
	VariableStatData statistics;
	bool		has = false;

	examine_variable(path->request->root,
					 (Node *) list_nth_node(TargetEntry, path->index->indextlist, column)->expr, 0, &statistics);
	if (HeapTupleIsValid(statistics.statsTuple))
		has = ((Form_pg_statistic) GETSTRUCT(statistics.statsTuple))->stanullfrac > 0;
	ReleaseVariableStats(statistics);
	return has;
}

static Products
find_products(const RtscanPath *path, Node *expression)
{
	Products	products = {.path = path};

	look_for_products(expression, &products);
	return products;
}

Bitmapset *
rtscan_factor_columns(const RtscanPath *path, Node *expression)
{
	return find_products(path, expression).digits;
}

/*
 * Can a device sum up an expression (device_sums.h)?  If the expression has several columns that are no digits, none of
 * them may have NULLs.
 */
static bool
is_polynomial(const RtscanPath *path, Node *expression)
{
	Products	products = find_products(path, expression);
	Bitmapset  *columns;
	int			column = -1;

	if (products.fail || !rtscan_may_be_device_agg_sum((Expr *) expression))
		return false;
	columns = bms_difference(rtscan_row_columns(expression), products.digits);
	while (bms_membership(columns) == BMS_MULTIPLE && (column = bms_next_member(columns, column)) >= 0)
		if (has_nulls(path, column))
			return false;
	return true;
}

RtscanTotalKind
rtscan_total_kind_of(const RtscanPathAggregate *aggregate)
{
	RtscanTransition transition;
	Oid			type = aggregate->row_arguments ? exprType(linitial(aggregate->row_arguments)) : InvalidOid;

	rtscan_init_transition(&transition, aggregate->line, type, aggregate->fold, aggregate->aggref->inputcollid);
	return rtscan_total_kind(&transition);
}

List *
rtscan_summed(const RtscanPathAggregate *aggregate)
{
	return aggregate->arms != NIL ? rtscan_results_of_arms(aggregate->arms) : aggregate->row_arguments;
}

static bool
are_summed(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	ListCell   *cell;

	foreach(cell, rtscan_summed(aggregate))
		if (!are_integer_columns(path, lfirst(cell)) ||
			!(rtscan_row_column(lfirst(cell)) >= 0 || is_polynomial(path, lfirst(cell))))
			return false;
	return true;
}

/* ---------------------------------------------------------------- conditions */

List *
rtscan_device_agg_conditions(const RtscanPath *path)
{
	List	   *conditions = list_copy(path->row_quals);
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (aggregate->row_filter)
			conditions = lappend(conditions, aggregate->row_filter);
		if (aggregate->of_entries)
			conditions = lappend(conditions, linitial(aggregate->row_arguments));
		conditions = list_concat(conditions, rtscan_conditions_of_arms(aggregate->arms));
	}
	return conditions;
}

/* Return the columns whose distinct values are aggregated. */
static Bitmapset *
columns_of_distinct(const RtscanPath *path)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (rtscan_collects_distinct(aggregate))
			columns = bms_add_members(columns, rtscan_row_columns((Node *) aggregate->row_arguments));
	}
	return columns;
}

Bitmapset *
rtscan_breakpoint_columns(const RtscanPath *path)
{
	List	   *conditions = rtscan_device_agg_conditions(path);
	Bitmapset  *columns = bms_difference(rtscan_row_columns((Node *) conditions), columns_of_distinct(path));
	Bitmapset  *compared = NULL;
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (column < rtscan_own_columns(path) && rtscan_is_integer_column(path, column) &&
			rtscan_find_comparisons(conditions, column) != NIL)
			compared = bms_add_member(compared, column);
	return compared;
}

/*
 * Can conditions be evaluated on entries?  Each of their columns must have few distinct values, or few ranges
 * (breakpoints.h).
 */
static bool
are_conditions_of_entries(const RtscanPath *path)
{
	Bitmapset  *columns = bms_difference(rtscan_row_columns((Node *) rtscan_device_agg_conditions(path)),
										 rtscan_breakpoint_columns(path));
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!is_factor(path, column))
			return false;
	return true;
}

/* ---------------------------------------------------------------- aggregates */

/*
 * Set arms and of_entries of the aggregates.  An argument is evaluated once for each entry only if its columns have few
 * values, which are_conditions_of_entries() checks.
 */
static void
find_aggregates_of_entries(const RtscanPath *path)
{
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		RtscanPathAggregate *aggregate = lfirst(cell);
		RtscanTotalKind kind;

		if (aggregate->collected.purpose != RTSCAN_NO_COLLECTION || list_length(aggregate->row_arguments) != 1)
			continue;
		kind = rtscan_total_kind_of(aggregate);
		aggregate->arms = kind == RTSCAN_TOTAL_SUM ?
			rtscan_case_arms_of(linitial(aggregate->row_arguments), rtscan_own_columns(path)) : NIL;
		aggregate->of_entries = aggregate->arms == NIL &&
			rtscan_is_of_entries(linitial(aggregate->row_arguments), kind, rtscan_own_columns(path));
	}
}

static bool
takes_total(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	RtscanTotalKind kind;

	if (list_length(aggregate->row_arguments) > 1)
		return false;
	if (aggregate->collected.purpose != RTSCAN_NO_COLLECTION)
		return rtscan_collects_distinct(aggregate) && are_factors(path, (Node *) aggregate->row_arguments);
	kind = rtscan_total_kind_of(aggregate);
	if (kind == RTSCAN_NO_TOTAL || aggregate->row_arguments == NIL)
		return kind != RTSCAN_NO_TOTAL;
	if (aggregate->of_entries)
		return true;
	if (kind == RTSCAN_TOTAL_SUM)
		return are_summed(path, aggregate);
	return are_integer_columns(path, linitial(aggregate->row_arguments)) &&
		rtscan_row_column(linitial(aggregate->row_arguments)) >= 0;
}

static bool
takes_totals(const RtscanPath *path)
{
	ListCell   *cell;

	if (rtscan_is_single_quantile(path))
		return true;
	if (!are_conditions_of_entries(path))
		return false;
	foreach(cell, path->aggregates)
		if (!takes_total(path, lfirst(cell)))
			return false;
	return may_aggregate_star(path);
}

/* Are there few enough measures for a device (a sum may need three), and few enough parts of the filter? */
static bool
has_room(const RtscanPath *path)
{
	int			measures = 0;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (!rtscan_collects_distinct(aggregate) && !aggregate->of_entries)
			measures += list_length(rtscan_summed(aggregate)) * 3;
	}
	return measures <= DEVICE_MAX_MEASURES && rtscan_count_regions(path->quals, path->index) <= DEVICE_MAX_PARTS;
}

bool
rtscan_can_aggregate_on_device(const RtscanPath *path)
{
	const RtscanIndexSize *size = rtscan_index_size(path->request->root, path->index);

	if (size == NULL || size->rows < size->segments * RTSCAN_CHUNK_ROWS || !are_testable(path))
		return false;
	find_aggregates_of_entries(path);
	return has_room(path) && takes_totals(path);
}
