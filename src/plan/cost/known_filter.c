/* SPDX-License-Identifier: PostgreSQL */
/*
 * known_filter.c
 *		Makes the filter of quals whose values are known to the planner.
 */
#include "plan/cost/known_filter.h"

#include "access/stratnum.h"
#include "optimizer/optimizer.h"
#include "plan/cost/sample.h"
#include "search/filter/implied.h"
#include "utils/selfuncs.h"

/*
 * The most lookups of array elements for a list of quals: the elements that are looked up of all its arrays, times the
 * number of segments.
 */
#define MAX_LOOKUPS		200

/*
 * At least this many elements of each array may be looked up, even beyond MAX_LOOKUPS.  An array within OR cannot
 * be sampled.  If it has more elements than may be looked up, its qual is estimated from the statistics.
 */
#define MIN_ELEMENTS	16

/* ---------------------------------------------------------------- values */

/* An expression, and its estimated value. */
typedef struct Estimated
{
	Node	   *expression;
	Node	   *value;
} Estimated;

/* Return the estimated value of an expression, whose functions are called only once in a planning run. */
static Node *
estimate_once(const RtscanKnownValues *values, Node *expression)
{
	RtscanEstimates *estimates = values->estimates;
	MemoryContext old;
	Estimated  *estimated;
	ListCell   *cell;

	foreach(cell, estimates->all)
	{
		estimated = lfirst(cell);
		if (equal(estimated->expression, expression))
			return estimated->value;
	}
	old = MemoryContextSwitchTo(estimates->context);
	estimated = palloc(sizeof(Estimated));
	*estimated = (Estimated) {expression, estimate_expression_value(values->root, expression)};
	estimates->all = lappend(estimates->all, estimated);
	MemoryContextSwitchTo(old);
	return estimated->value;
}

/* Return the value of an expression, or NULL if it is not known. */
static Const *
find_constant(const RtscanKnownValues *values, Node *node)
{
	Node	   *value = IsA(node, Const) ? node : estimate_once(values, node);

	return IsA(value, Const) ? (Const *) value : NULL;
}

/* ---------------------------------------------------------------- arrays */

/* Return the number of elements of a condition's array; 1 if it has no array. */
static int
count_elements(const RtscanKnownValues *values, const RtscanQual *qual)
{
	Const	   *value = find_constant(values, (Node *) qual->argument);

	return qual->asked.array && !value->constisnull ? estimate_array_length(values->root, (Node *) value) : 1;
}

/* May a condition's array be replaced by a sample of its elements? */
static bool
can_be_sampled(const RtscanQual *qual)
{
	return qual->asked.array && qual->asked.strategy == BTEqualStrategyNumber &&
		qual->asked.kind != RTSCAN_CONDITION_ALL;
}

static int
count_arrays(const RtscanQual *qual)
{
	int			n = qual->asked.array;
	ListCell   *cell;

	foreach(cell, qual->parts)
		n += count_arrays(lfirst(cell));
	return n;
}

int
rtscan_share_of_lookups(const List *quals, uint32 segments)
{
	const RtscanQual all = {.kind = RTSCAN_FILTER_AND, .parts = unconstify(List *, quals)};

	return Max(MAX_LOOKUPS / (int) Max(segments, 1) / Max(count_arrays(&all), 1), MIN_ELEMENTS);
}

/* ---------------------------------------------------------------- quals */

bool
rtscan_is_known(const RtscanKnownValues *values, const RtscanQual *qual)
{
	ListCell   *cell;

	foreach(cell, qual->parts)
	{
		const RtscanQual *part = lfirst(cell);

		if (!rtscan_is_known(values, part) ||
			(part->kind == RTSCAN_FILTER_CONDITION && part->argument &&
			 count_elements(values, part) > values->most_elements))
			return false;
	}
	foreach(cell, qual->arguments)
		if (find_constant(values, lfirst(cell)) == NULL)
			return false;
	return qual->argument == NULL || find_constant(values, (Node *) qual->argument);
}

static RtscanFilter
make_condition(const RtscanKnownValues *values, Relation index, const RtscanSchema *schema, const RtscanQual *qual)
{
	Const	   *constant = qual->argument ? find_constant(values, (Node *) qual->argument) : NULL;
	Datum		value = constant ? constant->constvalue : (Datum) 0;
	double		stands_for = 1;
	RtscanCondition condition;
	RtscanOutcome outcome;

	if (constant && !constant->constisnull && can_be_sampled(qual) &&
		count_elements(values, qual) > values->most_elements)
		value = rtscan_sample_array(value, values->most_elements, &stands_for);
	outcome = rtscan_condition(index, schema, &qual->asked, value, constant && constant->constisnull, &condition);
	/* The sample need not be scaled up for NOT IN and the like, which exclude few rows. */
	if (qual->asked.kind == RTSCAN_CONDITION_ANY)
		condition.stands_for = stands_for;
	return rtscan_outcome_filter(outcome, &condition);
}

static RtscanFilter
make_implied(const RtscanKnownValues *values, Relation index, const RtscanSchema *schema, const RtscanQual *qual)
{
	int			n = list_length(qual->arguments);
	Datum	   *arguments = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *isnull = palloc(Max(n, 1) * sizeof(bool));

	for (int i = 0; i < n; i++)
	{
		const Const *constant = find_constant(values, list_nth(qual->arguments, i));

		arguments[i] = constant->constvalue;
		isnull[i] = constant->constisnull;
	}
	return rtscan_implied_filter(qual->comparison, index, schema, arguments, isnull);
}

static RtscanFilter
make_given(const RtscanKnownValues *values, const RtscanQual *qual)
{
	const Const *constant = find_constant(values, (Node *) qual->argument);
	bool		holds = !constant->constisnull && DatumGetBool(constant->constvalue);

	return rtscan_outcome_filter(holds ? RTSCAN_ALWAYS : RTSCAN_NEVER, NULL);
}

RtscanFilter
rtscan_known_filter(const RtscanKnownValues *values, Relation index, const RtscanSchema *schema, const RtscanQual *qual)
{
	RtscanFilter filter;

	if (qual->kind == RTSCAN_FILTER_CONDITION)
		return make_condition(values, index, schema, qual);
	if (qual->kind == RTSCAN_FILTER_IMPLIED)
		return make_implied(values, index, schema, qual);
	if (qual->kind == RTSCAN_FILTER_GIVEN)
		return make_given(values, qual);
	filter = rtscan_begin_filter(qual->kind, list_length(qual->parts));
	for (int i = 0; i < filter.n; i++)
		filter.parts[i] = rtscan_known_filter(values, index, schema, list_nth(qual->parts, i));
	rtscan_join_filter(&filter);
	return filter;
}
