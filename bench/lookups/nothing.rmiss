// SPDX-License-Identifier: PostgreSQL
/*
 * nothing.rmiss
 *		Handle the end of a ray: there is nothing to do.
 */
#version 460
#extension GL_EXT_ray_tracing : require

void
main()
{
}
