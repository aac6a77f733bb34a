/*
 * rays.glsl
 *		What the shaders that cast rays share; PAYLOAD is what rays bring back.
 */
#include "lookup.glsl"

layout(constant_id = 1) const uint32_t ray_flags = 0;

layout(location = 0) rayPayloadEXT PAYLOAD payload;

/* The lookup of this invocation. */
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
