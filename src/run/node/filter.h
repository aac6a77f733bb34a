/*
 * filter.h
 *		From a plan's filter to one that can be searched for, once its arguments have values.
 */
#ifndef RTSCAN_RUN_FILTER_H
#define RTSCAN_RUN_FILTER_H

#include "rtscan.h"

#include "run/plan/node_plan.h"
#include "run/star/dimension.h"
#include "search/filter/filter.h"

/* The values of a plan's arguments, as they are now, and its dimensions. */
typedef struct RtscanArguments
{
	Datum	   *values;
	bool	   *isnull;
	RtscanDimension **dimensions;
	RtscanDimension **keys;		/* what has those of each column that dimensions are looked up by: they, or parts of pairs */
	struct RtscanAbsent *absent;	/* what others have found out; or NULL: there were none */
} RtscanArguments;

/* The columns' values are to be in the ranges at hand, as far as the keys do not see to that. */
extern void rtscan_add_ranges(RtscanFilter *filter, Relation index, const RtscanSchema *schema, int ndimensions,
							  RtscanDimension **dimensions);

extern void rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
							   const RtscanArguments *arguments, RtscanFilter *filter);

#endif							/* RTSCAN_RUN_FILTER_H */
