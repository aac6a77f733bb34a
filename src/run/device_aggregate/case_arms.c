/* SPDX-License-Identifier: PostgreSQL */
/*
 * case_arms.c
 *		Divides a CASE, the argument of a sum, into arms that can be computed from device aggregates.
 */
#include "run/device_aggregate/case_arms.h"

#include "nodes/nodeFuncs.h"
#include "run/device_aggregate/device_sums.h"
#include "run/plan/expressions.h"

/*
 * Expression mutator: replace CaseTestExpr in a condition by the operand of CASE, which is *argument.  If the condition
 * contains another CASE, or an ArrayCoerceExpr, a CaseTestExpr may represent the operand of that node instead:
 * *argument is set to NULL.
 */
static Node *
replace_compared(Node *condition, void *argument)
{
	Expr	  **compared = argument;

	if (condition == NULL || *compared == NULL)
		return NULL;
	if (IsA(condition, CaseTestExpr))
		return (Node *) *compared;
	if (IsA(condition, CaseExpr) || IsA(condition, ArrayCoerceExpr))
	{
		*compared = NULL;
		return NULL;
	}
	return expression_tree_mutator(condition, replace_compared, argument);
}

/* Return the condition of a WHEN.  NULL if it cannot be taken out of its CASE. */
static Expr *
condition_of(const CaseExpr *case_expr, const CaseWhen *when)
{
	Expr	   *compared = case_expr->arg;
	Expr	   *condition;

	if (compared == NULL)
		return when->expr;
	condition = (Expr *) replace_compared((Node *) when->expr, &compared);
	return compared ? condition : NULL;
}

static bool
is_null(const Expr *result)
{
	return result == NULL || (IsA(result, Const) && ((const Const *) result)->constisnull);
}

static bool
may_be_sum(const Expr *result, int own_columns)
{
	return is_null(result) ||
		(bms_prev_member(rtscan_row_columns((Node *) result), -1) < own_columns &&
		 rtscan_may_be_device_agg_sum(result));
}

static List *
add_arm(List *arms, Expr *condition, Expr *result)
{
	RtscanCaseArm *arm = palloc(sizeof(RtscanCaseArm));

	*arm = (RtscanCaseArm) {condition, is_null(result) ? NULL : result};
	return lappend(arms, arm);
}

List *
rtscan_case_arms_of(const Expr *argument, int own_columns)
{
	const CaseExpr *case_expr = (const CaseExpr *) argument;
	List	   *arms = NIL;
	ListCell   *cell;

	if (!IsA(argument, CaseExpr) || !may_be_sum(case_expr->defresult, own_columns))
		return NIL;
	foreach(cell, case_expr->args)
	{
		const CaseWhen *when = lfirst_node(CaseWhen, cell);
		Expr	   *condition = condition_of(case_expr, when);

		if (condition == NULL || !may_be_sum(when->result, own_columns))
			return NIL;
		arms = add_arm(arms, condition, when->result);
	}
	arms = add_arm(arms, NULL, case_expr->defresult);
	return rtscan_row_columns((Node *) rtscan_results_of_arms(arms)) ? arms : NIL;
}

List *
rtscan_conditions_of_arms(const List *arms)
{
	List	   *conditions = NIL;
	ListCell   *cell;

	foreach(cell, arms)
		if (((RtscanCaseArm *) lfirst(cell))->condition)
			conditions = lappend(conditions, ((RtscanCaseArm *) lfirst(cell))->condition);
	return conditions;
}

List *
rtscan_results_of_arms(const List *arms)
{
	List	   *results = NIL;
	ListCell   *cell;

	foreach(cell, arms)
		if (((RtscanCaseArm *) lfirst(cell))->result)
			results = lappend(results, ((RtscanCaseArm *) lfirst(cell))->result);
	return results;
}
