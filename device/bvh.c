/*
 * bvh.c
 *		Build BVHs.
 *
 *		codes ──► unique ranks of each column ──► Morton order ──► boxes ──► bottom level
 *		                                                              (compacted) ──► top level
 *
 * The first submission ends with the bottom level, whose compacted size the host must know;
 * the second one copies it to where it stays, and puts the one instance above it.
 */
#include "bvh.h"

#include <stdlib.h>
#include <string.h>

#include "bvh_boxes.h"
#include "bvh_keys.h"
#include "bvh_order.h"
#include "bvh_ranks.h"
#include "shader.h"
#include "structure.h"
#include "tasks.h"

#define BOX_SIZE		sizeof(VkAabbPositionsKHR)
#define PART_ALIGNMENT	256

/* Of a rank, for the Morton order. */
#define MORTON_BITS		10

void
bvh_open(BvhBuilder *builder, Context *context, Cache *cache, const RayTuning *tuning)
{
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(BvhTask));
	VkQueryPoolCreateInfo sizes = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR, .queryCount = 1};

	*builder = (BvhBuilder) {
		.context = context,
		.cache = cache,
		.tuning = *tuning,
		.layout = layout,
		.keys = shader_compute(context, layout, bvh_keys_spirv, sizeof(bvh_keys_spirv)),
		.ranks = shader_compute(context, layout, bvh_ranks_spirv, sizeof(bvh_ranks_spirv)),
		.order = shader_compute(context, layout, bvh_order_spirv, sizeof(bvh_order_spirv)),
		.boxes = shader_compute(context, layout, bvh_boxes_spirv, sizeof(bvh_boxes_spirv)),
	};
	sort_open(&builder->sorter, context);
	check(vkCreateQueryPool(context->device, &sizes, NULL, &builder->sizes), "vkCreateQueryPool");
}

/* An even number of about this size, within bounds that slabs.h sets. */
static uint32_t
even(double value, uint32_t least, uint32_t largest)
{
	uint32_t	rounded = value < largest ? (uint32_t) value & ~1u : largest & ~1u;

	return rounded < least ? least : rounded;
}

RayParameters
bvh_parameters(const BvhBuilder *builder, uint32_t columns, uint32_t rows)
{
	RayParameters parameters = slabs_default_parameters((int) columns, rows);
	const RayTuning *tuning = &builder->tuning;
	uint32_t	spacing = parameters.width - parameters.spacing;
	uint32_t	gap = parameters.width - parameters.gap;

	parameters.width = even(parameters.width * tuning->width, 4, SLABS_MAX_ROWS);
	parameters.length = even(parameters.length * tuning->length, 2, SLABS_MAX_ROWS - parameters.width / 2);
	parameters.spacing = even((parameters.width - spacing) * tuning->spacing, 2, parameters.width);
	parameters.gap = even((parameters.width - gap) * tuning->gap, 0, parameters.width);
	parameters.direction = tuning->direction;
	return parameters;
}

ResidentKey
bvh_key(Resident *const *columns, uint32_t count)
{
	ResidentKey key = {.segment = columns[0]->key.segment, .kind = RESIDENT_BVH};

	for (uint32_t i = 0; i < count; i++)
		key.columns[i] = columns[i]->key.columns[0];
	return key;
}

/* ---------------------------------------------------------------- a build */

/* Parts of the scratch memory: a build is over before the next one begins. */
typedef struct Parts
{
	uint64_t	keys[2];
	uint64_t	values[2];
	uint64_t	ranks;
	uint64_t	boxes;
	uint64_t	primitives;
	uint64_t	sort;
	uint64_t	build;			/* the driver's scratch */
	uint64_t	size;
} Parts;

typedef struct Build
{
	BvhBuilder *builder;
	Resident   *const *columns;
	uint32_t	count;
	uint32_t	rows;
	uint32_t	width;			/* of boxes */
	VkAccelerationStructureGeometryKHR geometry;
	VkAccelerationStructureBuildSizesInfoKHR bottom_sizes;
	VkAccelerationStructureBuildSizesInfoKHR top_sizes;
	Memory		scratch;
	Parts		parts;			/* addresses in scratch */
	Memory		large;			/* the bottom level before it is compacted */
	VkAccelerationStructureKHR large_bottom;
	Memory		instance;
} Build;

static uint64_t
take_part(uint64_t *used, uint64_t size)
{
	uint64_t	part = *used;

	*used = device_align(part + size, PART_ALIGNMENT);
	return part;
}

