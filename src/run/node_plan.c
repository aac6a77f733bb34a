/*
 * node_plan.c
 *		The plan of RtscanScan or RtscanAggregate as Lists, and back.
 */
#include "run/node_plan.h"

#include "nodes/value.h"
#include "run/comparison_plan.h"
#include "run/dimension.h"

/* ---------------------------------------------------------------- filters */

/* Its kind, its first argument and dimension, then its condition, its comparison or its parts. */
static List *
write_filter(const RtscanPlanFilter *filter)
{
	List	   *parts = NIL;
	ListCell   *cell;

	if (filter->kind == RTSCAN_FILTER_CONDITION)
		parts = rtscan_write_asked(&filter->asked);
	else if (filter->kind == RTSCAN_FILTER_IMPLIED)
		parts = rtscan_write_comparison(filter->comparison);
	foreach(cell, filter->parts)
		parts = lappend(parts, write_filter(lfirst(cell)));
	return list_make2(list_make3_int(filter->kind, filter->argument, filter->dimension), parts);
}

static RtscanPlanFilter *
read_filter(List *written)
{
	RtscanPlanFilter *filter = palloc0(sizeof(RtscanPlanFilter));
	ListCell   *cell;

	filter->kind = linitial_int(linitial(written));
	filter->argument = lsecond_int(linitial(written));
	filter->dimension = lthird_int(linitial(written));
	if (filter->kind == RTSCAN_FILTER_CONDITION)
		filter->asked = rtscan_read_asked(lsecond(written));
	else if (filter->kind == RTSCAN_FILTER_IMPLIED)
		filter->comparison = rtscan_read_comparison(lsecond(written));
	else
		foreach(cell, lsecond(written))
			filter->parts = lappend(filter->parts, read_filter(lfirst(cell)));
	return filter;
}

/* ---------------------------------------------------------------- aggregates */

static List *
write_aggregate(const RtscanPlanAggregate *aggregate)
{
	const RtscanCollected *collected = &aggregate->collected;
	List	   *written = list_make5(list_make2_int(aggregate->kind, aggregate->column),
									 list_make3_oid(aggregate->type, aggregate->fold, aggregate->collation),
									 aggregate->filter ? write_filter(aggregate->filter) : NIL,
									 aggregate->arguments, aggregate->row_filter);

	return lappend(lappend(written, list_make4_int(collected->purpose, collected->several, collected->descending,
												   collected->scale)), aggregate->fractions);
}

static RtscanPlanAggregate *
read_aggregate(List *written)
{
	RtscanPlanAggregate *aggregate = palloc(sizeof(RtscanPlanAggregate));
	List	   *numbers = linitial(written);
	List	   *oids = lsecond(written);
	List	   *filter = lthird(written);
	List	   *collected = list_nth(written, 5);

	*aggregate = (RtscanPlanAggregate) {
		.kind = linitial_int(numbers),
		.column = lsecond_int(numbers),
		.filter = filter == NIL ? NULL : read_filter(filter),
		.type = linitial_oid(oids),
		.fold = lsecond_oid(oids),
		.collation = lthird_oid(oids),
		.arguments = lfourth(written),
		.row_filter = list_nth(written, 4),
		.collected = {
			.purpose = linitial_int(collected),
			.several = lsecond_int(collected) != 0,
			.descending = lthird_int(collected) != 0,
			.scale = lfourth_int(collected),
		},
		.fractions = list_nth(written, 6),
	};
	return aggregate;
}

/* ---------------------------------------------------------------- order */

/* So many rows that are wanted are as good as all. */
#define ALL_ROWS	INT_MAX

/* How, then its columns. */
static List *
write_order(const RtscanOrder *order)
{
	List	   *written = list_make1(list_make3_int(order->by_heap, (int) Min(order->wanted, ALL_ROWS), order->few));

	for (int i = 0; i < order->ncolumns; i++)
	{
		const RtscanOrderColumn *column = &order->columns[i];

		written = lappend(written, list_make2(list_make3_int(column->column, column->descending, column->nulls_first),
											  list_make1_oid(column->collation)));
	}
	return written;
}

static RtscanOrderColumn
read_order_column(List *written)
{
	List	   *numbers = linitial(written);

	return (RtscanOrderColumn) {
		.column = linitial_int(numbers),
		.descending = lsecond_int(numbers) != 0,
		.nulls_first = lthird_int(numbers) != 0,
		.collation = linitial_oid(lsecond(written)),
	};
}

static RtscanOrder
read_order(List *written)
{
	RtscanOrder order = {
		.by_heap = linitial_int(linitial(written)) != 0,
		.wanted = lsecond_int(linitial(written)),
		.few = lthird_int(linitial(written)) != 0,
	};

	for (int i = 1; i < list_length(written); i++)
		order.columns[order.ncolumns++] = read_order_column(list_nth(written, i));
	return order;
}

/* ---------------------------------------------------------------- dimensions */

/* Numbers, types, and its parts if there are any. */
static List *
write_dimension(const RtscanPlanDimension *dimension)
{
	List	   *written = list_make2(list_make5_int(dimension->type, dimension->column, dimension->attributes, dimension->repeats, dimension->common),
									 list_make4_oid(dimension->lefttype, dimension->subtype, dimension->family, dimension->collation));

	for (int i = 0; i < 2 && dimension->parts[0]; i++)
		written = lappend(written, write_dimension(dimension->parts[i]));
	return written;
}

