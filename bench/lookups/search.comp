// SPDX-License-Identifier: PostgreSQL
/*
 * search.comp
 *		Look up by a binary search in the sorted keys, with one thread for each lookup.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lookup.glsl"

layout(local_size_x = LOOKUP_GROUP) in;

void
main()
{
	uint32_t	lookup = gl_GlobalInvocationID.x;
	Found		found = Found(0, 0);

	if (lookup >= task.lookups)
		return;
	uint64_t	low = Doublewords(task.lows).at[lookup];

	add_run(search(0, task.entries, low), low + task.width, found);
	write_answer(lookup, found);
}
