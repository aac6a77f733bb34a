/* SPDX-License-Identifier: PostgreSQL */
/*
 * imply_time.c
 *		Derives a range of a column of times from a comparison of a function of it.
 *
 * date_trunc(), casts and AT TIME ZONE keep the order of times, apart from the offsets of time zones, and change them
 * by less than a known length.  So the comparison of such a function with a value implies a range of the column: for
 *
 *		(t AT TIME ZONE 'Europe/Berlin')::date = '2025-11-03'
 *
 * the day, and two weeks before and after it.  The comparison itself is calculated for the rows in the range.
 */
#include "plan/quals/imply_time.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "run/plan/time_units.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* No two offsets of time zones differ by more than this: a zone that is written as a rule has at most 167 hours. */
#define MOST_OFFSET		(14 * USECS_PER_DAY)

/* A column inside of functions, and how far they may move its times. */
typedef struct Wrapping
{
	int			column;			/* number of the column */
	double		shortens;		/* they may return so many microseconds less than the column has */
	bool		in_zone;		/* offsets of time zones are added or subtracted */
} Wrapping;

/* ---------------------------------------------------------------- functions */

static bool unwrap(IndexOptInfo *index, Node *node, Wrapping *wrapping);

/* Unwrap a function that may shorten times by a length, and may depend on a time zone. */
static bool
unwrap_function(IndexOptInfo *index, Node *argument, double length, bool in_zone, Wrapping *wrapping)
{
	if (!unwrap(index, argument, wrapping))
		return false;
	wrapping->shortens += length;
	wrapping->in_zone |= in_zone;
	return true;
}

/* Unwrap date_trunc(); units differ in length from their average by less than a tenth. */
static bool
unwrap_truncation(IndexOptInfo *index, const FuncExpr *call, Wrapping *wrapping)
{
	RtscanTimeUnit unit;

	return rtscan_find_time_unit(linitial(call->args), &unit) && unit <= RTSCAN_YEAR &&
		unwrap_function(index, lsecond(call->args), 1.1 * rtscan_length_of_unit(unit),
						call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMP, wrapping);
}

/* Find the column in functions that keep the order of its times. */
static bool
unwrap(IndexOptInfo *index, Node *node, Wrapping *wrapping)
{
	const FuncExpr *call = (const FuncExpr *) node;

	if (!IsA(node, FuncExpr))
	{
		*wrapping = (Wrapping) {.column = rtscan_find_column(index, node)};
		return wrapping->column >= 0 && rtscan_column_type(index, wrapping->column) == exprType(node);
	}
	switch (call->funcid)
	{
		case F_TIMESTAMP_DATE:
			return unwrap_function(index, linitial(call->args), 0, false, wrapping);
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_TIMESTAMPTZ_DATE:
			return unwrap_function(index, linitial(call->args), 0, true, wrapping);
		case F_TIMEZONE_TEXT_TIMESTAMP:
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			return IsA(linitial(call->args), Const) &&
				unwrap_function(index, lsecond(call->args), 0, true, wrapping);
		case F_DATE_TIMESTAMP:
			return unwrap_function(index, linitial(call->args), USECS_PER_DAY, false, wrapping);
		case F_DATE_TIMESTAMPTZ:
			return unwrap_function(index, linitial(call->args), USECS_PER_DAY, true, wrapping);
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return unwrap_truncation(index, call, wrapping);
		default:
			return false;
	}
}

/* ---------------------------------------------------------------- values */

