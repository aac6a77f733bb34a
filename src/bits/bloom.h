/* SPDX-License-Identifier: PostgreSQL */
/*
 * bloom.h
 *		Bloom filters of 64-bit keys: which keys are certainly not in a set.
 *
 * All bits of a key are in one word, so that looking up a key takes one access to memory.  This is a blocked filter
 * with words as blocks ("Cache-, Hash- and Space-Efficient Bloom Filters", Putze, Sanders and Singler, 2007).  If the
 * filter has one word for eight keys, about one in 25 of the keys outside the set is taken for a member; if it has
 * one word for sixteen keys, one in six.
 */
#ifndef RTSCAN_BLOOM_H
#define RTSCAN_BLOOM_H

#include "bits/key_hash.h"

typedef struct RtscanBloom
{
	uint32		nwords;			/* number of words, at least one */
	uint64		words[FLEXIBLE_ARRAY_MEMBER];	/* three bits are set for each key, all in one word */
} RtscanBloom;

/* Return the bits of a key, and in *word the number of their word. */
static inline uint64
rtscan_bloom_bits(const RtscanBloom *bloom, uint64 key, uint32 *word)
{
	uint64		hash = rtscan_hash_key(key);

	*word = (uint32) (((hash >> 32) * bloom->nwords) >> 32);
	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << ((hash >> 6) & 63) | UINT64CONST(1) << ((hash >> 12) & 63);
}

/* Is a key certainly not in the set? */
static inline bool
rtscan_bloom_lacks(const RtscanBloom *bloom, uint64 key)
{
	uint32		word;
	uint64		bits = rtscan_bloom_bits(bloom, key, &word);

	return (bloom->words[word] & bits) != bits;
}

static inline void
rtscan_bloom_add(RtscanBloom *bloom, uint64 key)
{
	uint32		word;
	uint64		bits = rtscan_bloom_bits(bloom, key, &word);

	bloom->words[word] |= bits;
}

#endif							/* RTSCAN_BLOOM_H */
