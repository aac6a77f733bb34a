/* SPDX-License-Identifier: PostgreSQL */
/*
 * arithmetic.c
 *		Run the steps of expressions.  Each step runs once for each batch.
 */
#include "run/vector/arithmetic_parts.h"

#include "bits/multiversion.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "utils/datum.h"

/* ---------------------------------------------------------------- columns and constants */

static bool
load_column(RtscanArithmetic *step, RtscanBatch *batch)
{
	RtscanVector *values = step->values;

	if (!rtscan_load_integers(batch, step->column, values->digits, values->isnull, &values->scale))
		return false;
	values->has_nulls = memchr(values->isnull, true, batch->n) != NULL;
	if (step->kind == RTSCAN_VECTOR_DOUBLES)
		rtscan_exact_to_doubles(step->exact, values->digits, batch->n, values->doubles);
	else if (!rtscan_know_bounds(batch, step->column, values->scale, &values->lowest, &values->highest))
		rtscan_find_bounds(values, batch->n, &values->lowest, &values->highest);
	return true;
}

/* Set all rows to one integer. */
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
fill_constant(RtscanArithmetic *step)
{
	const Const *constant = step->constant;
	RtscanVector *values = step->values;
	RtscanDecimal decimal = {0, 0};

	values->has_nulls = values->all_null = constant->constisnull;
	memset(values->isnull, constant->constisnull, sizeof(values->isnull));
	if (!constant->constisnull && !rtscan_constant_as_integer(constant, &decimal))
		return false;
	if (step->kind == RTSCAN_VECTOR_DOUBLES)
		fill_doubles(values, constant->constisnull ? 0 : rtscan_exact_double(step->exact, decimal.digits));
	else
		fill_integers(values, decimal);
	return true;
}

/*
 * Read a parameter that PostgreSQL's executor sets, for example to a value of an outer query.  Returns false if the
 * parameter is the result of a subquery that has not been executed.  The subquery is not executed here, because
 * PostgreSQL would not execute it if no row needed its result.
 */
static bool
read_executor_parameter(const ExprContext *context, int id, Const *value)
{
	const ParamExecData *param = &context->ecxt_param_exec_vals[id];

	value->constvalue = param->value;
	value->constisnull = param->isnull;
	return param->execPlan == NULL;
}

/*
 * Read a parameter of the statement.  Returns false if there is no such parameter, or if it has another type.  Both
 * are errors, which are raised when rows are evaluated one by one.
 */
static bool
read_statement_parameter(const ExprContext *context, int id, Const *value)
{
	ParamListInfo params = context->ecxt_param_list_info;
	ParamExternData fetched;
	const ParamExternData *param;

	if (params == NULL || id < 1 || id > params->numParams)
		return false;
	param = params->paramFetch ? params->paramFetch(params, id, false, &fetched) : &params->params[id - 1];
	value->constvalue = param->value;
	value->constisnull = param->isnull;
	return param->ptype == value->consttype;
}

bool
rtscan_read_parameter(const RtscanArithmetic *step, const RtscanBatch *batch)
{
	const Param *param = (const Param *) step->expression;

	return (param->paramkind == PARAM_EXEC ? read_executor_parameter : read_statement_parameter)
		(batch->context, param->paramid, step->constant);
}

/* Set the constant of a step to the value of its stable expression, when it is first needed. */
static void
evaluate_once(RtscanArithmetic *step, const RtscanBatch *batch)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(step));
	Const	   *value = step->constant;
	ExprContext *context = CreateStandaloneExprContext();
	ExprState  *state = ExecInitExpr(unconstify(Expr *, step->expression), NULL);

	context->ecxt_param_list_info = batch->context->ecxt_param_list_info;
	value->constvalue = ExecEvalExprSwitchContext(state, context, &value->constisnull);
	if (!value->constisnull)
		value->constvalue = datumCopy(value->constvalue, value->constbyval, value->constlen);
	FreeExprContext(context, true);
	step->is_evaluated = true;
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- operations */

/* Are a vector's integers in the range of a step's type? */
static bool
is_in_range(const RtscanArithmetic *step, const RtscanVector *vector, uint32 n)
{
	int64		lowest = vector->lowest;
	int64		highest = vector->highest;

	if (step->kind == RTSCAN_VECTOR_DOUBLES)
		return true;
	if (lowest < step->lowest || highest > step->highest)
		rtscan_find_bounds(vector, n, &lowest, &highest);
	return lowest >= step->lowest && highest <= step->highest;
}

