// SPDX-License-Identifier: PostgreSQL
/*
 * top.comp
 *		Write the keys that search_top.comp loads into shared memory; if there are fewer entries, some keys are
 *		repeated.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

void
main()
{
	uint32_t	part = gl_GlobalInvocationID.x;
	uint32_t	end = uint32_t(uint64_t(part + 1) * task.entries / TOP_KEYS);

	if (part < TOP_KEYS)
		store_key(task.result, part, load_key(task.keys, max(end, 1) - 1));
}
