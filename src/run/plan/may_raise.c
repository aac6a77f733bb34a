/* SPDX-License-Identifier: PostgreSQL */
/*
 * may_raise.c
 *		Decides whether evaluating a search argument may raise an error.
 */
#include "run/plan/may_raise.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/*
 * Does a function calculate a date or time, as in now() - interval '1 day'?  The listed functions raise errors only for
 * times far from now, and date_trunc() also for an unknown unit (see unit_may_raise()).
 */
static bool
makes_times(Oid function)
{
	switch (function)
	{
		case F_NOW:
		case F_TRANSACTION_TIMESTAMP:
		case F_STATEMENT_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
		case F_DATE_TIMESTAMP:
		case F_TIMESTAMP_DATE:
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_DATE:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_DATE_PLI:
		case F_DATE_MII:
		case F_DATE_PL_INTERVAL:
		case F_DATE_MI_INTERVAL:
		case F_TIMESTAMP_PL_INTERVAL:
		case F_TIMESTAMP_MI_INTERVAL:
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMPTZ_MI_INTERVAL:
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return true;
		default:
			return false;
	}
}

/*
 * May a call of date_trunc() raise an error because of its unit?  False for all other nodes.  Only constants with the
 * full name of a unit are recognized here: for abbreviations the answer is true, too.
 */
static bool
unit_may_raise(Node *node)
{
	static const char *const units[] = {"microseconds", "milliseconds", "second", "minute", "hour", "day", "week",
	"month", "quarter", "year"};
	const FuncExpr *call = (const FuncExpr *) node;
	const Const *unit;
	char	   *name;

	if (!IsA(node, FuncExpr) ||
		(call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMP && call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMPTZ))
		return false;
	unit = linitial(call->args);
	if (!IsA(unit, Const) || unit->constisnull)
		return true;
	name = TextDatumGetCString(unit->constvalue);
	for (size_t i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(name, units[i]) == 0)
			return false;
	return true;
}

/*
 * check_function_callback: may a function raise an error?  A leakproof function raises none, because an error would
 * reveal something about its arguments.
 */
static bool
function_may_raise(Oid function, void *arg)
{
	return !get_func_leakproof(function) && !makes_times(function);
}

static bool
has_parameter(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || expression_tree_walker(node, has_parameter, arg);
}

/* check_function_callback that returns makes_times() */
static bool
function_makes_times(Oid function, void *arg)
{
	return makes_times(function);
}

static bool
argument_may_raise(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
		case T_OpExpr:
			/* the value of a parameter may be a time far from now */
			if (check_functions_in_node(node, function_makes_times, NULL) && has_parameter(node, NULL))
				return true;
			if (unit_may_raise(node))
				return true;
			pg_fallthrough;
		case T_ScalarArrayOpExpr:
		case T_CoerceViaIO:
			if (check_functions_in_node(node, function_may_raise, NULL))
				return true;
			pg_fallthrough;
		case T_List:
		case T_Const:
		case T_Param:
		case T_RelabelType:
		case T_CollateExpr:
		case T_ArrayExpr:
		case T_CoalesceExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_SQLValueFunction:
			return expression_tree_walker(node, argument_may_raise, arg);
		default:
			return true;
	}
}

/* May evaluating the arguments in an expression raise an error?  Also the callback of expression_tree_walker(). */
static bool
arguments_may_raise(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (contain_var_clause(node))
		return expression_tree_walker(node, arguments_may_raise, arg);
	return argument_may_raise(node, NULL);
}

bool
rtscan_arguments_may_raise(Node *clause)
{
	return arguments_may_raise(clause, NULL);
}

/* Does an expression contain the result of a subplan?  Also the callback of expression_tree_walker(). */
static bool
has_subplan_result(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_subplan_result, arg);
}

bool
rtscan_has_subplan_result(Node *argument)
{
	return has_subplan_result(argument, NULL);
}
