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
	RtscanDimension **keys;		/* by key column of all dimensions: the dimension, or part of it, with these keys */
	struct RtscanSegmentBlooms *blooms; /* segments' Bloom filters, made on demand; NULL before the first rescan */
} RtscanArguments;

/*
 * Restrict a filter to the dimensions' current ranges.  For left and anti joins, this adds a condition, because fact
 * rows without partner match, too.  Inner and semi joins need none: only fact rows with a key of the current range
 * match.
 */
extern void rtscan_add_ranges(RtscanFilter *filter, Relation index, const RtscanSchema *schema, int ndimensions,
							  RtscanDimension **dimensions);

/* Make the filter that "plan" describes, with the arguments' values, in the current memory context. */
extern void rtscan_make_filter(const RtscanPlanFilter *plan, Relation index, const RtscanSchema *schema,
							   const RtscanArguments *arguments, RtscanFilter *filter);

#endif							/* RTSCAN_RUN_FILTER_H */
