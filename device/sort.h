/*
 * sort.h
 *		Sort pairs of a key of 64 bits and a value of 32, on the device, ascending by some of
 *		the key's bits, and stably.
 *
 * A radix sort from the lowest digit of eight bits to the highest: each pass sorts stably by
 * one digit, from one pair of arrays into the other, so sorting costs by the bits that are
 * asked for.  A pass has three steps, with a barrier after each (reduce, then scan: no
 * workgroup waits for another, which not every device would bring to an end):
 *
 *	sort_count		blocks of SORT_BLOCK keys count their keys of each digit
 *	sort_scan		of each digit, the counts become where the block's keys begin among the
 *					digit's; and the digit's total
 *	sort_scatter	blocks rank their keys by digit, sort themselves by rank, and write each
 *					pair to: the totals of lower digits + where the block's keys of the digit
 *					begin + how many before it in the block have the digit
 *
 * Ranks within a block are found without subgroup operations (sort_scatter.comp says how), so
 * that nothing depends on a subgroup's size.
 */
#ifndef RTSCAN_DEVICE_SORT_H
#define RTSCAN_DEVICE_SORT_H

#include "context.h"

typedef struct Sorter
{
	Context    *context;
	VkPipelineLayout layout;
	VkPipeline	count;
	VkPipeline	scan;
	VkPipeline	scatter;
} Sorter;

/* Addresses of device memory; the arrays overlap nowhere. */
typedef struct SortArrays
{
	VkDeviceAddress keys[2];	/* uint64 [n]; the first: what to sort, */
	VkDeviceAddress values[2];	/* uint32 [n]; and the values that go with it */
	VkDeviceAddress scratch;	/* sort_scratch_size(n) bytes, at a multiple of 4 */
} SortArrays;

extern void sort_open(Sorter *sorter, Context *context);

/* Bytes that a sort of n pairs needs beside its arrays. */
extern uint64_t sort_scratch_size(uint32_t n);

/*
 * Record the sort of 1 .. DEVICE_MAX_PAIRS (protocol.h) pairs by the keys' bits first_bit .. first_bit +
 * bits - 1, between context_begin() and context_submit().  Says which arrays, 0 or 1, will
 * have the result; the others are overwritten.  What was recorded before must have ended with
 * a barrier; this ends with one before compute shaders.
 *
 * With generate, the values are not read, and are the keys' numbers, from 0.  Bits of the
 * keys that are not sorted by move along.  bits may be 0: then the pairs are copied.
 */
extern uint32_t sort_record(const Sorter *sorter, const SortArrays *arrays, uint32_t n,
							uint32_t first_bit, uint32_t bits, bool generate);

#endif							/* RTSCAN_DEVICE_SORT_H */
