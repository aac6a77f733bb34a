// SPDX-License-Identifier: PostgreSQL
/*
 * rays.glsl
 *		Declarations shared by the shaders that trace rays.  PAYLOAD is the type that rays return.
 */
#include "lookup.glsl"

layout(constant_id = 1) const uint32_t ray_flags = 0;

layout(location = 0) rayPayloadEXT PAYLOAD payload;

/* Return the index of this invocation's lookup. */
uint32_t
lookup_number()
{
	return gl_LaunchIDEXT.x + gl_LaunchIDEXT.y * gl_LaunchSizeEXT.x;
}

void
trace(vec3 from, vec3 direction, float reach)
{
	traceRayEXT(accelerationStructureEXT(task.structure), ray_flags, 0xFF, 0, 0, 0, from, 0.0, direction, reach, 0);
}
