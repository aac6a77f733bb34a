// SPDX-License-Identifier: PostgreSQL
/*
 * common.glsl
 *		Declarations shared by the benchmark's shaders.
 */
#extension GL_GOOGLE_include_directive : require
#include "../../shaders/common.glsl"
#include "layout.h"

/* True if keys have 64 bits in memory, false if they have 32. */
layout(constant_id = 0) const bool wide = true;

uint64_t
load_key(uint64_t keys, uint32_t i)
{
	return wide ? Doublewords(keys).at[i] : uint64_t(Words(keys).at[i]);
}

/* Return the place of a key. */
uvec3
place_of(uint64_t key, uint32_t x_bits, uint32_t y_bits)
{
	return uvec3(uint32_t(key) & (1u << x_bits) - 1, uint32_t(key >> x_bits) & (1u << y_bits) - 1,
				 uint32_t(key >> (x_bits + y_bits)));
}

/* Return the slot of a key's hash, by Murmur3's 64-bit finalizer. */
uint32_t
first_slot(uint64_t key, uint32_t slots)
{
	key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDul;
	key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53ul;
	return uint32_t((key >> 32) * slots >> 32);
}
