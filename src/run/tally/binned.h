/*
 * binned.h
 *		Percentiles of a key column of many rows, whose values another executor than the CPU counts.
 *
 * It counts how many there are in each of some thousand ranges of equal width, the *bins*, and then in parts of those that percentiles are in,
 * until a bin has but one value: then that is known, and no row's has been read.  Rows that are in no tally (search/exec/tally.h) are collected as
 * those of any column, and counted among the bins.  Nothing is left to luck, as it is with samples (narrowed.h), but a range is one more search.
 */
#ifndef RTSCAN_BINNED_H
#define RTSCAN_BINNED_H

#include "rtscan.h"

#include "run/answer/answer.h"


/*
 * Have the cursor ask how many values are in which bins, if another executor might count them: of all rows, whose percentiles can be narrowed
 * (narrowed.h); or of a range that has been entered.
 */
extern void rtscan_ask_for_bins(RtscanRowsAnswer *answer);

/* RtscanTakeChunk: sample rows that nobody counts (narrowed.h), but for those that are few: of small segments, or left over from tallies. */
extern bool rtscan_sample_not_binned(const RtscanCursorChunk *chunk, void *arg);

/* Has any value been counted so?  Then what has been collected is not all. */
extern bool rtscan_is_binned(const RtscanRowsAnswer *answer);

/*
 * With all rows, or those of a range, counted and collected: enter the next range that percentiles are in, and get a filter for its rows; false
 * if there is none any more.
 */
extern bool rtscan_enter_next_range(RtscanRowsAnswer *answer, RtscanFilter *filter);

/* Then: put what percentiles are in place of what has been collected; false if they have not been found. */
extern bool rtscan_take_from_bins(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_BINNED_H */