static Parts
lay_out_parts(const Build *build, uint64_t base)
{
	uint64_t	rows = build->rows;
	uint64_t	alignment = build->builder->context->structure_properties.minAccelerationStructureScratchOffsetAlignment;
	uint64_t	end = base;
	Parts		parts;

	for (int i = 0; i < 2; i++)
	{
		parts.keys[i] = take_part(&end, rows * sizeof(uint64_t));
		parts.values[i] = take_part(&end, rows * sizeof(uint32_t));
	}
	parts.ranks = take_part(&end, rows * sizeof(uint32_t) * build->count);
	parts.boxes = take_part(&end, rows * BOX_SIZE);
	parts.primitives = take_part(&end, rows * sizeof(uint32_t));
	parts.sort = take_part(&end, sort_scratch_size(build->rows));
	end = device_align(end, alignment);
	parts.build = take_part(&end, build->bottom_sizes.buildScratchSize > build->top_sizes.buildScratchSize ?
							build->bottom_sizes.buildScratchSize : build->top_sizes.buildScratchSize);
	/* The memory's address need not be aligned as the driver's scratch must be. */
	parts.size = end - base + alignment;
	return parts;
}

static VkAccelerationStructureGeometryKHR
boxes_geometry(uint64_t boxes)
{
	return (VkAccelerationStructureGeometryKHR) {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
		.geometryType = VK_GEOMETRY_TYPE_AABBS_KHR,
		.geometry.aabbs = {
			.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR,
			.data.deviceAddress = boxes, .stride = BOX_SIZE},
		.flags = VK_GEOMETRY_OPAQUE_BIT_KHR};
}

/* ---------------------------------------------------------------- the first submission */

/* Run a shader with a thread a row. */
static void
dispatch_rows(Build *build, VkPipeline pipeline, const BvhTask *task)
{
	Context    *context = build->builder->context;

	shader_dispatch(context, build->builder->layout, pipeline, task, sizeof(*task),
					(build->rows + BVH_GROUP - 1) / BVH_GROUP);
	context_barrier(context);
}

/* Sort the keys; the address of the values in their order. */
static uint64_t
sort_rows(Build *build, uint32_t first_bit, uint32_t bits)
{
	Parts	   *parts = &build->parts;
	SortArrays	arrays = {{parts->keys[0], parts->keys[1]}, {parts->values[0], parts->values[1]}, parts->sort};

	return parts->values[sort_record(&build->builder->sorter, &arrays, build->rows, first_bit, bits, true)];
}

static uint32_t
bits_of(uint32_t largest)
{
	return largest == 0 ? 1 : 32 - (uint32_t) __builtin_clz(largest);
}

/* Unique ranks of the rows in a column of the group. */
static void
record_ranks(Build *build, BvhTask *task, uint32_t number)
{
	const Resident *column = build->columns[number];
	const ColumnShape *shape = &column->shape;

	task->column = number;
	task->codes = shape->heap_order ? 0 : column->memory.address + column->layout.codes;
	task->code_bytes = shape->code_bytes;
	task->values = 0;
	if (!shape->heap_order && shape->distinct < shape->rows)
	{
		/* By hash, which is the low half, then by code. */
		task->keys = build->parts.keys[0];
		dispatch_rows(build, build->builder->keys, task);
		task->values = sort_rows(build, 0, 32 + bits_of(shape->distinct));
	}
	dispatch_rows(build, build->builder->ranks, task);
}

static void
record_boxes(Build *build)
{
	BvhTask		task = {
		.ranks = build->parts.ranks,
		.boxes = build->parts.boxes,
		.primitives = build->parts.primitives,
		.rows = build->rows,
		.columns = build->count,
		.half_width = build->width / 2,
		.shift = bits_of(build->rows) > MORTON_BITS ? bits_of(build->rows) - MORTON_BITS : 0,
	};

	for (uint32_t c = 0; c < build->count; c++)
		record_ranks(build, &task, c);
	task.keys = build->parts.keys[0];
	dispatch_rows(build, build->builder->order, &task);
	task.values = sort_rows(build, 0, 3 * MORTON_BITS);
	dispatch_rows(build, build->builder->boxes, &task);
}

/* Build the bottom level; its compacted size. */
static uint64_t
build_bottom(Build *build)
{
	Context    *context = build->builder->context;
	VkAccelerationStructureBuildGeometryInfoKHR info;
	const VkAccelerationStructureBuildRangeInfoKHR range = {.primitiveCount = build->rows};
	const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
	uint64_t	size;

	build->geometry = boxes_geometry(build->parts.boxes);
	info = structure_build_info(VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &build->geometry);
	info.dstAccelerationStructure = build->large_bottom;
	info.scratchData.deviceAddress = build->parts.build;
	context_begin(context);
	vkCmdResetQueryPool(context->commands, build->builder->sizes, 0, 1);
	record_boxes(build);
	vkCmdBuildAccelerationStructuresKHR(context->commands, 1, &info, &ranges);
	context_barrier(context);
	vkCmdWriteAccelerationStructuresPropertiesKHR(context->commands, 1, &build->large_bottom,
												  VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR,
												  build->builder->sizes, 0);
	build->builder->nanoseconds += context_submit(context);
	check(vkGetQueryPoolResults(context->device, build->builder->sizes, 0, 1, sizeof(size), &size, sizeof(size),
								VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT), "vkGetQueryPoolResults");
	return size;
}

