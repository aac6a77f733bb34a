/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension_common.c
 *		Shares dimensions that several nodes of a query have in common.
 */
#include "run/star/dimension.h"

#include "utils/memutils.h"

/* A dimension that may be shared, created by the first node that has it. */
typedef struct Common
{
	const EState *estate;		/* the query */
	RtscanDimension *dimension;
	struct Common *next;
	MemoryContextCallback forget;	/* removes this from the list when the query ends */
} Common;

/* List of the shared dimensions of all queries that are being executed. */
static Common *all;

/* MemoryContextCallbackFunction: remove a dimension from the list, because its query has ended. */
static void
forget_common(void *arg)
{
	Common	  **place = &all;

	while (*place != arg)
		place = &(*place)->next;
	*place = (*place)->next;
}

static bool
are_alike(const RtscanPlanDimension *a, const RtscanPlanDimension *b)
{
	if (a->type != b->type || a->attributes != b->attributes || a->repeats != b->repeats ||
		(a->parts[0] == NULL) != (b->parts[0] == NULL))
		return false;
	if (a->parts[0])
		return are_alike(a->parts[0], b->parts[0]) && are_alike(a->parts[1], b->parts[1]);
	return a->column == b->column && a->lefttype == b->lefttype && a->subtype == b->subtype && a->family == b->family &&
		a->collation == b->collation;
}

static RtscanDimension *
find_common(const RtscanPlanDimension *plan, const EState *estate)
{
	for (Common *common = all; common; common = common->next)
		if (common->estate == estate && common->dimension->plan->common == plan->common &&
			are_alike(common->dimension->plan, plan))
			return common->dimension;
	return NULL;
}

static void
remember(RtscanDimension *dimension, EState *estate)
{
	Common	   *common = MemoryContextAlloc(estate->es_query_cxt, sizeof(Common));

	*common = (Common) {estate, dimension, all, {.func = forget_common, .arg = common}};
	all = common;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &common->forget);
}

RtscanDimension *
rtscan_begin_common_dimension(const RtscanPlanDimension *plan, PlanState *state)
{
	RtscanDimension *dimension;

	/* A plan that depends on outer parameters is not shared: rescans change them for one node, not for both. */
	if (plan->common == 0 || !bms_is_empty(state->plan->extParam))
		return rtscan_begin_dimension(plan, state);
	dimension = find_common(plan, state->state);
	if (dimension == NULL)
	{
		dimension = rtscan_begin_dimension(plan, state);
		remember(dimension, state->state);
	}
	return dimension;
}
