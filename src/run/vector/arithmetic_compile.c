/* SPDX-License-Identifier: PostgreSQL */
/*
 * arithmetic_compile.c
 *		Compile row expressions to steps that are calculated for many rows at once.
 */
#include "run/vector/arithmetic_parts.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "row/decimal.h"
#include "run/plan/expressions.h"
#include "run/plan/may_raise.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

/* The most elements of an array with which a value is compared, in a step for each element. */
#define MAX_ELEMENTS	32

/* The most steps that share a list of known expressions.  Each has a vector in memory. */
#define MAX_STEPS		500

/* ---------------------------------------------------------------- types */

static bool
set_range(RtscanArithmetic *step, int64 lowest, int64 highest)
{
	step->kind = RTSCAN_VECTOR_INTEGERS;
	step->lowest = lowest;
	step->highest = highest;
	return true;
}

static bool
set_doubles(RtscanArithmetic *step, RtscanExactKind exact)
{
	step->kind = RTSCAN_VECTOR_DOUBLES;
	step->exact = exact;
	return true;
}

/*
 * Set kind and range of a step's values by the type of its expression.  The range of numerics is that of 64-bit
 * integers, into which their digits must fit.  Returns false if vectors cannot represent the type.  (Columns may have
 * infinite dates and timestamps, which are integers, too.  Results of calculations are finite.)
 */
static bool
set_type(RtscanArithmetic *step, Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return set_range(step, 0, 1);
		case INT2OID:
			return set_range(step, PG_INT16_MIN, PG_INT16_MAX);
		case INT4OID:
			return set_range(step, PG_INT32_MIN, PG_INT32_MAX);
		case DATEOID:
			return set_range(step, DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
							 DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1);
		case INT8OID:
		case NUMERICOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
		case OIDOID:
			return set_range(step, PG_INT64_MIN, PG_INT64_MAX);
		case FLOAT4OID:
			return set_doubles(step, RTSCAN_EXACT_FLOAT4);
		case FLOAT8OID:
			return set_doubles(step, RTSCAN_EXACT_FLOAT8);
		default:
			return false;
	}
}

bool
rtscan_constant_as_integer(const Const *constant, RtscanDecimal *decimal)
{
	bool		sorts;

	if (constant->consttype == NUMERICOID)
		return rtscan_decimal_from_numeric(constant->constvalue, decimal);
	rtscan_exact_encode(rtscan_exact_kind(constant->consttype, constant->constlen, constant->constbyval, &sorts),
						&constant->constvalue, 1, &decimal->digits);
	return true;
}

static bool
compile_constant(RtscanArithmetic *step)
{
	RtscanDecimal decimal = {0, 0};

	step->step = RTSCAN_STEP_CONSTANT;
	step->constant = (Const *) unconstify(Expr *, step->expression);
	return step->constant->constisnull || rtscan_constant_as_integer(step->constant, &decimal);
}

/* Compile a parameter of the statement, or a parameter that PostgreSQL's executor sets. */
static bool
compile_parameter(RtscanArithmetic *step)
{
	const Param *param = (const Param *) step->expression;

	step->step = RTSCAN_STEP_PARAMETER;
	step->constant = makeNullConst(param->paramtype, param->paramtypmod, param->paramcollid);
	return param->paramkind == PARAM_EXEC || param->paramkind == PARAM_EXTERN;
}

/* May an expression have several values while the node is executed? */
static bool
varies(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	return IsA(node, Var) || IsA(node, CaseTestExpr) ||
		(IsA(node, Param) && ((const Param *) node)->paramkind != PARAM_EXTERN) ||
		expression_tree_walker(node, varies, arg);
}

/*
 * Compile a stable expression without columns that raises no error, such as date_trunc('month', now()), or $1 IS NULL,
 * whatever the type of the parameter.
 */
