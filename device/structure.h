/* SPDX-License-Identifier: PostgreSQL */
/*
 * structure.h
 *		Acceleration structures with two levels and one instance.
 *
 * bvh.c, which builds the BVHs of rows, and the benchmark bench/lookups use these functions.
 */
#ifndef RTSCAN_DEVICE_STRUCTURE_H
#define RTSCAN_DEVICE_STRUCTURE_H

#include "device_memory.h"

/* Describe the build of a level, optimized for tracing.  A bottom level can be compacted later. */
extern VkAccelerationStructureBuildGeometryInfoKHR
structure_build_info(VkAccelerationStructureTypeKHR type, const VkAccelerationStructureGeometryKHR *geometry);

/* Return the geometry of a top level with the instance at this address. */
extern VkAccelerationStructureGeometryKHR structure_instances(uint64_t instance);

extern VkAccelerationStructureBuildSizesInfoKHR structure_sizes(Context *context, VkAccelerationStructureTypeKHR type,
																const VkAccelerationStructureGeometryKHR *geometry,
																uint32_t primitives);

/* Create a structure in memory.  Returns false if there is not enough memory. */
extern bool structure_create(Context *context, VkAccelerationStructureTypeKHR type, const Memory *memory,
							 uint64_t offset, uint64_t size, VkAccelerationStructureKHR *structure);

extern VkDeviceAddress structure_address(Context *context, VkAccelerationStructureKHR structure);

/* Write the top level's only instance, which refers to "bottom", to "memory" in the device's format. */
extern void structure_write_instance(Context *context, VkAccelerationStructureKHR bottom, const Memory *memory);

#endif							/* RTSCAN_DEVICE_STRUCTURE_H */
