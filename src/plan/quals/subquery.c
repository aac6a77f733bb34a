/* SPDX-License-Identifier: PostgreSQL */
/*
 * subquery.c
 *		Rewrites "column = ANY (subquery)" and NOT IN, where PostgreSQL does not make joins of them, as comparisons
 *		with an array.
 *
 * The subquery must not depend on the table's rows, and its result must be expected to fit in hash_mem, so that
 * PostgreSQL would hash it.  An array of the same values, including NULLs, gives the same result in three-valued logic.
 */
#include "plan/quals/quals.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "utils/lsyscache.h"

/* Return a copy of the subquery that returns all its values in an array. */
static SubPlan *
make_array(const SubPlan *subquery)
{
	SubPlan    *array = copyObject(unconstify(SubPlan *, subquery));

	array->subLinkType = ARRAY_SUBLINK;
	array->testexpr = NULL;
	array->paramIds = NIL;
	array->useHashTable = false;
	return array;
}

/*
 * Return the array that replaces an operand, if the operand is the subquery's value, or a RelabelType of it; or else
 * NULL.
 */
static Expr *
array_for(const SubPlan *subquery, const Node *operand)
{
	Oid			type = exprType(operand);
	const Node *value = IsA(operand, RelabelType) ? (const Node *) ((const RelabelType *) operand)->arg : operand;
	const Param *param = (const Param *) value;
	Expr	   *array;

	/*
	 * Values that are arrays are not supported: PostgreSQL makes no array of arrays, but an array with more
	 * dimensions, whose elements are those of the inner arrays.
	 */
	if (!IsA(value, Param) || param->paramkind != PARAM_EXEC || param->paramid != linitial_int(subquery->paramIds) ||
		!OidIsValid(get_array_type(type)) || !OidIsValid(get_array_type(subquery->firstColType)) ||
		OidIsValid(get_base_element_type(subquery->firstColType)) || OidIsValid(get_base_element_type(type)))
		return NULL;
	array = (Expr *) make_array(subquery);
	return value == operand ? array :
		(Expr *) makeRelabelType(array, get_array_type(type), -1, exprCollation(operand), COERCE_IMPLICIT_CAST);
}

ScalarArrayOpExpr *
rtscan_compare_with_subquery(const SubPlan *subquery)
{
	const OpExpr *comparison = (const OpExpr *) subquery->testexpr;
	ScalarArrayOpExpr *result;
	Expr	   *array;

	if (subquery->subLinkType != ANY_SUBLINK || !subquery->useHashTable || subquery->parParam != NIL ||
		subquery->args != NIL || list_length(subquery->paramIds) != 1 || !IsA(comparison, OpExpr) ||
		list_length(comparison->args) != 2)
		return NULL;
	array = array_for(subquery, lsecond(comparison->args));
	if (array == NULL)
		return NULL;
	result = makeNode(ScalarArrayOpExpr);
	result->opno = comparison->opno;
	result->opfuncid = comparison->opfuncid;
	result->useOr = true;
	result->inputcollid = comparison->inputcollid;
	result->args = list_make2(linitial(comparison->args), array);
	result->location = -1;
	return result;
}

const SubPlan *
rtscan_subquery_of(const Expr *argument)
{
	if (argument && IsA(argument, RelabelType))
		argument = ((const RelabelType *) argument)->arg;
	return argument && IsA(argument, SubPlan) ? (const SubPlan *) argument : NULL;
}

Cost
rtscan_subqueries_cost(const RtscanQual *qual)
{
	const SubPlan *subquery = rtscan_subquery_of(qual->argument);
	Cost		cost = subquery ? subquery->startup_cost + subquery->per_call_cost : 0;
	ListCell   *cell;

	foreach(cell, qual->parts)
		cost += rtscan_subqueries_cost(lfirst(cell));
	return cost;
}
