/* SPDX-License-Identifier: PostgreSQL */
/*
 * histogram_quantile.h
 *		Computes percentiles of a key column of many rows from counts of its values that a device makes.
 *
 * The device counts the values in each of some thousand ranges of equal width, the *bins*, and then in parts of those
 * bins that contain percentiles, until such a bin is a single value.  So the percentile is known without reading any
 * row.  Values of rows that are in no device aggregate (search/exec/device_aggregate.h) are collected as for any
 * column, and counted in their bins.  Unlike with samples (sampled_quantile.h), the time does not depend on luck, but
 * each range takes one more search.
 */
#ifndef RTSCAN_HISTOGRAM_QUANTILE_H
#define RTSCAN_HISTOGRAM_QUANTILE_H

#include "rtscan.h"

#include "run/answer/answer.h"

/*
 * Make the cursor request counts of values by bin, if another executor than the CPU might make them.  The cursor reads
 * all rows of an answer that rtscan_may_narrow() accepts (sampled_quantile.h), or those of a range that has been
 * entered.
 */
extern void rtscan_ask_for_bins(RtscanRowsAnswer *answer);

/*
 * RtscanTakeChunk: sample a chunk whose values are not counted (sampled_quantile.h).  False if the rows are few,
 * those of a small segment or those that a device aggregate has left over: they are collected instead.
 */
extern bool rtscan_sample_not_counted(const RtscanCursorChunk *chunk, void *arg);

/* Have any values been counted by bin (NULL: no)?  Then the collected values are not all. */
extern bool rtscan_has_histogram(const RtscanHistogramQuantile *quantile);

/*
 * Enter the next range that contains percentiles, and make a filter for its rows, after all rows or those of the
 * previous range have been counted and collected.  False if there is none.
 */
extern bool rtscan_enter_next_range(const RtscanRowsAnswer *answer, RtscanFilter *filter);

/* After the last range: replace the collected values by the percentiles.  False if these have not been found. */
extern bool rtscan_take_from_bins(const RtscanHistogramQuantile *quantile, const RtscanCurrentSet *current);

#endif							/* RTSCAN_HISTOGRAM_QUANTILE_H */
