/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.h
 *		Sort pairs of a 64-bit key and a 32-bit value on the device, ascending by some of
 *		the key's bits.  The sort is stable.
 *
 * It is a radix sort from the lowest digit of eight bits to the highest.  Each pass sorts stably by
 * one digit, from one pair of arrays into the other, so the time is proportional to the number of bits.
 * A pass has three steps, with a barrier after each (reduce, then scan).  Workgroups do not wait for each
 * other, because such a wait would never end on some devices:
 *
 *	sort_count		each block of SORT_BLOCK keys counts its keys of each digit
 *	sort_scan		turns a digit's counts into the positions of the blocks' keys among all keys of
 *					the digit, and computes the digit's total
 *	sort_scatter	each block ranks its keys by digit, sorts them by rank, and writes each pair to the
 *					position: totals of lower digits + position of the block's keys among all keys of the
 *					digit + number of keys with the same digit before the pair's key in the block
 *
 * Ranks within a block are computed without subgroup operations (see sort_scatter.comp), so
 * that nothing depends on the size of subgroups.
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

/* Addresses of device memory.  The arrays must not overlap. */
typedef struct SortArrays
{
	VkDeviceAddress keys[2];	/* uint64 [n]; the first array has the keys to sort */
	VkDeviceAddress values[2];	/* uint32 [n]; the first array has the values to sort */
	VkDeviceAddress scratch;	/* sort_scratch_size(n) bytes, at a multiple of 4 */
} SortArrays;

extern void sort_open(Sorter *sorter, Context *context);

/* Return the bytes of scratch memory that a sort of n pairs needs. */
extern uint64_t sort_scratch_size(uint32_t n);

/*
 * Record the sort of 1 .. DEVICE_MAX_PAIRS (protocol.h) pairs by bits first_bit .. first_bit + bits - 1 of the
 * keys, between context_begin() and context_submit().  Returns the index, 0 or 1, of the arrays that will have
 * the result; the other arrays are overwritten.  Earlier commands must end with a barrier.  The sort ends with a
 * barrier for compute shaders.
 *
 * If generate is true, the values are not read; they are the indexes of the keys, from 0 on.  The pairs are moved
 * with all bits of their keys.  If bits is 0, the pairs are copied.
 */
extern uint32_t sort_record(const Sorter *sorter, const SortArrays *arrays, uint32_t n,
							uint32_t first_bit, uint32_t bits, bool generate);

#endif							/* RTSCAN_DEVICE_SORT_H */
