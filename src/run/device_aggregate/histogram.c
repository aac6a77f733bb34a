/* SPDX-License-Identifier: PostgreSQL */
/*
 * histogram.c
 *		Counts the values in each of many bins.
 */
#include "run/device_aggregate/histogram.h"

#include "utils/memutils.h"

/* An entry of the list: a bin, and a number of values in the bin.  A bin may have several entries. */
typedef struct Listed
{
	uint32		bin;
	uint64		values;
} Listed;

struct RtscanHistogram
{
	uint32		bins;
	uint64	   *sums;			/* number of values in each block */
	uint64	   *values;			/* number of values in each bin, up to the last block's end; NULL: they are in "list" */
	Listed	   *list;
	Size		listed;			/* number of entries in the list */
	Size		room;			/* number of entries that the list has room for */
};

RtscanHistogram *
rtscan_create_histogram(uint32 bins, bool few)
{
	RtscanHistogram *counts = palloc0(sizeof(RtscanHistogram));
	uint32		blocks;

	counts->bins = bins;
	blocks = rtscan_blocks_of_bins(counts);
	counts->sums = palloc0(blocks * sizeof(uint64));
	if (!few)
		counts->values = palloc0((Size) blocks * RTSCAN_BLOCK_BINS * sizeof(uint64));
	return counts;
}

void
rtscan_free_histogram(RtscanHistogram *counts)
{
	pfree(counts->sums);
	if (counts->values)
		pfree(counts->values);
	if (counts->list)
		pfree(counts->list);
	pfree(counts);
}

static void
list_bin(RtscanHistogram *counts, uint32 bin, uint64 values)
{
	if (counts->listed == counts->room)
	{
		counts->room = Max(2 * counts->room, 1024);
		counts->list = counts->list ? repalloc_huge(counts->list, counts->room * sizeof(Listed)) :
			MemoryContextAlloc(GetMemoryChunkContext(counts), counts->room * sizeof(Listed));
	}
	counts->list[counts->listed++] = (Listed) {bin, values};
}

void
rtscan_count_bin(RtscanHistogram *counts, uint32 bin, uint64 values)
{
	Assert(bin < counts->bins);
	counts->sums[bin / RTSCAN_BLOCK_BINS] += values;
	if (counts->values)
		counts->values[bin] += values;
	else
		list_bin(counts, bin, values);
}

uint32
rtscan_blocks_of_bins(const RtscanHistogram *counts)
{
	return (counts->bins + RTSCAN_BLOCK_BINS - 1) / RTSCAN_BLOCK_BINS;
}

uint64
rtscan_sum_block(const RtscanHistogram *counts, uint32 block)
{
	return counts->sums[block];
}

uint64
rtscan_sum_bins(const RtscanHistogram *counts)
{
	uint64		sum = 0;

	for (uint32 block = 0; block < rtscan_blocks_of_bins(counts); block++)
		sum += counts->sums[block];
	return sum;
}

void
rtscan_bins_of_block(const RtscanHistogram *counts, uint32 block, uint64 *values)
{
	if (counts->values)
	{
		memcpy(values, counts->values + (Size) block * RTSCAN_BLOCK_BINS, RTSCAN_BLOCK_BINS * sizeof(uint64));
		return;
	}
	memset(values, 0, RTSCAN_BLOCK_BINS * sizeof(uint64));
	for (Size i = 0; i < counts->listed; i++)
		if (counts->list[i].bin / RTSCAN_BLOCK_BINS == block)
			values[counts->list[i].bin % RTSCAN_BLOCK_BINS] += counts->list[i].values;
}
