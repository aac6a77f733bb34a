/* SPDX-License-Identifier: PostgreSQL */
/*
 * structure.c
 *		Acceleration structures with two levels and one instance.
 */
#include "structure.h"

#include <string.h>

VkAccelerationStructureBuildGeometryInfoKHR
structure_build_info(VkAccelerationStructureTypeKHR type, const VkAccelerationStructureGeometryKHR *geometry)
{
	return (VkAccelerationStructureBuildGeometryInfoKHR) {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR,
		.type = type,
		.flags = VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR |
		(type == VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR ?
		 VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_COMPACTION_BIT_KHR : 0),
		.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR,
		.geometryCount = 1,
		.pGeometries = geometry};
}

VkAccelerationStructureGeometryKHR
structure_instances(uint64_t instance)
{
	return (VkAccelerationStructureGeometryKHR) {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
		.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR,
		.geometry.instances = {
			.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR,
			.data.deviceAddress = instance},
		.flags = VK_GEOMETRY_OPAQUE_BIT_KHR};
}

VkAccelerationStructureBuildSizesInfoKHR
structure_sizes(Context *context, VkAccelerationStructureTypeKHR type,
				const VkAccelerationStructureGeometryKHR *geometry, uint32_t primitives)
{
	VkAccelerationStructureBuildGeometryInfoKHR info = structure_build_info(type, geometry);
	VkAccelerationStructureBuildSizesInfoKHR sizes = {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR};

	vkGetAccelerationStructureBuildSizesKHR(context->device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR,
											&info, &primitives, &sizes);
	return sizes;
}

bool
structure_create(Context *context, VkAccelerationStructureTypeKHR type, const Memory *memory,
				 uint64_t offset, uint64_t size, VkAccelerationStructureKHR *structure)
{
	VkAccelerationStructureCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR,
		.buffer = memory->buffer, .offset = offset, .size = size, .type = type};

	return vkCreateAccelerationStructureKHR(context->device, &info, NULL, structure) == VK_SUCCESS;
}

VkDeviceAddress
structure_address(Context *context, VkAccelerationStructureKHR structure)
{
	VkAccelerationStructureDeviceAddressInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR,
		.accelerationStructure = structure};

	return vkGetAccelerationStructureDeviceAddressKHR(context->device, &info);
}

void
structure_write_instance(Context *context, VkAccelerationStructureKHR bottom, const Memory *memory)
{
	VkAccelerationStructureInstanceKHR instance = {
		.transform.matrix = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}},
		.mask = 0xFF,
		.accelerationStructureReference = structure_address(context, bottom)};

	memcpy(memory->host, &instance, sizeof(instance));
}
