/* SPDX-License-Identifier: PostgreSQL */
/*
 * masks.h
 *		Aggregate the elements of an array that a bit mask selects, in loops compiled for several instruction
 *		sets.
 *
 * The loops read all elements and have no branch.  If many are selected, that is faster than to visit these one
 * after another.
 */
#ifndef RTSCAN_MASKS_H
#define RTSCAN_MASKS_H

#include "rtscan.h"

/* Add up integers, in two parts that cannot overflow for up to 2^31 integers: the sum is upper * 2^32 + lower. */
extern void rtscan_masked_sum(const int64 *integers, const uint64 *bits, uint32 n, int64 *upper, uint64 *lower);

/* Return the least integer, or the greatest.  If no bit is set, it is the greatest int64, or the least. */
extern int64 rtscan_masked_outermost(const int64 *integers, const uint64 *bits, uint32 n, bool greatest);

/* Can the rtscan_masked_packed_...() functions read packed elements (packed.h) of this size? */
static inline bool
rtscan_can_mask_packed(uint32 element_bits)
{
	return element_bits == 8 || element_bits == 16 || element_bits == 32;
}

/*
 * Add up, or find the outermost of, packed elements of a page.  If no bit is set, the least is the largest
 * value of the element's type, and the greatest is 0.  Both return the largest of all n elements, selected or
 * not, for the caller to check.
 */
extern uint64 rtscan_masked_packed_sum(const char *page, uint32 element_bits, const uint64 *bits, uint32 n,
									   uint64 *sum);
extern uint64 rtscan_masked_packed_outermost(const char *page, uint32 element_bits, const uint64 *bits, uint32 n,
											 bool greatest, uint64 *outermost);

/* Count the bits that are set among the first n. */
extern uint64 rtscan_count_first(const uint64 *bits, uint32 n);

/* Copy n bits, the first of which may be anywhere in a word. */
extern void rtscan_copy_bits(const uint64 *bits, uint32 first, uint32 n, uint64 *copy);

#endif							/* RTSCAN_MASKS_H */
