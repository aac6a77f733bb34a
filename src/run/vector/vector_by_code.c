/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_by_code.c
 *		Calculate an expression of one column once for each code of the column.
 *
 * In a segment, equal values of a column have the same code.  PostgreSQL evaluates the expression for the first row
 * that has a code, and the result is kept for the other rows.  Codes that no row of a batch has are not evaluated.
 *
 * The values of a dimension's column are numbered when its rows have been loaded (run/star/dimension.h).  These numbers
 * serve as codes, whichever segment the rows are in.
 */
#include "run/vector/arithmetic_parts.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "run/plan/expressions.h"
#include "run/plan/may_raise.h"
#include "utils/lsyscache.h"

/* An expression of one column, and its results in the current segment. */
struct RtscanByCode
{
	ExprState  *state;			/* the expression; NULL before it is first evaluated */
	ExprContext *context;		/* for its evaluation */
	TupleTableSlot *slot;		/* the row that it is evaluated on */
	MemoryContext memory;		/* memory context of the results */
	uint64		segment;		/* identifier of the current segment; 0: none */
	uint64		loads;			/* of a dimension's column: number of the load of its rows; 0: none */
	uint32		ncodes;			/* number of codes, including that of NULL */
	int			scale;			/* scale of the results; -1: not known */
	bool	   *known;			/* by code: has the expression been evaluated? */
	bool	   *isnull;			/* by code: is the result NULL? */
	int64	   *digits;			/* by code: the result as an integer, or as the bits of a double */
};

/* Has an expression a parameter that may change while the node is executed? */
static bool
has_changing_parameter(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((const Param *) node)->paramkind != PARAM_EXTERN;
	return expression_tree_walker(node, has_changing_parameter, arg);
}

/* Has an expression a placeholder of a CASE around it, whose value is not known here? */
static bool
has_placeholder(Node *node, void *arg)
{
	const CaseExpr *expression = (const CaseExpr *) node;
	ListCell   *cell;

	if (node == NULL)
		return false;
	if (IsA(node, CaseTestExpr))
		return true;
	if (!IsA(node, CaseExpr) || expression->arg == NULL)
		return expression_tree_walker(node, has_placeholder, arg);
	/* the placeholders in the conditions are those of this CASE */
	foreach(cell, expression->args)
		if (has_placeholder((Node *) lfirst_node(CaseWhen, cell)->result, arg))
			return true;
	return has_placeholder((Node *) expression->arg, arg) || has_placeholder((Node *) expression->defresult, arg);
}

bool
rtscan_compile_by_code(RtscanArithmetic *step)
{
	Node	   *expression = (Node *) unconstify(Expr *, step->expression);
	Bitmapset  *columns = rtscan_row_columns(expression);

	if (bms_membership(columns) != BMS_SINGLETON || IsA(expression, Var) ||
		has_changing_parameter(expression, NULL) || has_placeholder(expression, NULL) || rtscan_may_raise(expression))
		return false;
	step->step = RTSCAN_STEP_BY_CODE;
	step->column = bms_singleton_member(columns);
	step->by_code = palloc0(sizeof(struct RtscanByCode));
	return true;
}

/* ---------------------------------------------------------------- results */

/* Prepare the evaluation. */
static void
begin(const RtscanArithmetic *step, const RtscanBatch *batch)
{
	struct RtscanByCode *by_code = step->by_code;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(by_code));

	by_code->state = ExecInitExpr(unconstify(Expr *, step->expression), NULL);
	by_code->context = CreateStandaloneExprContext();
	by_code->slot = MakeSingleTupleTableSlot(batch->slot->tts_tupleDescriptor, &TTSOpsVirtual);
	by_code->context->ecxt_scantuple = by_code->slot;
	by_code->context->ecxt_param_list_info = batch->context->ecxt_param_list_info;
	ExecStoreAllNullTuple(by_code->slot);
	by_code->memory = AllocSetContextCreate(CurrentMemoryContext, "rtscan results by code", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
}

/* Forget the results of other codes, and prepare for those of the column in the batch.  False if there are none. */
static bool
begin_codes(const RtscanArithmetic *step, RtscanBatch *batch)
{
	struct RtscanByCode *by_code = step->by_code;

	if (by_code->state == NULL)
		begin(step, batch);
	MemoryContextReset(by_code->memory);
	by_code->scale = -1;
	by_code->ncodes = rtscan_batch_code_count(batch, step->column);
	if (by_code->ncodes == PG_UINT32_MAX)
		by_code->ncodes = 0;
	by_code->known = MemoryContextAllocZero(by_code->memory, Max(by_code->ncodes, 1) * sizeof(bool));
	by_code->isnull = MemoryContextAllocZero(by_code->memory, Max(by_code->ncodes, 1) * sizeof(bool));
	by_code->digits = MemoryContextAllocZero(by_code->memory, Max(by_code->ncodes, 1) * sizeof(int64));
	return by_code->ncodes > 0;
}

