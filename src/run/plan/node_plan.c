/* SPDX-License-Identifier: PostgreSQL */
/*
 * node_plan.c
 *		Writes the plan of RtscanScan or RtscanAggregate as lists, and reads it.
 */
#include "run/plan/node_plan.h"

#include "nodes/value.h"
#include "run/plan/comparison_plan.h"
#include "run/plan/written.h"

/* A plan stores RtscanOrder.wanted as an int.  This value represents all larger numbers, and infinity (all rows). */
#define ALL_ROWS	INT_MAX

/* ---------------------------------------------------------------- structs */

static void *
describe_filter(RtscanWritten *written, void *described)
{
	RtscanPlanFilter *filter = rtscan_written_struct(written, described, sizeof(RtscanPlanFilter));

	filter->kind = rtscan_written_int(written, filter->kind);
	filter->argument = rtscan_written_int(written, filter->argument);
	filter->dimension = rtscan_written_int(written, filter->dimension);
	if (filter->kind == RTSCAN_FILTER_CONDITION)
		rtscan_describe_asked(written, &filter->asked);
	else if (filter->kind == RTSCAN_FILTER_IMPLIED)
		filter->comparison = rtscan_describe_comparison(written, filter->comparison);
	else
		filter->parts = rtscan_written_list(written, filter->parts, describe_filter);
	return filter;
}

static void
describe_collected(RtscanWritten *written, RtscanCollected *collected)
{
	collected->purpose = rtscan_written_int(written, collected->purpose);
	collected->several = rtscan_written_int(written, collected->several);
	collected->descending = rtscan_written_int(written, collected->descending);
	collected->scale = rtscan_written_int(written, collected->scale);
}

static void *
describe_aggregate(RtscanWritten *written, void *described)
{
	RtscanPlanAggregate *aggregate = rtscan_written_struct(written, described, sizeof(RtscanPlanAggregate));

	aggregate->kind = rtscan_written_int(written, aggregate->kind);
	aggregate->column = rtscan_written_int(written, aggregate->column);
	if (rtscan_written_int(written, aggregate->filter != NULL))
	{
		aggregate->filter = describe_filter(written, aggregate->filter);
		return aggregate;
	}
	aggregate->type = rtscan_written_int(written, aggregate->type);
	aggregate->fold = rtscan_written_int(written, aggregate->fold);
	aggregate->collation = rtscan_written_int(written, aggregate->collation);
	aggregate->arguments = rtscan_written_node(written, aggregate->arguments);
	aggregate->row_filter = rtscan_written_node(written, aggregate->row_filter);
	aggregate->of_groups = rtscan_written_int(written, aggregate->of_groups);
	aggregate->fractions = rtscan_written_node(written, aggregate->fractions);
	describe_collected(written, &aggregate->collected);
	return aggregate;
}

static void
describe_order(RtscanWritten *written, RtscanOrder *order)
{
	order->by_heap = rtscan_written_int(written, order->by_heap);
	order->group_columns = rtscan_written_int(written, order->group_columns);
	order->of_each = rtscan_written_int(written, order->of_each);
	order->wanted = rtscan_written_int(written, (int) Min(order->wanted, ALL_ROWS));
	order->few = rtscan_written_int(written, order->few);
	order->ncolumns = rtscan_written_int(written, order->ncolumns);
	for (int i = 0; i < order->ncolumns; i++)
	{
		RtscanOrderColumn *column = &order->columns[i];

		column->column = rtscan_written_int(written, column->column);
		column->descending = rtscan_written_int(written, column->descending);
		column->nulls_first = rtscan_written_int(written, column->nulls_first);
		column->collation = rtscan_written_int(written, column->collation);
	}
}

static void *
describe_dimension(RtscanWritten *written, void *described)
{
	RtscanPlanDimension *dimension = rtscan_written_struct(written, described, sizeof(RtscanPlanDimension));
	int			nparts = rtscan_written_int(written, dimension->parts[0] ? 2 : 0);

	dimension->type = rtscan_written_int(written, dimension->type);
	dimension->column = rtscan_written_int(written, dimension->column);
	dimension->attributes = rtscan_written_int(written, dimension->attributes);
	dimension->repeats = rtscan_written_int(written, dimension->repeats);
	dimension->common = rtscan_written_int(written, dimension->common);
	dimension->lefttype = rtscan_written_int(written, dimension->lefttype);
	dimension->subtype = rtscan_written_int(written, dimension->subtype);
	dimension->family = rtscan_written_int(written, dimension->family);
	dimension->collation = rtscan_written_int(written, dimension->collation);
	for (int i = 0; i < nparts; i++)
		dimension->parts[i] = describe_dimension(written, dimension->parts[i]);
	return dimension;
}

