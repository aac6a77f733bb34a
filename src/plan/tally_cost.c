/*
 * tally_cost.c
 *		What it costs to answer aggregates where a device adds up the rows.
 *
 * Whether it can is known when segments are open (run/by_tally.c).  The planner compares this with processes that share the CPU's work, so it
 * believes it only where types, statistics and sizes speak for it.
 */
#include "plan/path.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "plan/cost.h"
#include "plan/resolve.h"
#include "row/exact.h"
#include "run/aggregates.h"
#include "run/expressions.h"
#include "run/sets.h"
#include "search/executor.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Of columns that are multiplied all but one have so many values at most, about as search/tally.c has it. */
#define FEW_VALUES		4096

/* Taking an entry, whose group is looked up by the values of its keys. */
#define ENTRY_NANOSECONDS	400.0

/* More entries for a row would not be made. */
#define MOST_ENTRIES	0.25

/* Bytes a row that a column takes to be searched, and to be added up: no more than that, mostly. */
#define KEY_BYTES		8.0
#define VALUE_BYTES		4.0

/* ---------------------------------------------------------------- what is asked for */

/* Is all of it about one key column, or about several each alone, which a region has (search/filter.h)? */
static bool
is_region(const RtscanQual *qual, const RtscanPath *path)
{
	Bitmapset  *columns = rtscan_qual_columns(qual, NULL);
	int			column;
	ListCell   *cell;

	if (qual->kind == RTSCAN_FILTER_AND)
	{
		foreach(cell, qual->parts)
			if (!is_region(lfirst(cell), path))
				return false;
		return true;
	}
	return bms_get_singleton_member(columns, &column) && column < path->index->nkeycolumns;
}

static bool
has_regions(const RtscanPath *path)
{
	ListCell   *cell;

	foreach(cell, path->quals->all)
		if (!is_region(lfirst(cell), path))
			return false;
	return path->quals->implied == NIL && path->residual == NIL && path->row_quals == NIL;
}

/* Are its values exact integers, that are known to be of one scale? */
static bool
is_integer(Oid type, int32 typmod)
{
	bool		sorts;
	RtscanExactKind kind = rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts);

	return kind != RTSCAN_EXACT_NONE && sorts && kind != RTSCAN_EXACT_FLOAT4 && kind != RTSCAN_EXACT_FLOAT8 &&
		(kind != RTSCAN_EXACT_DECIMAL || typmod >= 0);
}

static bool
is_integer_column(const RtscanPath *path, int column)
{
	const Node *expression = (Node *) list_nth_node(TargetEntry, path->index->indextlist, column)->expr;

	return is_integer(exprType(expression), exprTypmod(expression));
}

static bool
are_integer_columns(const RtscanPath *path, Node *expression)
{
	Bitmapset  *columns = rtscan_row_columns(expression);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!is_integer_column(path, column))
			return false;
	return true;
}

/* Has each column so few values that it can be a digit beside another one that is measured? */
static bool
are_factors(const RtscanPath *path, Node *expression)
{
	Bitmapset  *columns = rtscan_row_columns(expression);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		List	   *one = list_make1(list_nth_node(TargetEntry, path->index->indextlist, column)->expr);

		if (estimate_num_groups(path->request->root, one, path->index->tuples, NULL, NULL) > FEW_VALUES)
			return false;
	}
	return true;
}

/* A polynomial whose columns' sums tell its sum, as run/tally_sums.h has it? */
static bool
is_polynomial(const RtscanPath *path, Node *expression)
{
	const char *operator;
	List	   *operands;
	ListCell   *cell;

	if (IsA(expression, Const) || rtscan_row_column((Expr *) expression) >= 0)
		return true;
	if (IsA(expression, RelabelType))
		return is_polynomial(path, (Node *) ((RelabelType *) expression)->arg);
	if (IsA(expression, FuncExpr) && ((FuncExpr *) expression)->funcformat != COERCE_EXPLICIT_CALL)
		return is_polynomial(path, linitial(((FuncExpr *) expression)->args));
	if (!IsA(expression, OpExpr))
		return false;
	operator = get_opname(((OpExpr *) expression)->opno);
	operands = ((OpExpr *) expression)->args;
	if (operator == NULL || strlen(operator) != 1 || strchr("+-*", *operator) == NULL)
		return false;
	foreach(cell, operands)
		if (!is_polynomial(path, lfirst(cell)))
			return false;
	return *operator != '*' || are_factors(path, linitial(operands)) || are_factors(path, lsecond(operands));
}

