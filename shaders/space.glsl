// SPDX-License-Identifier: PostgreSQL
/*
 * space.glsl
 *		Declarations shared by the shaders that prepare the BVH of a space (device/space.h), with one thread
 *		for each row.
 */
#include "elements.glsl"

layout(local_size_x = BVH_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { SpaceTask task; };

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Attributes { AttributeTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Keys { uint64_t at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float at[]; };

/* Return a row's coordinates, indexed by axis. */
uvec3
coordinates_of(uint32_t row)
{
	uvec3		coordinates = uvec3(0);

	coordinates[AXIS_PLACE] = uint32_t(uint64_t(row) * task.places / task.rows);
	for (uint32_t i = 0; i < task.count; i++)
	{
		AttributeTask item = Attributes(task.attributes).at[i];
		bool		null;
		uint64_t	value;

		if (item.axis > AXIS_SCAN)
			continue;
		value = load_element(item.values, row, null);
		coordinates[item.axis] += item.stride *
			(null ? item.slots - 1 : uint32_t(min(value >> item.shift, uint64_t(item.slots - 1))));
	}
	return coordinates;
}
