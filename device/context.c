/* SPDX-License-Identifier: PostgreSQL */
/*
 * context.c
 *		The Vulkan device: open it, and submit work to it.
 */
#define VOLK_IMPLEMENTATION
#include "context.h"

#include <string.h>

#include "choose_device.h"

/* PCI id of the vendor whose devices' clocks are kept up. */
#define NVIDIA				0x10DE
/* Most seconds to wait for the clocks to rise before calibration, which would measure wrong times otherwise. */
#define CLOCKS_SECONDS		5

void
check(VkResult result, const char *call)
{
	if (result != VK_SUCCESS)
		fail("%s failed with Vulkan result %d", call, result);
}

/* ---------------------------------------------------------------- opening the device */

/* Return true if the device meets the limits of an optional use; otherwise log why not. */
static bool
supports(const DeviceFacts *facts, LimitUse use, const char *what)
{
	const char *why = limits_missing(facts, use);

	if (why)
		report("device %s %s: %s", facts->properties.deviceName, what, why);
	return why == NULL;
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
	/* A device that is not discrete shares the server's memory, so its limit is a smaller part of the memory. */
	return context->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? largest / 5 * 4 : largest / 5;
}

void
context_open(Context *context, const char *wanted, uint32_t passed_over, uint64_t memory_limit, const Faults *faults)
{
	DeviceFacts facts;
	bool		import;

	memset(context, 0, sizeof(*context));
	context->faults = *faults;
	context->instance = open_vulkan();
	context->physical = choose_device(context->instance, wanted, passed_over, faults->lacks, &facts);
	context->properties = facts.properties;
	context->family = facts.family;
	context->timestamp_mask = UINT64_MAX >> (64 - facts.timestamp_bits);
	context->int64_atomics = supports(&facts, LIMIT_OF_AGGS, "cannot aggregate rows or run the executor rtcudb");
	context->ray_tracing = supports(&facts, LIMIT_OF_RAYS, "cannot trace rays") && !faults->no_ray_tracing;
	import = supports(&facts, LIMIT_OF_IMPORT, "cannot share memory with the server, so answers are copied") &&
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

/* Return the ticks from the timestamp "from" to the timestamp "to", or 0 if "to" is not later. */
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

	/*
	 * If a submission that was started later has been finished first, last_end can be after the end of this
	 * submission.  Then nothing is subtracted.
	 */
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
