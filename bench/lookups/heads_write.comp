// SPDX-License-Identifier: PostgreSQL
/*
 * heads_write.comp
 *		Write the entries' keys, the row at which each entry begins, and where the last one ends.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "heads.glsl"

void
main()
{
	uint32_t	i = gl_GlobalInvocationID.x;
	bool		head = is_head(i);
	uint32_t	entry = Words(task.heads).at[gl_WorkGroupID.x] + count_heads(head) - 1;

	if (head)
	{
		store_key(task.result, entry, Doublewords(task.sorted).at[i]);
		Words(task.firsts).at[entry] = i;
	}
	if (i == task.rows - 1)
		Words(task.firsts).at[entry + 1] = task.rows;
}
