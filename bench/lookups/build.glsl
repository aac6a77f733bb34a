// SPDX-License-Identifier: PostgreSQL
/*
 * build.glsl
 *		Declarations shared by the shaders that build.
 */
#include "common.glsl"

layout(local_size_x = LOOKUP_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { BuildTask task; };

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Floats { float at[]; };

void
store_key(uint64_t keys, uint32_t i, uint64_t key)
{
	if (wide)
		Doublewords(keys).at[i] = key;
	else
		Words(keys).at[i] = uint32_t(key);
}

/* Write a triangle.  Rays along any of the three axes meet it at its centre, whatever its size. */
void
store_triangle(uint32_t number, vec3 centre)
{
	const vec3	corners[3] = {vec3(REACH, -REACH, 0.0), vec3(0.0, REACH, -REACH), vec3(-REACH, 0.0, REACH)};

	for (uint32_t corner = 0; corner < 3; corner++)
		for (uint32_t c = 0; c < 3; c++)
			Floats(task.result + uint64_t(number) * 36).at[corner * 3 + c] = centre[c] + corners[corner][c];
}
