/*
 * filter.c
 *		From a plan's filter to one that can be searched for.
 */
#include "run/filter.h"

#include "search/implied.h"

static RtscanFilter
make_condition(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema, const RtscanArguments *arguments)
{
	bool		has_argument = plan->argument >= 0;
	RtscanCondition condition;
	RtscanOutcome outcome = rtscan_condition(index, schema, &plan->asked,
											 has_argument ? arguments->values[plan->argument] : (Datum) 0,
											 has_argument && arguments->isnull[plan->argument], &condition);

	return rtscan_outcome_filter(outcome, &condition);
}

void
rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
				   const RtscanArguments *arguments, RtscanFilter *filter)
{
	if (plan->kind == RTSCAN_FILTER_CONDITION)
	{
		*filter = make_condition(plan, index, schema, arguments);
		return;
	}
	if (plan->kind == RTSCAN_FILTER_IMPLIED)
	{
		*filter = rtscan_implied_filter(plan->comparison, index, schema, arguments->values + plan->argument,
										arguments->isnull + plan->argument);
		return;
	}
	*filter = rtscan_begin_filter(plan->kind, list_length(plan->parts));
	for (int i = 0; i < filter->n; i++)
		rtscan_make_filter(list_nth(plan->parts, i), index, schema, arguments, &filter->parts[i]);
	rtscan_join_filter(filter);
}
