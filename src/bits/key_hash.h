/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_hash.h
 *		A hash of 64-bit keys: MurmurHash3's finalizer.
 *
 * All bits of the hash are equally good, whichever bits the keys differ in: keys of small integers differ in the
 * lowest bits, keys of small float8 values in the highest.
 */
#ifndef RTSCAN_KEY_HASH_H
#define RTSCAN_KEY_HASH_H

#include "rtscan.h"

static inline uint64
rtscan_hash_key(uint64 key)
{
	key = (key ^ key >> 33) * UINT64CONST(0xFF51AFD7ED558CCD);
	key = (key ^ key >> 33) * UINT64CONST(0xC4CEB9FE1A85EC53);
	return key ^ key >> 33;
}

#endif							/* RTSCAN_KEY_HASH_H */
