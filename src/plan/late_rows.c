/*
 * late_rows.c
 *		How late the first row may come that passes quals.
 */
#include "plan/late_rows.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* How much of an expression's order is that of the heap, from 0 to 1. */
static double
heap_order(const VariableStatData *variable)
{
	AttStatsSlot slot;
	double		correlation;

	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid, ATTSTATSSLOT_NUMBERS))
		return 0;
	correlation = slot.nnumbers > 0 ? slot.numbers[0] : 0;
	free_attstatsslot(&slot);
	return correlation * correlation;
}

/* The most of any column's that clauses are about. */
static double
heap_order_of_clauses(PlannerInfo *root, const List *clauses)
{
	List	   *columns = pull_var_clause((Node *) extract_actual_clauses(unconstify(List *, clauses), false),
										  PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	double		most = 0;
	ListCell   *cell;

	foreach(cell, columns)
	{
		VariableStatData variable;

		examine_variable(root, lfirst(cell), 0, &variable);
		most = Max(most, heap_order(&variable));
		ReleaseVariableStats(variable);
	}
	return most;
}

/* What part of rows in the order of an expression comes in the heap's order: all, or those of each value. */
static double
part_in_heap_order(PlannerInfo *root, Expr *order)
{
	VariableStatData variable;
	bool		is_default;
	double		part;

	examine_variable(root, (Node *) order, 0, &variable);
	part = Max(heap_order(&variable), 1 / Max(get_variable_numdistinct(&variable, &is_default), 1));
	ReleaseVariableStats(variable);
	return part;
}

double
rtscan_late_part(PlannerInfo *root, const List *clauses, Expr *order, Selectivity passing)
{
	double		together = heap_order_of_clauses(root, clauses);

	/* They begin anywhere among the others. */
	return together > 0 ? together * part_in_heap_order(root, order) * (1 - passing) / 2 : 0;
}
