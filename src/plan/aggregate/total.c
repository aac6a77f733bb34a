/* SPDX-License-Identifier: PostgreSQL */
/*
 * total.c
 *		Count all rows of a query that returns a page of them, apart from the page.
 *
 * "SELECT ..., count(*) OVER () FROM t WHERE ... ORDER BY a LIMIT 20" returns 20 rows, each with the number of all rows.
 * PostgreSQL's window reads all rows before the first one is returned.  The query is also planned with a subquery in
 * place of the window, "(SELECT count(*) FROM t WHERE ...)", which an index answers from bits, and so that an index
 * returns only the page.  The cheaper plan is taken.
 *
 * Both see the same rows: they have one snapshot, and no part of the query may return other rows if executed twice.
 */
#include "plan/aggregate/path.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "settings.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static planner_hook_type previous_planner;

/* ---------------------------------------------------------------- which queries */

/* Is a window one partition without an order, and a function's frame all of it? */
static bool
is_of_all_rows(const WindowClause *window)
{
	return window->partitionClause == NIL && window->orderClause == NIL &&
		window->frameOptions == FRAMEOPTION_DEFAULTS;
}

/* Return the window of a window function. */
static const WindowClause *
window_of(const WindowFunc *function, const List *windows)
{
	ListCell   *cell;

	foreach(cell, windows)
		if (lfirst_node(WindowClause, cell)->winref == function->winref)
			return lfirst_node(WindowClause, cell);
	elog(ERROR, "window function without a window");
}

/* expression_tree_walker: does an expression have a window function other than count(*) of all rows? */
static bool
has_other_window(Node *node, void *arg)
{
	const List *windows = (const List *) arg;

	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc))
	{
		const WindowFunc *function = (const WindowFunc *) node;

		return function->winfnoid != F_COUNT_ || function->aggfilter != NULL ||
			!is_of_all_rows(window_of(function, windows));
	}
	return expression_tree_walker(node, has_other_window, arg);
}

static Oid
access_method_of(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	Oid			method = HeapTupleIsValid(tuple) ? ((Form_pg_class) GETSTRUCT(tuple))->relam : InvalidOid;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return method;
}

/* Does a table have an rtscan index?  (That of a partitioned table has parts in its partitions.) */
static bool
has_index(Oid relid)
{
	Oid			method = get_index_am_oid("rtscan", true);
	Relation	table = RelationIdGetRelation(relid);
	List	   *indexes = RelationGetIndexList(table);
	bool		found = false;
	ListCell   *cell;

	foreach(cell, indexes)
		found |= access_method_of(lfirst_oid(cell)) == method;
	list_free(indexes);
	RelationClose(table);
	return found;
}

/* Is a table, or one of its children or partitions, a foreign table? */
static bool
has_foreign_part(const RangeTblEntry *entry)
{
	ListCell   *cell;

	foreach(cell, entry->inh ? find_all_inheritors(entry->relid, AccessShareLock, NULL) : NIL)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	return false;
}

/*
 * Can a query's FROM be executed twice with the same rows, and does an index promise that this is cheap?  Subqueries
 * may have a LIMIT, and functions and foreign tables may return anything.
 */
static bool
has_steady_tables(const Query *query)
{
	bool		indexed = false;
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_JOIN)
			continue;
		if (entry->rtekind != RTE_RELATION || entry->tablesample ||
			(entry->relkind != RELKIND_RELATION && entry->relkind != RELKIND_PARTITIONED_TABLE &&
			 entry->relkind != RELKIND_MATVIEW) ||
			has_foreign_part(entry))
			return false;
		indexed |= has_index(entry->relid);
	}
	return indexed;
}

static bool
is_page_with_total(Query *query)
{
	return query->commandType == CMD_SELECT && query->hasWindowFuncs && query->limitCount && !query->hasAggs &&
		query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == NULL &&
		query->distinctClause == NIL && query->cteList == NIL &&
		query->setOperations == NULL && query->rowMarks == NIL && !query->hasTargetSRFs &&
		!query->hasSubLinks && query->jointree->fromlist != NIL && rtscan_enable_aggregate &&
		!has_other_window((Node *) query->targetList, query->windowClause) &&
		!contain_volatile_functions((Node *) query) && has_steady_tables(query);
}

/* ---------------------------------------------------------------- the other query */

/* Return the query "SELECT count(*)" of the rows of a query. */
static Query *
count_query(Query *query)
{
	Query	   *count = copyObject(query);
	Aggref	   *aggregate = makeNode(Aggref);

	aggregate->aggfnoid = F_COUNT_;
	aggregate->aggtype = INT8OID;
	aggregate->aggtranstype = InvalidOid;
	aggregate->aggstar = true;
	aggregate->aggkind = AGGKIND_NORMAL;
	aggregate->aggsplit = AGGSPLIT_SIMPLE;
	aggregate->aggno = aggregate->aggtransno = -1;
	aggregate->location = -1;
	count->targetList = list_make1(makeTargetEntry((Expr *) aggregate, 1, pstrdup("count"), false));
	count->hasAggs = true;
	count->hasWindowFuncs = false;
	count->windowClause = count->sortClause = NIL;
	count->limitCount = count->limitOffset = NULL;
	count->limitOption = LIMIT_OPTION_COUNT;
	return count;
}

/* expression_tree_mutator: replace the window functions of an expression by the subquery "arg". */
static Node *
replace_windows(Node *node, void *arg)
{
	SubLink    *subquery;

	if (node == NULL || !IsA(node, WindowFunc))
		return node ? expression_tree_mutator(node, replace_windows, arg) : NULL;
	subquery = makeNode(SubLink);
	subquery->subLinkType = EXPR_SUBLINK;
	subquery->subselect = (Node *) copyObject((Query *) arg);
	subquery->location = -1;
	return (Node *) subquery;
}

/* Return the query with a subquery in place of each window function. */
static Query *
query_with_subquery(Query *query)
{
	Query	   *other = copyObject(query);

	other->targetList = (List *) replace_windows((Node *) other->targetList, count_query(query));
	other->hasSubLinks = true;
	other->hasWindowFuncs = false;
	other->windowClause = NIL;
	return other;
}

/* ---------------------------------------------------------------- planning */

/*
 * Return the cost of a plan with a window.  The window reads all rows before it returns the first one, but before
 * PostgreSQL 16 the planner expects that a LIMIT ends it early.
 */
static Cost
cost_with_window(const Plan *plan)
{
	Cost		cost = plan->total_cost;

	while (plan && !IsA(plan, WindowAgg))
		plan = plan->lefttree;
	return plan ? Max(cost, plan->total_cost) : cost;
}

/*
 * planner_hook: plan a page with its total in both ways.  Not of a cursor: between its rows, settings that functions
 * depend on may change, but its total may not.
 */
static PlannedStmt *
plan_total(RTSCAN_COMPAT_PLANNER_PARAMETERS)
{
	Query	   *other;
	PlannedStmt *with_subquery,
			   *with_window;

	if ((options & CURSOR_OPT_FAST_PLAN) || !is_page_with_total(query))
		return RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
	other = query_with_subquery(query);
	with_window = RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
	query = other;
	with_subquery = RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
	return with_subquery->planTree->total_cost < cost_with_window(with_window->planTree) ? with_subquery : with_window;
}

void
rtscan_init_total(void)
{
	previous_planner = planner_hook;
	planner_hook = plan_total;
}
