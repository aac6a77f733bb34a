/*
 * resolve_parts.h
 *		What the files of resolve.h share: what evaluating a filter takes that has been looked up.
 */
#ifndef RTSCAN_RESOLVE_PARTS_H
#define RTSCAN_RESOLVE_PARTS_H

#include "rtscan.h"

#include "plan/cost/resolve.h"
#include "search/filter/filter.h"
#include "search/filter/region.h"

/* Add what evaluating a filter takes. */
extern void rtscan_add_filter_cost(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter);

/* Add what it takes to look all those values up of which some stand for them, or to test rows for them. */
extern void rtscan_add_lists_cost(RtscanResolved *resolved, const RtscanFilter *filter, const RtscanReader *reader,
								  const RtscanSegmentFilter *of_segment);

#endif							/* RTSCAN_RESOLVE_PARTS_H */
