// SPDX-License-Identifier: PostgreSQL
/*
 * sort_split.comp
 *		Convert pairs to arrays of keys and values.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

void
main()
{
	for (uint32_t i = gl_GlobalInvocationID.x; i < task.n; i += THREADS)
	{
		Pair		pair = Pairs(task.pairs).at[i];

		Keys(task.keys).at[i] = pair.key;
		Words(task.values).at[i] = pair.value;
	}
}
