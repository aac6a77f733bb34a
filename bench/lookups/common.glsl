/*
 * common.glsl
 *		What the benchmark's shaders share.
 */
#extension GL_GOOGLE_include_directive : require
#include "../../shaders/common.glsl"
#include "layout.h"

/* Have keys 64 bits in memory? */
layout(constant_id = 0) const bool wide = true;

uint64_t
load_key(uint64_t keys, uint32_t i)
{
	return wide ? Doublewords(keys).at[i] : uint64_t(Words(keys).at[i]);
}

/* Where a key is. */
uvec3
place_of(uint64_t key, uint32_t x_bits, uint32_t y_bits)
{
	return uvec3(uint32_t(key) & (1u << x_bits) - 1, uint32_t(key >> x_bits) & (1u << y_bits) - 1,
				 uint32_t(key >> (x_bits + y_bits)));
}

/* Murmur3's finalizer, of 64 bits. */
uint32_t
first_slot(uint64_t key, uint32_t slots)
{
	key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDul;
	key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53ul;
	return uint32_t((key >> 32) * slots >> 32);
}
