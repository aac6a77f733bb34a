/* SPDX-License-Identifier: PostgreSQL */
/*
 * group_count.c
 *		Estimates how many groups GROUP BY has.
 *
 * PostgreSQL assumes that an expression has as many values as its columns: date_trunc('day', t) one for each t.  Here
 * the values of an expression are counted by its *span*: its least and greatest value, and the grain, by which its
 * values differ at least.  A column's span is known from its statistics.
 */
#include "plan/rows/group_count.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "plan/rows/join_rows.h"
#include "run/plan/time_units.h"
#include "run/vector/arithmetic.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

/* The span of an expression's values: numbers, or microseconds for times, timestamps and dates. */
typedef struct Span
{
	double		least;
	double		greatest;
	double		grain;			/* least difference of two values; 0: not known */
} Span;

static bool find_span(PlannerInfo *root, Node *expression, Span *span);
static double count_values(PlannerInfo *root, Node *expression);

/* ---------------------------------------------------------------- columns */

/* Does a clause refer to a column and to nothing else? */
static bool
is_about_column_alone(const RestrictInfo *clause, const Var *column)
{
	Bitmapset  *attributes = NULL;

	pull_varattnos((Node *) clause->clause, column->varno, &attributes);
	return bms_membership(attributes) == BMS_SINGLETON &&
		bms_is_member(column->varattno - FirstLowInvalidHeapAttributeNumber, attributes);
}

/* Return the restriction clauses that refer to a column alone; NIL if the column belongs to no relation. */
static List *
clauses_about_column(PlannerInfo *root, const Var *column)
{
	bool		is_of_relation = column->varno > 0 && column->varno < root->simple_rel_array_size;
	RelOptInfo *relation = is_of_relation ? root->simple_rel_array[column->varno] : NULL;
	List	   *found = NIL;
	ListCell   *cell;

	if (relation == NULL)
		return NIL;
	foreach(cell, relation->baserestrictinfo)
		if (is_about_column_alone(lfirst(cell), column))
			found = lappend(found, lfirst(cell));
	return found;
}

/* Return the fraction of a column's values that the conditions on it alone leave. */
static double
part_left(PlannerInfo *root, const Var *column)
{
	List	   *clauses = clauses_about_column(root, column);

	return clauses == NIL ? 1 : clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL);
}

static double
distinct_values(PlannerInfo *root, Node *expression)
{
	VariableStatData variable;
	double		distinct;
	bool		is_default;

	examine_variable(root, expression, 0, &variable);
	distinct = get_variable_numdistinct(&variable, &is_default);
	ReleaseVariableStats(variable);
	return distinct;
}

/*
 * Return how many distinct values of a key are left by the conditions on this key alone, and by the join of its table
 * with a fact.  BETWEEN may leave eight of a thousand brands, and a fact has five of two hundred years, but PostgreSQL
 * assumes that the remaining rows have any of the thousand brands, and any of the years.  Infinite if the key is no
 * column, or if nothing restricts it.
 */
static double
values_left(PlannerInfo *root, Node *key)
{
	double		distinct,
				left;

	if (!IsA(key, Var))
		return INFINITY;
	distinct = distinct_values(root, key);
	left = Min(distinct * part_left(root, (Var *) key), rtscan_values_met(root, (Var *) key, distinct));
	return left == distinct ? INFINITY : Max(left, 1);
}

/* Return a value as a number, and in *grain how much values of its type differ at least.  False if it is none. */
static bool
number_of(Oid type, Datum value, double *number, double *grain)
{
	*grain = 1;
	switch (type)
	{
		case INT2OID:
			*number = DatumGetInt16(value);
			return true;
		case INT4OID:
			*number = DatumGetInt32(value);
			return true;
		case INT8OID:
			*number = DatumGetInt64(value);
			return true;
		case NUMERICOID:
			*grain = 0;
			*number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
			return isfinite(*number);
		case FLOAT4OID:
			*grain = 0;
			*number = DatumGetFloat4(value);
			return isfinite(*number);
		case FLOAT8OID:
			*grain = 0;
			*number = DatumGetFloat8(value);
			return isfinite(*number);
		case DATEOID:
			*grain = USECS_PER_DAY;
			*number = DatumGetDateADT(value) * (double) USECS_PER_DAY;
			return !DATE_NOT_FINITE(DatumGetDateADT(value));
		case TIMEOID:
			*number = DatumGetTimeADT(value);
			return true;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*number = DatumGetTimestamp(value);
			return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
		default:
			return false;
	}
}

