/* SPDX-License-Identifier: PostgreSQL */
/*
 * resolve_parts.h
 *		Estimates the cost of evaluating a filter that has been looked up.  (Shared by the files of resolve.h.)
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
 * Add the cost of looking up all elements of arrays of which only a sample has been looked up, or of testing rows for
 * them.
 */
extern void rtscan_add_lists_cost(RtscanResolved *resolved, const RtscanFilter *filter, const RtscanReader *reader,
								  const RtscanSegmentFilter *of_segment);

#endif							/* RTSCAN_RESOLVE_PARTS_H */
