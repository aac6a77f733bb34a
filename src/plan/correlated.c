/*
 * correlated.c
 *		How often a correlated subquery is executed with parameters that it has not had before.
 *
 * PostgreSQL plans a subquery before the query around it: what that returns is not known yet, only which columns of it are asked about.
 */
#include "plan/path.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
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

/* The only table that a query is about; or NULL. */
static const RangeTblEntry *
only_table(const Query *query)
{
	const Node *from = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	const RangeTblEntry *entry;

	if (from == NULL || !IsA(from, RangeTblRef))
		return NULL;
	entry = list_nth_node(RangeTblEntry, query->rtable, ((const RangeTblRef *) from)->rtindex - 1);
	return entry->rtekind == RTE_RELATION ? entry : NULL;
}

/* The part of a table's rows that has other values in these columns than those before; they are taken to be independent. */
static double
new_values(const RangeTblEntry *table, const List *params)
{
	double		rows = table_rows(table->relid);
	double		distinct = 1;
	ListCell   *cell;

	if (rows <= 0)
		return UNKNOWN_NEW;
	foreach(cell, params)
	{
		const Node *item = ((PlannerParamItem *) lfirst(cell))->item;
		double		stored = IsA(item, Var) ? stored_distinct(table, ((const Var *) item)->varattno) : 0;

		distinct *= stored > 0 ? stored : stored < 0 ? -stored * rows : UNKNOWN_NEW * rows;
	}
	return Min(distinct / rows, 1);
}

/* Is its result remembered?  Not where others add to it. */
static bool
has_one_result(const RtscanPath *path)
{
	return path->request->keys == NIL && list_length(path->request->sets) <= 1 && path->join == NULL && !path->request->partial &&
		path->request->workers == 0;
}

double
rtscan_new_parameters(const RtscanPath *path)
{
	const PlannerInfo *parent = path->request->root->parent_root;
	const RangeTblEntry *table;

	if (parent == NULL || parent->plan_params == NIL || !has_one_result(path))
		return 1;
	table = only_table(parent->parse);
	return table ? Max(new_values(table, parent->plan_params), LEAST_NEW) : UNKNOWN_NEW;
}
