/* SPDX-License-Identifier: PostgreSQL */
/*
 * top.c
 *		Find out whether a query wants only the first groups in the order of an aggregate.
 */
#include "plan/aggregate/path.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "run/aggregate/aggregates.h"
#include "utils/typcache.h"

/* The most groups that are kept apart from all others. */
#define MOST_GROUPS		10000

/* Return the value of a LIMIT or OFFSET; "missing" if there is none, and -1 if it is not known or not valid. */
static int64
constant_of(const Node *expression, int64 missing)
{
	const Const *constant = (const Const *) expression;

	if (expression == NULL)
		return missing;
	if (!IsA(expression, Const) || constant->consttype != INT8OID)
		return -1;
	return constant->constisnull ? missing : DatumGetInt64(constant->constvalue);
}

/* Return how many of a query's first rows it wants; 0: all, or not known. */
static int64
wanted_rows(const Query *parse)
{
	int64		limit = constant_of(parse->limitCount, 0);
	int64		offset = constant_of(parse->limitOffset, 0);

	if (limit <= 0 || offset < 0 || limit > MOST_GROUPS || offset > MOST_GROUPS - limit)
		return 0;
	return limit + offset;
}

/* Are a query's groups its rows, if HAVING, windows, DISTINCT and sets of rows do not change them? */
static bool
groups_are_rows(const Query *parse)
{
	return parse->havingQual == NULL && parse->windowClause == NIL && parse->distinctClause == NIL &&
		!parse->hasTargetSRFs && parse->groupingSets == NIL && parse->groupClause != NIL;
}

/* Return the number of the path's aggregate that is an expression, if its result is a number; else -1. */
static int
number_of_aggregate(const RtscanPath *path, const Expr *expression)
{
	int			number = 0;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (equal(aggregate->aggref, expression))
			return aggregate->collected.purpose == RTSCAN_NO_COLLECTION && rtscan_result_is_number(aggregate->line) ?
				number : -1;
		number++;
	}
	return -1;
}

void
rtscan_find_top(const RtscanPath *path, RtscanPlanTop *top)
{
	PlannerInfo *root = path->request->root;
	const Query *parse = root->parse;
	int64		wanted = wanted_rows(parse);
	const SortGroupClause *first;
	const TargetEntry *entry;
	const TypeCacheEntry *type;

	if (wanted == 0 || parse->sortClause == NIL || !groups_are_rows(parse) || path->request->partial ||
		path->request->distinct || list_length(path->sets) != 1)
		return;
	first = linitial_node(SortGroupClause, parse->sortClause);
	entry = get_sortgroupclause_tle(unconstify(SortGroupClause *, first), root->processed_tlist);
	top->aggregate = number_of_aggregate(path, entry->expr);
	type = lookup_type_cache(exprType((const Node *) entry->expr), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	top->descending = first->sortop == type->gt_opr;
	if (top->aggregate >= 0 && (top->descending || first->sortop == type->lt_opr))
		top->groups = (int) wanted;
}
