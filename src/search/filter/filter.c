/* SPDX-License-Identifier: PostgreSQL */
/*
 * filter.c
 *		Build filters, and evaluate them for segments and single rows.
 */
#include "search/filter/filter.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "search/filter/lookup.h"

RtscanFilter
rtscan_begin_filter(RtscanFilterKind kind, int n)
{
	return (RtscanFilter) {.kind = kind, .n = n, .parts = n > 0 ? palloc(n * sizeof(RtscanFilter)) : NULL};
}

RtscanFilter
rtscan_outcome_filter(RtscanOutcome outcome, const RtscanCondition *condition)
{
	if (outcome == RTSCAN_DEPENDS)
		return (RtscanFilter) {.kind = RTSCAN_FILTER_CONDITION, .condition = *condition};
	return rtscan_begin_filter(outcome == RTSCAN_ALWAYS ? RTSCAN_FILTER_AND : RTSCAN_FILTER_OR, 0);
}

/*
 * Remove parts that do not change the result.  If one part alone decides the result, or only one part remains, this
 * part replaces the filter.
 */
void
rtscan_join_filter(RtscanFilter *filter)
{
	bool		is_and = filter->kind == RTSCAN_FILTER_AND;
	int			kept = 0;

	for (int i = 0; i < filter->n; i++)
	{
		const RtscanFilter *part = &filter->parts[i];

		if (is_and ? rtscan_filter_is_never(part) : rtscan_filter_is_always(part))
		{
			*filter = *part;
			return;
		}
		if (!(is_and ? rtscan_filter_is_always(part) : rtscan_filter_is_never(part)))
			filter->parts[kept++] = *part;
	}
	filter->n = kept;
	if (kept == 1)
		*filter = filter->parts[0];
}

RtscanFilter
rtscan_key_filter(Relation index, const RtscanSchema *schema, ScanKey keys, int nkeys)
{
	RtscanFilter filter = rtscan_begin_filter(RTSCAN_FILTER_AND, nkeys);

	for (int i = 0; i < nkeys; i++)
	{
		RtscanCondition condition;
		RtscanOutcome outcome = rtscan_key_condition(index, schema, &keys[i], &condition);

		filter.parts[i] = rtscan_outcome_filter(outcome, &condition);
	}
	rtscan_join_filter(&filter);
	return filter;
}

bool
rtscan_filter_may_match(const RtscanFilter *filter, const RtscanEntry *segment, const RtscanKeyBounds *bounds)
{
	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return rtscan_is_included(&filter->condition) ||
			rtscan_condition_may_match(&filter->condition, segment, &bounds[filter->condition.column]);
	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return true;
	for (int i = 0; i < filter->n; i++)
		if (rtscan_filter_may_match(&filter->parts[i], segment, bounds) == (filter->kind == RTSCAN_FILTER_OR))
			return filter->kind == RTSCAN_FILTER_OR;
	return filter->kind == RTSCAN_FILTER_AND;
}

bool
rtscan_filter_may_be_tested(const RtscanFilter *filter)
{
	bool		may = filter->kind == RTSCAN_FILTER_IMPLIED;

	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return rtscan_is_included(&filter->condition) || filter->condition.nvalues >= RTSCAN_LONG;
	for (int i = 0; i < filter->n && !may; i++)
		may = rtscan_filter_may_be_tested(&filter->parts[i]);
	return may;
}

bool
rtscan_filter_matches(const RtscanFilter *filter, const Datum *values, const bool *isnull)
{
	const RtscanCondition *condition = &filter->condition;

	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return rtscan_condition_matches(condition, values[condition->column], isnull[condition->column]);
	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return true;
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < filter->n; i++)
		if (rtscan_filter_matches(&filter->parts[i], values, isnull) == (filter->kind == RTSCAN_FILTER_OR))
			return filter->kind == RTSCAN_FILTER_OR;
	return filter->kind == RTSCAN_FILTER_AND;
}
