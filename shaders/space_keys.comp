// SPDX-License-Identifier: PostgreSQL
/*
 * space_keys.comp
 *		Make sort keys that put rows in the order in which rays meet them, so that a ray reads neighbouring records.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "space.glsl"

void
main()
{
	uint32_t	row = gl_GlobalInvocationID.x;
	uvec3		coordinates;

	if (row >= task.rows)
		return;
	coordinates = coordinates_of(row);
	Keys(task.keys).at[row] =
		uint64_t(coordinates[AXIS_GROUP] * task.places + coordinates[AXIS_PLACE]) << task.scan_bits |
		coordinates[AXIS_SCAN];
}
