/*
 * arithmetic.c
 *		Sums, differences and products of integers and numerics, for many rows at once.
 */
#include "run/arithmetic.h"

#include "bits/multiversion.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "row/decimal.h"
#include "run/expressions.h"
#include "utils/fmgroids.h"

typedef enum Operation
{
	NOTHING,
	COLUMN,
	CONSTANT,
	SAME,						/* a cast that keeps the value */
	TO_DOUBLE,
	NEGATE,
	ADD,
	SUBTRACT,
	MULTIPLY
} Operation;

struct RtscanArithmetic
{
	const Expr *expression;
	Operation	operation;
	RtscanVectorKind kind;
	RtscanExactKind exact;		/* of a column of floats */
	int			column;
	int64		lowest;			/* of the expression's type */
	int64		highest;
	RtscanArithmetic *left;
	RtscanArithmetic *right;
	uint64		batch;			/* the number of the batch that these are about: */
	bool		calculated;		/* are they right? */
	RtscanVector values;		/* of a constant, always */
};

/* ---------------------------------------------------------------- compilation */

static Operation
find_operation(Oid function)
{
	switch (function)
	{
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_FLOAT8_FLOAT4:
			return SAME;
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
			return TO_DOUBLE;
		case F_INT2UM:
		case F_INT4UM:
		case F_INT8UM:
		case F_NUMERIC_UMINUS:
			return NEGATE;
		case F_INT2PL:
		case F_INT4PL:
		case F_INT8PL:
		case F_INT24PL:
		case F_INT42PL:
		case F_INT28PL:
		case F_INT82PL:
		case F_INT48PL:
		case F_INT84PL:
		case F_NUMERIC_ADD:
			return ADD;
		case F_INT2MI:
		case F_INT4MI:
		case F_INT8MI:
		case F_INT24MI:
		case F_INT42MI:
		case F_INT28MI:
		case F_INT82MI:
		case F_INT48MI:
		case F_INT84MI:
		case F_NUMERIC_SUB:
			return SUBTRACT;
		case F_INT2MUL:
		case F_INT4MUL:
		case F_INT8MUL:
		case F_INT24MUL:
		case F_INT42MUL:
		case F_INT28MUL:
		case F_INT82MUL:
		case F_INT48MUL:
		case F_INT84MUL:
		case F_NUMERIC_MUL:
			return MULTIPLY;
		default:
			return NOTHING;
	}
}

/* What vectors of a type are; and the integers that it has: of numerics, those that fit. */
static bool
set_type(RtscanArithmetic *arithmetic, Oid type)
{
	arithmetic->kind = RTSCAN_VECTOR_INTEGERS;
	switch (type)
	{
		case FLOAT4OID:
		case FLOAT8OID:
			arithmetic->kind = RTSCAN_VECTOR_DOUBLES;
			arithmetic->exact = type == FLOAT4OID ? RTSCAN_EXACT_FLOAT4 : RTSCAN_EXACT_FLOAT8;
			return true;
		case INT2OID:
			arithmetic->lowest = PG_INT16_MIN;
			arithmetic->highest = PG_INT16_MAX;
			return true;
		case INT4OID:
			arithmetic->lowest = PG_INT32_MIN;
			arithmetic->highest = PG_INT32_MAX;
			return true;
		case INT8OID:
		case NUMERICOID:
			/* of these, columns only */
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
		case OIDOID:
			arithmetic->lowest = PG_INT64_MIN;
			arithmetic->highest = PG_INT64_MAX;
			return true;
		default:
			return false;
	}
}

/* Every row has the same. */
static void
fill_integers(RtscanVector *vector, RtscanDecimal decimal)
{
	vector->scale = decimal.scale;
	vector->lowest = vector->highest = decimal.digits;
	for (uint32 i = 0; i < RTSCAN_CURSOR_ROWS; i++)
		vector->digits[i] = decimal.digits;
}

static void
fill_doubles(RtscanVector *vector, double value)
{
	for (uint32 i = 0; i < RTSCAN_CURSOR_ROWS; i++)
		vector->doubles[i] = value;
}

static bool
compile_constant(RtscanArithmetic *arithmetic, const Const *constant)
{
	RtscanVector *values = &arithmetic->values;
	RtscanDecimal decimal = {0, 0};

	arithmetic->operation = CONSTANT;
	values->has_nulls = constant->constisnull;
	memset(values->isnull, constant->constisnull, sizeof(values->isnull));
	if (arithmetic->kind == RTSCAN_VECTOR_DOUBLES)
		fill_doubles(values, constant->constisnull ? 0 : arithmetic->exact == RTSCAN_EXACT_FLOAT4 ?
					 DatumGetFloat4(constant->constvalue) : DatumGetFloat8(constant->constvalue));
	else if (constant->constisnull || rtscan_decimal_from_datum(constant->consttype, constant->constvalue, &decimal))
		fill_integers(values, decimal);
	else
		return false;
	return true;
}