/* Go on to the segment of a batch; returns false if the column has no codes in it. */
static bool
enter_segment(const RtscanArithmetic *step, RtscanBatch *batch)
{
	struct RtscanByCode *by_code = step->by_code;
	const RtscanSegmentScan *segment = batch->cursor ? rtscan_cursor_segment(batch->cursor) : NULL;

	if (segment == NULL)
		return false;
	if (by_code->segment == segment->entry->id)
		return by_code->ncodes > 0;
	by_code->segment = segment->entry->id;
	return begin_codes(step, batch);
}

/* The same for a dimension's column, whose codes are those of all segments until the dimension's rows change. */
static bool
enter_load(const RtscanArithmetic *step, RtscanBatch *batch)
{
	struct RtscanByCode *by_code = step->by_code;
	uint64		loads = rtscan_attribute_loads(batch->attributes, step->column);

	if (batch->cursor == NULL)
		return false;
	if (by_code->loads == loads)
		return by_code->ncodes > 0;
	by_code->loads = loads;
	return begin_codes(step, batch);
}

/* Keep a result that is not NULL; returns false if it does not fit into a vector, or has another scale than others. */
static bool
keep_result(const RtscanArithmetic *step, uint32 code, Datum result)
{
	struct RtscanByCode *by_code = step->by_code;
	Oid			type = exprType((const Node *) step->expression);
	Const		constant = {
		.xpr.type = T_Const,
		.consttype = type,
		.constvalue = result,
	};
	RtscanDecimal decimal = {0, 0};
	float8		real;

	constant.constlen = get_typlen(type);
	constant.constbyval = get_typbyval(type);
	if (!rtscan_constant_as_integer(&constant, &decimal) || (by_code->scale >= 0 && decimal.scale != by_code->scale))
		return false;
	by_code->scale = decimal.scale;
	if (step->kind == RTSCAN_VECTOR_DOUBLES)
	{
		real = rtscan_exact_double(step->exact, decimal.digits);
		memcpy(&by_code->digits[code], &real, sizeof(real));
	}
	else
		by_code->digits[code] = decimal.digits;
	return true;
}

/* Evaluate the expression for a code, on a row that has it. */
static bool
evaluate(const RtscanArithmetic *step, RtscanBatch *batch, uint32 row, uint32 code)
{
	struct RtscanByCode *by_code = step->by_code;
	int			column = step->column;
	Datum		result;

	rtscan_load_column(batch, column);
	by_code->slot->tts_values[column] = batch->values[column][row];
	by_code->slot->tts_isnull[column] = batch->isnull[column][row];
	ResetExprContext(by_code->context);
	result = ExecEvalExprSwitchContext(by_code->state, by_code->context, &by_code->isnull[code]);
	by_code->known[code] = by_code->isnull[code] || keep_result(step, code, result);
	return by_code->known[code];
}

/* Does any of n rows have a code whose result is not known?  Evaluates it; returns false if that fails. */
static bool
know_results(const RtscanArithmetic *step, RtscanBatch *batch, const uint32 *codes)
{
	for (uint32 row = 0; row < batch->n; row++)
		if (unlikely(!step->by_code->known[codes[row]]) && !evaluate(step, batch, row, codes[row]))
			return false;
	return true;
}

bool
rtscan_calculate_by_code(RtscanArithmetic *step, RtscanBatch *batch)
{
	const struct RtscanByCode *by_code = step->by_code;
	RtscanVector *result = step->values;
	uint32		codes[RTSCAN_CURSOR_ROWS];

	if (!(step->column < batch->schema->ncolumns ? enter_segment : enter_load) (step, batch))
		return false;
	rtscan_load_codes(batch, step->column, codes);
	if (!know_results(step, batch, codes))
		return false;
	for (uint32 row = 0; row < batch->n; row++)
	{
		result->digits[row] = by_code->digits[codes[row]];
		result->isnull[row] = by_code->isnull[codes[row]];
	}
	result->has_nulls = memchr(result->isnull, true, batch->n) != NULL;
	result->scale = Max(by_code->scale, 0);
	if (step->kind == RTSCAN_VECTOR_INTEGERS)
		rtscan_find_bounds(result, batch->n, &result->lowest, &result->highest);
	return true;
}
