/*
 * structure.h
 *		Acceleration structures: two levels, with one instance between them.
 *
 * What all builds of BVHs have in common; bvh.c builds those of rows.
 */
#ifndef RTSCAN_DEVICE_STRUCTURE_H
#define RTSCAN_DEVICE_STRUCTURE_H

#include "context.h"

/* How each is built: to be traced fast, the bottom level to be compacted. */
extern VkAccelerationStructureBuildGeometryInfoKHR structure_build_info(VkAccelerationStructureTypeKHR type,
																		const VkAccelerationStructureGeometryKHR *geometry);

/* The geometry of a top level: the instance at this address. */
extern VkAccelerationStructureGeometryKHR structure_instances(uint64_t instance);

extern VkAccelerationStructureBuildSizesInfoKHR structure_sizes(Context *context, VkAccelerationStructureTypeKHR type,
																const VkAccelerationStructureGeometryKHR *geometry,
																uint32_t primitives);

/* False: there is no memory for it. */
extern bool structure_create(Context *context, VkAccelerationStructureTypeKHR type, const Memory *memory,
							 uint64_t offset, uint64_t size, VkAccelerationStructureKHR *structure);

extern VkDeviceAddress structure_address(Context *context, VkAccelerationStructureKHR structure);

/* Write the one instance, of this bottom level, as the device wants it. */
extern void structure_write_instance(Context *context, VkAccelerationStructureKHR bottom, const Memory *memory);

#endif							/* RTSCAN_DEVICE_STRUCTURE_H */