static bool
compile_function(RtscanArithmetic *arithmetic, Oid function, List *arguments, List **known)
{
	bool		unary;

	arithmetic->operation = find_operation(function);
	unary = arithmetic->operation == SAME || arithmetic->operation == TO_DOUBLE ||
		arithmetic->operation == NEGATE;
	if (arithmetic->operation == NOTHING || list_length(arguments) != (unary ? 1 : 2))
		return false;
	arithmetic->left = rtscan_arithmetic(linitial(arguments), known);
	if (arithmetic->left == NULL || unary)
		return arithmetic->left != NULL;
	arithmetic->right = rtscan_arithmetic(lsecond(arguments), known);
	return arithmetic->right != NULL;
}

static bool
compile(RtscanArithmetic *arithmetic, const Expr *expression, List **known)
{
	const OpExpr *op = (const OpExpr *) expression;
	const FuncExpr *function = (const FuncExpr *) expression;

	switch (nodeTag(expression))
	{
		case T_Var:
			arithmetic->operation = COLUMN;
			arithmetic->column = rtscan_row_column(expression);
			return true;
		case T_Const:
			return compile_constant(arithmetic, (const Const *) expression);
		case T_OpExpr:
			return compile_function(arithmetic, op->opfuncid, op->args, known);
		case T_FuncExpr:
			return compile_function(arithmetic, function->funcid, function->args, known);
		default:
			return false;
	}
}

RtscanArithmetic *
rtscan_arithmetic(const Expr *row_expression, List **known)
{
	RtscanArithmetic *arithmetic;
	ListCell   *cell;

	foreach(cell, *known)
		if (equal(((RtscanArithmetic *) lfirst(cell))->expression, row_expression))
			return lfirst(cell);
	arithmetic = palloc0(sizeof(RtscanArithmetic));
	arithmetic->expression = row_expression;
	if (!set_type(arithmetic, exprType((const Node *) row_expression)) || !compile(arithmetic, row_expression, known))
		return NULL;
	arithmetic->values.kind = arithmetic->kind;
	*known = lappend(*known, arithmetic);
	return arithmetic;
}

/* ---------------------------------------------------------------- computation */

/*
 * An operation's operands have bounds, and so has its result: where these fit into 64 bits no row
 * has to be checked.
 */
static bool
bound_product(const RtscanVector *left, const RtscanVector *right, RtscanVector *result)
{
	int64		a,
				b,
				c,
				d;

	if (pg_mul_s64_overflow(left->lowest, right->lowest, &a) || pg_mul_s64_overflow(left->lowest, right->highest, &b) ||
		pg_mul_s64_overflow(left->highest, right->lowest, &c) || pg_mul_s64_overflow(left->highest, right->highest, &d))
		return false;
	result->lowest = Min(Min(a, b), Min(c, d));
	result->highest = Max(Max(a, b), Max(c, d));
	return true;
}

RTSCAN_MULTIVERSION static bool
multiply(const RtscanVector *left, const RtscanVector *right, uint32 n, RtscanVector *result)
{
	result->scale = left->scale + right->scale;
	if (result->scale > 2 * RTSCAN_MAX_SCALE || !bound_product(left, right, result))
		return false;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = left->digits[i] * right->digits[i];
	return true;
}

/* The power of ten that brings a vector to a larger scale, or 0. */
static int64
power_to_scale(const RtscanVector *vector, int scale)
{
	int64		power = 1;

	if (scale - vector->scale > RTSCAN_MAX_SCALE)
		return 0;
	for (int i = vector->scale; i < scale; i++)
		power *= 10;
	return power;
}

static bool
bound_sum(const RtscanVector *left, int64 left_power, const RtscanVector *right, int64 right_power,
		  RtscanVector *result)
{
	int64		a,
				b,
				c,
				d;

	return !pg_mul_s64_overflow(left->lowest, left_power, &a) && !pg_mul_s64_overflow(left->highest, left_power, &b) &&
		!pg_mul_s64_overflow(right->lowest, right_power, &c) && !pg_mul_s64_overflow(right->highest, right_power, &d) &&
		!pg_add_s64_overflow(a, Min(c, d), &result->lowest) && !pg_add_s64_overflow(b, Max(c, d), &result->highest);
}

