/* SPDX-License-Identifier: PostgreSQL */
/*
 * context.c
 *		The Vulkan device: choose it, allocate its memory, submit work.
 */
#define VOLK_IMPLEMENTATION
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "protocol.h"

#define MAX_DEVICES			32
#define MAX_EXTENSIONS		1024

/* PCI id of the vendor whose devices' clocks are kept up. */
#define NVIDIA				0x10DE
/* Seconds for which calibration waits for the clocks to rise, since it would measure wrong times meanwhile. */
#define CLOCKS_SECONDS		5

void
check(VkResult result, const char *call)
{
	if (result != VK_SUCCESS)
		fail("%s returned %d", call, result);
}

/* ---------------------------------------------------------------- choosing a device */

static bool
has_extension(const VkExtensionProperties *extensions, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(extensions[i].extensionName, name) == 0)
			return true;
	return false;
}

/* Find the first queue family for compute shaders with timestamps. */
static void
find_family(VkPhysicalDevice device, DeviceFacts *facts)
{
	VkQueueFamilyProperties families[16];
	uint32_t	count = 16;

	vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
	for (uint32_t i = 0; i < count && facts->timestamp_bits == 0; i++)
		if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
		{
			facts->family = i;
			facts->timestamp_bits = families[i].timestampValidBits;
		}
}

static void
find_extensions(VkPhysicalDevice device, DeviceFacts *facts)
{
	static VkExtensionProperties extensions[MAX_EXTENSIONS];
	uint32_t	count = MAX_EXTENSIONS;

	if (vkEnumerateDeviceExtensionProperties(device, NULL, &count, extensions) < 0)
		return;
	facts->has_deferred_operations = has_extension(extensions, count, VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME);
	facts->has_external_memory = has_extension(extensions, count, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
}

/* Read the facts of a device that supports Vulkan 1.2. */
static void
find_features(VkPhysicalDevice device, DeviceFacts *facts)
{
	VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = &facts->twelve};
	VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
		.pNext = &facts->structure};

	facts->twelve = (VkPhysicalDeviceVulkan12Features) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &facts->structures};
	facts->structures = (VkPhysicalDeviceAccelerationStructureFeaturesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR, .pNext = &facts->pipelines};
	facts->pipelines = (VkPhysicalDeviceRayTracingPipelineFeaturesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR};
	facts->structure = (VkPhysicalDeviceAccelerationStructurePropertiesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR, .pNext = &facts->tracing};
	facts->tracing = (VkPhysicalDeviceRayTracingPipelinePropertiesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR};
	vkGetPhysicalDeviceFeatures2(device, &features);
	vkGetPhysicalDeviceProperties2(device, &properties);
	facts->features = features.features;
}

static void
find_facts(VkPhysicalDevice device, const Faults *faults, DeviceFacts *facts)
{
	memset(facts, 0, sizeof(*facts));
	vkGetPhysicalDeviceProperties(device, &facts->properties);
	find_family(device, facts);
	find_extensions(device, facts);
	if (facts->properties.apiVersion >= VK_API_VERSION_1_2)
		find_features(device, facts);
	if (faults->lacks)
		limits_miss(facts, faults->lacks);
}

/*
 * Return true if this is the wanted device: the one with that number, or with that text in its name.  If wanted
 * is empty, all devices are wanted that are not software.
 */
static bool
is_wanted(const VkPhysicalDeviceProperties *properties, uint32_t number, const char *wanted)
{
	char	   *end;
	unsigned long wanted_number = strtoul(wanted, &end, 10);

	if (*wanted == '\0')
		return properties->deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
	if (*end == '\0')
		return wanted_number == number;
	for (const char *place = properties->deviceName; *place; place++)
		if (strncasecmp(place, wanted, strlen(wanted)) == 0)
			return true;
	return false;
}

/* Return why a device cannot be used, or NULL if it can. */
static const char *
reject(const DeviceFacts *facts, uint32_t number, const char *wanted)
{
	if (!is_wanted(&facts->properties, number, wanted))
		return *wanted ? "it is not the one that rtscan.device names" :
			"it is software, which rtscan.device has to name";
	return limits_missing(facts, LIMIT_OF_ALL);
}

