/* SPDX-License-Identifier: PostgreSQL */
/*
 * filter.h
 *		Makes a filter that can be searched for from a plan's filter, once its arguments have values.
 */
#ifndef RTSCAN_RUN_FILTER_H
#define RTSCAN_RUN_FILTER_H

#include "rtscan.h"

#include "run/plan/node_plan.h"
#include "run/star/dimension.h"
#include "search/filter/filter.h"

/* The current values of a plan's arguments, and its dimensions. */
typedef struct RtscanArguments
{
	Datum	   *values;
	bool	   *isnull;
	RtscanDimension **dimensions;
	RtscanDimension **keys;		/* dimension of each key column: one of dimensions, or a part of a pair */
	struct RtscanSegmentBlooms *blooms; /* Bloom filters of segments, learnt by rescans; NULL before the first rescan */
} RtscanArguments;

/*
 * Add conditions that restrict columns to the dimensions' current ranges.  Inner and semi joins do not need them: only
 * keys in the current range match there.
 */
extern void rtscan_add_ranges(RtscanFilter *filter, Relation index, const RtscanSchema *schema, int ndimensions,
							  RtscanDimension **dimensions);

/* Make a filter of the plan's, in the current memory context. */
extern void rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
							   const RtscanArguments *arguments, RtscanFilter *filter);

#endif							/* RTSCAN_RUN_FILTER_H */
