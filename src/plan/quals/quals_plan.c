/* SPDX-License-Identifier: PostgreSQL */
/*
 * quals_plan.c
 *		Makes the filter of a plan of the quals that an index answers.
 */
#include "plan/quals/quals.h"

static RtscanPlanFilter *
plan_qual(const RtscanQual *qual, List **arguments)
{
	RtscanPlanFilter *filter = palloc0(sizeof(RtscanPlanFilter));
	ListCell   *cell;

	filter->kind = qual->kind;
	filter->asked = qual->asked;
	filter->comparison = qual->comparison;
	filter->argument = qual->argument || qual->comparison ? list_length(*arguments) : -1;
	filter->dimension = qual->dimension - 1;
	if (qual->argument)
		*arguments = lappend(*arguments, qual->argument);
	*arguments = list_concat(*arguments, qual->arguments);
	foreach(cell, qual->parts)
		filter->parts = lappend(filter->parts, plan_qual(lfirst(cell), arguments));
	return filter;
}

RtscanPlanFilter *
rtscan_quals_plan(const RtscanQuals *quals, List **arguments)
{
	const RtscanQual all = {.kind = RTSCAN_FILTER_AND, .parts = list_concat_copy(quals->all, quals->implied)};

	return plan_qual(&all, arguments);
}
