/*
 * bin_counts.h
 *		How many values are in each of many bins.
 *
 * Where there are more bins than values, most of an array of counts would be zeros, to be written and to be read.  So what has been
 * counted is kept as a list, and only the bins of a block that somebody asks about become an array.
 */
#ifndef RTSCAN_BIN_COUNTS_H
#define RTSCAN_BIN_COUNTS_H

#include "rtscan.h"

/* Bins whose counts are asked for together. */
#define RTSCAN_BLOCK_BINS	512

typedef struct RtscanBinCounts RtscanBinCounts;

/* None so far, of so many bins, in the current memory context.  If values are few they are listed. */
extern RtscanBinCounts *rtscan_create_bin_counts(uint32 bins, bool few);
extern void rtscan_free_bin_counts(RtscanBinCounts *counts);

/* There are so many more values in a bin. */
extern void rtscan_count_bin(RtscanBinCounts *counts, uint32 bin, uint64 values);

/* How many values are in all bins, or in those of a block, number rtscan_blocks_of_bins() being the first that is not there? */
extern uint64 rtscan_sum_bins(const RtscanBinCounts *counts);
extern uint32 rtscan_blocks_of_bins(const RtscanBinCounts *counts);
extern uint64 rtscan_sum_block(const RtscanBinCounts *counts, uint32 block);

/* How many are in each bin of a block?  Bins that are not there have none. */
extern void rtscan_bins_of_block(const RtscanBinCounts *counts, uint32 block, uint64 *values);

#endif							/* RTSCAN_BIN_COUNTS_H */
