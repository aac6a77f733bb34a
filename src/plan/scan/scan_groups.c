/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_groups.c
 *		Finds out whether a query needs only the first rows of each group of a table's rows.
 */
#include "plan/scan/scan_groups.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/paths.h"
#include "plan/quals/volatile.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* A group has room for all its first rows from the beginning, so they must be few. */
#define MOST_ROWS	64

/* Is the query of one table, without anything that returns or locks all rows? */
static bool
reads_one_table(PlannerInfo *root)
{
	const Query *parse = root->parse;

	return parse->commandType == CMD_SELECT && bms_membership(root->all_baserels) == BMS_SINGLETON &&
		parse->groupingSets == NIL && parse->setOperations == NULL && parse->rowMarks == NIL &&
		!parse->hasTargetSRFs;
}

/* Would the query show whether all rows were read? */
static bool
has_side_effects(PlannerInfo *root)
{
	return rtscan_is_volatile(root, root->parse->targetList) || rtscan_is_volatile(root, root->parse->havingQual);
}

/* Is there neither GROUP BY nor an aggregate? */
static bool
is_plain(const Query *parse)
{
	return !parse->hasAggs && parse->groupClause == NIL && parse->havingQual == NULL;
}

/* ---------------------------------------------------------------- DISTINCT ON */

static bool
needs_distinct(PlannerInfo *root, RtscanFirstOf *first)
{
	const Query *parse = root->parse;

	if (!is_plain(parse) || !parse->hasDistinctOn || parse->hasWindowFuncs || root->distinct_pathkeys == NIL ||
		!pathkeys_contained_in(root->distinct_pathkeys, root->query_pathkeys))
		return false;
	*first = (RtscanFirstOf) {
		.keys = root->query_pathkeys,
		.group_keys = list_length(root->distinct_pathkeys),
		.rows = 1,
	};
	return true;
}

/* ---------------------------------------------------------------- row_number() */

/* Return the value of a constant integer; -1 if it is none. */
static int64
integer_of(const Node *node)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull)
		return -1;
	switch (constant->consttype)
	{
		case INT2OID:
			return DatumGetInt16(constant->constvalue);
		case INT4OID:
			return DatumGetInt32(constant->constvalue);
		case INT8OID:
			return DatumGetInt64(constant->constvalue);
		default:
			return -1;
	}
}

/* Return the greatest row number that fulfills a condition "row_number() <= c"; -1 if that is not known. */
static int64
greatest_row_number(const OpExpr *condition)
{
	const Node *left = linitial(condition->args);
	const Node *right = lsecond(condition->args);
	int			strategy = get_op_opfamily_strategy(condition->opno, INTEGER_BTREE_FAM_OID);
	bool		function_first = IsA(left, WindowFunc);
	int64		constant = integer_of(function_first ? right : left);

	if (strategy == (function_first ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber))
		return constant;
	if (strategy == (function_first ? BTLessStrategyNumber : BTGreaterStrategyNumber) && constant > 0)
		return constant - 1;
	return -1;
}

/* Return the number of rows that a partition needs, by the conditions that end it; 0 if that is not known. */
static uint32
rows_of_partition(const WindowClause *window, List *functions)
{
	int64		rows = -1;
	ListCell   *cell;

	foreach(cell, functions)
		if (lfirst_node(WindowFunc, cell)->winfnoid != F_ROW_NUMBER)
			return 0;
	foreach(cell, rtscan_compat_run_conditions(window, functions))
	{
		int64		greatest = greatest_row_number(lfirst_node(OpExpr, cell));

		if (greatest > 0 && (rows < 0 || greatest < rows))
			rows = greatest;
	}
	return rows > 0 && rows <= MOST_ROWS ? (uint32) rows : 0;
}

static bool
needs_row_numbers(PlannerInfo *root, RtscanFirstOf *first)
{
	const Query *parse = root->parse;
	const WindowClause *window;
	const WindowFuncLists *functions;

	if (!is_plain(parse) || !parse->hasWindowFuncs || list_length(parse->windowClause) != 1 ||
		parse->distinctClause != NIL)
		return false;
	window = linitial_node(WindowClause, parse->windowClause);
	functions = find_window_functions((Node *) parse->targetList, window->winref);
	*first = (RtscanFirstOf) {
		.keys = root->query_pathkeys,
		.group_keys = list_length(make_pathkeys_for_sortclauses(root, window->partitionClause, parse->targetList)),
		.rows = rows_of_partition(window, functions->windowFuncs[window->winref]),
	};
	return first->rows > 0 && first->group_keys > 0 && list_length(first->keys) >= first->group_keys;
}

/* ---------------------------------------------------------------- maxima and minima */

/* The extremes that a query has. */
typedef struct Extremes
{
	Node	   *argument;		/* the argument of all of them; NULL: none has been found */
	Oid			operator;		/* their sort operator */
	bool		others;			/* are there other aggregates, or other arguments? */
} Extremes;

/* Return the sort operator of an aggregate of one argument that is a minimum or maximum; else InvalidOid. */
static Oid
sort_operator(const Aggref *aggref)
{
	HeapTuple	tuple;
	Oid			operator;

	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggfilter || aggref->aggorder != NIL ||
		aggref->agglevelsup > 0 || list_length(aggref->args) != 1 || aggref->aggfnoid >= FirstNormalObjectId)
		return InvalidOid;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	operator = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
	ReleaseSysCache(tuple);
	return operator;
}

/* Are equal values of an expression identical, so that it does not matter which of them is the extreme? */
static bool
has_one_image(const Node *expression)
{
	Oid			type = exprType(expression);

	return get_typbyval(type) && type != FLOAT4OID && type != FLOAT8OID;
}

static bool
collect_extremes(Node *node, Extremes *extremes)
{
	const Aggref *aggref = (const Aggref *) node;
	Node	   *argument;
	Oid			operator;

	if (node == NULL || extremes->others)
		return false;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, collect_extremes, extremes);
	argument = aggref->args == NIL ? NULL : (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	operator = sort_operator(aggref);
	extremes->others = !OidIsValid(operator) || !has_one_image(argument) ||
		(extremes->argument && (!equal(argument, extremes->argument) || operator != extremes->operator));
	extremes->argument = argument;
	extremes->operator = operator;
	return false;
}

static bool
needs_extremes(PlannerInfo *root, RtscanFirstOf *first)
{
	const Query *parse = root->parse;
	Extremes	extremes = {.argument = NULL};
	const TypeCacheEntry *type;

	if (!parse->hasAggs || root->group_pathkeys == NIL || root->query_pathkeys != root->group_pathkeys)
		return false;
	collect_extremes((Node *) parse->targetList, &extremes);
	collect_extremes(parse->havingQual, &extremes);
	if (extremes.argument == NULL || extremes.others)
		return false;
	type = lookup_type_cache(exprType(extremes.argument), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	*first = (RtscanFirstOf) {
		.keys = root->group_pathkeys,
		.group_keys = list_length(root->group_pathkeys),
		.rows = 1,
		.extreme = extremes.argument,
		.greatest = extremes.operator == type->gt_opr,
	};
	return first->greatest || extremes.operator == type->lt_opr;
}

bool
rtscan_needs_first_of_groups(PlannerInfo *root, RtscanFirstOf *first)
{
	return root->query_pathkeys != NIL && list_length(root->query_pathkeys) < INDEX_MAX_KEYS &&
		reads_one_table(root) &&
		(needs_distinct(root, first) || needs_row_numbers(root, first) || needs_extremes(root, first)) &&
		!has_side_effects(root);
}