static void
no_device(const char *why)
{
	report("%s", why);
	_Exit(DEVICE_EXIT_NO_DEVICE);
}

/* Choose among the devices that match, skipping passed_over of them; after the last one the first one follows again. */
static void
choose_device(Context *context, const char *wanted, uint32_t passed_over, DeviceFacts *facts)
{
	VkPhysicalDevice devices[MAX_DEVICES];
	uint32_t	fitting[MAX_DEVICES];
	uint32_t	nfitting = 0;
	uint32_t	count = MAX_DEVICES;

	if (vkEnumeratePhysicalDevices(context->instance, &count, devices) < 0)
		count = 0;
	for (uint32_t i = 0; i < count; i++)
	{
		const char *why;

		find_facts(devices[i], &context->faults, facts);
		why = reject(facts, i, wanted);
		if (why == NULL)
			fitting[nfitting++] = i;
		else if (nfitting == 0)
			report("device %u, %s, is not used: %s", i, facts->properties.deviceName, why);
	}
	if (nfitting == 0)
		no_device(count > 0 ? "there is no other Vulkan device" : "there is no Vulkan device");
	context->physical = devices[fitting[passed_over % nfitting]];
	find_facts(context->physical, &context->faults, facts);
	context->properties = facts->properties;
}

/* Return true if the device supports an optional part; otherwise log why not. */
static bool
can(const DeviceFacts *facts, LimitUse use, const char *what)
{
	const char *why = limits_missing(facts, use);

	if (why)
		report("device %s %s: %s", facts->properties.deviceName, what, why);
	return why == NULL;
}

/* ---------------------------------------------------------------- opening it */

static void
open_instance(Context *context)
{
	VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "rtscan",
		.apiVersion = VK_API_VERSION_1_2,
	};
	VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &application,
	};

	if (volkInitialize() != VK_SUCCESS)
		no_device("there is no Vulkan loader (libvulkan.so.1)");
	if (vkCreateInstance(&info, NULL, &context->instance) != VK_SUCCESS)
		no_device("there is no Vulkan driver");
	volkLoadInstance(context->instance);
}

static void
open_device(Context *context, bool import)
{
	const char *extensions[8];
	uint32_t	count = 0;
	float		priority = 1.0f;
	VkPhysicalDeviceRayTracingPipelineFeaturesKHR pipelines = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR,
		.rayTracingPipeline = VK_TRUE};
	VkPhysicalDeviceAccelerationStructureFeaturesKHR structures = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR,
		.pNext = &pipelines, .accelerationStructure = VK_TRUE};
	VkPhysicalDeviceVulkan12Features twelve = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.pNext = context->ray_tracing ? &structures : NULL,
		.bufferDeviceAddress = VK_TRUE, .scalarBlockLayout = VK_TRUE,
		.shaderBufferInt64Atomics = context->int64_atomics};
	VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = context->family, .queueCount = 1, .pQueuePriorities = &priority};
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &twelve,
		.queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
		.ppEnabledExtensionNames = extensions,
		.pEnabledFeatures = &(VkPhysicalDeviceFeatures) {.shaderInt64 = VK_TRUE}};

	if (context->ray_tracing)
	{
		extensions[count++] = VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME;
		extensions[count++] = VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME;
		extensions[count++] = VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME;
	}
	if (import)
		extensions[count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
	info.enabledExtensionCount = count;
	check(vkCreateDevice(context->physical, &info, NULL, &context->device), "vkCreateDevice");
	volkLoadDevice(context->device);
	vkGetDeviceQueue(context->device, context->family, 0, &context->queue);
}

static void
read_properties(Context *context, bool import)
{
	VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
	VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};

	context->structure_properties.sType =
		VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR;
	context->ray_tracing_properties.sType =
		VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR;
	if (context->ray_tracing)
	{
		context->structure_properties.pNext = &context->ray_tracing_properties;
		properties.pNext = &context->structure_properties;
	}
	if (import)
	{
		host.pNext = properties.pNext;
		properties.pNext = &host;
	}
	vkGetPhysicalDeviceProperties2(context->physical, &properties);
	context->import_alignment = host.minImportedHostPointerAlignment;
	context->timestamp_period = properties.properties.limits.timestampPeriod;
	context->software = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
	vkGetPhysicalDeviceMemoryProperties(context->physical, &context->memory);
}