/* A sum; with sign -1 a difference. */
RTSCAN_MULTIVERSION static bool
add(const RtscanVector *left, const RtscanVector *right, int sign, uint32 n, RtscanVector *result)
{
	int			scale = Max(left->scale, right->scale);
	int64		left_power = power_to_scale(left, scale);
	int64		right_power = sign * power_to_scale(right, scale);

	result->scale = scale;
	if (left_power == 0 || right_power == 0 || !bound_sum(left, left_power, right, right_power, result))
		return false;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = left->digits[i] * left_power + right->digits[i] * right_power;
	return true;
}

RTSCAN_MULTIVERSION static bool
negate(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	result->scale = operand->scale;
	if (pg_sub_s64_overflow(0, operand->lowest, &result->highest))
		return false;
	result->lowest = -operand->highest;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = -operand->digits[i];
	return true;
}

RTSCAN_MULTIVERSION static bool
convert_to_doubles(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->doubles[i] = (double) operand->digits[i];
	return true;
}

/* What the digits really are bound by. */
RTSCAN_MULTIVERSION static void
find_bounds(RtscanVector *vector, uint32 n)
{
	int64		lowest = PG_INT64_MAX,
				highest = PG_INT64_MIN;

	for (uint32 i = 0; i < n; i++)
	{
		lowest = Min(lowest, vector->digits[i]);
		highest = Max(highest, vector->digits[i]);
	}
	vector->lowest = lowest;
	vector->highest = highest;
}

static bool
is_in_range(RtscanArithmetic *arithmetic, uint32 n)
{
	RtscanVector *values = &arithmetic->values;

	if (values->kind == RTSCAN_VECTOR_DOUBLES)
		return true;
	if (values->lowest < arithmetic->lowest || values->highest > arithmetic->highest)
		find_bounds(values, n);
	return values->lowest >= arithmetic->lowest && values->highest <= arithmetic->highest;
}

/* NULL is what has a NULL operand. */
RTSCAN_MULTIVERSION static void
combine_nulls(const RtscanVector *left, const RtscanVector *right, uint32 n, RtscanVector *result)
{
	result->has_nulls = left->has_nulls || right->has_nulls;
	for (uint32 i = 0; i < n; i++)
		result->isnull[i] = left->isnull[i] | right->isnull[i];
}

static bool
calculate_operation(RtscanArithmetic *arithmetic, RtscanBatch *batch)
{
	RtscanVector *values = &arithmetic->values;
	const RtscanVector *left = rtscan_calculate(arithmetic->left, batch);
	const RtscanVector *right = left && arithmetic->right ? rtscan_calculate(arithmetic->right, batch) : left;
	bool		fits;

	if (left == NULL || right == NULL)
		return false;
	switch (arithmetic->operation)
	{
		case MULTIPLY:
			fits = multiply(left, right, batch->n, values);
			break;
		case NEGATE:
			fits = negate(left, batch->n, values);
			break;
		case TO_DOUBLE:
			fits = convert_to_doubles(left, batch->n, values);
			break;
		default:
			fits = add(left, right, arithmetic->operation == SUBTRACT ? -1 : 1, batch->n, values);
	}
	combine_nulls(left, right, batch->n, values);
	return fits && is_in_range(arithmetic, batch->n);
}

static bool
load_column(RtscanArithmetic *arithmetic, RtscanBatch *batch)
{
	RtscanVector *values = &arithmetic->values;

	if (!rtscan_load_integers(batch, arithmetic->column, values->digits, values->isnull, &values->scale))
		return false;
	values->has_nulls = memchr(values->isnull, true, batch->n) != NULL;
	if (arithmetic->kind == RTSCAN_VECTOR_DOUBLES)
		rtscan_exact_to_doubles(arithmetic->exact, values->digits, batch->n, values->doubles);
	else
		find_bounds(values, batch->n);
	return true;
}

const RtscanVector *
rtscan_calculate(RtscanArithmetic *arithmetic, RtscanBatch *batch)
{
	if (arithmetic->operation == CONSTANT)
		return &arithmetic->values;
	if (arithmetic->operation == SAME)
		return rtscan_calculate(arithmetic->left, batch);
	if (arithmetic->batch != batch->number)
	{
		arithmetic->batch = batch->number;
		arithmetic->calculated = arithmetic->operation == COLUMN ? load_column(arithmetic, batch)
			: calculate_operation(arithmetic, batch);
	}
	return arithmetic->calculated ? &arithmetic->values : NULL;
}