/* ---------------------------------------------------------------- the second submission */

static void
build_top(Build *build, Resident *bvh, uint64_t primitives)
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
	VkBufferCopy copy = {build->parts.primitives - build->scratch.address, primitives,
		build->rows * sizeof(uint32_t)};

	info.dstAccelerationStructure = bvh->top;
	info.scratchData.deviceAddress = build->parts.build;
	structure_write_instance(context, bvh->bottom, &build->instance);
	context_begin(context);
	vkCmdCopyAccelerationStructureKHR(context->commands, &compact);
	vkCmdCopyBuffer(context->commands, build->scratch.buffer, bvh->memory.buffer, 1, &copy);
	context_barrier(context);
	vkCmdBuildAccelerationStructuresKHR(context->commands, 1, &info, &ranges);
	build->builder->nanoseconds += context_submit(context);
}

/* Memory for both levels and the primitives' rows, and the levels in it. */
static bool
create_levels(Build *build, Resident *bvh, uint64_t bottom_size, uint64_t *primitives)
{
	Context    *context = build->builder->context;
	uint64_t	end = 0;
	uint64_t	bottom = take_part(&end, bottom_size);
	uint64_t	top = take_part(&end, build->top_sizes.accelerationStructureSize);

	*primitives = take_part(&end, build->rows * sizeof(uint32_t));
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
	uint64_t	primitives;

	if (!create_levels(build, bvh, bottom_size, &primitives))
		return false;
	build_top(build, bvh, primitives);
	bvh->top_address = structure_address(build->builder->context, bvh->top);
	bvh->primitives = bvh->memory.address + primitives;
	return true;
}

/* ---------------------------------------------------------------- both */

/* An index has many segments of one size: allocating takes longer than building. */
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

/* Memory that is needed while it is built. */
static bool
prepare(Build *build)
{
	Context    *context = build->builder->context;
	Cache	   *cache = build->builder->cache;
	VkAccelerationStructureGeometryKHR boxes = boxes_geometry(0);
	VkAccelerationStructureGeometryKHR instance = structure_instances(0);

	build->bottom_sizes = structure_sizes(context, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &boxes, build->rows);
	build->top_sizes = structure_sizes(context, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, &instance, 1);
	if (!take_scratch(build, lay_out_parts(build, 0).size) ||
		!cache_allocate(cache, MEMORY_BVH, build->bottom_sizes.accelerationStructureSize,
						VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, &build->large) ||
		!memory_on_host(context, HOST_WRITES, sizeof(VkAccelerationStructureInstanceKHR),
						VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR, &build->instance))
		return false;
	build->parts = lay_out_parts(build, build->scratch.address);
	return structure_create(context, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, &build->large, 0,
							build->bottom_sizes.accelerationStructureSize, &build->large_bottom);
}

static void
clean_up(Build *build)
{
	Context    *context = build->builder->context;

	vkDestroyAccelerationStructureKHR(context->device, build->large_bottom, NULL);
	memory_free(context, &build->large);
	memory_free(context, &build->instance);
	memory_free(context, &build->builder->cache->spare);
	build->builder->cache->spare = build->scratch;
}

static Resident *
build_bvh(BvhBuilder *builder, const ResidentKey *key, Resident *const *columns, uint32_t count)
{
	Build		build = {
		.builder = builder, .columns = columns, .count = count, .rows = columns[0]->shape.rows,
		.width = bvh_parameters(builder, count, columns[0]->shape.rows).width};
	Resident   *bvh = calloc(1, sizeof(Resident));
	bool		built;

	if (bvh == NULL)
		fail("out of memory");
	bvh->key = *key;
	built = prepare(&build) && finish_bvh(&build, bvh, build_bottom(&build));
	clean_up(&build);
	if (!built)
	{
		cache_free(builder->cache, bvh);
		return NULL;
	}
	builder->builds++;
	cache_add(builder->cache, bvh);
	return bvh;
}

Resident *
bvh_get(BvhBuilder *builder, Resident *const *columns, uint32_t count)
{
	ResidentKey key = bvh_key(columns, count);
	Resident   *bvh = cache_find(builder->cache, &key);

	return bvh ? bvh : build_bvh(builder, &key, columns, count);
}
