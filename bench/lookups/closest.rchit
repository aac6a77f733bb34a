// SPDX-License-Identifier: PostgreSQL
/*
 * closest.rchit
 *		Add the rows of the only primitive that a ray has met.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_ray_tracing : require
#include "lookup.glsl"

layout(location = 0) rayPayloadInEXT Found found;

void
main()
{
	add_entry(gl_PrimitiveID, found);
}
