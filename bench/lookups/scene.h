/* SPDX-License-Identifier: PostgreSQL */
/*
 * scene.h
 *		A compacted BVH of triangles or boxes, with two levels.
 */
#ifndef RTSCAN_LOOKUPS_SCENE_H
#define RTSCAN_LOOKUPS_SCENE_H

#include "../../device/device_memory.h"

typedef struct Scene
{
	Memory		memory;
	VkAccelerationStructureKHR bottom;
	VkAccelerationStructureKHR top;
	VkDeviceAddress address;	/* address of the top level */
	uint64_t	nanoseconds;	/* device time of its build */
} Scene;

/* Usage with which the memory of the primitives must be created. */
#define SCENE_INPUT	VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR

#define TRIANGLE_BYTES	(9 * sizeof(float))
#define BOX_BYTES		sizeof(VkAabbPositionsKHR)

/*
 * Build a BVH of count primitives at an address.  Returns false if there is no memory for it, or if the device
 * does not support that many.
 */
extern bool scene_build(Scene *scene, Context *context, VkGeometryTypeKHR type, VkDeviceAddress primitives,
						uint32_t count);

extern void scene_free(Scene *scene, Context *context);

#endif							/* RTSCAN_LOOKUPS_SCENE_H */
