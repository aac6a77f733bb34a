/* SPDX-License-Identifier: PostgreSQL */
/*
 * bvh.c
 *		Build BVHs.
 *
 * A build takes two submissions.  The first one builds the bottom level and finds its compacted size, for which
 * the host then allocates memory.  The second one compacts the bottom level into this memory, and builds the top
 * level, whose only instance is the bottom level.
 */
#include "bvh.h"

#include <stdlib.h>
#include <string.h>

#include "shader.h"
#include "structure.h"
#include "tasks.h"

#define ARRAY_ALIGNMENT	256

void
bvh_open(BvhBuilder *builder, Context *context, Cache *cache)
{
	VkQueryPoolCreateInfo sizes = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR, .queryCount = 1};

	*builder = (BvhBuilder) {.context = context, .cache = cache};
	sort_open(&builder->sorter, context);
	check(vkCreateQueryPool(context->device, &sizes, NULL, &builder->sizes), "vkCreateQueryPool");
}

uint64_t
bvh_sort(const BvhBuilder *builder, const BvhSource *source, const BvhArrays *arrays, uint32_t first_bit, uint32_t bits)
{
	SortArrays	sort = {{arrays->keys[0], arrays->keys[1]}, {arrays->values[0], arrays->values[1]}, arrays->sort};

	return arrays->values[sort_record(&builder->sorter, &sort, source->rows, first_bit, bits, true)];
}

void
bvh_dispatch(const BvhBuilder *builder, const BvhSource *source, VkPipelineLayout layout, VkPipeline pipeline,
			 const void *task, uint32_t size)
{
	shader_dispatch(builder->context, layout, pipeline, task, size, (source->rows + BVH_GROUP - 1) / BVH_GROUP);
	context_barrier(builder->context);
}

/* ---------------------------------------------------------------- a build */

typedef struct Build
{
	BvhBuilder *builder;
	const BvhSource *source;
	VkAccelerationStructureGeometryKHR geometry;
	VkAccelerationStructureBuildSizesInfoKHR bottom_sizes;
	VkAccelerationStructureBuildSizesInfoKHR top_sizes;
	Memory		scratch;		/* memory of "arrays" and "driver"; the next build can reuse it */
	BvhArrays	arrays;			/* addresses in scratch */
	uint64_t	driver;			/* address of the driver's own scratch memory, in scratch */
	Memory		large;			/* memory of the bottom level before it is compacted */
	VkAccelerationStructureKHR large_bottom;
	Memory		instance;
} Build;

static uint64_t
take_bytes(uint64_t *used, uint64_t size)
{
	uint64_t	first = *used;

	*used = device_align(first + size, ARRAY_ALIGNMENT);
	return first;
}

/* Lay out all arrays from the address "base" on.  Returns the bytes to allocate for them. */
static uint64_t
lay_out_arrays(Build *build, uint64_t base)
{
	const BvhSource *source = build->source;
	uint64_t	rows = source->rows;
	uint64_t	alignment =
		build->builder->context->structure_properties.minAccelerationStructureScratchOffsetAlignment;
	uint64_t	end = base;
	BvhArrays  *arrays = &build->arrays;

	for (int i = 0; i < 2; i++)
	{
		arrays->keys[i] = take_bytes(&end, rows * sizeof(uint64_t));
		arrays->values[i] = take_bytes(&end, rows * sizeof(uint32_t));
	}
	arrays->work = take_bytes(&end, rows * source->work_bytes);
	arrays->primitives = take_bytes(&end, rows * source->primitive_bytes);
	arrays->kept = take_bytes(&end, rows * source->kept_bytes);
	arrays->sort = take_bytes(&end, sort_scratch_size(source->rows));
	end = device_align(end, alignment);
	build->driver = take_bytes(&end, build->bottom_sizes.buildScratchSize > build->top_sizes.buildScratchSize ?
							   build->bottom_sizes.buildScratchSize : build->top_sizes.buildScratchSize);
	/* Reserve room to align the driver's memory: this size is needed before the address of build->scratch is known. */
	return end - base + alignment;
}

/* ---------------------------------------------------------------- the first submission */

/* Build the bottom level.  Returns its compacted size. */
static uint64_t
build_bottom(Build *build)
{
	BvhBuilder *builder = build->builder;
	Context    *context = builder->context;
	VkAccelerationStructureBuildGeometryInfoKHR info;
	const VkAccelerationStructureBuildRangeInfoKHR range = {.primitiveCount = build->source->rows};
	const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
	uint64_t	size;

	build->geometry = build->source->geometry(build->source, build->arrays.primitives);
	info = structure_build_info(VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &build->geometry);
	info.dstAccelerationStructure = build->large_bottom;
	info.scratchData.deviceAddress = build->driver;
	context_begin(context);
	vkCmdResetQueryPool(context->commands, builder->sizes, 0, 1);
	build->source->record(build->source, builder, &build->arrays);
	vkCmdBuildAccelerationStructuresKHR(context->commands, 1, &info, &ranges);
	context_barrier(context);
	vkCmdWriteAccelerationStructuresPropertiesKHR(context->commands, 1, &build->large_bottom,
												  VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR,
												  builder->sizes, 0);
	builder->nanoseconds += context_submit(context);
	check(vkGetQueryPoolResults(context->device, builder->sizes, 0, 1, sizeof(size), &size, sizeof(size),
								VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT), "vkGetQueryPoolResults");
	return size;
}

/* ---------------------------------------------------------------- the second submission */

static uint64_t
kept_size(const Build *build)
{
	return (uint64_t) build->source->rows * build->source->kept_bytes;
}

