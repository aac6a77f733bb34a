// SPDX-License-Identifier: PostgreSQL
/*
 * boxes.comp
 *		Write a box around the place of each entry's key, or around a sphere at that place.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

void
main()
{
	uint32_t	entry = gl_GlobalInvocationID.x;

	if (entry >= task.entries)
		return;
	Floats		box = Floats(task.result + uint64_t(entry) * 24);
	vec3		centre = vec3(place_of(load_key(task.keys, entry), task.x_bits, task.y_bits));

	for (uint32_t c = 0; c < 3; c++)
	{
		box.at[c] = centre[c] - REACH;
		box.at[3 + c] = centre[c] + REACH;
	}
}
