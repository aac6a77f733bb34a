/* SPDX-License-Identifier: PostgreSQL */
/*
 * expressions.c
 *		Converts expressions into row expressions, and orders quals.
 */
#include "run/plan/expressions.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

typedef struct Conversion
{
	IndexOptInfo *index;
	bool		failed;
} Conversion;

/*
 * Return the index's column, from 0, that equals an operand and that the index can return; -1 if there is
 * none.  The types must be the same, because match_index_to_operand() ignores RelabelType.
 */
static int
find_returned(IndexOptInfo *index, Node *operand)
{
	for (int i = 0; i < index->ncolumns; i++)
		if (index->canreturn[i] && match_index_to_operand(operand, i, index) &&
			exprType((Node *) list_nth_node(TargetEntry, index->indextlist, i)->expr) == exprType(operand))
			return i;
	return -1;
}

static Node *
convert(Node *node, Conversion *conversion)
{
	int			column;

	if (node == NULL)
		return NULL;
	/* expression_tree_mutator() also visits nodes that are no expressions */
	column = IsA(node, List) || IsA(node, CaseWhen) ? -1 : find_returned(conversion->index, node);
	if (column >= 0)
		return (Node *) makeVar(INDEX_VAR, column + 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, Aggref) || IsA(node, WindowFunc) ||
		IsA(node, CurrentOfExpr))
	{
		conversion->failed = true;
		return node;
	}
	return expression_tree_mutator(node, convert, conversion);
}

Expr *
rtscan_row_expression(IndexOptInfo *index, Node *expression)
{
	Conversion	conversion = {index, false};
	Node	   *converted;

	/* Most expressions are plain columns, which need no checks. */
	if (!IsA(expression, Var) &&
		(contain_volatile_functions(expression) || contain_subplans(expression) || expression_returns_set(expression)))
		return NULL;
	converted = convert(expression, &conversion);
	if (conversion.failed)
		return NULL;
	fix_opfuncids(converted);
	return (Expr *) converted;
}

static Node *
strip_placeholders(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar))
		return strip_placeholders((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	return expression_tree_mutator(node, strip_placeholders, context);
}

Node *
rtscan_without_placeholders(PlannerInfo *root, Node *expression)
{
	return root->glob->lastPHId == 0 ? expression : strip_placeholders(expression, NULL);
}

Bitmapset *
rtscan_row_columns(Node *row_expressions)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	foreach(cell, pull_var_clause(row_expressions, 0))
		columns = bms_add_member(columns, lfirst_node(Var, cell)->varattno - 1);
	return columns;
}

int
rtscan_row_column(const Expr *row_expression)
{
	return IsA(row_expression, Var) ? ((const Var *) row_expression)->varattno - 1 : -1;
}

/* ---------------------------------------------------------------- order */

/* A leakproof qual that costs fewer operator calls than this may precede quals of lower security levels. */
#define CHEAP_OPERATORS		10

typedef struct OrderedQual
{
	Node	   *clause;
	Index		security_level;
	Cost		cost;
} OrderedQual;

static OrderedQual
order_of(PlannerInfo *root, Node *clause)
{
	OrderedQual qual = {.clause = clause};
	QualCost	cost;

	cost_qual_eval_node(&cost, clause, root);
	qual.cost = cost.per_tuple;
	if (IsA(clause, RestrictInfo) &&
		!(((RestrictInfo *) clause)->leakproof && qual.cost < CHEAP_OPERATORS * cpu_operator_cost))
		qual.security_level = ((RestrictInfo *) clause)->security_level;
	return qual;
}

static bool
goes_before(const OrderedQual *a, const OrderedQual *b)
{
	return a->security_level < b->security_level || (a->security_level == b->security_level && a->cost < b->cost);
}

/*
 * order_qual_clauses() sorts in the same way, but is static in the planner.  Quals with the same security level and
 * cost keep the order of the query.
 */
List *
rtscan_order_quals(PlannerInfo *root, List *clauses)
{
	OrderedQual *quals = palloc(Max(list_length(clauses), 1) * sizeof(OrderedQual));
	List	   *ordered = NIL;

	for (int n = 0; n < list_length(clauses); n++)
	{
		OrderedQual qual = order_of(root, list_nth(clauses, n));
		int			place = n;

		for (; place > 0 && goes_before(&qual, &quals[place - 1]); place--)
			quals[place] = quals[place - 1];
		quals[place] = qual;
	}
	for (int i = 0; i < list_length(clauses); i++)
		ordered = lappend(ordered, quals[i].clause);
	return ordered;
}

/* ---------------------------------------------------------------- parameters */

/* Return the value of a parameter, or NULL if it is not known. */
static const ParamExternData *
find_parameter(const Param *parameter, ParamListInfo params, ParamExternData *fetched)
{
	const ParamExternData *found;

	if (parameter->paramkind != PARAM_EXTERN || parameter->paramid <= 0 || parameter->paramid > params->numParams)
		return NULL;
	found = params->paramFetch ? params->paramFetch(params, parameter->paramid, false, fetched)
		: &params->params[parameter->paramid - 1];
	return found->ptype == parameter->paramtype ? found : NULL;
}

static Node *
settle_parameters(Node *node, void *arg)
{
	const Param *parameter = (const Param *) node;
	const ParamExternData *found;
	ParamExternData fetched;
	int16		length;
	bool		by_value;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Param))
		return expression_tree_mutator(node, settle_parameters, arg);
	found = find_parameter(parameter, (ParamListInfo) arg, &fetched);
	if (found == NULL)
		return node;
	get_typlenbyval(parameter->paramtype, &length, &by_value);
	return (Node *) makeConst(parameter->paramtype, parameter->paramtypmod, parameter->paramcollid, length,
							  found->isnull ? (Datum) 0 : datumCopy(found->value, by_value, length), found->isnull,
							  by_value);
}

Expr *
rtscan_settle_parameters(Expr *expression, ParamListInfo params)
{
	return params ? (Expr *) settle_parameters((Node *) expression, params) : expression;
}
