// SPDX-License-Identifier: PostgreSQL
/*
 * sort_count.comp
 *		The first step of a sort's pass: count the keys of each digit in each block.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

shared uint32_t counts[SORT_DIGITS];

void
main()
{
	uint32_t	thread = gl_LocalInvocationIndex;
	uint64_t	keys[SORT_KEYS];

	counts[thread] = 0;
	/* Load all keys first, so that their latencies overlap. */
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
		keys[turn] = key_number(turn) < pass.n ? Keys(pass.keys).at[key_number(turn)] : 0;
	barrier();
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
		if (key_number(turn) < pass.n)
			atomicAdd(counts[key_digit(keys[turn])], 1);
	barrier();
	Words(pass.counts).at[thread * pass.blocks + gl_WorkGroupID.x] = counts[thread];
}