static void
build_top(Build *build, Resident *bvh, uint64_t kept)
{
	Context    *context = build->builder->context;
	VkAccelerationStructureGeometryKHR geometry = structure_instances(build->instance.address);
	VkAccelerationStructureBuildGeometryInfoKHR info =
		structure_build_info(VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, &geometry);
	const VkAccelerationStructureBuildRangeInfoKHR range = {.primitiveCount = 1};
	const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
	VkCopyAccelerationStructureInfoKHR compact = {
		.sType = VK_STRUCTURE_TYPE_COPY_ACCELERATION_STRUCTURE_INFO_KHR,
		.src = build->large_bottom, .dst = bvh->bottom,
		.mode = VK_COPY_ACCELERATION_STRUCTURE_MODE_COMPACT_KHR};
	VkBufferCopy copy = {build->arrays.kept - build->scratch.address, kept, kept_size(build)};

	info.dstAccelerationStructure = bvh->top;
	info.scratchData.deviceAddress = build->driver;
	structure_write_instance(context, bvh->bottom, &build->instance);
	context_begin(context);
	vkCmdCopyAccelerationStructureKHR(context->commands, &compact);
	vkCmdCopyBuffer(context->commands, build->scratch.buffer, bvh->memory.buffer, 1, &copy);
	context_barrier(context);
	vkCmdBuildAccelerationStructuresKHR(context->commands, 1, &info, &ranges);
	build->builder->nanoseconds += context_submit(context);
}

/* Allocate memory for both levels and the kept data, and create the levels in it. */
static bool
create_levels(Build *build, Resident *bvh, uint64_t bottom_size, uint64_t *kept)
{
	Context    *context = build->builder->context;
	uint64_t	end = 0;
	uint64_t	bottom = take_bytes(&end, bottom_size);
	uint64_t	top = take_bytes(&end, build->top_sizes.accelerationStructureSize);

	*kept = take_bytes(&end, kept_size(build));
	return cache_allocate(build->builder->cache, MEMORY_BVH, end,
						  VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, &bvh->memory) &&
		structure_create(context, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &bvh->memory, bottom,
						 bottom_size, &bvh->bottom) &&
		structure_create(context, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, &bvh->memory, top,
						 build->top_sizes.accelerationStructureSize, &bvh->top);
}

static bool
finish_bvh(Build *build, Resident *bvh, uint64_t bottom_size)
{
	uint64_t	kept;

	if (!create_levels(build, bvh, bottom_size, &kept))
		return false;
	build_top(build, bvh, kept);
	bvh->top_address = structure_address(build->builder->context, bvh->top);
	bvh->kept = bvh->memory.address + kept;
	return true;
}

/* ---------------------------------------------------------------- the whole build */

/*
 * Reuse the scratch memory of the last build if it is large enough.  An index has many segments of one size, and
 * allocating takes longer than building.
 */
static bool
take_scratch(Build *build, uint64_t size)
{
	Cache	   *cache = build->builder->cache;

	if (cache->spare.size >= size)
	{
		build->scratch = cache->spare;
		memset(&cache->spare, 0, sizeof(cache->spare));
		return true;
	}
	return cache_allocate(cache, MEMORY_BVH, size,
						  VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR, &build->scratch);
}

/* Allocate the memory that is needed during the build. */
static bool
allocate_build(Build *build)
{
	Context    *context = build->builder->context;
	Cache	   *cache = build->builder->cache;
	VkAccelerationStructureGeometryKHR primitives = build->source->geometry(build->source, 0);
	VkAccelerationStructureGeometryKHR instance = structure_instances(0);

	build->bottom_sizes = structure_sizes(context, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &primitives,
										  build->source->rows);
	build->top_sizes = structure_sizes(context, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, &instance, 1);
	if (!take_scratch(build, lay_out_arrays(build, 0)) ||
		!cache_allocate(cache, MEMORY_BVH, build->bottom_sizes.accelerationStructureSize,
						VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, &build->large) ||
		!memory_on_host(context, HOST_WRITES, sizeof(VkAccelerationStructureInstanceKHR),
						VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR, &build->instance))
		return false;
	lay_out_arrays(build, build->scratch.address);
	return structure_create(context, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &build->large, 0,
							build->bottom_sizes.accelerationStructureSize, &build->large_bottom);
}

static void
free_build(Build *build)
{
	Context    *context = build->builder->context;

	vkDestroyAccelerationStructureKHR(context->device, build->large_bottom, NULL);
	memory_free(context, &build->large);
	memory_free(context, &build->instance);
	memory_free(context, &build->builder->cache->spare);
	build->builder->cache->spare = build->scratch;
}

DeviceResult
bvh_build(BvhBuilder *builder, const ResidentKey *key, const BvhSource *source, Resident **bvh)
{
	Build		build = {.builder = builder, .source = source};
	bool		built;

	if (builder->allowed == 0)
		return DEVICE_NOT_BUILT;
	*bvh = calloc(1, sizeof(Resident));
	if (*bvh == NULL)
		fail("out of memory");
	(*bvh)->key = *key;
	(*bvh)->shape.rows = source->rows;
	built = allocate_build(&build) && finish_bvh(&build, *bvh, build_bottom(&build));
	free_build(&build);
	if (!built)
	{
		cache_free(builder->cache, *bvh);
		return DEVICE_NO_MEMORY;
	}
	builder->allowed--;
	builder->builds++;
	cache_add(builder->cache, *bvh);
	return DEVICE_OK;
}