RTSCAN_MULTIVERSION static void
join_nulls(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->isnull[i] |= operand->isnull[i];
}

void
rtscan_clear_nulls(RtscanVector *vector)
{
	if (vector->has_nulls)
		memset(vector->isnull, false, sizeof(vector->isnull));
	vector->has_nulls = false;
}

/* Set the result to NULL in each row in which an operand is NULL, and in no other row. */
static void
set_nulls(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	rtscan_clear_nulls(result);
	for (int i = 0; i < step->noperands; i++)
		if (operands[i]->has_nulls)
		{
			join_nulls(operands[i], n, result);
			result->has_nulls = true;
		}
}

/* Calculate the operands; false if one of them cannot be calculated. */
static bool
calculate_operands(RtscanArithmetic *step, RtscanBatch *batch)
{
	for (int i = 0; i < step->noperands; i++)
	{
		step->vectors[i] = rtscan_calculate(step->operands[i], batch);
		if (step->vectors[i] == NULL)
			return false;
	}
	return true;
}

/*
 * Replace the bounds of operands that are integers by the least and the greatest of their n integers.  Returns false
 * if no operand is integers.
 */
static bool
tighten_operands(RtscanArithmetic *step, uint32 n)
{
	bool		any = false;

	for (int i = 0; i < step->noperands; i++)
	{
		RtscanArithmetic *operand = step->operands[i];

		while (operand->step == RTSCAN_STEP_SAME)
			operand = operand->operands[0];
		if (operand->kind != RTSCAN_VECTOR_INTEGERS)
			continue;
		rtscan_find_bounds(operand->values, n, &operand->values->lowest, &operand->values->highest);
		any = true;
	}
	return any;
}

/*
 * Calculate the values of a step.  The bounds of columns may be those of their whole chunk.  If a result might not
 * fit according to these bounds, try again with the bounds of the batch's rows.
 */
static bool
calculate_values(RtscanArithmetic *step, uint32 n)
{
	return step->calculate(step, step->vectors, n, step->values) ||
		(tighten_operands(step, n) && step->calculate(step, step->vectors, n, step->values));
}

static const RtscanVector *
calculate_operation(RtscanArithmetic *step, RtscanBatch *batch)
{
	const RtscanVector *result = step->values;

	if (!calculate_operands(step, batch))
		return NULL;
	if (step->step == RTSCAN_STEP_SAME)
		result = step->vectors[0];
	else if (!calculate_values(step, batch->n))
		return NULL;
	if (step->step == RTSCAN_STEP_STRICT)
		set_nulls(step, step->vectors, batch->n, step->values);
	return is_in_range(step, result, batch->n) ? result : NULL;
}

/* ---------------------------------------------------------------- steps */

RtscanVector *
rtscan_step_values(RtscanArithmetic *step)
{
	if (step->values == NULL)
	{
		step->values = MemoryContextAllocZero(GetMemoryChunkContext(step), sizeof(RtscanVector));
		step->values->kind = step->kind;
	}
	return step->values;
}

static const RtscanVector *
calculate_step(RtscanArithmetic *step, RtscanBatch *batch)
{
	if (step->step != RTSCAN_STEP_SAME)
		rtscan_step_values(step);
	switch (step->step)
	{
		case RTSCAN_STEP_COLUMN:
			return load_column(step, batch) ? step->values : NULL;
		case RTSCAN_STEP_CONSTANT:
			return fill_constant(step) ? step->values : NULL;
		case RTSCAN_STEP_PARAMETER:
			return rtscan_read_parameter(step, batch) && fill_constant(step) ? step->values : NULL;
		case RTSCAN_STEP_STABLE:
			if (!step->is_evaluated)
				evaluate_once(step, batch);
			return fill_constant(step) ? step->values : NULL;
		case RTSCAN_STEP_BY_CODE:
			return rtscan_calculate_by_code(step, batch) ? step->values : NULL;
		default:
			return calculate_operation(step, batch);
	}
}

const RtscanVector *
rtscan_calculate(RtscanArithmetic *step, RtscanBatch *batch)
{
	check_stack_depth();
	if (step->batch == batch->number || (step->step == RTSCAN_STEP_CONSTANT && step->found))
		return step->found;
	step->batch = batch->number;
	step->found = calculate_step(step, batch);
	return step->found;
}
