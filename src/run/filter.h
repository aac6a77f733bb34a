/*
 * filter.h
 *		From a plan's filter to one that can be searched for, once its arguments have values.
 */
#ifndef RTSCAN_RUN_FILTER_H
#define RTSCAN_RUN_FILTER_H

#include "rtscan.h"

#include "run/node_plan.h"
#include "search/filter.h"

/* The values of a plan's arguments, as they are now. */
typedef struct RtscanArguments
{
	Datum	   *values;
	bool	   *isnull;
} RtscanArguments;

extern void rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
							   const RtscanArguments *arguments, RtscanFilter *filter);

#endif							/* RTSCAN_RUN_FILTER_H */
