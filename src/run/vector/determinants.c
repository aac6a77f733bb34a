/* SPDX-License-Identifier: PostgreSQL */
/*
 * determinants.c
 *		Find what determines the value of an expression.
 */
#include "run/vector/determinants.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "run/plan/expressions.h"
#include "run/plan/time_units.h"
#include "run/vector/arithmetic_parts.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

/* The determinants found so far. */
typedef struct Search
{
	List	   *determinants;	/* RtscanDeterminant * */
	List	  **known;			/* the steps that have been compiled */
} Search;

static bool find(Node *node, void *search);

static void
add(Search *search, RtscanArithmetic *arithmetic, int column)
{
	RtscanDeterminant *determinant;
	ListCell   *cell;

	foreach(cell, search->determinants)
	{
		determinant = lfirst(cell);
		if (determinant->arithmetic == arithmetic && determinant->column == column)
			return;
	}
	determinant = palloc(sizeof(RtscanDeterminant));
	*determinant = (RtscanDeterminant) {.arithmetic = arithmetic, .column = column};
	search->determinants = lappend(search->determinants, determinant);
}

/* ---------------------------------------------------------------- arithmetic */

/*
 * Return the number of the unit that a step truncates timestamps to, or of their bin, in place of its beginning.  Steps
 * of the same number are shared by *known.
 */
static RtscanArithmetic *
number_of(const RtscanArithmetic *step, RtscanCalculate calculate, List **known)
{
	RtscanArithmetic *number;
	ListCell   *cell;

	foreach(cell, *known)
	{
		number = lfirst(cell);
		if (number->calculate == calculate && number->parameter == step->parameter &&
			number->operands[0] == step->operands[0] &&
			(step->noperands == 1 || number->operands[1] == step->operands[1]))
			return number;
	}
	number = palloc(sizeof(RtscanArithmetic));
	*number = *step;
	number->expression = NULL;
	number->calculate = calculate;
	number->vectors = palloc(number->noperands * sizeof(RtscanVector *));
	number->values = NULL;
	*known = lappend(*known, number);
	return number;
}

/*
 * Return a step whose integers determine those of a step, and are denser.  A time in UTC is determined by the local
 * time that it was converted from.
 */
static RtscanArithmetic *
reduce(RtscanArithmetic *step, List **known)
{
	if (step->step == RTSCAN_STEP_SAME || step->calculate == rtscan_timestamps_from_local ||
		step->calculate == rtscan_dates_to_timestamps || step->calculate == rtscan_integers_to_doubles)
		return reduce(step->operands[0], known);
	if (step->calculate == rtscan_truncate_timestamps)
		return number_of(step, rtscan_number_units, known);
	if (step->calculate == rtscan_bin_timestamps)
		return number_of(step, rtscan_number_bins, known);
	return step;
}

/* Add the integers of an expression that can be calculated, or return false.  Constants determine nothing. */
static bool
add_arithmetic(Search *search, const Expr *expression)
{
	RtscanArithmetic *step = rtscan_arithmetic(expression, search->known);

	if (step == NULL || step->step == RTSCAN_STEP_PARAMETER || step->step == RTSCAN_STEP_STABLE)
		return false;
	step = reduce(step, search->known);
	if (step->kind != RTSCAN_VECTOR_INTEGERS)
		return false;
	if (step->step != RTSCAN_STEP_CONSTANT)
		add(search, step, step->step == RTSCAN_STEP_COLUMN ? step->column : -1);
	return true;
}

/* ---------------------------------------------------------------- to_char() */

/* If an expression is to_char() of a timestamp by a constant format, add the unit of time that determines it. */
static bool
add_formatted(Search *search, const FuncExpr *call)
{
	RtscanTimeUnit unit;
	Node	   *timestamp;
	Const	   *name;

	if ((call->funcid != F_TO_CHAR_TIMESTAMP_TEXT && call->funcid != F_TO_CHAR_TIMESTAMPTZ_TEXT) ||
		!rtscan_find_unit_of_format(lsecond(call->args), &unit))
		return false;
	timestamp = linitial(call->args);
	if (call->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT)
		timestamp = (Node *) makeFuncExpr(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, list_make1(timestamp), InvalidOid,
										  InvalidOid, COERCE_EXPLICIT_CAST);
	name = makeConst(TEXTOID, -1, InvalidOid, -1, CStringGetTextDatum(rtscan_name_of_unit(unit)), false, false);
	return add_arithmetic(search, (const Expr *) makeFuncExpr(F_DATE_TRUNC_TEXT_TIMESTAMP, TIMESTAMPOID,
															  list_make2(name, timestamp), InvalidOid, InvalidOid,
															  COERCE_EXPLICIT_CALL));
}

/* ---------------------------------------------------------------- all expressions */

/*
 * Add what determines a node: its integers, or else what determines its arguments.  expression_tree_walker() calls it,
 * also for nodes that are no expressions.
 */
static bool
find(Node *node, void *arg)
{
	Search	   *search = arg;

	if (node == NULL)
		return false;
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Var:
			if (!add_arithmetic(search, (const Expr *) node))
				add(search, NULL, rtscan_row_column((const Expr *) node));
			return false;
		case T_Const:
		case T_Param:
			return false;
		case T_FuncExpr:
			if (add_formatted(search, (const FuncExpr *) node) || add_arithmetic(search, (const Expr *) node))
				return false;
			break;
		case T_OpExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_ScalarArrayOpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
			if (add_arithmetic(search, (const Expr *) node))
				return false;
			break;
		default:
			break;
	}
	return expression_tree_walker(node, find, search);
}

List *
rtscan_add_determinants(List *determinants, const Expr *row_expression, List **known)
{
	Search		search = {determinants, known};

	find((Node *) row_expression, &search);
	return search.determinants;
}
