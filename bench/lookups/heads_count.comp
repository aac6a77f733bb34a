// SPDX-License-Identifier: PostgreSQL
/*
 * heads_count.comp
 *		Count the entries that begin in each block of rows.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "heads.glsl"

void
main()
{
	uint32_t	sum = count_heads(is_head(gl_GlobalInvocationID.x));

	if (gl_LocalInvocationIndex == LOOKUP_GROUP - 1)
		Words(task.heads).at[gl_WorkGroupID.x] = sum;
}
