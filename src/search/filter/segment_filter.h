/*
 * segment_filter.h
 *		Fold a filter in a segment: look its conditions up, and join what they mean there.
 */
#ifndef RTSCAN_SEGMENT_FILTER_H
#define RTSCAN_SEGMENT_FILTER_H

#include "rtscan.h"

#include "search/filter/filter.h"
#include "search/filter/region.h"

/* Look a filter up in a segment's dictionaries; false only for a soft reader. */
extern bool rtscan_segment_filter(const RtscanFilter *filter, RtscanReader *reader,
								  RtscanSegmentFilter *result);

#endif							/* RTSCAN_SEGMENT_FILTER_H */
