/*
 * filter.c
 *		Combine predicates by AND and OR.
 */
#include "search/filter.h"

#include "miscadmin.h"

/* Look up the alternatives; *everything if one of them has all rows. */
static bool
segment_disjunction(const RtscanDisjunction *disjunction, RtscanReader *reader,
					RtscanSegmentDisjunction *result, bool *everything)
{
	*everything = false;
	result->n = 0;
	result->filters = palloc(disjunction->n * sizeof(RtscanSegmentFilter));
	for (int i = 0; i < disjunction->n; i++)
	{
		RtscanSegmentFilter *alternative = &result->filters[result->n];

		if (!rtscan_segment_filter(&disjunction->filters[i], reader, alternative))
			return false;
		*everything |= rtscan_filter_has_all(alternative);
		if (!alternative->region.empty)
			result->n++;
	}
	return true;
}

bool
rtscan_segment_filter(const RtscanFilter *filter, RtscanReader *reader, RtscanSegmentFilter *result)
{
	result->ndisjunctions = 0;
	result->disjunctions = NULL;
	if (!rtscan_predicate_region(filter->predicate, reader, &result->region))
		return false;
	if (result->region.empty || filter->ndisjunctions == 0)
		return true;
	result->disjunctions = palloc(filter->ndisjunctions * sizeof(RtscanSegmentDisjunction));
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		RtscanSegmentDisjunction *disjunction = &result->disjunctions[result->ndisjunctions];
		bool		everything;

		if (!segment_disjunction(&filter->disjunctions[i], reader, disjunction, &everything))
			return false;
		if (!everything && disjunction->n == 0)
			result->region.empty = true;
		if (!everything)
			result->ndisjunctions++;
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
