/* SPDX-License-Identifier: PostgreSQL */
/*
 * scene.c
 *		Build a BVH of triangles or boxes in two submissions, as device/bvh.c does.
 */
#include "scene.h"

#include <string.h>

#include "../../device/protocol.h"
#include "../../device/structure.h"

#define BOTTOM	VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR
#define TOP		VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR
#define STORAGE	VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR

#define PART_ALIGNMENT	256

/* The state of a build. */
typedef struct Build
{
	Context    *context;
	VkAccelerationStructureGeometryKHR geometry;
	uint32_t	count;
	VkAccelerationStructureBuildSizesInfoKHR bottom_sizes;
	VkAccelerationStructureBuildSizesInfoKHR top_sizes;
	Memory		scratch;
	uint64_t	scratch_address;
	Memory		large;			/* the bottom level before it is compacted */
	VkAccelerationStructureKHR large_bottom;
	Memory		instance;
	VkQueryPool sizes;
} Build;

/* Describe the primitives.  Any-hit shaders must be called once for each, since they count. */
static VkAccelerationStructureGeometryKHR
geometry_of(VkGeometryTypeKHR type, VkDeviceAddress primitives, uint32_t count)
{
	VkAccelerationStructureGeometryKHR geometry = {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
		.geometryType = type,
		.flags = VK_GEOMETRY_NO_DUPLICATE_ANY_HIT_INVOCATION_BIT_KHR};

	if (type == VK_GEOMETRY_TYPE_TRIANGLES_KHR)
		geometry.geometry.triangles = (VkAccelerationStructureGeometryTrianglesDataKHR) {
			.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR,
			.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT, .vertexData.deviceAddress = primitives,
			.vertexStride = 3 * sizeof(float), .maxVertex = 3 * count - 1, .indexType = VK_INDEX_TYPE_NONE_KHR};
	else
		geometry.geometry.aabbs = (VkAccelerationStructureGeometryAabbsDataKHR) {
			.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR,
			.data.deviceAddress = primitives, .stride = BOX_BYTES};
	return geometry;
}

static bool
prepare(Build *build)
{
	Context    *context = build->context;
	uint64_t	alignment = context->structure_properties.minAccelerationStructureScratchOffsetAlignment;
	VkAccelerationStructureGeometryKHR instance = structure_instances(0);
	VkQueryPoolCreateInfo sizes = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR, .queryCount = 1};
	uint64_t	scratch;

	build->bottom_sizes = structure_sizes(context, BOTTOM, &build->geometry, build->count);
	build->top_sizes = structure_sizes(context, TOP, &instance, 1);
	scratch = build->bottom_sizes.buildScratchSize > build->top_sizes.buildScratchSize ?
		build->bottom_sizes.buildScratchSize : build->top_sizes.buildScratchSize;
	check(vkCreateQueryPool(context->device, &sizes, NULL, &build->sizes), "vkCreateQueryPool");
	if (!memory_on_device(context, MEMORY_BVH, scratch + alignment, 0, &build->scratch) ||
		!memory_on_device(context, MEMORY_BVH, build->bottom_sizes.accelerationStructureSize, STORAGE, &build->large) ||
		!memory_on_host(context, HOST_WRITES, sizeof(VkAccelerationStructureInstanceKHR), SCENE_INPUT,
						&build->instance))
		return false;
	build->scratch_address = device_align(build->scratch.address, alignment);
	return structure_create(context, BOTTOM, &build->large, 0, build->bottom_sizes.accelerationStructureSize,
							&build->large_bottom);
}

