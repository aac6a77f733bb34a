/* SPDX-License-Identifier: PostgreSQL */
/*
 * correlated.c
 *		Estimates how often a correlated subquery is executed with parameters that it has not had before.
 *
 * PostgreSQL plans a subquery before the query around it.  So the number of rows of the outer query is not known yet,
 * only which of its columns the subquery refers to.
 */
#include "plan/aggregate/path.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "run/node/memoize.h"
#include "utils/syscache.h"

/*
 * Assumed fraction of executions with new parameters if it is not known: for example, below a join, which may repeat a
 * table's rows.
 */
#define UNKNOWN_NEW		0.5

/*
 * Lower bound of the fraction of executions with new parameters: a subquery that is executed for few rows may see few
 * repeated parameters.
 */
#define LEAST_NEW		0.1

static double
table_rows(Oid table)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	double		rows = 0;

	if (HeapTupleIsValid(tuple))
	{
		rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
		ReleaseSysCache(tuple);
	}
	return rows;
}

/* Return stadistinct: a number of values, or if negative, a fraction of the rows; 0: unknown. */
static double
stored_distinct(const RangeTblEntry *table, AttrNumber attribute)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table->relid), Int16GetDatum(attribute),
										BoolGetDatum(table->inh && table->relkind == RELKIND_PARTITIONED_TABLE));
	double		distinct = 0;

	if (HeapTupleIsValid(tuple))
	{
		distinct = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
		ReleaseSysCache(tuple);
	}
	return distinct;
}

/*
 * Return the only table of a query, and set *number to its number in the range table.  NULL if FROM has anything else,
 * or if the table has inheritance children.
 */
static const RangeTblEntry *
only_table(const Query *query, int *number)
{
	const Node *from = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	const RangeTblEntry *entry;

	if (from == NULL || !IsA(from, RangeTblRef))
		return NULL;
	*number = ((const RangeTblRef *) from)->rtindex;
	entry = list_nth_node(RangeTblEntry, query->rtable, *number - 1);
	if (entry->rtekind != RTE_RELATION ||
		(entry->inh && entry->relkind != RELKIND_PARTITIONED_TABLE && has_subclass(entry->relid)))
		return NULL;
	return entry;
}

/*
 * Return the number of distinct values of a parameter.  If the parameter is no column of the table, or if its
 * statistics are missing, assume UNKNOWN_NEW times the number of rows.
 */
static double
distinct_values(const PlannerParamItem *param, const RangeTblEntry *table, int number, double rows)
{
	const Var  *var = (const Var *) param->item;
	double		stored = IsA(var, Var) && var->varno == number && var->varlevelsup == 0 ?
		stored_distinct(table, var->varattno) : 0;

	return stored > 0 ? stored : stored < 0 ? -stored * rows : UNKNOWN_NEW * rows;
}

/* Return the fraction of a table's rows with new values in the columns "params", which are taken as independent. */
static double
new_values(const RangeTblEntry *table, int number, const List *params)
{
	double		rows = table_rows(table->relid);
	double		distinct = 1;
	ListCell   *cell;

	if (rows <= 0)
		return UNKNOWN_NEW;
	foreach(cell, params)
		distinct *= distinct_values(lfirst(cell), table, number, rows);
	return Max(Min(distinct / rows, 1), LEAST_NEW);
}

/*
 * Is the subquery that is being planned executed for each row of the query around it?  PostgreSQL plans the subqueries
 * of the target list first, then those of WHERE; until a clause's subqueries are planned, it has SubLinks.  So SubLinks
 * tell which clause is being planned.  Subqueries planned later are executed for groups, or by a nested loop, whose
 * Memoize node has removed repeated parameters.
 */
static bool
is_asked_for_rows(const Query *around, bool *in_targets)
{
	*in_targets = checkExprHasSubLink((Node *) around->targetList);
	if (*in_targets)
		return !around->hasAggs && around->groupClause == NIL && around->groupingSets == NIL;
	return checkExprHasSubLink((Node *) around->jointree);
}

/* Are there conditions besides the one with the subquery, so that it is executed for only a part of the rows? */
static bool
is_restricted(const Query *around, bool in_targets)
{
	return in_targets ? around->jointree->quals != NULL : is_andclause(around->jointree->quals);
}

static bool
is_memoized(const RtscanPath *path)
{
	const RtscanRequest *request = path->request;

	return rtscan_may_memoize(list_length(request->keys), list_length(request->sets), request->partial,
							  request->workers > 0,
							  path->join || request->root->parse->hasSubLinks || request->root->init_plans != NIL);
}

double
rtscan_new_parameters(const RtscanPath *path)
{
	const PlannerInfo *parent = path->request->root->parent_root;
	const RangeTblEntry *table;
	bool		in_targets;
	int			number;
	double		new;

	if (parent == NULL || parent->plan_params == NIL || !is_memoized(path) ||
		!is_asked_for_rows(parent->parse, &in_targets))
		return 1;
	table = only_table(parent->parse, &number);
	new = table ? new_values(table, number, parent->plan_params) : UNKNOWN_NEW;
	return is_restricted(parent->parse, in_targets) ? Max(new, UNKNOWN_NEW) : new;
}