static bool
compile_stable(RtscanArithmetic *step)
{
	Node	   *expression = (Node *) unconstify(Expr *, step->expression);

	if (varies(expression, NULL) || rtscan_arguments_may_raise(expression))
		return false;
	step->step = RTSCAN_STEP_STABLE;
	step->constant = makeNullConst(exprType(expression), exprTypmod(expression), exprCollation(expression));
	return true;
}

/* ---------------------------------------------------------------- operands */

static bool
add_operand(RtscanArithmetic *step, RtscanArithmetic *operand)
{
	if (operand)
		step->operands[step->noperands++] = operand;
	return operand != NULL;
}

static void
create_operands(RtscanArithmetic *step, int noperands)
{
	step->operands = palloc(Max(noperands, 1) * sizeof(RtscanArithmetic *));
	step->vectors = palloc(Max(noperands, 1) * sizeof(RtscanVector *));
}

/* Add all expressions of a list as operands. */
static bool
add_operands(RtscanArithmetic *step, List *expressions, List **known)
{
	ListCell   *cell;

	foreach(cell, expressions)
		if (!add_operand(step, rtscan_arithmetic(lfirst(cell), known)))
			return false;
	return true;
}

/* Compile a calculation that sets NULLs itself. */
static bool
compile_free(RtscanArithmetic *step, RtscanCalculate calculate, List *expressions, List **known)
{
	step->step = RTSCAN_STEP_FREE;
	step->calculate = calculate;
	create_operands(step, list_length(expressions));
	return add_operands(step, expressions, known);
}

/* ---------------------------------------------------------------- comparisons */

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/*
 * Return btree's strategy number of a built-in comparison operator, or 0 if the operator does not compare.  If the
 * operands' types differ, both must be integers or both floats, so that vectors sort as the types do.
 */
static int
find_strategy(Oid operator)
{
	List	   *interpretations = operator < FirstNormalObjectId ? get_op_btree_interpretation(operator) : NIL;
	ListCell   *cell;

	foreach(cell, interpretations)
	{
		const OpBtreeInterpretation *interpretation = lfirst(cell);
		Oid			left = interpretation->oplefttype;
		Oid			right = interpretation->oprighttype;

		if (left == right || (is_integer(left) && is_integer(right)) || (is_float(left) && is_float(right)))
			return rtscan_compat_strategy(interpretation);
	}
	return 0;
}

static bool
compile_comparison(RtscanArithmetic *step, Oid operator, List *arguments, List **known)
{
	step->parameter = find_strategy(operator);
	if (step->parameter == 0 || !compile_free(step, NULL, arguments, known))
		return false;
	step->step = RTSCAN_STEP_STRICT;
	step->calculate = step->operands[0]->kind == RTSCAN_VECTOR_DOUBLES ? rtscan_compare_doubles
		: rtscan_compare_integers;
	return set_type(step, BOOLOID);
}

/*
 * Compile NULLIF or IS DISTINCT FROM, whose result follows from a comparison for equality.  The operands of the step
 * are the comparison, then the two values that are compared.
 */
static bool
compile_decided(RtscanArithmetic *step, RtscanCalculate calculate, const OpExpr *equality, List **known)
{
	RtscanArithmetic *comparison = palloc0(sizeof(RtscanArithmetic));

	step->step = RTSCAN_STEP_FREE;
	step->calculate = calculate;
	create_operands(step, 1 + list_length(equality->args));
	return compile_comparison(comparison, equality->opno, equality->args, known) &&
		comparison->parameter == BTEqualStrategyNumber &&
		add_operand(step, comparison) && add_operands(step, equality->args, known);
}

