/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_memory.c
 *		Memory with a device address, on the device or on the host.
 */
#include "device_memory.h"

#include <string.h>

/* Find a memory type that is set in "allowed" and has all properties "wanted".  Returns false if there is none. */
static bool
find_memory_type(const Context *context, uint32_t allowed, VkMemoryPropertyFlags wanted, uint32_t *type)
{
	for (*type = 0; *type < context->memory.memoryTypeCount; (*type)++)
		if ((allowed & UINT32_C(1) << *type) &&
			(context->memory.memoryTypes[*type].propertyFlags & wanted) == wanted)
			return true;
	return false;
}

static bool
create_buffer(Context *context, uint64_t size, VkBufferUsageFlags more_usage, const void *next, Memory *memory)
{
	VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = next, .size = size,
		.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
		VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | more_usage};

	memset(memory, 0, sizeof(*memory));
	if (vkCreateBuffer(context->device, &info, NULL, &memory->buffer) != VK_SUCCESS)
		return false;
	memory->size = size;
	return true;
}

/* Allocate memory, within the device's limit on the number of allocations, which can be small. */
static bool
allocate_within_limit(Context *context, const VkMemoryAllocateInfo *info, Memory *memory)
{
	if (context->allocations >= context->properties.limits.maxMemoryAllocationCount ||
		vkAllocateMemory(context->device, info, NULL, &memory->memory) != VK_SUCCESS)
		return false;
	context->allocations++;
	return true;
}

/* Allocate the memory of a buffer and bind it to the buffer.  If that fails, frees the buffer and returns false. */
static bool
bind_memory(Context *context, VkMemoryPropertyFlags wanted, uint32_t allowed, const void *next, Memory *memory)
{
	VkMemoryRequirements needs;
	VkMemoryAllocateFlagsInfo flags = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, .pNext = next,
		.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
	VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags};
	VkBufferDeviceAddressInfo address = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = memory->buffer};

	vkGetBufferMemoryRequirements(context->device, memory->buffer, &needs);
	info.allocationSize = next ? memory->size : needs.size;
	if ((next && needs.size > memory->size) ||
		!find_memory_type(context, needs.memoryTypeBits & allowed, wanted, &info.memoryTypeIndex) ||
		!allocate_within_limit(context, &info, memory) ||
		vkBindBufferMemory(context->device, memory->buffer, memory->memory, 0) != VK_SUCCESS)
	{
		memory_free(context, memory);
		return false;
	}
	memory->address = vkGetBufferDeviceAddress(context->device, &address);
	return true;
}

static bool
is_refused(const Faults *faults, MemoryUse use)
{
	return (use == MEMORY_COLUMN && faults->no_upload_memory) ||
		(use == MEMORY_BVH && faults->no_build_memory) ||
		(use == MEMORY_SCRATCH && faults->no_scratch_memory);
}

bool
memory_on_device(Context *context, MemoryUse use, uint64_t size, VkBufferUsageFlags more_usage, Memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	if (is_refused(&context->faults, use) || context->memory_used + size > context->memory_limit ||
		!create_buffer(context, size, more_usage, NULL, memory) ||
		!bind_memory(context, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, UINT32_MAX, NULL, memory))
		return false;
	memory->counted = size;
	context->memory_used += size;
	return true;
}

bool
memory_on_host(Context *context, HostAccess access, uint64_t size, VkBufferUsageFlags more_usage, Memory *memory)
{
	VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkMemoryPropertyFlags wanted = needed |
		(access == HOST_WRITES ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	void	   *host;

	if (!(create_buffer(context, size, more_usage, NULL, memory) &&
		  bind_memory(context, wanted, UINT32_MAX, NULL, memory)) &&
		!(create_buffer(context, size, more_usage, NULL, memory) &&
		  bind_memory(context, needed, UINT32_MAX, NULL, memory)))
		return false;
	if (vkMapMemory(context->device, memory->memory, 0, VK_WHOLE_SIZE, 0, &host) != VK_SUCCESS)
	{
		memory_free(context, memory);
		return false;
	}
	memory->host = host;
	return true;
}

bool
memory_import(Context *context, void *host, uint64_t size, Memory *memory)
{
	VkExternalMemoryBufferCreateInfo external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
		.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
	VkImportMemoryHostPointerInfoEXT import = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
		.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, .pHostPointer = host};
	VkMemoryHostPointerPropertiesEXT allowed = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};

	memset(memory, 0, sizeof(*memory));
	if (context->import_alignment == 0 || (uintptr_t) host % context->import_alignment != 0 ||
		size % context->import_alignment != 0 ||
		vkGetMemoryHostPointerPropertiesEXT(context->device, import.handleType, host, &allowed) != VK_SUCCESS ||
		!create_buffer(context, size, 0, &external, memory) ||
		!bind_memory(context, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, allowed.memoryTypeBits, &import, memory))
		return false;
	memory->host = host;
	return true;
}

void
memory_free(Context *context, Memory *memory)
{
	vkDestroyBuffer(context->device, memory->buffer, NULL);
	vkFreeMemory(context->device, memory->memory, NULL);
	context->allocations -= memory->memory != VK_NULL_HANDLE;
	context->memory_used -= memory->counted;
	memset(memory, 0, sizeof(*memory));
}
