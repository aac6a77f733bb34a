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
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "plan/cost/indexes.h"
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
#define LEAST_NEW		0.0001

/* Assumed fraction of a table's rows that satisfy other conditions on it, if there are any. */
#define ROWS_OF_RESTRICTED	0.1

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

/* Where a parameter comes from: a column of a table, or of a query in WITH. */
typedef struct Source
{
	double		rows;			/* number of rows; 0: unknown */
	double		distinct;		/* number of distinct values of the column; 0: unknown */
} Source;

static Source
table_source(const RangeTblEntry *table, AttrNumber attribute)
{
	Source		source = {.rows = table_rows(table->relid)};
	double		stored = stored_distinct(table, attribute);

	if (table->inh && table->relkind != RELKIND_PARTITIONED_TABLE && has_subclass(table->relid))
		return source;
	source.distinct = stored < 0 ? -stored * source.rows : stored;
	return source;
}

static Source
with_source(PlannerInfo *parent, const RangeTblEntry *entry, AttrNumber attribute)
{
	PlannerInfo *subroot = rtscan_subroot_of_with(parent, entry);
	Source		source = {0};
	const TargetEntry *column;

	if (subroot == NULL)
		return source;
	column = get_tle_by_resno(subroot->parse->targetList, attribute);
	source.rows = fetch_upper_rel(subroot, UPPERREL_FINAL, NULL)->cheapest_total_path->rows;
	source.distinct = rtscan_estimate_groups(subroot, list_make1(column->expr), NIL, source.rows);
	return source;
}

static Source
source_of(PlannerInfo *parent, const Var *var)
{
	const RangeTblEntry *entry;

	if (!IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0)
		return (Source) {0};
	entry = rt_fetch(var->varno, parent->parse->rtable);
	return entry->rtekind == RTE_RELATION ? table_source(entry, var->varattno) :
		entry->rtekind == RTE_CTE ? with_source(parent, entry, var->varattno) : (Source) {0};
}

/*
 * Return the fraction of rows with new values in the parameters, which are taken as independent.  *table becomes the
 * number of the table that they come from.  If one is not known, or if they come from different tables, assume
 * UNKNOWN_NEW, and set *table to 0.
 */
static double
new_values(PlannerInfo *parent, Index *table)
{
	double		distinct = 1,
				rows = 0;
	ListCell   *cell;

	*table = 0;
	foreach(cell, parent->plan_params)
	{
		const Var  *var = (const Var *) ((const PlannerParamItem *) lfirst(cell))->item;
		Source		source = source_of(parent, var);

		if (source.rows <= 0 || source.distinct <= 0 || (*table > 0 && (Index) var->varno != *table))
		{
			*table = 0;
			return UNKNOWN_NEW;
		}
		*table = var->varno;
		rows = source.rows;
		distinct *= source.distinct;
	}
	return Max(Min(distinct / Max(rows, 1), 1), LEAST_NEW);
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

/* Is a clause about one table alone, and no subquery? */
static bool
is_about_table(PlannerInfo *parent, Node *clause, Index table)
{
	Relids		relids = pull_varnos(parent, clause);

	return !checkExprHasSubLink(clause) && bms_membership(relids) == BMS_SINGLETON && bms_is_member(table, relids);
}

/* Are there other conditions on a table, so that the subquery is executed for only a part of the table's rows? */
static bool
is_restricted(PlannerInfo *parent, Index table)
{
	Node	   *quals = parent->parse->jointree->quals;
	ListCell   *cell;

	foreach(cell, quals && IsA(quals, List) ? (List *) quals : make_ands_implicit((Expr *) quals))
		if (is_about_table(parent, lfirst(cell), table))
			return true;
	return false;
}

/* Does a query join tables?  A join may repeat the rows of each. */
static bool
has_join(const Query *query)
{
	return list_length(query->jointree->fromlist) != 1 || IsA(linitial(query->jointree->fromlist), JoinExpr);
}

bool
rtscan_is_memoized(const RtscanPath *path)
{
	const RtscanRequest *request = path->request;

	return rtscan_may_memoize(list_length(request->keys), list_length(request->sets), request->partial,
							  request->workers > 0,
							  path->join || request->root->parse->hasSubLinks || request->root->init_plans != NIL);
}

double
rtscan_new_parameters(const PlannerInfo *root)
{
	PlannerInfo *parent = root->parent_root;
	bool		in_targets;
	Index		table;
	double		new;

	if (parent == NULL || parent->plan_params == NIL || !is_asked_for_rows(parent->parse, &in_targets))
		return 1;
	new = new_values(parent, &table);
	if (table > 0 && is_restricted(parent, table))
		new = Min(new / ROWS_OF_RESTRICTED, 1);
	return has_join(parent->parse) ? Min(new, UNKNOWN_NEW) : new;
}
