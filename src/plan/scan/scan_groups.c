/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_groups.c
 *		Finds out whether a query needs only the first rows of each group of a table's rows.
 */
#include "plan/scan/scan_groups.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "optimizer/clauses.h"
#include "optimizer/paths.h"
#include "plan/quals/volatile.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* A group has room for all its first rows from the beginning, so they must be few. */
#define MOST_ROWS	64

/* Is the query of one table, and does nothing but DISTINCT ON or window functions need its rows? */
static bool
needs_rows_once(PlannerInfo *root)
{
	const Query *parse = root->parse;

	return parse->commandType == CMD_SELECT && bms_membership(root->all_baserels) == BMS_SINGLETON &&
		!parse->hasAggs && parse->groupClause == NIL && parse->groupingSets == NIL && parse->havingQual == NULL &&
		parse->setOperations == NULL && parse->rowMarks == NIL && !parse->hasTargetSRFs &&
		!rtscan_is_volatile(root, parse->targetList);
}

/* ---------------------------------------------------------------- DISTINCT ON */

static bool
needs_distinct(PlannerInfo *root, RtscanFirstOf *first)
{
	const Query *parse = root->parse;

	if (!parse->hasDistinctOn || parse->hasWindowFuncs || root->distinct_pathkeys == NIL ||
		!pathkeys_contained_in(root->distinct_pathkeys, root->query_pathkeys))
		return false;
	*first = (RtscanFirstOf) {root->query_pathkeys, list_length(root->distinct_pathkeys), 1};
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

	if (!parse->hasWindowFuncs || list_length(parse->windowClause) != 1 || parse->distinctClause != NIL)
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

bool
rtscan_needs_first_of_groups(PlannerInfo *root, RtscanFirstOf *first)
{
	return root->query_pathkeys != NIL && list_length(root->query_pathkeys) <= INDEX_MAX_KEYS &&
		needs_rows_once(root) && (needs_distinct(root, first) || needs_row_numbers(root, first));
}
