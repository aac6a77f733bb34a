// SPDX-License-Identifier: PostgreSQL
/*
 * bvh_boxes.comp
 *		Write the box of each row around its ranks, in Morton order: device/slabs.h.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bvh.glsl"

void
main()
{
	uint32_t	primitive = gl_GlobalInvocationID.x;

	if (primitive >= task.rows)
		return;
	uint32_t	row = Words(task.values).at[primitive];
	Boxes		box = Boxes(task.boxes + uint64_t(primitive) * 24);

	for (uint32_t c = 0; c < 3; c++)
	{
		bool		used = c < task.columns;
		float		center = used ? float(rank_of(row, c)) : 0.0;
		float		half_width = used ? float(task.half_width) : 1.0;

		box.at[c] = center - half_width;
		box.at[3 + c] = center + half_width;
	}
	Words(task.primitives).at[primitive] = row;
}