/* Compile a comparison with any or all elements of an array, as OR or AND of a comparison with each element. */
static bool
compile_array(RtscanArithmetic *step, const ScalarArrayOpExpr *expression, List **known)
{
	const Const *array = lsecond(expression->args);
	ArrayType  *values;
	Datum	   *elements;
	bool	   *isnull;
	int			n;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	List	   *comparisons = NIL;

	if (!IsA(array, Const) || array->constisnull)
		return false;
	values = DatumGetArrayTypeP(array->constvalue);
	get_typlenbyvalalign(ARR_ELEMTYPE(values), &typlen, &typbyval, &typalign);
	if (ArrayGetNItems(ARR_NDIM(values), ARR_DIMS(values)) > MAX_ELEMENTS)
		return false;
	deconstruct_array(values, ARR_ELEMTYPE(values), typlen, typbyval, typalign, &elements, &isnull, &n);
	for (int i = 0; i < n; i++)
	{
		Const	   *element = makeConst(ARR_ELEMTYPE(values), -1, InvalidOid, typlen, elements[i], isnull[i], typbyval);
		OpExpr	   *comparison = (OpExpr *) make_opclause(expression->opno, BOOLOID, false, linitial(expression->args),
														  (Expr *) element, InvalidOid, expression->inputcollid);

		comparison->opfuncid = expression->opfuncid;
		comparisons = lappend(comparisons, comparison);
	}
	return compile_free(step, expression->useOr ? rtscan_calculate_or : rtscan_calculate_and, comparisons, known);
}

/* ---------------------------------------------------------------- conditions */

static bool
compile_boolean(RtscanArithmetic *step, const BoolExpr *expression, List **known)
{
	if (!compile_free(step, expression->boolop == AND_EXPR ? rtscan_calculate_and :
					  expression->boolop == OR_EXPR ? rtscan_calculate_or : rtscan_calculate_not,
					  expression->args, known))
		return false;
	if (expression->boolop == NOT_EXPR)
		step->step = RTSCAN_STEP_STRICT;
	return true;
}

static bool
compile_null_test(RtscanArithmetic *step, const NullTest *test, List **known)
{
	step->parameter = test->nulltesttype == IS_NULL ? RTSCAN_TRUTH_NULL : RTSCAN_TRUTH_FALSE | RTSCAN_TRUTH_TRUE;
	return compile_free(step, rtscan_calculate_null_test, list_make1(test->arg), known);
}

static bool
compile_truth_test(RtscanArithmetic *step, const BooleanTest *test, List **known)
{
	static const int64 passing[] = {
		[IS_TRUE] = RTSCAN_TRUTH_TRUE,
		[IS_NOT_TRUE] = RTSCAN_TRUTH_FALSE | RTSCAN_TRUTH_NULL,
		[IS_FALSE] = RTSCAN_TRUTH_FALSE,
		[IS_NOT_FALSE] = RTSCAN_TRUTH_TRUE | RTSCAN_TRUTH_NULL,
		[IS_UNKNOWN] = RTSCAN_TRUTH_NULL,
		[IS_NOT_UNKNOWN] = RTSCAN_TRUTH_FALSE | RTSCAN_TRUTH_TRUE,
	};

	step->parameter = passing[test->booltesttype];
	return compile_free(step, rtscan_calculate_truth_test, list_make1(test->arg), known);
}

/*
 * In a condition of CASE, replace the placeholder of the tested expression by that expression.  A nested CASE has
 * placeholders of its own.
 */
static Node *
replace_case_test(Node *node, void *argument)
{
	if (node == NULL || IsA(node, CaseExpr))
		return node;
	if (IsA(node, CaseTestExpr))
		return argument;
	return expression_tree_mutator(node, replace_case_test, argument);
}

static bool
compile_case(RtscanArithmetic *step, const CaseExpr *expression, List **known)
{
	List	   *operands = NIL;
	ListCell   *cell;

	if (expression->defresult == NULL)
		return false;
	foreach(cell, expression->args)
	{
		const CaseWhen *when = lfirst(cell);
		Node	   *condition = (Node *) when->expr;

		if (expression->arg)
			condition = replace_case_test(condition, expression->arg);
		operands = lappend(lappend(operands, condition), when->result);
	}
	return compile_free(step, rtscan_calculate_case, lappend(operands, expression->defresult), known);
}