/* Extend a span by the values of a slot of statistics, of which only finite ones count. */
static void
add_values(const VariableStatData *variable, int kind, Oid type, Span *span)
{
	AttStatsSlot slot;

	if (!get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return;
	for (int i = 0; i < slot.nvalues; i++)
	{
		double		number,
					grain;

		if (slot.valuetype != type || !number_of(type, slot.values[i], &number, &grain))
			continue;
		span->least = Min(span->least, number);
		span->greatest = Max(span->greatest, number);
		span->grain = grain;
	}
	free_attstatsslot(&slot);
}

/* Find the span of a column by its statistics, and shorten it by the conditions on the column alone. */
static bool
span_of_column(PlannerInfo *root, Var *column, Span *span)
{
	VariableStatData variable;

	*span = (Span) {INFINITY, -INFINITY, 0};
	examine_variable(root, (Node *) column, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple))
	{
		add_values(&variable, STATISTIC_KIND_HISTOGRAM, column->vartype, span);
		add_values(&variable, STATISTIC_KIND_MCV, column->vartype, span);
	}
	ReleaseVariableStats(variable);
	if (span->least > span->greatest)
		return false;
	span->greatest = span->least + (span->greatest - span->least) * part_left(root, column);
	return true;
}

/* ---------------------------------------------------------------- functions */

/* Find the number that a constant is; false if it is none. */
static bool
constant_number(const Node *node, double *number)
{
	const Const *constant = (const Const *) node;
	double		grain;

	return IsA(node, Const) && !constant->constisnull &&
		number_of(constant->consttype, constant->constvalue, number, &grain);
}

/* Find the span of an expression whose values differ by a grain at least. */
static bool
coarser(PlannerInfo *root, Node *expression, double grain, Span *span)
{
	if (!find_span(root, expression, span))
		return false;
	span->grain = Max(span->grain, grain);
	return true;
}

/* Find the span of an expression that is rounded to a number of digits. */
static bool
rounded(PlannerInfo *root, Node *expression, const Node *digits, Span *span)
{
	double		number;

	return constant_number(digits, &number) && fabs(number) < 20 && coarser(root, expression, pow(10, -number), span);
}

/* Find the span of timestamps in bins of an interval. */
static bool
binned(PlannerInfo *root, const Const *stride, Node *expression, Span *span)
{
	const Interval *interval = IsA(stride, Const) && !stride->constisnull
		? DatumGetIntervalP(stride->constvalue) : NULL;

	return interval && interval->month == 0 &&
		coarser(root, expression, interval->day * (double) USECS_PER_DAY + interval->time, span);
}

/* Multiply a span, and its grain, by a factor. */
static bool
multiplied(PlannerInfo *root, Node *expression, double factor, Span *span)
{
	if (factor == 0 || !isfinite(factor) || !find_span(root, expression, span))
		return false;
	*span = (Span) {Min(span->least * factor, span->greatest * factor),
	Max(span->least * factor, span->greatest * factor), span->grain * fabs(factor)};
	return true;
}

