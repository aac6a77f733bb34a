/*
 * node_plan.c
 *		The plan of RtscanScan or RtscanAggregate as Lists, and back.
 */
#include "run/node_plan.h"

#include "nodes/value.h"

/* ---------------------------------------------------------------- filters */

static List *
write_condition(const RtscanPlanCondition *condition)
{
	List	   *numbers = list_make5_int(condition->column, condition->flags, condition->strategy, (int) condition->subtype, (int) condition->collation);

	return lappend_int(lappend_int(numbers, (int) condition->function), condition->argument);
}

static RtscanPlanCondition *
read_condition(List *numbers)
{
	RtscanPlanCondition *condition = palloc(sizeof(RtscanPlanCondition));

	*condition = (RtscanPlanCondition) {
		.column = list_nth_int(numbers, 0),
		.flags = list_nth_int(numbers, 1),
		.strategy = list_nth_int(numbers, 2),
		.subtype = (Oid) list_nth_int(numbers, 3),
		.collation = (Oid) list_nth_int(numbers, 4),
		.function = (Oid) list_nth_int(numbers, 5),
		.argument = list_nth_int(numbers, 6),
	};
	return condition;
}

static List *
write_filter(const RtscanPlanFilter *filter)
{
	List	   *conditions = NIL;
	List	   *disjunctions = NIL;
	ListCell   *cell,
			   *alternative;

	foreach(cell, filter->conditions)
		conditions = lappend(conditions, write_condition(lfirst(cell)));
	foreach(cell, filter->disjunctions)
	{
		List	   *alternatives = NIL;

		foreach(alternative, lfirst(cell))
			alternatives = lappend(alternatives, write_filter(lfirst(alternative)));
		disjunctions = lappend(disjunctions, alternatives);
	}
	return list_make2(conditions, disjunctions);
}

static RtscanPlanFilter *
read_filter(List *written)
{
	RtscanPlanFilter *filter = palloc0(sizeof(RtscanPlanFilter));
	ListCell   *cell,
			   *alternative;

	foreach(cell, linitial(written))
		filter->conditions = lappend(filter->conditions, read_condition(lfirst(cell)));
	foreach(cell, lsecond(written))
	{
		List	   *alternatives = NIL;

		foreach(alternative, lfirst(cell))
			alternatives = lappend(alternatives, read_filter(lfirst(alternative)));
		filter->disjunctions = lappend(filter->disjunctions, alternatives);
	}
	return filter;
}

/* ---------------------------------------------------------------- aggregates */

static List *
write_aggregate(const RtscanPlanAggregate *aggregate)
{
	return list_make5(list_make2_int(aggregate->kind, aggregate->column),
					  list_make3_oid(aggregate->type, aggregate->choosing, aggregate->collation),
					  aggregate->filter ? write_filter(aggregate->filter) : NIL,
					  aggregate->argument, aggregate->row_filter);
}

static RtscanPlanAggregate *
read_aggregate(List *written)
{
	RtscanPlanAggregate *aggregate = palloc(sizeof(RtscanPlanAggregate));
	List	   *numbers = linitial(written);
	List	   *oids = lsecond(written);
	List	   *filter = lthird(written);

	*aggregate = (RtscanPlanAggregate) {
		.kind = linitial_int(numbers),
		.column = lsecond_int(numbers),
		.filter = filter == NIL ? NULL : read_filter(filter),
		.type = linitial_oid(oids),
		.choosing = lsecond_oid(oids),
		.collation = lthird_oid(oids),
		.argument = lfourth(written),
		.row_filter = list_nth(written, 4),
	};
	return aggregate;
}

/* ---------------------------------------------------------------- order */

/* So many rows that are wanted are as good as all. */
#define ALL_ROWS	INT_MAX

static List *
write_order(const RtscanOrder *order)
{
	return list_make4_int(order->column, order->descending, order->nulls_first, (int) Min(order->wanted, ALL_ROWS));
}

static RtscanOrder
read_order(List *numbers)
{
	return (RtscanOrder) {
		.column = linitial_int(numbers),
		.descending = lsecond_int(numbers) != 0,
		.nulls_first = lthird_int(numbers) != 0,
		.wanted = lfourth_int(numbers),
	};
}

/* ---------------------------------------------------------------- all of it */

static List *
write_rows(const RtscanNodePlan *plan)
{
	return list_make4(list_make3_int(plan->grouped, plan->partial, plan->groups),
					  plan->row_keys, plan->operators, plan->collations);
}

static void
read_rows(RtscanNodePlan *plan, List *written)
{
	List	   *numbers = linitial(written);

	plan->by_rows = true;
	plan->grouped = linitial_int(numbers) != 0;
	plan->partial = lsecond_int(numbers) != 0;
	plan->groups = lthird_int(numbers);
	plan->row_keys = lsecond(written);
	plan->operators = lthird(written);
	plan->collations = lfourth(written);
}

List *
rtscan_write_plan(const RtscanNodePlan *plan)
{
	List	   *written = list_make5(list_make2_oid(plan->table, plan->index), write_filter(plan->filter),
									 plan->arguments, list_make2_int(plan->where_arguments, plan->from_heap),
									 plan->functions);
	List	   *aggregates = NIL;
	ListCell   *cell;

	foreach(cell, plan->aggregates)
		aggregates = lappend(aggregates, write_aggregate(lfirst(cell)));
	written = lappend(lappend(written, aggregates), plan->by_rows ? write_rows(plan) : NIL);
	written = lappend(lappend(written, plan->row_quals), plan->columns);
	written = lappend(written, plan->ordered ? write_order(&plan->order) : NIL);
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
	return plan;
}

/* ---------------------------------------------------------------- what is shown */

List *
rtscan_write_shown(const RtscanShown *shown)
{
	return list_make5(shown->quals, shown->filters, shown->row_quals, shown->keys, shown->row_aggregates);
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
	};
}
