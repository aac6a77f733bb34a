/* SPDX-License-Identifier: PostgreSQL */
/*
 * boxes.c
 *		Build the BVH of a group of columns from boxes around the rows' ranks.
 */
#include "boxes.h"

#include "bvh_boxes.h"
#include "bvh_keys.h"
#include "bvh_order.h"
#include "bvh_ranks.h"
#include "shader.h"
#include "tasks.h"

#define BOX_SIZE		sizeof(VkAabbPositionsKHR)

/* Number of a rank's most significant bits that the Morton order uses. */
#define MORTON_BITS		10

void
boxes_open(BoxMaker *maker, BvhBuilder *builder, const RayTuning *tuning)
{
	Context    *context = builder->context;
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(BvhTask));

	*maker = (BoxMaker) {
		.builder = builder,
		.tuning = *tuning,
		.layout = layout,
		.keys = shader_compute(context, layout, bvh_keys_spirv, sizeof(bvh_keys_spirv)),
		.ranks = shader_compute(context, layout, bvh_ranks_spirv, sizeof(bvh_ranks_spirv)),
		.order = shader_compute(context, layout, bvh_order_spirv, sizeof(bvh_order_spirv)),
		.boxes = shader_compute(context, layout, bvh_boxes_spirv, sizeof(bvh_boxes_spirv)),
	};
}

/* Round down to an even number, between "least" and "largest". */
static uint32_t
even_within(double value, uint32_t least, uint32_t largest)
{
	uint32_t	rounded = value < largest ? (uint32_t) value & ~1u : largest & ~1u;

	return rounded < least ? least : rounded;
}

RayParameters
boxes_parameters(const BoxMaker *maker, uint32_t columns, uint32_t rows)
{
	RayParameters parameters = slabs_default_parameters((int) columns, rows);
	const RayTuning *tuning = &maker->tuning;
	uint32_t	spacing = parameters.width - parameters.spacing;
	uint32_t	gap = parameters.width - parameters.gap;

	parameters.width = even_within(parameters.width * tuning->width, 4, SLABS_MAX_ROWS);
	parameters.length = even_within(parameters.length * tuning->length, 2, SLABS_MAX_ROWS - parameters.width / 2);
	parameters.spacing = even_within((parameters.width - spacing) * tuning->spacing, 2, parameters.width);
	parameters.gap = even_within((parameters.width - gap) * tuning->gap, 0, parameters.width);
	parameters.direction = tuning->direction;
	return parameters;
}

/* The source of a BVH of boxes: the rows of a group of columns. */
typedef struct BoxSource
{
	BvhSource	base;
	const BoxMaker *maker;
	Resident   *const *columns;
	uint32_t	count;
} BoxSource;

static VkAccelerationStructureGeometryKHR
boxes_geometry(const BvhSource *source, uint64_t boxes)
{
	(void) source;
	return (VkAccelerationStructureGeometryKHR) {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
		.geometryType = VK_GEOMETRY_TYPE_AABBS_KHR,
		.geometry.aabbs = {
			.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR,
			.data.deviceAddress = boxes, .stride = BOX_SIZE},
		.flags = VK_GEOMETRY_OPAQUE_BIT_KHR};
}

static void
dispatch_rows(const BoxSource *source, VkPipeline pipeline, const BvhTask *task)
{
	bvh_dispatch(source->maker->builder, &source->base, source->maker->layout, pipeline, task, sizeof(*task));
}

/* Record the shaders that compute the rows' unique ranks in column "number" of the group. */
static void
record_ranks(const BoxSource *source, const BvhArrays *arrays, BvhTask *task, uint32_t number)
{
	const Resident *column = source->columns[number];
	const ColumnShape *shape = &column->shape;

	task->column = number;
	task->codes = shape->heap_order ? 0 : column->memory.address + column->layout.codes;
	task->code_bytes = shape->code_bytes;
	task->values = 0;
	if (!shape->heap_order && shape->distinct < shape->rows)
	{
		/* Sort by code, and rows with equal codes by the hash in the low half of the key. */
		task->keys = arrays->keys[0];
		dispatch_rows(source, source->maker->keys, task);
		task->values = bvh_sort(source->maker->builder, &source->base, arrays, 0, 32 + bits_of(shape->distinct));
	}
	dispatch_rows(source, source->maker->ranks, task);
}

static void
record_boxes(const BvhSource *base, const BvhBuilder *builder, const BvhArrays *arrays)
{
	const BoxSource *source = (const BoxSource *) base;
	uint32_t	rows = base->rows;
	BvhTask		task = {
		.ranks = arrays->work,
		.boxes = arrays->primitives,
		.primitives = arrays->kept,
		.rows = rows,
		.columns = source->count,
		.half_width = boxes_parameters(source->maker, source->count, rows).width / 2,
		.shift = bits_of(rows) > MORTON_BITS ? bits_of(rows) - MORTON_BITS : 0,
	};

	for (uint32_t c = 0; c < source->count; c++)
		record_ranks(source, arrays, &task, c);
	task.keys = arrays->keys[0];
	dispatch_rows(source, source->maker->order, &task);
	task.values = bvh_sort(builder, base, arrays, 0, 3 * MORTON_BITS);
	dispatch_rows(source, source->maker->boxes, &task);
}

static ResidentKey
boxes_key(Resident *const *columns, uint32_t count)
{
	ResidentKey key = {.segment = columns[0]->key.segment, .kind = RESIDENT_BOXES};

	for (uint32_t i = 0; i < count; i++)
		key.columns[i] = columns[i]->key.columns[0];
	return key;
}

DeviceResult
boxes_get(BoxMaker *maker, Resident *const *columns, uint32_t count, Resident **bvh)
{
	ResidentKey key = boxes_key(columns, count);
	BoxSource	source = {
		.base = {
			.rows = columns[0]->shape.rows,
			.work_bytes = count * sizeof(uint32_t),
			.primitive_bytes = BOX_SIZE,
			.kept_bytes = sizeof(uint32_t),
			.geometry = boxes_geometry,
			.record = record_boxes,
		},
		.maker = maker, .columns = columns, .count = count};

	*bvh = cache_find(maker->builder->cache, &key);
	return *bvh ? DEVICE_OK : bvh_build(maker->builder, &key, &source.base, bvh);
}
