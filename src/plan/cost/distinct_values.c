/*
 * distinct_values.c
 *		How many different values a column has, for all of PostgreSQL's estimates.
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
 * The relation that a table of the query is, NULL if it is not planned as one.  Of very many tables the same one is asked for again, or the next: it
 * is looked for from where the last one was.
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

/* What indexes know of a column: the most that one of them has seen. */
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

/* Whoever has set how many values there are is believed. */
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

/* Has ANALYZE found that each row has another value?  Of a long list that is asked for each element. */
static bool
all_differ(HeapTuple statistics)
{
	return ((Form_pg_statistic) GETSTRUCT(statistics))->stadistinct == -1;
}

/* The column's statistics with more values than ANALYZE has found, or NULL if it found enough. */
static HeapTuple
better_statistics(PlannerInfo *root, const RelOptInfo *relation, Oid table, AttrNumber attribute)
{
	HeapTuple	analyzed = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table), Int16GetDatum(attribute), BoolGetDatum(false));
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

/* get_relation_stats_hook: of tables whose values the user may know, as they know of whom they are told more. */
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
