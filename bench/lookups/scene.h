/*
 * scene.h
 *		A BVH of triangles or boxes, in two levels, compacted.
 */
#ifndef RTSCAN_LOOKUPS_SCENE_H
#define RTSCAN_LOOKUPS_SCENE_H

#include "../../device/context.h"

typedef struct Scene
{
	Memory		memory;
	VkAccelerationStructureKHR bottom;
	VkAccelerationStructureKHR top;
	VkDeviceAddress address;	/* of the top level */
	uint64_t	nanoseconds;	/* that its build took */
} Scene;

/* What the primitives lie in must be made for it. */
#define SCENE_INPUT	VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR

#define TRIANGLE_BYTES	(9 * sizeof(float))
#define BOX_BYTES		sizeof(VkAabbPositionsKHR)

/* Build one of so many primitives at an address; false: there is no memory for it, or the device takes fewer. */
extern bool scene_build(Scene *scene, Context *context, VkGeometryTypeKHR type, VkDeviceAddress primitives, uint32_t count);

extern void scene_free(Scene *scene, Context *context);

#endif							/* RTSCAN_LOOKUPS_SCENE_H */