static bool
compile_outermost(RtscanArithmetic *step, const MinMaxExpr *expression, List **known)
{
	step->parameter = expression->op == IS_GREATEST ? 1 : -1;
	return compile_free(step, rtscan_choose_outermost, expression->args, known);
}

/* ---------------------------------------------------------------- functions */

static bool
compile_time_function(RtscanArithmetic *step, Oid function, List *arguments, List **known)
{
	List	   *operands;

	if (arguments == NIL || !rtscan_find_time_function(step, function, arguments, &operands))
		return false;
	step->step = RTSCAN_STEP_STRICT;
	create_operands(step, list_length(operands));
	return add_operands(step, operands, known);
}

static bool
is_usable_divisor(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && !constant->constisnull && constant->constvalue != 0 &&
		constant->constvalue != (Datum) -1;
}

/* If an operand of a sum is a product with a constant, make the multiplication a part of the sum's step. */
static void
take_factor(RtscanArithmetic *step, int number)
{
	RtscanArithmetic *product = step->operands[number];
	RtscanDecimal factor;
	int			constant;

	if (product->calculate != rtscan_multiply_integers || !is_integer(exprType((const Node *) product->expression)))
		return;
	constant = product->operands[0]->step == RTSCAN_STEP_CONSTANT ? 0 : 1;
	if (product->operands[constant]->step != RTSCAN_STEP_CONSTANT ||
		((const Const *) product->operands[constant]->expression)->constisnull ||
		!rtscan_constant_as_integer((const Const *) product->operands[constant]->expression, &factor) ||
		factor.digits == 0)
		return;
	step->factors[number] = factor.digits;
	step->products[number] = product;
	step->operands[number] = product->operands[1 - constant];
	if (product->uses > 1)
		step->operands[number]->uses++;
}

static bool
compile_function(RtscanArithmetic *step, Oid id, List *arguments, List **known)
{
	const RtscanFunction *function = rtscan_find_function(id);

	if (function == NULL)
		return compile_time_function(step, id, arguments, known);
	if (list_length(arguments) != function->noperands ||
		(function->parameter == RTSCAN_BY_CONSTANT && !is_usable_divisor(llast(arguments))))
		return false;
	step->step = function->calculate ? RTSCAN_STEP_STRICT : RTSCAN_STEP_SAME;
	step->calculate = function->calculate;
	step->parameter = function->parameter;
	create_operands(step, function->noperands);
	if (!add_operands(step, arguments, known))
		return false;
	for (int i = 0; i < step->noperands && step->calculate == rtscan_add_integers; i++)
		take_factor(step, i);
	return true;
}

static bool
compile_operator(RtscanArithmetic *step, const OpExpr *expression, List **known)
{
	return exprType((const Node *) expression) == BOOLOID
		? compile_comparison(step, expression->opno, expression->args, known)
		: compile_function(step, expression->opfuncid, expression->args, known);
}

/* ---------------------------------------------------------------- all expressions */

static bool
compile(RtscanArithmetic *step, const Expr *expression, List **known)
{
	switch (nodeTag(expression))
	{
		case T_Var:
			step->step = RTSCAN_STEP_COLUMN;
			step->column = rtscan_row_column(expression);
			return true;
		case T_Const:
			return compile_constant(step);
		case T_Param:
			return compile_parameter(step);
		case T_OpExpr:
			return compile_operator(step, (const OpExpr *) expression, known);
		case T_FuncExpr:
			return compile_function(step, ((const FuncExpr *) expression)->funcid,
									((const FuncExpr *) expression)->args, known);
		case T_BoolExpr:
			return compile_boolean(step, (const BoolExpr *) expression, known);
		case T_NullTest:
			return compile_null_test(step, (const NullTest *) expression, known);
		case T_BooleanTest:
			return compile_truth_test(step, (const BooleanTest *) expression, known);
		case T_ScalarArrayOpExpr:
			return compile_array(step, (const ScalarArrayOpExpr *) expression, known);
		case T_DistinctExpr:
			return compile_decided(step, rtscan_calculate_distinct, (const OpExpr *) expression, known);
		case T_NullIfExpr:
			return compile_decided(step, rtscan_calculate_nullif, (const OpExpr *) expression, known);
		case T_CaseExpr:
			return compile_case(step, (const CaseExpr *) expression, known);
		case T_CoalesceExpr:
			return compile_free(step, rtscan_calculate_coalesce, ((const CoalesceExpr *) expression)->args, known);
		case T_MinMaxExpr:
			return compile_outermost(step, (const MinMaxExpr *) expression, known);
		default:
			return false;
	}
}

