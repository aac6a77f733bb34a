/* SPDX-License-Identifier: PostgreSQL */
/*
 * pairs.h
 *		Sort pairs of a key and a value in memory that a backend shares.
 *
 * CREATE INDEX and merges encode columns from sorted pairs.
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
	uint64_t	nanoseconds;	/* device time of all sorts */
} PairSorter;

extern void pairs_open(PairSorter *sorter, Context *context, Cache *cache);

/*
 * Sort the n SortPairs that begin at "offset" in "target", in place and stably, by bits first_bit .. first_bit +
 * bits - 1 of their keys.  Returns false if there is not enough memory.
 */
extern bool pairs_sort(PairSorter *sorter, const Memory *target, uint64_t offset, uint32_t n,
					   uint32_t first_bit, uint32_t bits);

#endif							/* RTSCAN_DEVICE_PAIRS_H */
