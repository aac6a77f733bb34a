/* SPDX-License-Identifier: PostgreSQL */
/*
 * tally_cost.c
 *		Estimates the cost of aggregates if a device adds up the rows.
 *
 * Whether it can is known only once segments are open (run/tally/by_tally.c).  To compare the cost with that of
 * parallel processes, the planner assumes it only if types, statistics and sizes indicate it.  A tally adds up rows by
 * cell: columns of GROUP BY, and others with few values, are the digits of the number of a cell.  A cell with rows
 * becomes an entry (search/exec/tally.h).
 */
#include "plan/aggregate/path.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "plan/cost/cost.h"
#include "plan/cost/resolve.h"
#include "row/exact.h"
#include "run/aggregate/aggregates.h"
#include "run/plan/expressions.h"
#include "run/star/dimension.h"
#include "run/tally/breakpoints.h"
#include "run/tally/case_arms.h"
#include "run/tally/entries.h"
#include "run/tally/tally_sums.h"
#include "search/exec/choice.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* A column that is a digit in a product has at most this many values, about the limit of search/exec/tally.c. */
#define FEW_VALUES		4096

/* Typical number of searches for one percentile, and for several. */
#define SEARCHES_OF_ONE		3
#define SEARCHES_OF_SEVERAL	7

/* Processing an entry of a tally, whose group is looked up by the values of its keys. */
#define ENTRY_NANOSECONDS	400.0

/* An INCLUDEd column has codes if it has at most this many distinct values. */
#define MOST_CODES			65536.0

/* Only rows in all-visible blocks can be added up by a device, which does not pay off below this fraction of blocks. */
#define LEAST_VISIBLE	0.25

/* A tally with more entries per row than this would not be made. */
#define MOST_ENTRIES	0.25

/* Bytes per row of device memory for a column that is searched, or added up: upper bounds for most columns. */
#define KEY_BYTES		8.0
#define VALUE_BYTES		4.0

/* ---------------------------------------------------------------- eligibility */

/* Are a type's values exact integers, or decimals of one declared scale? */
static bool
is_integer(Oid type, int32 typmod)
{
	bool		sorts;
	RtscanExactKind kind = rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts);

	return kind != RTSCAN_EXACT_NONE && sorts && kind != RTSCAN_EXACT_FLOAT4 && kind != RTSCAN_EXACT_FLOAT8 &&
		(kind != RTSCAN_EXACT_DECIMAL || typmod >= 0);
}

/* Are values integers of a known range?  Numerics of a key column are not, unless few, or INCLUDEd as well. */
static bool
is_integer_column(const RtscanPath *path, int column)
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

/* Return the number of the index's own columns, which precede those of dimensions. */
static int
own_columns(const RtscanPath *path)
{
	return path->join ? path->join->star->index->ncolumns : path->index->ncolumns;
}

static bool
are_integer_columns(const RtscanPath *path, Node *expression)
{
	Bitmapset  *columns = rtscan_row_columns(expression);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (column >= own_columns(path) || !is_integer_column(path, column))
			return false;
	return true;
}

/* Can a device test rows by the INCLUDEd columns of a qual?  These must be integers, or have codes. */
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

/* Do equal keys of a column and of a dimension have the same integers? */
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

/* Does a dimension have a single key whose integers a device can map to numbers of its rows? */
static bool
is_mapped(const RtscanPath *path, const RtscanStarDimension *dimension)
{
	const RtscanAsked *asked = &((const RtscanStarKey *) linitial(dimension->keys))->qual->asked;

	return list_length(dimension->keys) == 1 && dimension->rel->rows < RTSCAN_MOST_MAPPED &&
		are_integer_keys(rtscan_column_type(path->index, asked->column), asked->subtype);
}

/* Can a device tally a star: are its rows not repeated, and can attributes be digits? */
static bool
may_be_tallied(const RtscanPath *path)
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

/* Does a column have few distinct values? */
static bool
is_factor(const RtscanPath *path, int column)
{
	List	   *one = list_make1(list_nth_node(TargetEntry, path->index->indextlist, column)->expr);

	return estimate_num_groups(path->request->root, one, path->index->tuples, NULL, NULL) <= FEW_VALUES;
}

/* Does each column of an expression have few enough values to be a digit, beside another column that is added up? */
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

/* Products in an expression, each with a factor of digits.  (rtscan_may_be_tally_sum() checks the operators.) */
typedef struct Products
{
	const RtscanPath *path;		/* the path */
	Bitmapset  *digits;			/* columns that become digits */
	bool		fail;			/* some product has no such factor */
} Products;

