/* SPDX-License-Identifier: PostgreSQL */
/*
 * resolve_parts.h
 *		Estimates the cost of evaluating a filter that has been looked up.  (For resolve.c and resolve_cost.c.)
 */
#ifndef RTSCAN_RESOLVE_PARTS_H
#define RTSCAN_RESOLVE_PARTS_H

#include "rtscan.h"

#include "plan/cost/resolve.h"
#include "search/filter/filter.h"
#include "search/filter/region.h"

/* Add the cost of evaluating a filter in a segment. */
extern void rtscan_add_filter_cost(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter);

/*
 * For arrays of which only a sample has been looked up, add the cost of looking up all elements, or of testing rows for
 * them: always for an INCLUDEd column, otherwise if rows can be tested and that is cheaper.
 */
extern void rtscan_add_lists_cost(RtscanResolved *resolved, const RtscanFilter *filter, const RtscanReader *reader,
								  const RtscanSegmentFilter *of_segment);

#endif							/* RTSCAN_RESOLVE_PARTS_H */
