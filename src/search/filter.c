/*
 * filter.c
 *		Combine predicates by AND and OR.
 */
#include "search/filter.h"

#include "miscadmin.h"

/* Look up the alternatives; *everything if one of them has all rows. */
static bool
disjunction_group(const RtscanDisjunction *disjunction, RtscanReader *reader,
				  RtscanDisjunctionGroup *group, bool *everything)
{
	*everything = false;
	group->n = 0;
	group->filters = palloc(disjunction->n * sizeof(RtscanFilterGroup));
	for (int i = 0; i < disjunction->n; i++)
	{
		RtscanFilterGroup *alternative = &group->filters[group->n];

		if (!rtscan_filter_group(&disjunction->filters[i], reader, alternative))
			return false;
		*everything |= rtscan_filter_has_all(alternative);
		if (!alternative->group.empty)
			group->n++;
	}
	return true;
}

bool
rtscan_filter_group(const RtscanFilter *filter, RtscanReader *reader, RtscanFilterGroup *group)
{
	group->ndisjunctions = 0;
	group->disjunctions = NULL;
	if (!rtscan_predicate_group(filter->predicate, reader, &group->group))
		return false;
	if (group->group.empty || filter->ndisjunctions == 0)
		return true;
	group->disjunctions = palloc(filter->ndisjunctions * sizeof(RtscanDisjunctionGroup));
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		RtscanDisjunctionGroup *disjunction = &group->disjunctions[group->ndisjunctions];
		bool		everything;

		if (!disjunction_group(&filter->disjunctions[i], reader, disjunction, &everything))
			return false;
		if (!everything && disjunction->n == 0)
			group->group.empty = true;
		if (!everything)
			group->ndisjunctions++;
	}
	return true;
}

static bool
any_matches(const RtscanDisjunction *disjunction, const Datum *values, const bool *isnull)
{
	for (int i = 0; i < disjunction->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (rtscan_filter_matches(&disjunction->filters[i], values, isnull))
			return true;
	}
	return false;
}

bool
rtscan_filter_matches(const RtscanFilter *filter, const Datum *values, const bool *isnull)
{
	if (!rtscan_predicate_matches(filter->predicate, values, isnull))
		return false;
	for (int i = 0; i < filter->ndisjunctions; i++)
		if (!any_matches(&filter->disjunctions[i], values, isnull))
			return false;
	return true;
}
