/* SPDX-License-Identifier: PostgreSQL */
/*
 * histogram.h
 *		Counts the values in each of many bins.
 *
 * If there are more bins than values, most of an array of counts would be zeros that are written and read in vain.  In
 * this case, counts are kept as a list, and rtscan_bins_of_block() makes an array only of the bins of one block.
 */
#ifndef RTSCAN_HISTOGRAM_H
#define RTSCAN_HISTOGRAM_H

#include "rtscan.h"

/* Number of bins in a block, whose counts are read together. */
#define RTSCAN_BLOCK_BINS	512

typedef struct RtscanHistogram RtscanHistogram;

/* Create counts, all 0, for a number of bins, in the current memory context.  If "few", the counts are a list. */
extern RtscanHistogram *rtscan_create_histogram(uint32 bins, bool few);
extern void rtscan_free_histogram(RtscanHistogram *counts);

/* Add "values" to the number of values in a bin. */
extern void rtscan_count_bin(RtscanHistogram *counts, uint32 bin, uint64 values);

/* Return the number of values in all bins. */
extern uint64 rtscan_sum_bins(const RtscanHistogram *counts);

/* Return the number of blocks. */
extern uint32 rtscan_blocks_of_bins(const RtscanHistogram *counts);

/* Return the number of values in all bins of a block.  Blocks are numbered from 0. */
extern uint64 rtscan_sum_block(const RtscanHistogram *counts, uint32 block);

/* Set values[] to the number of values in each bin of a block.  Elements behind the last bin are set to 0. */
extern void rtscan_bins_of_block(const RtscanHistogram *counts, uint32 block, uint64 *values);

#endif							/* RTSCAN_HISTOGRAM_H */