static Expr *
call_function(Oid function, Oid type, List *arguments)
{
	return (Expr *) makeFuncExpr(function, type, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
}

/* Convert a date or timestamp to another of these types; NULL if it is something else. */
static Expr *
convert(Expr *value, Oid to)
{
	Oid			from = exprType((Node *) value);

	if (from == to)
		return value;
	if (to == TIMESTAMPTZOID && (from == DATEOID || from == TIMESTAMPOID))
		return call_function(from == DATEOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMPTZ_TIMESTAMP, to, list_make1(value));
	if (to == TIMESTAMPOID && (from == DATEOID || from == TIMESTAMPTZOID))
		return call_function(from == DATEOID ? F_TIMESTAMP_DATE : F_TIMESTAMP_TIMESTAMPTZ, to, list_make1(value));
	return NULL;
}

/*
 * Is a constant within some 100,000 years, so that moving it raises no error?  Other values are near now, since the
 * clause's arguments raise none (run/plan/may_raise.h).
 */
static bool
can_be_moved(const Expr *value)
{
	const Const *constant = (const Const *) value;
	int64		most = INT64CONST(36500000) * USECS_PER_DAY;

	if (!IsA(value, Const))
		return true;
	if (constant->constisnull)
		return false;
	if (constant->consttype == DATEOID)
		return !DATE_NOT_FINITE(DatumGetDateADT(constant->constvalue)) &&
			abs(DatumGetDateADT(constant->constvalue)) < 700000;
	return DatumGetTimestamp(constant->constvalue) > MIN_TIMESTAMP / 2 &&
		DatumGetTimestamp(constant->constvalue) < most;
}

/* Move a timestamp by some microseconds. */
static Expr *
move(Expr *value, double microseconds)
{
	Interval   *interval = palloc0(sizeof(Interval));
	Oid			type = exprType((Node *) value);

	interval->time = (TimeOffset) microseconds;
	return call_function(type == TIMESTAMPOID ? F_TIMESTAMP_PL_INTERVAL : F_TIMESTAMPTZ_PL_INTERVAL, type,
						 list_make2(value, makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
													 PointerGetDatum(interval), false, false)));
}

/* ---------------------------------------------------------------- comparisons */

/* Return the strategy of a comparison of two values of the same type, date or a timestamp; 0 for others. */
static int
find_strategy(Oid operator, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			left,
				right;

	op_input_types(operator, &left, &right);
	return left == type && right == type ? get_op_opfamily_strategy(operator, entry->btree_opf) : 0;
}

static RtscanQual *
make_condition(IndexOptInfo *index, int column, int strategy, Expr *value)
{
	Oid			type = rtscan_column_type(index, column);
	Oid			operator = get_opfamily_member(index->opfamily[column], type, type, strategy);

	return OidIsValid(operator)
		? rtscan_make_condition(index, column, RTSCAN_CONDITION_ANY, operator, InvalidOid, false, value) : NULL;
}

/* Make the range that a comparison of the wrapped column with a value implies. */
static RtscanQual *
make_range(IndexOptInfo *index, const Wrapping *wrapping, int strategy, Expr *value)
{
	RtscanQual *qual = palloc0(sizeof(RtscanQual));
	double		offset = wrapping->in_zone ? MOST_OFFSET : 0;
	RtscanQual *not_less = make_condition(index, wrapping->column, BTGreaterEqualStrategyNumber, move(value, -offset));
	RtscanQual *not_more = make_condition(index, wrapping->column, BTLessEqualStrategyNumber,
										  move(value, wrapping->shortens + offset));

	if (not_less == NULL || not_more == NULL)
		return NULL;
	qual->kind = RTSCAN_FILTER_AND;
	if (strategy >= BTEqualStrategyNumber)
		qual->parts = list_make1(not_less);
	if (strategy <= BTEqualStrategyNumber)
		qual->parts = lappend(qual->parts, not_more);
	return qual;
}

/* Make the range that "wrapped operator value" implies. */
static RtscanQual *
imply(IndexOptInfo *index, Node *wrapped, Oid operator, Expr *value)
{
	Oid			type = exprType(wrapped);
	Oid			of_column;
	Wrapping	wrapping;
	int			strategy;

	if ((type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID) || !IsA(wrapped, FuncExpr) ||
		!unwrap(index, wrapped, &wrapping))
		return NULL;
	of_column = rtscan_column_type(index, wrapping.column);
	strategy = find_strategy(operator, type);
	wrapping.in_zone |= (type == TIMESTAMPTZOID) != (of_column == TIMESTAMPTZOID);
	if (strategy == 0 || (of_column != TIMESTAMPOID && of_column != TIMESTAMPTZOID) || !can_be_moved(value))
		return NULL;
	return make_range(index, &wrapping, strategy, convert(value, of_column));
}

/* Does a value depend on parameters or other tables?  It may be too far from now to be moved. */
static bool
varies(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || IsA(node, Var) || expression_tree_walker(node, varies, arg);
}

RtscanQual *
rtscan_imply_times(IndexOptInfo *index, const OpExpr *clause)
{
	Node	   *left = linitial(clause->args);
	Node	   *right = lsecond(clause->args);
	Oid			commutator = get_commutator(clause->opno);

	if (rtscan_is_argument(index, right) && !varies(right, NULL))
		return imply(index, left, clause->opno, (Expr *) right);
	if (rtscan_is_argument(index, left) && !varies(left, NULL) && OidIsValid(commutator))
		return imply(index, right, commutator, (Expr *) left);
	return NULL;
}
