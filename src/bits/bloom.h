/*
 * bloom.h
 *		Bloom filters of 64-bit keys: which keys are certainly not among some.
 *
 * All bits of a key are in one word, so that each costs one access to memory ("Cache-, Hash- and Space-Efficient Bloom Filters",
 * Putze, Sanders and Singler, 2007: a blocked filter, whose blocks are words here).  With a word for eight keys one of about 25 that are not
 * among them is not told; with a word for sixteen, one of six.
 */
#ifndef RTSCAN_BLOOM_H
#define RTSCAN_BLOOM_H

#include "bits/key_hash.h"

typedef struct RtscanBloom
{
	uint32		nwords;			/* at least one */
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} RtscanBloom;

/* The word of a key, and its bits there. */
static inline uint64
rtscan_bloom_bits(const RtscanBloom *bloom, uint64 key, uint32 *word)
{
	uint64		hash = rtscan_hash_key(key);

	*word = (uint32) (((hash >> 32) * bloom->nwords) >> 32);
	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << ((hash >> 6) & 63) | UINT64CONST(1) << ((hash >> 12) & 63);
}

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
