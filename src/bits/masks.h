/*
 * masks.h
 *		What those elements of an array come to whose bits are set: loops compiled for several instruction sets.
 *
 * All elements are looked at, without a branch: of many that is faster than to take one after another.
 */
#ifndef RTSCAN_MASKS_H
#define RTSCAN_MASKS_H

#include "rtscan.h"

/* The sum of integers, in two parts: upper * 2^32 + lower; of so many that these do not overflow: 2^31. */
extern void rtscan_masked_sum(const int64 *integers, const uint64 *bits, uint32 n, int64 *upper, uint64 *lower);

/* The least of integers, or the greatest; where no bit is set, what none is beyond. */
extern int64 rtscan_masked_outermost(const int64 *integers, const uint64 *bits, uint32 n, bool greatest);

/*
 * The same of elements of a page (packed.h) of 8, 16 or 32 bits; the outermost where no bit is set is 0, or all ones.  Return the
 * largest element of all, for the caller to check.
 */
static inline bool
rtscan_can_mask_packed(uint32 element_bits)
{
	return element_bits == 8 || element_bits == 16 || element_bits == 32;
}

extern uint64 rtscan_masked_packed_sum(const char *page, uint32 element_bits, const uint64 *bits, uint32 n, uint64 *sum);
extern uint64 rtscan_masked_packed_outermost(const char *page, uint32 element_bits, const uint64 *bits, uint32 n, bool greatest,
											 uint64 *outermost);

/* How many of the first n bits are set. */
extern uint64 rtscan_count_first(const uint64 *bits, uint32 n);

/* Copy n bits from one on, which need not be a word's first. */
extern void rtscan_copy_bits(const uint64 *bits, uint32 first, uint32 n, uint64 *copy);

#endif							/* RTSCAN_MASKS_H */
