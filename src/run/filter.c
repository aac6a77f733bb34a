/*
 * filter.c
 *		From a plan's filter to one that can be searched for.
 */
#include "run/filter.h"

static void
make_key(const RtscanPlanCondition *plan, const RtscanArguments *arguments, ScanKey key)
{
	bool		has_argument = plan->argument >= 0;
	int			flags = plan->flags;

	if (has_argument && arguments->isnull[plan->argument])
		flags |= SK_ISNULL;
	ScanKeyEntryInitialize(key, flags, plan->column + 1, plan->strategy, plan->subtype, plan->collation, plan->function,
						   has_argument ? arguments->values[plan->argument] : (Datum) 0);
}

static void
make_disjunction(List *alternatives, Relation index, const RtscanSchema *schema, const RtscanArguments *arguments,
				 RtscanDisjunction *disjunction)
{
	disjunction->n = list_length(alternatives);
	disjunction->filters = palloc(disjunction->n * sizeof(RtscanFilter));
	for (int i = 0; i < disjunction->n; i++)
		rtscan_make_filter(list_nth(alternatives, i), index, schema, arguments, &disjunction->filters[i]);
}

void
rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
				   const RtscanArguments *arguments, RtscanFilter *filter)
{
	int			nkeys = list_length(plan->conditions);
	ScanKey		keys = palloc(Max(nkeys, 1) * sizeof(ScanKeyData));

	for (int i = 0; i < nkeys; i++)
		make_key(list_nth(plan->conditions, i), arguments, &keys[i]);
	filter->predicate = rtscan_predicate(index, schema, keys, nkeys);
	filter->ndisjunctions = list_length(plan->disjunctions);
	filter->disjunctions = palloc(Max(filter->ndisjunctions, 1) * sizeof(RtscanDisjunction));
	for (int i = 0; i < filter->ndisjunctions; i++)
		make_disjunction(list_nth(plan->disjunctions, i), index, schema, arguments, &filter->disjunctions[i]);
}
