/* SPDX-License-Identifier: PostgreSQL */
/*
 * distinct_key.c
 *		Counts distinct values by groups, if they cannot be collected as integers.
 *
 * count(DISTINCT x) of GROUP BY g is the number of groups of GROUP BY g, x in each group of g.  So a request with such
 * counts of one expression x gets x as one more key, and a set that has all keys, which is the parent of the set that
 * is asked (sets.c).  All other aggregates are combined from the parent's groups.  Groups that do not fit into memory
 * are spilled, as those of any GROUP BY.
 */
#include "plan/aggregate/path.h"

#include "nodes/nodeFuncs.h"
#include "plan/quals/volatile.h"
#include "run/aggregate/collection.h"
#include "utils/fmgroids.h"

/* Return the expression whose distinct values an aggregate counts, if they cannot be collected; else NULL. */
static Node *
counted_expression(const Aggref *aggref)
{
	Node	   *expression;
	int			scale;

	if (aggref->aggfnoid != F_COUNT_ANY || aggref->aggdistinct == NIL || aggref->aggorder != NIL ||
		aggref->agglevelsup > 0)
		return NULL;
	expression = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	return rtscan_can_collect(exprType(expression), exprTypmod(expression), &scale) ? NULL : expression;
}

/* Return an aggregate that counts distinct values which cannot be collected; NULL if there is none. */
static const Aggref *
find_count(const RtscanRequest *request)
{
	ListCell   *cell;

	foreach(cell, request->aggrefs)
		if (counted_expression(lfirst_node(Aggref, cell)))
			return lfirst_node(Aggref, cell);
	return NULL;
}

bool
rtscan_counts_distinct_key(const Aggref *aggref, const RtscanRequest *request)
{
	return request->distinct_key && equal(counted_expression(aggref), request->distinct_key);
}

const RtscanRequest *
rtscan_with_distinct_key(const RtscanRequest *request)
{
	const Aggref *count = find_count(request);
	RtscanRequest *with;
	SortGroupClause *clause;
	Node	   *key;

	if (count == NULL || request->distinct_key || request->partial || list_length(request->sets) != 1 ||
		request->groupings != NIL)
		return NULL;
	key = counted_expression(count);
	clause = copyObject(linitial_node(SortGroupClause, count->aggdistinct));
	if (!clause->hashable || rtscan_is_volatile(request->root, key) || list_member(request->output_keys, key))
		return NULL;
	clause->tleSortGroupRef = 0;
	with = palloc(sizeof(RtscanRequest));
	*with = *request;
	with->distinct_key = key;
	with->group_clauses = lappend(list_copy(request->group_clauses), clause);
	with->output_keys = lappend(list_copy(request->output_keys), key);
	with->keys = request->keys == request->output_keys ? with->output_keys :
		list_concat_copy(request->keys, rtscan_expressions_of_rows(request->root, list_make1(key)));
	return with;
}
