/*
 * correlated.c
 *		How often a correlated subquery is executed with parameters that it has not had before.
 *
 * PostgreSQL plans a subquery before the query around it: what that returns is not known yet, only which columns of it are asked about.
 */
#include "plan/aggregate/path.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "run/node/remembered.h"
#include "utils/syscache.h"

/* What is not known: as in a join, where the rows of one table come again for each of another's. */
#define UNKNOWN_NEW		0.5

/* Who is asked about few rows of a table may not be asked about the same ones again. */
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

/* As ANALYZE found: a number, or less than 0, a part of all rows; 0: it is not known. */
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

/* The only table that a query is about, without children; or NULL. */
static const RangeTblEntry *
only_table(const Query *query, int *number)
{
	const Node *from = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	const RangeTblEntry *entry;

	if (from == NULL || !IsA(from, RangeTblRef))
		return NULL;
	*number = ((const RangeTblRef *) from)->rtindex;
	entry = list_nth_node(RangeTblEntry, query->rtable, *number - 1);
	if (entry->rtekind != RTE_RELATION || (entry->inh && entry->relkind != RELKIND_PARTITIONED_TABLE && has_subclass(entry->relid)))
		return NULL;
	return entry;
}

/* How many different values a parameter has, if it is a column of the table. */
static double
distinct_values(const PlannerParamItem *param, const RangeTblEntry *table, int number, double rows)
{
	const Var  *var = (const Var *) param->item;
	double		stored = IsA(var, Var) && var->varno == number && var->varlevelsup == 0 ? stored_distinct(table, var->varattno) : 0;

	return stored > 0 ? stored : stored < 0 ? -stored * rows : UNKNOWN_NEW * rows;
}

/* The part of a table's rows that has other values in these columns than those before; they are taken to be independent. */
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
 * Is a subquery executed for rows of the query around it?  Those in the targets come first, then those in WHERE; of both there are still
 * SubLinks while they are planned.  What comes after them is executed for groups, or by a nested loop, whose Memoize has asked already.
 */
static bool
is_asked_for_rows(const Query *around, bool *in_targets)
{
	*in_targets = checkExprHasSubLink((Node *) around->targetList);
	if (*in_targets)
		return !around->hasAggs && around->groupClause == NIL && around->groupingSets == NIL;
	return checkExprHasSubLink((Node *) around->jointree);
}

/* Are there other conditions, so that it is asked for a part of the rows only? */
static bool
is_restricted(const Query *around, bool in_targets)
{
	return in_targets ? around->jointree->quals != NULL : is_andclause(around->jointree->quals);
}

static bool
is_remembered(const RtscanPath *path)
{
	const RtscanRequest *request = path->request;

	return rtscan_may_remember(request->keys == NIL && list_length(request->sets) <= 1, request->partial, request->workers > 0,
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

	if (parent == NULL || parent->plan_params == NIL || !is_remembered(path) || !is_asked_for_rows(parent->parse, &in_targets))
		return 1;
	table = only_table(parent->parse, &number);
	new = table ? new_values(table, number, parent->plan_params) : UNKNOWN_NEW;
	return is_restricted(parent->parse, in_targets) ? Max(new, UNKNOWN_NEW) : new;
}
