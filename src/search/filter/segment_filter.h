/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_filter.h
 *		Look up the conditions of a filter in a segment, and fold the accepted intervals by AND and OR.
 */
#ifndef RTSCAN_SEGMENT_FILTER_H
#define RTSCAN_SEGMENT_FILTER_H

#include "rtscan.h"

#include "search/filter/filter.h"
#include "search/filter/region.h"

/*
 * Look up a filter in a segment's dictionaries, and fold the accepted intervals by AND and OR, in the current memory
 * context.  Returns false only if a soft reader (RtscanReader.soft) cannot read a page.
 */
extern bool rtscan_segment_filter(const RtscanFilter *filter, RtscanReader *reader,
								  RtscanSegmentFilter *result);

#endif							/* RTSCAN_SEGMENT_FILTER_H */