/* Run the first submission.  Returns the bottom level's compacted size. */
static uint64_t
build_bottom(Build *build, Scene *scene)
{
	Context    *context = build->context;
	VkAccelerationStructureBuildGeometryInfoKHR info = structure_build_info(BOTTOM, &build->geometry);
	const VkAccelerationStructureBuildRangeInfoKHR range = {.primitiveCount = build->count};
	const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
	uint64_t	size;

	info.dstAccelerationStructure = build->large_bottom;
	info.scratchData.deviceAddress = build->scratch_address;
	context_begin(context);
	vkCmdResetQueryPool(context->commands, build->sizes, 0, 1);
	vkCmdBuildAccelerationStructuresKHR(context->commands, 1, &info, &ranges);
	context_barrier(context);
	vkCmdWriteAccelerationStructuresPropertiesKHR(context->commands, 1, &build->large_bottom,
												  VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR, build->sizes,
												  0);
	scene->nanoseconds += context_submit(context);
	check(vkGetQueryPoolResults(context->device, build->sizes, 0, 1, sizeof(size), &size, sizeof(size),
								VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT), "vkGetQueryPoolResults");
	return size;
}

static bool
create_levels(Build *build, Scene *scene, uint64_t bottom_size)
{
	Context    *context = build->context;
	uint64_t	top = device_align(bottom_size, PART_ALIGNMENT);
	uint64_t	top_size = build->top_sizes.accelerationStructureSize;

	return memory_on_device(context, MEMORY_BVH, top + top_size, STORAGE, &scene->memory) &&
		structure_create(context, BOTTOM, &scene->memory, 0, bottom_size, &scene->bottom) &&
		structure_create(context, TOP, &scene->memory, top, top_size, &scene->top);
}

/* Run the second submission. */
static void
build_top(Build *build, Scene *scene)
{
	Context    *context = build->context;
	VkAccelerationStructureGeometryKHR geometry = structure_instances(build->instance.address);
	VkAccelerationStructureBuildGeometryInfoKHR info = structure_build_info(TOP, &geometry);
	const VkAccelerationStructureBuildRangeInfoKHR range = {.primitiveCount = 1};
	const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
	VkCopyAccelerationStructureInfoKHR compact = {
		.sType = VK_STRUCTURE_TYPE_COPY_ACCELERATION_STRUCTURE_INFO_KHR,
		.src = build->large_bottom, .dst = scene->bottom,
		.mode = VK_COPY_ACCELERATION_STRUCTURE_MODE_COMPACT_KHR};

	info.dstAccelerationStructure = scene->top;
	info.scratchData.deviceAddress = build->scratch_address;
	structure_write_instance(context, scene->bottom, &build->instance);
	context_begin(context);
	vkCmdCopyAccelerationStructureKHR(context->commands, &compact);
	context_barrier(context);
	vkCmdBuildAccelerationStructuresKHR(context->commands, 1, &info, &ranges);
	scene->nanoseconds += context_submit(context);
	scene->address = structure_address(context, scene->top);
}

static void
clean_up(Build *build)
{
	Context    *context = build->context;

	vkDestroyAccelerationStructureKHR(context->device, build->large_bottom, NULL);
	vkDestroyQueryPool(context->device, build->sizes, NULL);
	memory_free(context, &build->large);
	memory_free(context, &build->scratch);
	memory_free(context, &build->instance);
}

bool
scene_build(Scene *scene, Context *context, VkGeometryTypeKHR type, VkDeviceAddress primitives, uint32_t count)
{
	Build		build = {.context = context, .geometry = geometry_of(type, primitives, count), .count = count};
	bool		built;

	*scene = (Scene) {0};
	if (count > context->structure_properties.maxPrimitiveCount)
		return false;
	built = prepare(&build) && create_levels(&build, scene, build_bottom(&build, scene));
	if (built)
		build_top(&build, scene);
	else
		scene_free(scene, context);
	clean_up(&build);
	return built;
}

void
scene_free(Scene *scene, Context *context)
{
	vkDestroyAccelerationStructureKHR(context->device, scene->top, NULL);
	vkDestroyAccelerationStructureKHR(context->device, scene->bottom, NULL);
	memory_free(context, &scene->memory);
	*scene = (Scene) {0};
}
