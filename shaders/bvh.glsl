// SPDX-License-Identifier: PostgreSQL
/*
 * bvh.glsl
 *		Declarations shared by the shaders that prepare a BVH of boxes, with one thread for each row.
 */
#include "common.glsl"

layout(local_size_x = BVH_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { BvhTask task; };

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Keys { uint64_t at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Boxes { float at[]; };

/* Return the rank of a row in a column of the group. */
uint32_t
rank_of(uint32_t row, uint32_t column)
{
	return Words(task.ranks + uint64_t(column) * task.rows * 4).at[row];
}
