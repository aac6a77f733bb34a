// SPDX-License-Identifier: PostgreSQL
/*
 * trace.rmiss
 *		Handle the end of a ray: there is nothing to do.
 */
#version 460
#extension GL_EXT_ray_tracing : require

layout(location = 0) rayPayloadInEXT uint payload;

void
main()
{
}