/* Find the span of an arithmetic operation with a constant. */
static bool
span_of_operation(PlannerInfo *root, const OpExpr *operation, Span *span)
{
	char	   *name = list_length(operation->args) == 2 && operation->opno < FirstNormalObjectId
		? get_opname(operation->opno) : NULL;
	Node	   *left = name ? linitial(operation->args) : NULL;
	Node	   *right = name ? lsecond(operation->args) : NULL;
	double		number;
	bool		is_integer = exprType((const Node *) operation) != NUMERICOID &&
		exprType((const Node *) operation) != FLOAT8OID && exprType((const Node *) operation) != FLOAT4OID;

	if (name == NULL || strlen(name) != 1)
		return false;
	switch (*name)
	{
		case '+':
			return (constant_number(right, &number) && find_span(root, left, span)) ||
				(constant_number(left, &number) && find_span(root, right, span));
		case '-':
			return (constant_number(right, &number) && find_span(root, left, span)) ||
				(constant_number(left, &number) && multiplied(root, right, -1, span));
		case '*':
			return (constant_number(right, &number) && multiplied(root, left, number, span)) ||
				(constant_number(left, &number) && multiplied(root, right, number, span));
		case '/':
			if (!constant_number(right, &number) || number == 0 || !multiplied(root, left, 1 / number, span))
				return false;
			span->grain = Max(span->grain, is_integer ? 1 : 0);
			return true;
		default:
			return false;
	}
}

/* Find the span of a function's values: those of functions of time, and those that round. */
static bool
span_of_function(PlannerInfo *root, const FuncExpr *call, Span *span)
{
	int			nargs = list_length(call->args);
	Node	   *first = nargs > 0 ? linitial(call->args) : NULL;
	Node	   *second = nargs > 1 ? lsecond(call->args) : NULL;
	RtscanTimeUnit unit;

	if (first == NULL)
		return false;
	switch (call->funcid)
	{
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_TIMESTAMP_DATE:
		case F_TIMESTAMPTZ_DATE:
		case F_INT8_INT4:
		case F_INT8_INT2:
		case F_INT4_INT2:
		case F_INT4_INT8:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
		case F_FLOAT8_NUMERIC:
		case F_NUMERIC_FLOAT8:
			return find_span(root, first, span);
		case F_TIMEZONE_TEXT_TIMESTAMP:
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			return find_span(root, second, span);
		case F_DATE_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
			return coarser(root, first, USECS_PER_DAY, span);
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return rtscan_find_time_unit(first, &unit) && coarser(root, second, rtscan_length_of_unit(unit), span);
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return binned(root, (const Const *) first, second, span);
		case F_TO_CHAR_TIMESTAMP_TEXT:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
			return rtscan_find_unit_of_format(second, &unit) && coarser(root, first, rtscan_length_of_unit(unit), span);
		case F_FLOOR_NUMERIC:
		case F_FLOOR_FLOAT8:
		case F_CEIL_NUMERIC:
		case F_CEIL_FLOAT8:
		case F_CEILING_NUMERIC:
		case F_CEILING_FLOAT8:
		case F_ROUND_NUMERIC:
		case F_ROUND_FLOAT8:
		case F_TRUNC_NUMERIC:
		case F_TRUNC_FLOAT8:
		case F_INT4_NUMERIC:
		case F_INT8_NUMERIC:
		case F_INT4_FLOAT8:
		case F_INT8_FLOAT8:
			return coarser(root, first, 1, span);
		case F_ROUND_NUMERIC_INT4:
		case F_TRUNC_NUMERIC_INT4:
			return rounded(root, first, second, span);
		case F_NUMERIC_NUMERIC_INT4:
			return find_span(root, first, span);
		default:
			return false;
	}
}

static bool
find_span(PlannerInfo *root, Node *expression, Span *span)
{
	switch (nodeTag(expression))
	{
		case T_Var:
			return span_of_column(root, (Var *) expression, span);
		case T_RelabelType:
			return find_span(root, (Node *) ((RelabelType *) expression)->arg, span);
		case T_FuncExpr:
			return span_of_function(root, (const FuncExpr *) expression, span);
		case T_OpExpr:
			return span_of_operation(root, (const OpExpr *) expression, span);
		default:
			return false;
	}
}

/* ---------------------------------------------------------------- values */