/* The kind of total that an aggregate is made of. */
static RtscanTotalKind
total_kind(const RtscanPathAggregate *aggregate)
{
	RtscanTransition transition;
	Oid			type = aggregate->row_arguments ? exprType(linitial(aggregate->row_arguments)) : InvalidOid;

	rtscan_init_transition(&transition, aggregate->line, type, aggregate->fold, aggregate->aggref->inputcollid);
	return transition.family->add_total ? transition.family->total_kind(&transition) : RTSCAN_NO_TOTAL;
}

static bool
takes_total(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	RtscanTotalKind kind;
	Node	   *argument;

	if (aggregate->row_filter || aggregate->collected.purpose != RTSCAN_NO_COLLECTION || list_length(aggregate->row_arguments) > 1)
		return false;
	kind = total_kind(aggregate);
	if (kind == RTSCAN_NO_TOTAL || aggregate->row_arguments == NIL)
		return kind != RTSCAN_NO_TOTAL;
	argument = linitial(aggregate->row_arguments);
	if (!are_integer_columns(path, argument))
		return false;
	return rtscan_row_column((Expr *) argument) >= 0 || (kind == RTSCAN_TOTAL_SUM && is_polynomial(path, argument));
}

static bool
takes_totals(const RtscanPath *path)
{
	ListCell   *cell;

	foreach(cell, path->aggregates)
		if (!takes_total(path, lfirst(cell)))
			return false;
	return path->join == NULL;
}

/* ---------------------------------------------------------------- what that takes */

/* Segments whose integers are numbers of groups have them in common; others have codes, or no numbers, if they are too many. */
static double
entries_of_set(const RtscanPath *path, const RtscanPathSet *set, double segments)
{
	Node	   *keys = (Node *) rtscan_keys_of_set(path->row_keys, set->keys);

	return set->keys == NULL || are_integer_columns(path, keys) ? set->groups : set->groups * segments;
}

/* So many columns of each row are looked at, for its group and the aggregates. */
static int
columns_of_set(const RtscanPath *path, const RtscanPathSet *set)
{
	int			columns = bms_num_members(rtscan_row_columns((Node *) rtscan_keys_of_set(path->row_keys, set->keys)));
	ListCell   *cell;

	foreach(cell, path->aggregates)
		columns += list_length(((RtscanPathAggregate *) lfirst(cell))->row_arguments);
	return columns;
}

static double
bytes_of_row(const RtscanPath *path)
{
	Bitmapset  *searched = NULL,
			   *added = rtscan_row_columns((Node *) path->row_keys);
	ListCell   *cell;

	foreach(cell, path->quals->all)
		searched = rtscan_qual_columns(lfirst(cell), searched);
	foreach(cell, path->aggregates)
		added = bms_add_members(added, rtscan_row_columns((Node *) ((RtscanPathAggregate *) lfirst(cell))->row_arguments));
	return bms_num_members(searched) * KEY_BYTES + bms_num_members(added) * VALUE_BYTES;
}

bool
rtscan_tally_cost(const RtscanPath *path, RtscanCost *cost)
{
	const RtscanRequest *request = path->request;
	const RtscanIndexSize *size;
	double		entries = 0,
				time = 0,
				bytes;
	ListCell   *cell;

	if (rtscan_executor_is_cpu() || request->workers > 0 || !has_regions(path) || !takes_totals(path))
		return false;
	size = rtscan_index_size(request->root, path->index);
	if (size == NULL || size->rows < size->segments * RTSCAN_CHUNK_ROWS)
		return false;
	bytes = size->rows * bytes_of_row(path);
	foreach(cell, path->sets)
	{
		const RtscanPathSet *set = lfirst(cell);

		entries += entries_of_set(path, set, size->segments);
		if (set->parent < 0)
			time += rtscan_time_of_adding(size->rows / RTSCAN_CHUNK_ROWS, columns_of_set(path, set), bytes);
	}
	if (isinf(time) || entries > MOST_ENTRIES * size->rows)
		return false;
	cost->work += rtscan_time_cost(time + entries * ENTRY_NANOSECONDS);
	return true;
}
