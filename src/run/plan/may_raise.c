/* SPDX-License-Identifier: PostgreSQL */
/*
 * may_raise.c
 *		Decides whether evaluating a search argument, or an expression of columns, may raise an error.
 */
#include "run/plan/may_raise.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "run/plan/time_units.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/*
 * Does a function calculate a date or time, as in now() - interval '1 day'?  The listed functions raise errors only for
 * times far from now (see has_far_constant()), and date_trunc() also for an unknown unit (see unit_may_raise()).
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
	const FuncExpr *call = (const FuncExpr *) node;
	RtscanTimeUnit unit;

	if (!IsA(node, FuncExpr) ||
		(call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMP && call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMPTZ))
		return false;
	return !rtscan_find_time_unit(linitial(call->args), &unit) || unit > RTSCAN_YEAR;
}

/* Years from now, or from 2000, that are far. */
#define FAR_YEARS	1000

/* Is a constant a time that is far from now, or a far distance of times? */
static bool
is_far(const Const *constant)
{
	const Interval *interval;

	if (constant->constisnull)
		return false;
	switch (constant->consttype)
	{
		case INT4OID:
			return fabs((double) DatumGetInt32(constant->constvalue)) > FAR_YEARS * DAYS_PER_YEAR;
		case DATEOID:
			return !DATE_NOT_FINITE(DatumGetDateADT(constant->constvalue)) &&
				fabs((double) DatumGetDateADT(constant->constvalue)) > 2 * FAR_YEARS * DAYS_PER_YEAR;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(constant->constvalue)) &&
				fabs((double) DatumGetTimestamp(constant->constvalue)) > 2 * FAR_YEARS * DAYS_PER_YEAR * USECS_PER_DAY;
		case INTERVALOID:
			interval = DatumGetIntervalP(constant->constvalue);
			return fabs((double) interval->month) > FAR_YEARS * MONTHS_PER_YEAR ||
				fabs((double) interval->day) > FAR_YEARS * DAYS_PER_YEAR ||
				fabs((double) interval->time) > FAR_YEARS * DAYS_PER_YEAR * USECS_PER_DAY;
		default:
			return false;
	}
}

