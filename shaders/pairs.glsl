// SPDX-License-Identifier: PostgreSQL
/*
 * pairs.glsl
 *		Declarations shared by sort_split and sort_join, whose threads each handle every THREADS-th pair.
 */
#include "common.glsl"

layout(local_size_x = PAIR_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { PairTask task; };

struct Pair
{
	uint64_t	key;
	uint32_t	value;
	uint32_t	unused;
};

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Pairs { Pair at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Keys { uint64_t at[]; };

#define THREADS	(gl_NumWorkGroups.x * PAIR_GROUP)
