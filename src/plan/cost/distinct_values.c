/* SPDX-License-Identifier: PostgreSQL */
/*
 * distinct_values.c
 *		Gives PostgreSQL's estimates a lower bound for the number of distinct values of a column.
 */
#include "plan/cost/distinct_values.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/optimizer.h"
#include "plan/cost/cost.h"
#include "plan/cost/resolve.h"
#include "utils/attoptcache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

static get_relation_stats_hook_type previous_hook;

/*
 * Return the RelOptInfo of a range table entry; NULL if the entry has none.  A query may have thousands of tables.
 * Most calls are for the same table as the last call, or for the table after it, so the search starts at the last
 * table.
 */
static RelOptInfo *
relation_of(PlannerInfo *root, const RangeTblEntry *table)
{
	static int	last;
	int			n = root->simple_rel_array_size;

	for (int i = 0; i < n; i++)
	{
		int			at = (last + i) % n;

		if (root->simple_rte_array[at] == table)
		{
			last = at;
			return root->simple_rel_array[at];
		}
	}
	return NULL;
}

/* Return the largest number of distinct values that an index has counted in a column. */
static double
least_distinct(PlannerInfo *root, const RelOptInfo *relation, AttrNumber attribute)
{
	double		most = 0;
	ListCell   *cell;

	foreach(cell, relation->indexlist)
	{
		IndexOptInfo *info = lfirst(cell);

		if (!rtscan_owns(info) || info->hypothetical)
			continue;
		for (int i = 0; i < info->nkeycolumns; i++)
			if (info->indexkeys[i] == attribute)
				most = Max(most, rtscan_least_distinct(root, info, i));
	}
	return most;
}

/* Has a user set n_distinct?  Then that number is used. */
static bool
is_set(Oid table, AttrNumber attribute)
{
	const AttributeOpts *options = get_attribute_options(table, attribute);

	return options && (options->n_distinct != 0 || options->n_distinct_inherited != 0);
}

static double
analyzed_distinct(HeapTuple statistics, double rows)
{
	double		distinct = ((Form_pg_statistic) GETSTRUCT(statistics))->stadistinct;

	return distinct < 0 ? -distinct * rows : distinct;
}

/*
 * Has ANALYZE found that all values differ?  Then the indexes can hardly have counted more, and are not searched.  That
 * saves time for long lists, since the planner gets the statistics anew for each element.
 */
static bool
all_differ(HeapTuple statistics)
{
	return ((Form_pg_statistic) GETSTRUCT(statistics))->stadistinct == -1;
}

/*
 * Return a copy of the column's statistics with more distinct values than ANALYZE has found.  NULL if there are no
 * statistics, if no index has counted more values, or if a user has set n_distinct.
 */
static HeapTuple
better_statistics(PlannerInfo *root, const RelOptInfo *relation, Oid table, AttrNumber attribute)
{
	HeapTuple	analyzed = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table), Int16GetDatum(attribute),
										   BoolGetDatum(false));
	HeapTuple	better = NULL;
	double		least;

	if (!HeapTupleIsValid(analyzed))
		return NULL;
	least = all_differ(analyzed) ? 0 : least_distinct(root, relation, attribute);
	if (least > 0 && least > analyzed_distinct(analyzed, relation->tuples) && !is_set(table, attribute))
	{
		better = heap_copytuple(analyzed);
		((Form_pg_statistic) GETSTRUCT(better))->stadistinct = least;
	}
	ReleaseSysCache(analyzed);
	return better;
}

/*
 * get_relation_stats_hook.  acl_ok is set, since an index tells a larger number only if the user may know its values.
 */
static bool
give_statistics(PlannerInfo *root, RangeTblEntry *table, AttrNumber attribute, VariableStatData *variable)
{
	const RelOptInfo *relation;

	if (previous_hook && previous_hook(root, table, attribute, variable))
		return true;
	if (table->rtekind != RTE_RELATION || table->inh || attribute <= 0 || (relation = relation_of(root, table)) == NULL)
		return false;
	variable->statsTuple = better_statistics(root, relation, table->relid, attribute);
	if (variable->statsTuple == NULL)
		return false;
	variable->freefunc = heap_freetuple;
	variable->acl_ok = true;
	return true;
}

void
rtscan_init_distinct_values(void)
{
	previous_hook = get_relation_stats_hook;
	get_relation_stats_hook = give_statistics;
}