/* Has an expression a constant that is far from now?  Also the callback of expression_tree_walker(). */
static bool
has_far_constant(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	return (IsA(node, Const) && is_far((const Const *) node)) || expression_tree_walker(node, has_far_constant, arg);
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
			if (check_functions_in_node(node, function_makes_times, NULL) &&
				(has_parameter(node, NULL) || has_far_constant(node, NULL)))
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

/* ---------------------------------------------------------------- expressions of columns */

/* Is a pattern of LIKE a constant that does not end with an escape character? */
static bool
is_complete_pattern(const Node *node)
{
	const char *pattern = rtscan_constant_text(node);
	int			escapes = 0;

	if (pattern == NULL)
		return false;
	for (size_t i = strlen(pattern); i > 0 && pattern[i - 1] == '\\'; i--)
		escapes++;
	return escapes % 2 == 0;
}

/* The longest and most deeply nested regular expression that surely is not too complex, whatever it is made of. */
#define LONGEST_REGEX	100
#define DEEPEST_REGEX	2

/*
 * Return what follows a bracket expression of letters, digits and ranges of them, such as [^a-z_], whose [ is before
 * "at"; NULL if it is of another form.
 */
static const char *
skip_brackets(const char *at)
{
	if (*at == '^')
		at++;
	for (const char *first = at; *at != ']' || at == first; at++)
	{
		if (!isalnum((unsigned char) *at) && *at != '_' && *at != ' ')
			return NULL;
		if (at[1] != '-')
			continue;
		if (!isalnum((unsigned char) *at) || !isalnum((unsigned char) at[2]) ||
			isdigit((unsigned char) *at) != isdigit((unsigned char) at[2]) ||
			isupper((unsigned char) *at) != isupper((unsigned char) at[2]) || *at > at[2])
			return NULL;
		at += 2;
	}
	return at + 1;
}

/* Return what follows the next atom of a regular expression, which may be repeated; NULL if there is none. */
static const char *
skip_atom(const char *at)
{
	if (isalnum((unsigned char) *at) || IS_HIGHBIT_SET(*at) || (*at != '\0' && strchr(" _.@/,:;-", *at)))
		return at + 1;
	if (*at == '\\' && at[1] != '\0' && strchr("wds.", at[1]))
		return at + 2;
	return *at == '[' ? skip_brackets(at + 1) : NULL;
}

/*
 * Is a regular expression a constant that is surely valid, and not too complex: of plain characters, brackets, anchors,
 * repetitions of them, and alternatives in parentheses that are not repeated?
 */
static bool
is_plain_regex(const Node *node)
{
	const char *pattern = rtscan_constant_text(node);
	int			open = 0;

	if (pattern == NULL || strlen(pattern) > LONGEST_REGEX)
		return false;
	for (const char *at = pattern; *at;)
	{
		const char *behind = skip_atom(at);

		if (behind)
			at = behind + (*behind == '*' || *behind == '+' || *behind == '?' ? 1 : 0);
		else if (strchr("^$|", *at))
			at++;
		else if (*at == '(' && open < DEEPEST_REGEX && at[1] != '?')
		{
			open++;
			at++;
		}
		else if (*at == ')' && open > 0)
		{
			open--;
			at++;
		}
		else
			return false;
	}
	return open == 0;
}

/* Is a node a constant integer that is not negative? */
static bool
is_natural(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && constant->consttype == INT4OID && !constant->constisnull &&
		DatumGetInt32(constant->constvalue) >= 0;
}

/* Does a function of texts raise no error, whatever the texts are, if its collation is a usual one? */
static bool
is_safe_of_texts(Oid function, const List *arguments)
{
	switch (function)
	{
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
		case F_TEXTICLIKE:
		case F_TEXTICNLIKE:
			return is_complete_pattern(lsecond(arguments));
		case F_TEXTREGEXEQ:
		case F_TEXTREGEXNE:
		case F_TEXTICREGEXEQ:
		case F_TEXTICREGEXNE:
			return is_plain_regex(lsecond(arguments));
		case F_SUBSTR_TEXT_INT4_INT4:
		case F_SUBSTRING_TEXT_INT4_INT4:
			return is_natural(lthird(arguments));
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
		case F_INITCAP:
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
		case F_OCTET_LENGTH_TEXT:
		case F_LEFT:
		case F_RIGHT:
		case F_SUBSTR_TEXT_INT4:
		case F_SUBSTRING_TEXT_INT4:
		case F_BTRIM_TEXT:
		case F_LTRIM_TEXT:
		case F_RTRIM_TEXT:
		case F_BTRIM_TEXT_TEXT:
		case F_LTRIM_TEXT_TEXT:
		case F_RTRIM_TEXT_TEXT:
		case F_REPLACE:
		case F_STARTS_WITH:
		case F_STRPOS:
		case F_POSITION_TEXT_TEXT:
		case F_TEXTCAT:
			return true;
		default:
			return false;
	}
}

/* Does a function of jsonb raise no error, whatever its arguments are? */
static bool
is_safe_of_jsonb(Oid function)
{
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_ARRAY_ELEMENT:
		case F_JSONB_ARRAY_ELEMENT_TEXT:
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
		case F_JSONB_EXISTS:
		case F_JSONB_CONTAINS:
		case F_JSONB_CONTAINED:
		case F_JSONB_TYPEOF:
			return true;
		default:
			return false;
	}
}

static bool
call_may_raise(Oid function, Oid collation, const List *arguments)
{
	if (get_func_leakproof(function) || is_safe_of_jsonb(function))
		return false;
	return !OidIsValid(collation) || !get_collation_isdeterministic(collation) ||
		!is_safe_of_texts(function, arguments);
}

/* May evaluating an expression raise an error?  Also the callback of expression_tree_walker(). */
static bool
may_raise(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			{
				const FuncExpr *call = (const FuncExpr *) node;

				if (call_may_raise(call->funcid, call->inputcollid, call->args))
					return true;
				break;
			}
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			{
				const OpExpr *operation = (const OpExpr *) node;

				if (call_may_raise(get_opcode(operation->opno), operation->inputcollid, operation->args))
					return true;
				break;
			}
		case T_ScalarArrayOpExpr:
			if (!get_func_leakproof(get_opcode(((const ScalarArrayOpExpr *) node)->opno)))
				return true;
			break;
		case T_List:
		case T_Var:
		case T_Const:
		case T_Param:
		case T_RelabelType:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, may_raise, arg);
}

bool
rtscan_may_raise(Node *expression)
{
	return may_raise(expression, NULL);
}
