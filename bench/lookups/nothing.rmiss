/*
 * nothing.rmiss
 *		A ray has come to its end.
 */
#version 460
#extension GL_EXT_ray_tracing : require

void
main()
{
}
