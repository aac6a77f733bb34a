/*
 * filter_cost.h
 *		What a filter that has been looked up leaves of a segment, and what evaluating it takes.
 */
#ifndef RTSCAN_FILTER_COST_H
#define RTSCAN_FILTER_COST_H

#include "rtscan.h"

#include "plan/resolve.h"
#include "search/filter.h"

/*
 * The part of so many rows that a filter leaves, columns taken to be independent; *scale: where some values of it stand for so many,
 * it becomes as much.
 */
extern double rtscan_filter_fraction(const RtscanSegmentFilter *filter, uint32 rows, double *scale);

/* Add what evaluating a filter takes, so many times over. */
extern void rtscan_add_filter_cost(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter,
								   double scale);

#endif							/* RTSCAN_FILTER_COST_H */
