// SPDX-License-Identifier: PostgreSQL
/*
 * bvh_order.comp
 *		Make sort keys that put rows in Morton order, on which some devices' builders rely.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bvh.glsl"

/* Insert two zeros between neighbouring bits of a number of ten bits. */
uint32_t
spread(uint32_t bits)
{
	bits = (bits | bits << 16) & 0x030000FFu;
	bits = (bits | bits << 8) & 0x0300F00Fu;
	bits = (bits | bits << 4) & 0x030C30C3u;
	return (bits | bits << 2) & 0x09249249u;
}

void
main()
{
	uint32_t	row = gl_GlobalInvocationID.x;
	uint32_t	key = 0;

	if (row >= task.rows)
		return;
	for (uint32_t c = 0; c < task.columns; c++)
		key |= spread(rank_of(row, c) >> task.shift) << c;
	Keys(task.keys).at[row] = key;
}
