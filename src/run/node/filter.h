/* SPDX-License-Identifier: PostgreSQL */
/*
 * filter.h
 *		Makes an RtscanFilter, for a search, from a plan's filter and the values of its arguments.
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
	RtscanDimension **keys;		/* for each key column of dimensions: its dimension, or the part of a pair that it is */
	struct RtscanSegmentBlooms *blooms; /* segments' Bloom filters, made by rescans; NULL before the first rescan */
} RtscanArguments;

/*
 * Restrict a filter to the dimensions' current ranges.  Left and anti joins need a condition for that.  Inner and
 * semi joins do not, because only keys of the current range match.
 */
extern void rtscan_add_ranges(RtscanFilter *filter, Relation index, const RtscanSchema *schema, int ndimensions,
							  RtscanDimension **dimensions);

/* Make the filter that "plan" describes, with the arguments' values, in the current memory context. */
extern void rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
							   const RtscanArguments *arguments, RtscanFilter *filter);

#endif							/* RTSCAN_RUN_FILTER_H */