static uint64_t
default_memory_limit(const Context *context)
{
	uint64_t	largest = 0;

	for (uint32_t i = 0; i < context->memory.memoryHeapCount; i++)
		if ((context->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
			context->memory.memoryHeaps[i].size > largest)
			largest = context->memory.memoryHeaps[i].size;
	/* A device without memory of its own shares the server's memory. */
	return context->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? largest / 5 * 4 : largest / 5;
}

void
context_open(Context *context, const char *wanted, uint32_t passed_over, uint64_t memory_limit, const Faults *faults)
{
	DeviceFacts facts;
	bool		import;

	memset(context, 0, sizeof(*context));
	context->faults = *faults;
	open_instance(context);
	choose_device(context, wanted, passed_over, &facts);
	context->family = facts.family;
	context->timestamp_mask = UINT64_MAX >> (64 - facts.timestamp_bits);
	context->int64_atomics = can(&facts, LIMIT_OF_TALLIES, "cannot add up, and is not for rtcudb");
	context->ray_tracing = can(&facts, LIMIT_OF_RAYS, "cannot trace rays") && !faults->no_ray_tracing;
	import = can(&facts, LIMIT_OF_IMPORT, "cannot share memory with the server, so that answers are copied") &&
		!faults->no_import;
	read_properties(context, import);
	open_device(context, import);
	submission_open(context, &context->own);
	context->memory_limit = memory_limit > 0 ? memory_limit : default_memory_limit(context);
}

void
context_keep_clocks(Context *context)
{
	VkPhysicalDeviceIDProperties known = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
	VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &known};

	vkGetPhysicalDeviceProperties2(context->physical, &properties);
	if (properties.properties.vendorID != NVIDIA)
		return;
	clocks_keep(&context->clocks, known.deviceUUID);
	clocks_wait(&context->clocks, CLOCKS_SECONDS);
}

/* ---------------------------------------------------------------- memory */

/* Find an allowed type of memory with these properties. */
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
allocate(Context *context, const VkMemoryAllocateInfo *info, Memory *memory)
{
	if (context->allocations >= context->properties.limits.maxMemoryAllocationCount ||
		vkAllocateMemory(context->device, info, NULL, &memory->memory) != VK_SUCCESS)
		return false;
	context->allocations++;
	return true;
}

/* Allocate the memory of a buffer and bind it.  Frees the buffer if that fails. */
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
		!allocate(context, &info, memory) ||
		vkBindBufferMemory(context->device, memory->buffer, memory->memory, 0) != VK_SUCCESS)
	{
		memory_free(context, memory);
		return false;
	}
	memory->address = vkGetBufferDeviceAddress(context->device, &address);
	return true;
}

static bool
refuse(const Faults *faults, MemoryUse use)
{
	return (use == MEMORY_COLUMN && faults->no_upload_memory) ||
		(use == MEMORY_BVH && faults->no_build_memory) ||
		(use == MEMORY_SCRATCH && faults->no_scratch_memory);
}

