/*
 * key_hash.h
 *		A hash of 64-bit keys, for simplehash: Fibonacci hashing, whose upper half is that of keys next to each other as well.
 */
#ifndef RTSCAN_KEY_HASH_H
#define RTSCAN_KEY_HASH_H

#include "rtscan.h"

static inline uint32
rtscan_hash_key(uint64 key)
{
	return (uint32) ((key * UINT64CONST(0x9E3779B97F4A7C15)) >> 32);
}

#endif							/* RTSCAN_KEY_HASH_H */
