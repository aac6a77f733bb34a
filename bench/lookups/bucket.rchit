// SPDX-License-Identifier: PostgreSQL
/*
 * bucket.rchit
 *		Return the bucket whose triangle or mark a ray has met first.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_ray_tracing : require
#include "lookup.glsl"

layout(location = 0) rayPayloadInEXT uint32_t bucket;

void
main()
{
	uint32_t	buckets = (task.entries + task.slots - 1) / task.slots;
	uint32_t	primitive = gl_PrimitiveID;

	bucket = primitive < buckets ? primitive : Words(task.marks).at[1 + primitive - buckets];
}
