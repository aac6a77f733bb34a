// SPDX-License-Identifier: PostgreSQL
/*
 * widen.comp
 *		Convert the rows' keys to 64 bits, as device/sort.h requires.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

void
main()
{
	uint32_t	row = gl_GlobalInvocationID.x;

	if (row < task.rows)
		Doublewords(task.result).at[row] = load_key(task.keys, row);
}