/* Make a step for an expression; returns NULL if vectors cannot represent its type. */
static RtscanArithmetic *
make_step(const Expr *row_expression)
{
	RtscanArithmetic *step = palloc0(sizeof(RtscanArithmetic));

	step->expression = row_expression;
	step->uses = 1;
	return set_type(step, exprType((const Node *) row_expression)) ? step : NULL;
}

RtscanArithmetic *
rtscan_arithmetic(const Expr *row_expression, List **known)
{
	RtscanArithmetic *step;
	ListCell   *cell;

	check_stack_depth();
	foreach(cell, *known)
	{
		step = lfirst(cell);
		if (equal(step->expression, row_expression))
		{
			step->uses++;
			return step;
		}
	}
	if (list_length(*known) >= MAX_STEPS)
		return NULL;
	step = make_step(row_expression);
	if (step && !compile(step, row_expression, known))
	{
		step = make_step(row_expression);
		if (!compile_stable(step) && !rtscan_compile_by_code(step))
			return NULL;
	}
	if (step == NULL)
		return NULL;
	*known = lappend(*known, step);
	return step;
}

/*
 * Return an upper limit of the number of distinct values of a step, without NULL; infinity if no limit is known.  The
 * results of a modulo may have both signs.
 */
static double
most_values(const RtscanArithmetic *step)
{
	double		values = 0;
	int			first = step->calculate == rtscan_calculate_nullif;
	RtscanDecimal divisor;

	if (rtscan_has_one_value(step))
		return 1;
	if (step->kind == RTSCAN_VECTOR_INTEGERS && step->lowest == 0 && step->highest == 1)
		return 2;
	if (step->calculate == rtscan_modulo_integers &&
		rtscan_constant_as_integer((const Const *) step->operands[1]->expression, &divisor))
		return 2 * fabs((double) divisor.digits) - 1;
	if (step->step == RTSCAN_STEP_SAME)
		return most_values(step->operands[0]);
	if (step->calculate == rtscan_calculate_case)
	{
		for (int i = 1; i < step->noperands; i += 2)
			values += most_values(step->operands[i]);
		return values + most_values(step->operands[step->noperands - 1]);
	}
	if (first || step->calculate == rtscan_calculate_coalesce || step->calculate == rtscan_choose_outermost)
	{
		for (int i = first; i < step->noperands; i++)
			values += most_values(step->operands[i]);
		return values;
	}
	return rtscan_values_of_unit(step);
}

double
rtscan_most_values(const Expr *row_expression)
{
	List	   *known = NIL;
	const RtscanArithmetic *step = rtscan_arithmetic(row_expression, &known);

	return step ? most_values(step) + 1 : get_float8_infinity();
}

bool
rtscan_gives_integers(const RtscanArithmetic *arithmetic)
{
	return arithmetic->kind == RTSCAN_VECTOR_INTEGERS;
}

bool
rtscan_count_steps(const Expr *row_expression, int *steps, bool *by_code)
{
	List	   *known = NIL;
	bool		compiles = rtscan_arithmetic(row_expression, &known) != NULL;
	ListCell   *cell;

	*steps = 0;
	*by_code = false;
	foreach(cell, known)
	{
		const RtscanArithmetic *step = lfirst(cell);

		*steps += step->calculate || step->step == RTSCAN_STEP_BY_CODE;
		*by_code |= step->step == RTSCAN_STEP_BY_CODE;
	}
	return compiles;
}
