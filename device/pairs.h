/*
 * pairs.h
 *		Sort pairs of a key and a value that a backend shares: what CREATE INDEX and merges
 *		encode columns from.
 */
#ifndef RTSCAN_DEVICE_PAIRS_H
#define RTSCAN_DEVICE_PAIRS_H

#include "cache.h"
#include "sort.h"

typedef struct PairSorter
{
	Context    *context;
	Cache	   *cache;
	Sorter		sorter;
	VkPipelineLayout layout;
	VkPipeline	split;
	VkPipeline	join;
	uint64_t	sorts;
	uint64_t	nanoseconds;	/* that they took */
} PairSorter;

extern void pairs_open(PairSorter *sorter, Context *context, Cache *cache);

/*
 * Sort n SortPairs, from an offset of some memory on, in place and stably, by some of their keys'
 * bits.  False: there is not the memory for it.
 */
extern bool pairs_sort(PairSorter *sorter, const Memory *target, uint64_t offset, uint32_t n,
					   uint32_t first_bit, uint32_t bits);

#endif							/* RTSCAN_DEVICE_PAIRS_H */
