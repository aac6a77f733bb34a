// SPDX-License-Identifier: PostgreSQL
/*
 * sort_join.comp
 *		Convert arrays of keys and values to pairs.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

void
main()
{
	for (uint32_t i = gl_GlobalInvocationID.x; i < task.n; i += THREADS)
	{
		Pairs(task.pairs).at[i] = Pair(Keys(task.keys).at[i], Words(task.values).at[i], 0);
	}
}
