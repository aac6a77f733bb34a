/* SPDX-License-Identifier: PostgreSQL */
/*
 * heap_order.c
 *		Reads from the statistics how well the heap's order correlates with a column.
 */
#include "plan/cost/heap_order.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "utils/lsyscache.h"

double
rtscan_correlation_of(const VariableStatData *variable)
{
	AttStatsSlot slot;
	double		correlation;

	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid, ATTSTATSSLOT_NUMBERS))
		return 0;
	/* The value may be out of range, as statistics can be written by hand. */
	correlation = slot.nnumbers > 0 ? Max(-1, Min(slot.numbers[0], 1)) : 0;
	free_attstatsslot(&slot);
	return correlation;
}

double
rtscan_heap_correlation(PlannerInfo *root, Node *expression)
{
	VariableStatData variable;
	double		correlation;

	examine_variable(root, expression, 0, &variable);
	correlation = rtscan_correlation_of(&variable);
	ReleaseVariableStats(variable);
	return correlation;
}