static bool
look_for_products(Node *expression, Products *products)
{
	const OpExpr *operation = (const OpExpr *) expression;
	Node	   *digits = NULL;
	const char *name;

	if (expression == NULL)
		return false;
	name = IsA(expression, OpExpr) && list_length(operation->args) == 2 ? get_opname(operation->opno) : NULL;
	if (name && strcmp(name, "*") == 0)
	{
		if (are_factors(products->path, linitial(operation->args)))
			digits = linitial(operation->args);
		else if (are_factors(products->path, lsecond(operation->args)))
			digits = lsecond(operation->args);
		products->fail |= digits == NULL;
		products->digits = bms_add_members(products->digits, rtscan_row_columns(digits));
	}
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

/* Can a device sum up an expression (run/tally/tally_sums.h)?  Several columns besides digits must have no NULLs. */
static bool
is_polynomial(const RtscanPath *path, Node *expression)
{
	Products	products = find_products(path, expression);
	Bitmapset  *columns;
	int			column = -1;

	if (products.fail || !rtscan_may_be_tally_sum((Expr *) expression))
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

static bool
is_distinct(const RtscanPathAggregate *aggregate)
{
	return aggregate->collected.purpose == RTSCAN_FOR_DISTINCT;
}

/* Find aggregates whose arguments are evaluated once for each entry, which requires columns with few values. */
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
			rtscan_case_arms_of(linitial(aggregate->row_arguments), own_columns(path)) : NIL;
		aggregate->of_entries = aggregate->arms == NIL &&
			rtscan_is_of_entries(linitial(aggregate->row_arguments), kind, own_columns(path));
	}
}

/* Return the expressions that tallies sum up: the results of a CASE, or the argument. */
static List *
summed(const RtscanPathAggregate *aggregate)
{
	return aggregate->arms != NIL ? rtscan_results_of_arms(aggregate->arms) : aggregate->row_arguments;
}

static bool
are_summed(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	ListCell   *cell;

	foreach(cell, summed(aggregate))
		if (!are_integer_columns(path, lfirst(cell)) ||
			!(rtscan_row_column(lfirst(cell)) >= 0 || is_polynomial(path, lfirst(cell))))
			return false;
	return true;
}

static bool
takes_total(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	RtscanTotalKind kind;

	if (list_length(aggregate->row_arguments) > 1)
		return false;
	if (aggregate->collected.purpose != RTSCAN_NO_COLLECTION)
		return is_distinct(aggregate) && are_factors(path, (Node *) aggregate->row_arguments);
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

/* List expressions that are evaluated on entries: conditions that are not looked up, and arguments. */
static List *
list_conditions(const RtscanPath *path)
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

		if (is_distinct(aggregate))
			columns = bms_add_members(columns, rtscan_row_columns((Node *) aggregate->row_arguments));
	}
	return columns;
}

/* Return columns that are only compared with constants: digits are the ranges between (run/tally/breakpoints.h). */
static Bitmapset *
breakpoint_columns(const RtscanPath *path)
{
	List	   *conditions = list_conditions(path);
	Bitmapset  *columns = bms_difference(rtscan_row_columns((Node *) conditions), columns_of_distinct(path));
	Bitmapset  *compared = NULL;
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (column < own_columns(path) && is_integer_column(path, column) &&
			rtscan_find_comparisons(conditions, column) != NIL)
			compared = bms_add_member(compared, column);
	return compared;
}

/* Does each column of the conditions have few distinct values, or ranges? */
static bool
are_conditions_of_entries(const RtscanPath *path)
{
	Bitmapset  *columns = bms_difference(rtscan_row_columns((Node *) list_conditions(path)), breakpoint_columns(path));
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!is_factor(path, column))
			return false;
	return true;
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
	return may_be_tallied(path);
}

/* ---------------------------------------------------------------- cost */

/* Return the columns of an aggregate that are digits: factors, or all if it is DISTINCT or evaluated on entries. */
static Bitmapset *
digits_of_aggregate(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	if (is_distinct(aggregate) || aggregate->of_entries)
		return rtscan_row_columns((Node *) aggregate->row_arguments);
	return find_products(path, (Node *) summed(aggregate)).digits;
}

/* Return the columns that are digits for a set: those of its keys, of conditions on rows, and of aggregates. */
static Bitmapset *
digits_of_set(const RtscanPath *path, const RtscanPathSet *set)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) rtscan_keys_of_set(path->row_keys, set->keys));
	ListCell   *cell;

	columns = bms_add_members(columns, rtscan_row_columns((Node *) list_conditions(path)));
	foreach(cell, path->aggregates)
		columns = bms_add_members(columns, digits_of_aggregate(path, lfirst(cell)));
	return columns;
}

/* Does each segment have its own codes, and so entries, for the values of a column?  Attributes are mapped. */
static bool
is_coded(const RtscanPath *path, int column)
{
	return column < own_columns(path) &&
		(!is_integer_column(path, column) ||
		 (column < path->index->nkeycolumns && rtscan_column_type(path->index, column) == NUMERICOID));
}

