// SPDX-License-Identifier: PostgreSQL
/*
 * triangles.comp
 *		Write a triangle around the place of each entry's key.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

void
main()
{
	uint32_t	entry = gl_GlobalInvocationID.x;

	if (entry < task.entries)
		store_triangle(entry, vec3(place_of(load_key(task.keys, entry), task.x_bits, task.y_bits)));
}