bool
memory_on_device(Context *context, MemoryUse use, uint64_t size, VkBufferUsageFlags more_usage, Memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	if (refuse(&context->faults, use) || context->memory_used + size > context->memory_limit ||
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

/* ---------------------------------------------------------------- commands */

static void
barrier(Context *context, VkPipelineStageFlags from, VkAccessFlags written,
		VkPipelineStageFlags to, VkAccessFlags accessed)
{
	VkMemoryBarrier memory = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = accessed};

	vkCmdPipelineBarrier(context->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

void
context_barrier(Context *context)
{
	barrier(context, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
			VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

void
context_shader_barrier(Context *context, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
	barrier(context, from, VK_ACCESS_SHADER_WRITE_BIT, to, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void
submission_open(Context *context, Submission *submission)
{
	VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = context->family};
	VkCommandBufferAllocateInfo commands = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
	VkQueryPoolCreateInfo timestamps = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2};

	*submission = (Submission) {0};
	check(vkCreateCommandPool(context->device, &pool, NULL, &submission->pool), "vkCreateCommandPool");
	commands.commandPool = submission->pool;
	check(vkAllocateCommandBuffers(context->device, &commands, &submission->commands), "vkAllocateCommandBuffers");
	check(vkCreateFence(context->device, &(VkFenceCreateInfo) {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO},
						NULL, &submission->fence), "vkCreateFence");
	check(vkCreateQueryPool(context->device, &timestamps, NULL, &submission->timestamps), "vkCreateQueryPool");
}

void
submission_begin(Context *context, Submission *submission)
{
	VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};

	check(vkResetCommandPool(context->device, submission->pool, 0), "vkResetCommandPool");
	check(vkBeginCommandBuffer(submission->commands, &info), "vkBeginCommandBuffer");
	vkCmdResetQueryPool(submission->commands, submission->timestamps, 0, 2);
	vkCmdWriteTimestamp(submission->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, submission->timestamps, 0);
	context->commands = submission->commands;
}

void
submission_start(Context *context, Submission *submission)
{
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1, .pCommandBuffers = &submission->commands};

	/* This barrier is only for the host; the next submission need not wait. */
	barrier(context, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
			VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
	vkCmdWriteTimestamp(submission->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, submission->timestamps, 1);
	check(vkEndCommandBuffer(submission->commands), "vkEndCommandBuffer");
	context->commands = VK_NULL_HANDLE;
	if (++context->submissions == context->faults.lost_at)
		fail("the device is lost (an injected fault)");
	clocks_note_use(&context->clocks);
	check(vkQueueSubmit(context->queue, 1, &info, submission->fence), "vkQueueSubmit");
	submission->running = true;
	submission->overlaps = context->running++ > 0;
}

bool
submission_is_done(Context *context, const Submission *submission)
{
	VkResult	result = vkGetFenceStatus(context->device, submission->fence);

	if (result == VK_NOT_READY)
		return false;
	check(result, "vkGetFenceStatus");
	return true;
}

uint64_t
submission_limit(const Context *context)
{
	const uint64_t second = 1000 * 1000 * 1000;

	return (context->software ? 300 : 30) * second;
}

/* Wait for a submission.  Poll at first, since being woken takes as long as a short submission. */
static void
wait_for(Context *context, Submission *submission)
{
	uint64_t	start = clock_now();

	while (!context->software && clock_now() - start < WATCH_TIME)
		if (submission_is_done(context, submission))
			return;
	check(vkWaitForFences(context->device, 1, &submission->fence, VK_TRUE, submission_limit(context)),
		  "vkWaitForFences");
}

/* Return the ticks from one timestamp to a later one, or 0 if it is not later. */
static uint64_t
ticks_between(const Context *context, uint64_t from, uint64_t to)
{
	uint64_t	ticks = (to - from) & context->timestamp_mask;

	return ticks <= context->timestamp_mask / 2 ? ticks : 0;
}

uint64_t
submission_finish(Context *context, Submission *submission)
{
	uint64_t	times[2] = {0};
	uint64_t	overlap = 0,
				ticks;

	wait_for(context, submission);
	check(vkResetFences(context->device, 1, &submission->fence), "vkResetFences");
	check(vkGetQueryPoolResults(context->device, submission->timestamps, 0, 2, sizeof(times), times, sizeof(uint64_t),
								VK_QUERY_RESULT_64_BIT), "vkGetQueryPoolResults");
	submission->running = false;
	context->running--;
	if (submission->overlaps)
		overlap = ticks_between(context, times[0], context->last_end);
	ticks = ticks_between(context, times[0], times[1]);
	/* A submission that was started later may have been finished first. */
	if (overlap > ticks)
		overlap = 0;
	context->last_end = times[1];
	return (uint64_t) ((ticks - overlap) * context->timestamp_period);
}

VkCommandBuffer
context_begin(Context *context)
{
	submission_begin(context, &context->own);
	return context->commands;
}

uint64_t
context_submit(Context *context)
{
	context_barrier(context);
	submission_start(context, &context->own);
	return submission_finish(context, &context->own);
}