static RtscanPlanDimension *
read_dimension(List *written)
{
	RtscanPlanDimension *dimension = palloc(sizeof(RtscanPlanDimension));
	List	   *numbers = linitial(written);
	List	   *oids = lsecond(written);

	*dimension = (RtscanPlanDimension) {
		.type = linitial_int(numbers),
		.column = lsecond_int(numbers),
		.attributes = lthird_int(numbers),
		.repeats = lfourth_int(numbers) != 0,
		.common = list_nth_int(numbers, 4),
		.lefttype = linitial_oid(oids),
		.subtype = lsecond_oid(oids),
		.family = lthird_oid(oids),
		.collation = lfourth_oid(oids),
	};
	for (int i = 0; i + 2 < list_length(written); i++)
		dimension->parts[i] = read_dimension(list_nth(written, i + 2));
	return dimension;
}

/* ---------------------------------------------------------------- all of it */

/* Numbers, then keys. */
static List *
write_sets(const List *sets)
{
	List	   *written = NIL;
	ListCell   *cell;

	foreach(cell, sets)
	{
		const RtscanPlanSet *set = lfirst(cell);

		written = lappend(written, list_make2(list_make3_int(set->parent, set->asked, set->groups), set->keys));
	}
	return written;
}

static List *
read_sets(const List *written)
{
	List	   *sets = NIL;
	ListCell   *cell;

	foreach(cell, written)
	{
		RtscanPlanSet *set = palloc(sizeof(RtscanPlanSet));
		List	   *numbers = linitial(lfirst(cell));

		*set = (RtscanPlanSet) {
			.parent = linitial_int(numbers),
			.asked = lsecond_int(numbers) != 0,
			.groups = lthird_int(numbers),
			.keys = lsecond(lfirst(cell)),
		};
		sets = lappend(sets, set);
	}
	return sets;
}

static List *
write_rows(const RtscanNodePlan *plan)
{
	return lappend(list_make5(list_make2_int(plan->partial, plan->most_parts), write_sets(plan->sets), plan->row_keys, plan->operators,
							  plan->collations), plan->groupings);
}

static void
read_rows(RtscanNodePlan *plan, List *written)
{
	plan->by_rows = true;
	plan->partial = linitial_int(linitial(written)) != 0;
	plan->most_parts = lsecond_int(linitial(written));
	plan->sets = read_sets(lsecond(written));
	plan->row_keys = lthird(written);
	plan->operators = lfourth(written);
	plan->collations = list_nth(written, 4);
	plan->groupings = list_nth(written, 5);
}

List *
rtscan_write_plan(const RtscanNodePlan *plan)
{
	List	   *written = list_make5(list_make2_oid(plan->table, plan->index), write_filter(plan->filter),
									 plan->arguments, list_make4_int(plan->where_arguments, plan->from_heap, plan->skips,
																	   plan->may_tell),
									 plan->functions);
	List	   *aggregates = NIL,
			   *dimensions = NIL;
	ListCell   *cell;

	foreach(cell, plan->aggregates)
		aggregates = lappend(aggregates, write_aggregate(lfirst(cell)));
	written = lappend(lappend(written, aggregates), plan->by_rows ? write_rows(plan) : NIL);
	written = lappend(lappend(written, plan->row_quals), plan->columns);
	written = lappend(written, plan->ordered ? write_order(&plan->order) : NIL);
	foreach(cell, plan->dimensions)
		dimensions = lappend(dimensions, write_dimension(lfirst(cell)));
	written = lappend(written, dimensions);
	return list_make2(makeString(pstrdup(RTSCAN_VERSION)), written);
}

/* A parallel worker loads the library that is installed, which may be newer than its leader's. */
static void
check_version(Node *version)
{
	if (IsA(version, String) && strcmp(strVal(version), RTSCAN_VERSION) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the plan was made by another version of rtscan's library than %s", RTSCAN_VERSION),
			 errhint("Restart the server or, if rtscan is not preloaded, reconnect.")));
}

RtscanNodePlan *
rtscan_read_plan(List *versioned)
{
	RtscanNodePlan *plan = palloc0(sizeof(RtscanNodePlan));
	List	   *written,
			   *relations,
			   *rows;
	ListCell   *cell;

	check_version(linitial(versioned));
	written = lsecond(versioned);
	relations = linitial(written);
	rows = list_nth(written, 6);
	plan->table = linitial_oid(relations);
	plan->index = lsecond_oid(relations);
	plan->filter = read_filter(lsecond(written));
	plan->arguments = lthird(written);
	plan->where_arguments = linitial_int(lfourth(written));
	plan->from_heap = lsecond_int(lfourth(written)) != 0;
	plan->skips = lthird_int(lfourth(written)) != 0;
	plan->may_tell = lfourth_int(lfourth(written)) != 0;
	plan->functions = list_nth(written, 4);
	foreach(cell, list_nth(written, 5))
		plan->aggregates = lappend(plan->aggregates, read_aggregate(lfirst(cell)));
	if (rows != NIL)
		read_rows(plan, rows);
	plan->row_quals = list_nth(written, 7);
	plan->columns = list_nth(written, 8);
	plan->ordered = list_nth(written, 9) != NIL;
	if (plan->ordered)
		plan->order = read_order(list_nth(written, 9));
	foreach(cell, list_nth(written, 10))
		plan->dimensions = lappend(plan->dimensions, read_dimension(lfirst(cell)));
	return plan;
}

/* ---------------------------------------------------------------- what is shown */

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
