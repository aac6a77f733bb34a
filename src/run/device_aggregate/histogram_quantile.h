/* SPDX-License-Identifier: PostgreSQL */
/*
 * histogram_quantile.h
 *		Computes percentiles of a key column of many rows from counts of its values that a device makes.
 *
 * The device counts the values in each of up to 8,192 ranges of equal width, the *bins*; up to 262,144 if the values
 * are few.  A bin that contains percentiles is divided into bins again, until each bin with a percentile is a single
 * value.  So the percentiles are known without reading any row.  Values of rows that are in no device aggregate
 * (search/exec/device_aggregate.h) are collected as for any column, and counted in their bins.  Unlike with samples
 * (sampled_quantile.h), the time does not depend on luck, but each range takes one more search.
 */
#ifndef RTSCAN_HISTOGRAM_QUANTILE_H
#define RTSCAN_HISTOGRAM_QUANTILE_H

#include "rtscan.h"

#include "run/answer/answer.h"

/*
 * Make the cursor request counts of values by bin, if an executor other than the CPU might make them.  The cursor must
 * read all rows of an answer for which rtscan_may_narrow() is true (sampled_quantile.h), or the rows of a range that
 * rtscan_enter_next_range() has entered.
 */
extern void rtscan_ask_for_bins(RtscanRowsAnswer *answer);

/*
 * RtscanTakeChunk (search/scan/cursor.h): sample a chunk whose values the device has not counted.  Return false if all
 * values of the chunk are to be collected.  This is so if rtscan_sample_chunk() returns false.  It is also so if bins
 * are in use and the chunk has few values to add: because the segment has less than a chunk of rows, or because its
 * device aggregate has counted its other rows.
 */
extern bool rtscan_sample_not_counted(const RtscanCursorChunk *chunk, void *arg);

/* Have any values been counted by bin?  If so, not all values have been collected.  False if "quantile" is NULL. */
extern bool rtscan_has_histogram(const RtscanHistogramQuantile *quantile);

/*
 * Enter the next range that contains percentiles, and set *filter to a filter for its rows.  Before this call, all
 * rows, or those of the previous range, must have been counted and collected.  False if no range is left, or if the
 * percentiles cannot be found.
 */
extern bool rtscan_enter_next_range(const RtscanRowsAnswer *answer, RtscanFilter *filter);

/*
 * After the last range: replace the collected values by those on which the percentiles depend.  False if the
 * percentiles have not been found.
 */
extern bool rtscan_take_from_bins(const RtscanHistogramQuantile *quantile, const RtscanCurrentSet *current);

#endif							/* RTSCAN_HISTOGRAM_QUANTILE_H */
