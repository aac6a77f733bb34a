/* SPDX-License-Identifier: PostgreSQL */
/*
 * filter.c
 *		Makes an RtscanFilter, for a search, from a plan's filter and the values of its arguments.
 */
#include "run/node/filter.h"

#include "access/stratnum.h"
#include "search/filter/implied.h"
#include "search/filter/segment_blooms.h"
#include "utils/lsyscache.h"

static RtscanFilter
make_condition(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
			   const RtscanArguments *arguments)
{
	bool		has_argument = plan->argument >= 0;
	RtscanCondition condition;
	RtscanOutcome outcome;

	if (plan->dimension >= 0)
	{
		const RtscanDimension *dimension = arguments->keys[plan->dimension];

		outcome = rtscan_values_condition(index, schema, &plan->asked, dimension->keys,
										  rtscan_dimension_keys(dimension), dimension->n, &condition);
		condition.trace = dimension->trace;
		condition.notes_codes = dimension->asks_rows;
	}
	else
		outcome = rtscan_condition(index, schema, &plan->asked,
								   has_argument ? arguments->values[plan->argument] : (Datum) 0,
								   has_argument && arguments->isnull[plan->argument], &condition);
	rtscan_use_segment_blooms(&condition, arguments->blooms);
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
	if (plan->kind == RTSCAN_FILTER_GIVEN)
	{
		bool		holds = !arguments->isnull[plan->argument] && DatumGetBool(arguments->values[plan->argument]);

		*filter = rtscan_outcome_filter(holds ? RTSCAN_ALWAYS : RTSCAN_NEVER, NULL);
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

/* ---------------------------------------------------------------- ranges of dimensions */

static RtscanFilter
compare_filter(const RtscanPlanDimension *plan, Relation index, const RtscanSchema *schema, StrategyNumber strategy,
			   Datum value)
{
	bool		included = plan->column >= schema->nkeys;
	RtscanAsked asked = {
		.kind = RTSCAN_CONDITION_ANY,
		.column = plan->column,
		.strategy = strategy,
		.subtype = plan->subtype,
		.collation = plan->collation,
		.function = get_opcode(get_opfamily_member(plan->family, plan->lefttype, plan->subtype, strategy)),
		.family = included ? plan->family : InvalidOid,
		.lefttype = included ? plan->lefttype : InvalidOid,
	};
	RtscanCondition condition;
	RtscanOutcome outcome = rtscan_condition(index, schema, &asked, value, false, &condition);

	return rtscan_outcome_filter(outcome, &condition);
}

static RtscanFilter
null_filter(const RtscanPlanDimension *plan, Relation index, const RtscanSchema *schema)
{
	RtscanAsked asked = {.kind = RTSCAN_CONDITION_IS_NULL, .column = plan->column, .collation = plan->collation};
	RtscanCondition condition;
	RtscanOutcome outcome = rtscan_condition(index, schema, &asked, (Datum) 0, true, &condition);

	return rtscan_outcome_filter(outcome, &condition);
}

/*
 * Make the condition that accepts the fact rows of a dimension's current range.  The first range has no lower end and
 * includes NULL; the last range has no upper end.
 */
static RtscanFilter
range_filter(const RtscanDimension *dimension, Relation index, const RtscanSchema *schema)
{
	const RtscanPlanDimension *plan = rtscan_first_key(dimension->plan);
	const Datum *low = rtscan_range_low(dimension->ranges);
	const Datum *high = rtscan_range_high(dimension->ranges);
	RtscanFilter filter = rtscan_begin_filter(low ? RTSCAN_FILTER_AND : RTSCAN_FILTER_OR, 2);

	filter.n = 0;
	if (low)
		filter.parts[filter.n++] = compare_filter(plan, index, schema, BTGreaterEqualStrategyNumber, *low);
	if (high)
		filter.parts[filter.n++] = compare_filter(plan, index, schema, BTLessStrategyNumber, *high);
	if (low == NULL)
		filter.parts[filter.n++] = null_filter(plan, index, schema);
	rtscan_join_filter(&filter);
	return filter;
}

void
rtscan_add_ranges(RtscanFilter *filter, Relation index, const RtscanSchema *schema, int ndimensions,
				  RtscanDimension **dimensions)
{
	for (int i = 0; i < ndimensions; i++)
	{
		const RtscanDimension *dimension = dimensions[i];
		RtscanFilter both;

		if (!rtscan_dimension_has_ranges(dimension) || rtscan_dimension_is_needed(dimension))
			continue;
		both = rtscan_begin_filter(RTSCAN_FILTER_AND, 2);
		both.parts[0] = *filter;
		both.parts[1] = range_filter(dimension, index, schema);
		rtscan_join_filter(&both);
		*filter = both;
	}
}
