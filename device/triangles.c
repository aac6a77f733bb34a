/* SPDX-License-Identifier: PostgreSQL */
/*
 * triangles.c
 *		Build the BVH of a space from triangles, and the rows' records.
 */
#include "triangles.h"

#include <stdlib.h>
#include <string.h>

#include "shader.h"
#include "space_keys.h"
#include "space_triangles.h"
#include "tasks.h"

#define VERTEX_SIZE		(3 * sizeof(float))
#define SCAN_BITS		18
#define RAY_BITS		12

_Static_assert(SPACE_SCAN_SLOTS == 1u << SCAN_BITS && SPACE_RAYS == 1u << RAY_BITS,
			   "keys have bits for all coordinates");
_Static_assert(SPACE_RECORD_WORDS == SPACE_WORDS && SPACE_GROUP == AXIS_GROUP && SPACE_PLACE == AXIS_PLACE &&
			   SPACE_SCAN == AXIS_SCAN,
			   "shaders have the same spaces");

void
triangles_open(TriangleMaker *maker, BvhBuilder *builder)
{
	Context    *context = builder->context;
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(SpaceTask));

	*maker = (TriangleMaker) {
		.builder = builder,
		.layout = layout,
		.keys = shader_compute(context, layout, space_keys_spirv, sizeof(space_keys_spirv)),
		.triangles = shader_compute(context, layout, space_triangles_spirv, sizeof(space_triangles_spirv)),
	};
	if (!memory_on_host(context, HOST_WRITES, SPACE_ATTRIBUTES * sizeof(AttributeTask), 0, &maker->attributes))
		fail("out of memory");
}

/* The source of a BVH of triangles: the rows of a space. */
typedef struct TriangleSource
{
	BvhSource	base;
	const TriangleMaker *maker;
	const Space *space;
} TriangleSource;

static VkAccelerationStructureGeometryKHR
triangles_geometry(const BvhSource *source, uint64_t triangles)
{
	return (VkAccelerationStructureGeometryKHR) {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
		.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR,
		.geometry.triangles = {
			.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR,
			.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT, .vertexData.deviceAddress = triangles,
			.vertexStride = VERTEX_SIZE, .maxVertex = source->rows * 3 - 1, .indexType = VK_INDEX_TYPE_NONE_KHR}};
}

static void
record_triangles(const BvhSource *base, const BvhBuilder *builder, const BvhArrays *arrays)
{
	const TriangleSource *source = (const TriangleSource *) base;
	SpaceTask	task = {
		.attributes = source->maker->attributes.address,
		.keys = arrays->keys[0],
		.triangles = arrays->primitives,
		.records = arrays->kept,
		.rows = base->rows,
		.count = source->space->count,
		.places = source->space->slots[SPACE_PLACE],
		.record_words = source->space->record_words,
		.scan_bits = SCAN_BITS,
		.leg = SPACE_LEG,
	};

	bvh_dispatch(builder, base, source->maker->layout, source->maker->keys, &task, sizeof(task));
	task.values = bvh_sort(builder, base, arrays, 0, SCAN_BITS + RAY_BITS);
	bvh_dispatch(builder, base, source->maker->layout, source->maker->triangles, &task, sizeof(task));
}

/* ---------------------------------------------------------------- attributes */

static Resident *
column_of(const TriangleMaker *maker, const SegmentKey *segment, const SpaceAttribute *attribute)
{
	ResidentKey key = cache_column_key(segment, attribute->column, attribute->form);

	return cache_find(maker->builder->cache, &key);
}

/*
 * Write the attributes, with the locations of their columns, where shaders read them.  Returns false if a column is
 * not on the device.
 */
static bool
write_attributes(TriangleMaker *maker, const SegmentKey *segment, const Space *space)
{
	AttributeTask *tasks = (AttributeTask *) maker->attributes.host;

	for (uint32_t i = 0; i < space->count; i++)
	{
		const SpaceAttribute *attribute = &space->attributes[i];
		const Resident *column = column_of(maker, segment, attribute);

		if (column == NULL)
			return false;
		tasks[i] = (AttributeTask) {
			.values = cache_elements(column, 0),
			.axis = attribute->axis,
			.shift = attribute->shift,
			.slots = attribute->slots,
			.stride = attribute->stride,
		};
		tasks[i].values.field = space_field(attribute);
	}
	return true;
}

/* Make the key of a space's BVH: bitmaps of its attributes' columns, by form, and of the columns on the axis SCAN. */
static ResidentKey
triangles_key(const SegmentKey *segment, const Space *space)
{
	ResidentKey key = {.segment = *segment, .kind = RESIDENT_TRIANGLES};

	for (uint32_t i = 0; i < space->count; i++)
	{
		const SpaceAttribute *attribute = &space->attributes[i];

		key.columns[attribute->form] |= UINT32_C(1) << attribute->column;
		if (attribute->axis == SPACE_SCAN)
			key.columns[COLUMN_FORMS] |= UINT32_C(1) << attribute->column;
	}
	return key;
}

static Space *
plan_space(const Space *attributes)
{
	Space	   *space = malloc(sizeof(Space));

	if (space == NULL)
		fail("out of memory");
	*space = *attributes;
	space_plan(space);
	return space;
}

static DeviceResult
build_triangles(TriangleMaker *maker, const ResidentKey *key, const Space *attributes, uint32_t rows, Resident **bvh)
{
	Space	   *space = plan_space(attributes);
	TriangleSource source = {
		.base = {
			.rows = rows,
			.primitive_bytes = 3 * VERTEX_SIZE,
			.kept_bytes = space->record_words * sizeof(uint32_t),
			.geometry = triangles_geometry,
			.record = record_triangles,
		},
		.maker = maker, .space = space};
	DeviceResult result = write_attributes(maker, &key->segment, space) ?
		bvh_build(maker->builder, key, &source.base, bvh) : DEVICE_NO_MEMORY;

	if (result == DEVICE_OK)
		(*bvh)->space = space;
	else
		free(space);
	return result;
}

DeviceResult
triangles_get(TriangleMaker *maker, const SegmentKey *segment, const Space *space, uint32_t rows, Resident **bvh)
{
	ResidentKey key = triangles_key(segment, space);

	*bvh = cache_find(maker->builder->cache, &key);
	return *bvh ? DEVICE_OK : build_triangles(maker, &key, space, rows, bvh);
}
