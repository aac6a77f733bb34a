/* SPDX-License-Identifier: PostgreSQL */
/*
 * masks.h
 *		Aggregate the elements of an array that a bit mask selects, in loops compiled for several instruction
 *		sets.
 *
 * The loops read all elements and have no branch.  If many elements are selected, that is faster than reading the
 * selected ones one after another.
 */
#ifndef RTSCAN_MASKS_H
#define RTSCAN_MASKS_H

#include "rtscan.h"

/* Add up the selected integers.  The sum is upper * 2^32 + lower; no part overflows for up to 2^31 integers. */
extern void rtscan_masked_sum(const int64 *integers, const uint64 *bits, uint32 n, int64 *upper, uint64 *lower);

/*
 * Return the greatest of the selected integers, or if "greatest" is false, the least.  If no bit is set, the greatest
 * is PG_INT64_MIN, and the least is PG_INT64_MAX.
 */
extern int64 rtscan_masked_outermost(const int64 *integers, const uint64 *bits, uint32 n, bool greatest);

/* Can the rtscan_masked_packed_...() functions read packed elements (packed.h) of this size? */
static inline bool
rtscan_can_mask_packed(uint32 element_bits)
{
	return element_bits == 8 || element_bits == 16 || element_bits == 32;
}

/*
 * Find the sum, or the greatest or the least, of the selected ones of n packed elements of a page.  If no bit is set,
 * the greatest is 0, and the least is the largest value of the element's type.  Both functions return the largest of
 * all n elements, selected or not; the caller must check that it is valid.
 */
extern uint64 rtscan_masked_packed_sum(const char *page, uint32 element_bits, const uint64 *bits, uint32 n,
									   uint64 *sum);
extern uint64 rtscan_masked_packed_outermost(const char *page, uint32 element_bits, const uint64 *bits, uint32 n,
											 bool greatest, uint64 *outermost);

/* Count the bits that are set among the first n bits. */
extern uint64 rtscan_count_first(const uint64 *bits, uint32 n);

/* Copy n bits, from bit "first" on, to the beginning of copy[]. */
extern void rtscan_copy_bits(const uint64 *bits, uint32 first, uint32 n, uint64 *copy);

#endif							/* RTSCAN_MASKS_H */
