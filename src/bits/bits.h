/* SPDX-License-Identifier: PostgreSQL */
/*
 * bits.h
 *		Loops over a chunk's words, compiled for several instruction sets.
 *
 * Loops without a length take RTSCAN_CHUNK_WORDS words.  They are fastest if the words are aligned to cache lines, as
 * on pages in shared buffers; pages of temporary tables are not.
 */
#ifndef RTSCAN_BITS_H
#define RTSCAN_BITS_H

#include "rtscan.h"

/* One page of zeros and one of ones, for sieve vectors that are constant in a chunk. */
extern const uint64 *rtscan_zeros(void);
extern const uint64 *rtscan_ones(void);

/* Is a bit of an array set? */
static inline bool
rtscan_bit_is_set(const uint64 *bits, uint32 bit)
{
	return (bits[bit / 64] >> bit % 64) & 1;
}

/* Combine two chunks of bits: bits &= a; bits &= ~a; bits |= a. */
extern void rtscan_and(uint64 *bits, const uint64 *a);
extern void rtscan_and_not(uint64 *bits, const uint64 *a);
extern void rtscan_or(uint64 *bits, const uint64 *a);

/* The pages that make one chunk of a sieve vector: high | (next & low); see segment/sieve.h. */
typedef struct RtscanVectorPages
{
	const uint64 *high;			/* page of H_h */
	const uint64 *next;			/* page of H_{h+1} */
	const uint64 *low;			/* page of L_l */
} RtscanVectorPages;

/* Combine bits with a sieve vector, or with the difference of two: bits &= end; bits &= end & ~first. */
extern void rtscan_and_below(uint64 *bits, const RtscanVectorPages *end);
extern void rtscan_and_between(uint64 *bits, const RtscanVectorPages *first, const RtscanVectorPages *end);

/* Count the bits that are set in a chunk. */
extern uint64 rtscan_popcount(const uint64 *bits);

/* For each of n rows, clear the row's bit if its code is not in low .. high - 1.  low must be less than high. */
extern void rtscan_and_codes8(uint64 *bits, const uint8 *codes, uint32 n, uint32 low, uint32 high);
extern void rtscan_and_codes16(uint64 *bits, const uint16 *codes, uint32 n, uint32 low, uint32 high);

/*
 * Clear the bits of a word that are not in first .. last - 1.  The word's lowest bit has the number base; the
 * range overlaps the word.
 */
static inline uint64
rtscan_mask_word(uint64 word, uint32 base, uint32 first, uint32 last)
{
	if (first > base)
		word &= ~UINT64CONST(0) << (first - base);
	if (last < base + 64)
		word &= ~(~UINT64CONST(0) << (last - base));
	return word;
}

/* Pack 8 bytes of 0 or 1 into the bits of a byte, the first byte into the lowest bit. */
static inline uint64
rtscan_pack8(const uint8 *bytes)
{
	uint64		eight;

	memcpy(&eight, bytes, sizeof(eight));
	return (eight * UINT64CONST(0x0102040810204080)) >> 56;
}

/* Pack 64 bytes of 0 or 1 into a word, as rtscan_pack8() does. */
static inline uint64
rtscan_pack64(const uint8 *bytes)
{
	uint64		word = 0;

	for (int i = 0; i < 8; i++)
		word |= rtscan_pack8(bytes + 8 * i) << (8 * i);
	return word;
}

#endif							/* RTSCAN_BITS_H */
