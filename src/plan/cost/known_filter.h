/* SPDX-License-Identifier: PostgreSQL */
/*
 * known_filter.h
 *		Makes the filter of quals whose values are known to the planner.
 *
 * A value is known if it is a constant, or an expression that the planner can evaluate: a parameter of a custom plan,
 * or a stable function such as now().  If an array is long, only a sample of its elements is used.
 */
#ifndef RTSCAN_KNOWN_FILTER_H
#define RTSCAN_KNOWN_FILTER_H

#include "rtscan.h"

#include "plan/quals/quals.h"
#include "row/schema.h"
#include "search/filter/filter.h"

/* The expressions that have been evaluated in a planning run: each is evaluated only once. */
typedef struct RtscanEstimates
{
	MemoryContext context;		/* the memory of the planning run */
	List	   *all;			/* expressions with their values */
} RtscanEstimates;

/* The data that rtscan_is_known() and rtscan_known_filter() need to find the values of quals. */
typedef struct RtscanKnownValues
{
	PlannerInfo *root;			/* the query */
	RtscanEstimates *estimates; /* the values of the planning run */
	int			most_elements;	/* at most this many elements are taken of each array, if it can be sampled */
} RtscanKnownValues;

/*
 * Return how many elements of each array in "quals" may be looked up, if each element is looked up in "segments"
 * segments.
 */
extern int	rtscan_share_of_lookups(const List *quals, uint32 segments);

/*
 * Are all values of a qual known, and few enough to look up?  An array within OR is not sampled, so it must not have
 * more than values->most_elements elements.
 */
extern bool rtscan_is_known(const RtscanKnownValues *values, const RtscanQual *qual);

/* Make the filter of a qual whose values are known. */
extern RtscanFilter rtscan_known_filter(const RtscanKnownValues *values, Relation index, const RtscanSchema *schema,
										const RtscanQual *qual);

#endif							/* RTSCAN_KNOWN_FILTER_H */