/* Count the values of extract(), of a unit that is part of another one, or of years and longer units. */
static double
count_extracted(PlannerInfo *root, Node *unit_name, Node *time)
{
	RtscanTimeUnit unit;
	Span		span;

	if (!rtscan_find_time_unit(unit_name, &unit))
		return INFINITY;
	if (unit < RTSCAN_YEAR || unit > RTSCAN_ISO_YEAR)
		return rtscan_count_of_unit(unit);
	return find_span(root, time, &span) ? (span.greatest - span.least) / rtscan_length_of_unit(unit) + 2 : INFINITY;
}

/* Count the values of a function that has a limited number of them. */
static double
count_of_function(PlannerInfo *root, const FuncExpr *call)
{
	double		number;

	switch (call->funcid)
	{
		case F_EXTRACT_TEXT_DATE:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			return count_extracted(root, linitial(call->args), lsecond(call->args));
		case F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4:
		case F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4:
			return constant_number(lfourth(call->args), &number) ? number + 2 : INFINITY;
		default:
			return INFINITY;
	}
}

/* Count the results of CASE. */
static double
count_of_case(PlannerInfo *root, const CaseExpr *expression)
{
	double		values = expression->defresult ? count_values(root, (Node *) expression->defresult) : 0;
	ListCell   *cell;

	foreach(cell, expression->args)
		values += count_values(root, (Node *) lfirst_node(CaseWhen, cell)->result);
	return values;
}

/* Count the values that an expression can have, without NULL; infinity if that is not known. */
static double
count_values(PlannerInfo *root, Node *expression)
{
	double		values = INFINITY;
	Span		span;

	if (IsA(expression, Const))
		return 1;
	if (exprType(expression) == BOOLOID)
		return 2;
	if (IsA(expression, CaseExpr))
		return count_of_case(root, (const CaseExpr *) expression);
	if (IsA(expression, FuncExpr))
		values = count_of_function(root, (const FuncExpr *) expression);
	if (!IsA(expression, Var) && find_span(root, expression, &span) && span.grain > 0)
		values = Min(values, floor((span.greatest - span.least) / span.grain) + 1);
	return values;
}

/*
 * Return how many values a key has at most, including NULL; infinity if PostgreSQL's estimate must do.  "row_key" is
 * the key as a row expression, or NULL.
 */
static double
most_values(PlannerInfo *root, Node *key, const Expr *row_key)
{
	double		most = row_key ? rtscan_most_values(row_key) : INFINITY;
	double		left = values_left(root, key);

	return Min(Min(most, left), count_values(root, key) + 1);
}

double
rtscan_count_combinations(PlannerInfo *root, List *keys)
{
	double		combinations = 1;
	ListCell   *cell;

	foreach(cell, keys)
	{
		Span		span;

		if (!IsA(lfirst(cell), Var) || !find_span(root, lfirst(cell), &span) || span.grain == 0)
			return INFINITY;
		combinations *= (span.greatest - span.least) / span.grain + 2;
	}
	return combinations;
}

/*
 * PostgreSQL assumes that conditions on a column do not reduce its values, and that an expression has as many values as
 * its columns; the estimate is smaller where most_values() knows better.
 */
double
rtscan_estimate_groups(PlannerInfo *root, List *keys, List *row_keys, double rows)
{
	List	   *others = NIL;
	double		known = 1;

	if (keys == NIL)
		return 1;
	for (int i = 0; i < list_length(keys); i++)
	{
		double		values = most_values(root, list_nth(keys, i), row_keys == NIL ? NULL : list_nth(row_keys, i));

		if (isinf(values))
			others = lappend(others, list_nth(keys, i));
		else
			known *= values;
	}
	if (list_length(others) == list_length(keys))
		return clamp_row_est(estimate_num_groups(root, keys, Max(rows, 1), NULL, NULL));
	if (others != NIL)
		known *= estimate_num_groups(root, others, Max(rows, 1), NULL, NULL);
	return clamp_row_est(Min(known, estimate_num_groups(root, keys, Max(rows, 1), NULL, NULL)));
}
