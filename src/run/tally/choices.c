/*
 * choices.c
 *		Takes apart a CASE that is the argument of a sum from tallies.
 */
#include "run/tally/choices.h"

#include "nodes/nodeFuncs.h"
#include "run/plan/expressions.h"
#include "run/tally/tally_sums.h"

/*
 * Expression mutator: replace CaseTestExpr in a condition by the operand of CASE, which is *argument.  *argument
 * becomes NULL if the condition has another CASE, whose CaseTestExpr may mean another operand.
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
condition_of(const CaseExpr *choice, const CaseWhen *when)
{
	Expr	   *compared = choice->arg;
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
is_sum(const Expr *result, int own_columns)
{
	return is_null(result) ||
		(bms_prev_member(rtscan_row_columns((Node *) result), -1) < own_columns && rtscan_may_be_tally_sum(result));
}

static List *
add_choice(List *choices, Expr *condition, Expr *result)
{
	RtscanChoice *choice = palloc(sizeof(RtscanChoice));

	*choice = (RtscanChoice) {condition, is_null(result) ? NULL : result};
	return lappend(choices, choice);
}

List *
rtscan_choices_of(const Expr *argument, int own_columns)
{
	const CaseExpr *choice = (const CaseExpr *) argument;
	List	   *choices = NIL;
	ListCell   *cell;

	if (!IsA(argument, CaseExpr) || !is_sum(choice->defresult, own_columns))
		return NIL;
	foreach(cell, choice->args)
	{
		const CaseWhen *when = lfirst_node(CaseWhen, cell);
		Expr	   *condition = condition_of(choice, when);

		if (condition == NULL || !is_sum(when->result, own_columns))
			return NIL;
		choices = add_choice(choices, condition, when->result);
	}
	choices = add_choice(choices, NULL, choice->defresult);
	return rtscan_row_columns((Node *) rtscan_results_of_choices(choices)) ? choices : NIL;
}

List *
rtscan_conditions_of_choices(const List *choices)
{
	List	   *conditions = NIL;
	ListCell   *cell;

	foreach(cell, choices)
		if (((RtscanChoice *) lfirst(cell))->condition)
			conditions = lappend(conditions, ((RtscanChoice *) lfirst(cell))->condition);
	return conditions;
}

List *
rtscan_results_of_choices(const List *choices)
{
	List	   *results = NIL;
	ListCell   *cell;

	foreach(cell, choices)
		if (((RtscanChoice *) lfirst(cell))->result)
			results = lappend(results, ((RtscanChoice *) lfirst(cell))->result);
	return results;
}