/* Estimate the entries, one for each combination of digits.  Segments share entries unless a digit has codes. */
static double
count_entries(const RtscanPath *path, const RtscanPathSet *set, const Bitmapset *digits, double rows, double segments)
{
	Bitmapset  *keys = rtscan_row_columns((Node *) rtscan_keys_of_set(path->row_keys, set->keys));
	Bitmapset  *compared = bms_difference(breakpoint_columns(path), keys);
	List	   *expressions = NIL;
	bool		coded = false;
	double		ranges = 1;
	int			column = -1;

	while ((column = bms_next_member(digits, column)) >= 0)
	{
		if (bms_is_member(column, compared))
		{
			ranges *= list_length(rtscan_find_comparisons(list_conditions(path), column)) + 1;
			continue;
		}
		expressions = lappend(expressions, list_nth_node(TargetEntry, path->index->indextlist, column)->expr);
		coded |= is_coded(path, column);
	}
	if (expressions != NIL)
		ranges *= estimate_num_groups(path->request->root, expressions, Max(rows, 1), NULL, NULL) *
			(coded ? segments : 1);
	return Min(ranges, Max(rows, 1));
}

/* Does a tally have room for all measures, of which a sum may need three, and for the parts of the filter? */
static bool
has_room(const RtscanPath *path)
{
	int			measures = 0;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (!is_distinct(aggregate) && !aggregate->of_entries)
			measures += list_length(summed(aggregate)) * 3;
	}
	return measures <= DEVICE_MAX_MEASURES && rtscan_count_regions(path->quals, path->index) <= DEVICE_MAX_PARTS;
}

/* Count the conditions that rows are tested for: those on INCLUDEd columns, or with a dimension's keys. */
static int
count_tests(const RtscanPath *path)
{
	int			tests = 0;
	ListCell   *cell;

	foreach(cell, path->quals->all)
	{
		const RtscanQual *qual = lfirst(cell);

		tests += qual->dimension > 0 ||
			bms_prev_member(rtscan_qual_columns(qual, NULL), -1) >= path->index->nkeycolumns;
	}
	return tests;
}

/* Count the columns that are read of each row, for its cell and the aggregates. */
static int
columns_of_set(const RtscanPath *path, const Bitmapset *digits)
{
	int			columns = bms_num_members(digits);
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		columns += aggregate->of_entries ? 0 : list_length(summed(aggregate));
	}
	return columns;
}

static double
bytes_of_row(const RtscanPath *path)
{
	Bitmapset  *searched = NULL,
			   *added = rtscan_row_columns((Node *) list_concat(list_conditions(path), path->row_keys));
	ListCell   *cell;

	foreach(cell, path->quals->all)
		searched = rtscan_qual_columns(lfirst(cell), searched);
	foreach(cell, path->aggregates)
		added = bms_add_members(added,
								rtscan_row_columns((Node *) ((RtscanPathAggregate *) lfirst(cell))->row_arguments));
	return bms_num_members(searched) * KEY_BYTES + bms_num_members(added) * VALUE_BYTES;
}

/* Count the searches: a percentile of all rows needs several, each of which narrows down its value. */
static int
count_searches(const RtscanPath *path)
{
	if (!rtscan_is_single_quantile(path))
		return 1;
	return ((const RtscanPathAggregate *) linitial(path->aggregates))->collected.several ? SEARCHES_OF_SEVERAL :
		SEARCHES_OF_ONE;
}

bool
rtscan_tally_cost(const RtscanPath *path, double rows, const RtscanCost *of_cpu, RtscanCost *cost)
{
	const RtscanRequest *request = path->request;
	const RtscanIndexSize *size;
	double		entries = 0,
				time = 0,
				chunks,
				bytes;
	double		visible = rtscan_visible_part(request->root, path->index);
	ListCell   *cell;

	if (rtscan_executor_is_cpu() || visible < LEAST_VISIBLE || request->workers > 0 || !are_testable(path))
		return false;
	find_aggregates_of_entries(path);
	if (!has_room(path))
		return false;
	size = rtscan_index_size(request->root, path->index);
	if (size == NULL || !takes_totals(path) || size->rows < size->segments * RTSCAN_CHUNK_ROWS)
		return false;
	chunks = size->rows / RTSCAN_CHUNK_ROWS;
	bytes = size->rows * bytes_of_row(path);
	foreach(cell, path->sets)
	{
		const RtscanPathSet *set = lfirst(cell);
		Bitmapset  *digits = digits_of_set(path, set);

		if (bms_num_members(digits) > DEVICE_MAX_DIGITS)
			return false;
		entries += count_entries(path, set, digits, rows, size->segments);
		if (set->parent < 0)
			time += rtscan_time_of_adding(chunks * rtscan_count_regions(path->quals, path->index),
										  chunks * (count_tests(path) + columns_of_set(path, digits)), bytes);
	}
	if (isinf(time) || entries > MOST_ENTRIES * size->rows)
		return false;
	/* The CPU processes the other rows. */
	cost->work += rtscan_time_cost(time * count_searches(path) + entries * ENTRY_NANOSECONDS) +
		(1 - visible) * of_cpu->work;
	cost->pages += (1 - visible) * of_cpu->pages;
	return true;
}