static void *
describe_set(RtscanWritten *written, void *described)
{
	RtscanPlanSet *set = rtscan_written_struct(written, described, sizeof(RtscanPlanSet));

	set->parent = rtscan_written_int(written, set->parent);
	set->asked = rtscan_written_int(written, set->asked);
	set->groups = rtscan_written_int(written, set->groups);
	set->keys = rtscan_written_node(written, set->keys);
	return set;
}

/* ---------------------------------------------------------------- the plan */

static void
describe_rows(RtscanWritten *written, RtscanNodePlan *plan)
{
	plan->partial = rtscan_written_int(written, plan->partial);
	plan->most_parts = rtscan_written_int(written, plan->most_parts);
	plan->top.groups = rtscan_written_int(written, plan->top.groups);
	plan->top.aggregate = rtscan_written_int(written, plan->top.aggregate);
	plan->top.descending = rtscan_written_int(written, plan->top.descending);
	plan->sets = rtscan_written_list(written, plan->sets, describe_set);
	plan->row_keys = rtscan_written_node(written, plan->row_keys);
	plan->operators = rtscan_written_node(written, plan->operators);
	plan->collations = rtscan_written_node(written, plan->collations);
	plan->groupings = rtscan_written_node(written, plan->groupings);
}

static void
describe_plan(RtscanWritten *written, RtscanNodePlan *plan)
{
	plan->table = rtscan_written_int(written, plan->table);
	plan->index = rtscan_written_int(written, plan->index);
	plan->filter = describe_filter(written, plan->filter);
	plan->arguments = rtscan_written_node(written, plan->arguments);
	plan->where_arguments = rtscan_written_int(written, plan->where_arguments);
	plan->functions = rtscan_written_node(written, plan->functions);
	plan->row_quals = rtscan_written_node(written, plan->row_quals);
	plan->dimensions = rtscan_written_list(written, plan->dimensions, describe_dimension);
	plan->from_heap = rtscan_written_int(written, plan->from_heap);
	plan->columns = rtscan_written_node(written, plan->columns);
	plan->may_tell = rtscan_written_int(written, plan->may_tell);
	plan->skips = rtscan_written_int(written, plan->skips);
	plan->ordered = rtscan_written_int(written, plan->ordered);
	if (plan->ordered)
		describe_order(written, &plan->order);
	plan->aggregates = rtscan_written_list(written, plan->aggregates, describe_aggregate);
	plan->by_rows = rtscan_written_int(written, plan->by_rows);
	if (plan->by_rows)
		describe_rows(written, plan);
}

List *
rtscan_write_plan(RtscanNodePlan *plan)
{
	RtscanWritten written = rtscan_begin_written();

	describe_plan(&written, plan);
	return list_make2(makeString(RTSCAN_VERSION), rtscan_finish_written(&written));
}

/* Check that the plan was written by this version: a parallel worker may load a newer library than its leader's. */
static void
check_version(Node *version)
{
	if (IsA(version, String) && strcmp(strVal(version), RTSCAN_VERSION) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot execute a plan of another version of rtscan's library"),
			 errdetail("This process has loaded version %s.", RTSCAN_VERSION),
			 errhint("Restart the server or, if rtscan is not preloaded, reconnect.")));
}

RtscanNodePlan *
rtscan_read_plan(List *versioned)
{
	RtscanNodePlan *plan = palloc0(sizeof(RtscanNodePlan));
	RtscanWritten written;

	check_version(linitial(versioned));
	written = rtscan_read_written(lsecond(versioned));
	describe_plan(&written, plan);
	return plan;
}

/* ---------------------------------------------------------------- custom_exprs */

List *
rtscan_write_shown(const RtscanShown *shown)
{
	return list_concat(list_make5(shown->quals, shown->filters, shown->row_quals, shown->keys, shown->row_aggregates),
					   list_make3(shown->skip, shown->implied, shown->joins));
}

RtscanShown
rtscan_read_shown(List *written)
{
	return (RtscanShown) {
		.quals = linitial(written),
		.filters = lsecond(written),
		.row_quals = lthird(written),
		.keys = lfourth(written),
		.row_aggregates = list_nth(written, 4),
		.skip = list_nth(written, 5),
		.implied = list_nth(written, 6),
		.joins = list_nth(written, 7),
	};
}
