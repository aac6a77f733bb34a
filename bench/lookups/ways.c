/* SPDX-License-Identifier: PostgreSQL */
/*
 * ways.c
 *		The ways to look up.
 */
#include "ways.h"

#include <stdint.h>

/* Size of a hash table: four fifths of its slots are used. */
#define SLOTS(entries)	((uint32_t) ((uint64_t) (entries) * 5 / 4))

/* Ranges that need more rays than this, along rows of keys, are not looked up by rays. */
#define MAX_RAYS		64

const Way	ways[] = {
	{"binary search", METHOD_SEARCH, ENTRIES_KEYS, 0, 0, 0},
	{"binary search, top in shared memory", METHOD_SEARCH_TOP, ENTRIES_KEYS, 0, 0, 0},
	{"hash", METHOD_HASH, ENTRIES_SIMPLEST, 0, 0, KEYS_ONLY},
	{"RTIndeX: triangles, any hit", METHOD_RAYS, ENTRIES_ROWS, TRACER_ANY_HIT, 0, 0},
	{"RTIndeX: triangles, any hit, compressed", METHOD_RAYS, ENTRIES_KEYS, TRACER_ANY_HIT, 0, DUPLICATES_ONLY},
	{"RTIndeX: triangles, closest hit", METHOD_RAYS, ENTRIES_SIMPLEST, TRACER_CLOSEST_HIT, 0, KEYS_ONLY},
	{"RTIndeX: boxes", METHOD_RAYS, ENTRIES_SIMPLEST, TRACER_BOXES, 0, 0},
	{"RTIndeX: spheres", METHOD_RAYS, ENTRIES_SIMPLEST, TRACER_SPHERES, 0, 0},
	{"cgRX: buckets of 16", METHOD_BUCKETS, ENTRIES_KEYS, TRACER_BUCKETS, 16, VARIANT},
	{"cgRX: buckets of 32", METHOD_BUCKETS, ENTRIES_KEYS, TRACER_BUCKETS, 32, 0},
	{"cgRX: buckets of 64", METHOD_BUCKETS, ENTRIES_KEYS, TRACER_BUCKETS, 64, VARIANT},
	{"cgRX: buckets of 128", METHOD_BUCKETS, ENTRIES_KEYS, TRACER_BUCKETS, 128, VARIANT},
	{"cgRX: buckets of 256", METHOD_BUCKETS, ENTRIES_KEYS, TRACER_BUCKETS, 256, 0},
};

const uint32_t ways_count = sizeof(ways) / sizeof(ways[0]);

/* Return the number of rays along rows that a lookup needs. */
static uint64_t
rays_of(const Shape *shape, uint64_t width)
{
	uint64_t	row = UINT64_C(1) << shape->x_bits;

	return width / (row < LONGEST_RAY ? row : LONGEST_RAY) + 1;
}

bool
way_looks_up(const Way *way, const Workbench *workbench, const Shape *shape, const Kind *kind)
{
	return !(way_casts_rays(way) && !workbench->context.ray_tracing) &&
		!((way->flags & DUPLICATES_ONLY) && shape->log_duplicates == 0) &&
		!((way->flags & KEYS_ONLY) && kind->hits > 0) &&
		!(way->method == METHOD_RAYS && rays_of(shape, data_width(shape, kind)) > MAX_RAYS);
}

/* ---------------------------------------------------------------- builds */

static BuildTask
build_task(const Structure *structure, uint64_t result)
{
	const LookupTask *task = &structure->task;

	return (BuildTask) {.keys = task->keys, .marks = task->marks, .result = result, .entries = task->entries,
		.slots = task->slots, .x_bits = task->x_bits, .y_bits = task->y_bits};
}

/* Set where the entries are; sorted entries are those of the column. */
static void
choose_entries(Structure *structure, const Column *column)
{
	const Shape *shape = &column->shape;
	LookupTask *task = &structure->task;
	bool		rows = structure->way->entries == ENTRIES_ROWS ||
		(structure->way->entries == ENTRIES_SIMPLEST && shape->log_duplicates == 0);

	*task = (LookupTask) {.x_bits = shape->x_bits, .y_bits = shape->y_bits};
	task->keys = rows ? column->keys.address : column->sorted_keys.address;
	task->entries = rows ? shape_rows(shape) : column->distinct;
	if (rows)
		return;
	task->firsts = column->firsts.address;
	task->rows = column->rows.address;
	structure->bytes = column->firsts.size + column->rows.size;
	structure->nanoseconds = column->nanoseconds;
}

/* Run a shader that fills memory. */
static void
fill_memory(Structure *structure, Workbench *workbench, const Column *column, Shader shader, const Memory *memory,
			uint32_t threads)
{
	BuildTask	task = build_task(structure, memory->address);

	context_begin(&workbench->context);
	programs_build(column_programs(workbench, column), shader, &task, threads);
	structure->nanoseconds += context_submit(&workbench->context);
}

/* Allocate the structure's memory, and fill it with a word. */
static bool
allocate(Structure *structure, Workbench *workbench, uint64_t size, uint32_t word)
{
	Context    *context = &workbench->context;

	if (!memory_on_device(context, MEMORY_COLUMN, size, 0, &structure->memory))
		return false;
	context_begin(context);
	vkCmdFillBuffer(context->commands, structure->memory.buffer, 0, VK_WHOLE_SIZE, word);
	structure->nanoseconds += context_submit(context);
	return true;
}

static bool
build_hash(Structure *structure, Workbench *workbench, const Column *column)
{
	LookupTask *task = &structure->task;
	uint64_t	slot = column->shape.key_bits == 64 ? 16 : 8;

	task->slots = SLOTS(task->entries);
	if (!allocate(structure, workbench, task->slots * slot, NONE))
		return false;
	fill_memory(structure, workbench, column, SHADER_HASH_INSERT, &structure->memory, task->entries);
	task->structure = structure->memory.address;
	structure->bytes += structure->memory.size;
	return true;
}

static bool
build_top(Structure *structure, Workbench *workbench, const Column *column)
{
	if (!allocate(structure, workbench, TOP_KEYS * sizeof(uint64_t), 0))
		return false;
	fill_memory(structure, workbench, column, SHADER_TOP, &structure->memory, TOP_KEYS);
	structure->task.structure = structure->memory.address;
	structure->bytes += structure->memory.size;
	return true;
}

/* Build a BVH, and add its size and time. */
static bool
build_scene(Structure *structure, Workbench *workbench, VkGeometryTypeKHR type, const Memory *primitives,
			uint32_t count)
{
	if (!scene_build(&structure->scene, &workbench->context, type, primitives->address, count))
		return false;
	structure->task.structure = structure->scene.address;
	structure->bytes += structure->scene.memory.size;
	structure->nanoseconds += structure->scene.nanoseconds;
	return true;
}

/* Build a BVH with a primitive for each entry. */
static bool
build_primitives(Structure *structure, Workbench *workbench, const Column *column, bool boxes)
{
	Context    *context = &workbench->context;
	uint32_t	entries = structure->task.entries;
	Memory		primitives;
	bool		built;

	if (!memory_on_device(context, MEMORY_BVH, entries * (boxes ? BOX_BYTES : TRIANGLE_BYTES), SCENE_INPUT,
						  &primitives))
		return false;
	fill_memory(structure, workbench, column, boxes ? SHADER_BOXES : SHADER_TRIANGLES, &primitives, entries);
	built = build_scene(structure, workbench, boxes ? VK_GEOMETRY_TYPE_AABBS_KHR : VK_GEOMETRY_TYPE_TRIANGLES_KHR,
						&primitives,
						entries);
	memory_free(context, &primitives);
	return built;
}

/* Build a BVH with a triangle for each bucket, and marks, whose number the shader determines. */
static bool
build_buckets(Structure *structure, Workbench *workbench, const Column *column)
{
	Context    *context = &workbench->context;
	LookupTask *task = &structure->task;
	uint64_t	buckets = (task->entries + structure->way->bucket - 1) / structure->way->bucket;
	Memory		triangles;
	uint32_t	marks;
	bool		built;

	task->slots = structure->way->bucket;
	if (!allocate(structure, workbench, (1 + (BUCKET_PRIMITIVES - 1) * buckets) * sizeof(uint32_t), 0) ||
		!memory_on_device(context, MEMORY_BVH, BUCKET_PRIMITIVES * buckets * TRIANGLE_BYTES, SCENE_INPUT, &triangles))
		return false;
	task->marks = structure->memory.address;
	fill_memory(structure, workbench, column, SHADER_BUCKETS, &triangles, (uint32_t) buckets);
	marks = workbench_read(workbench, &structure->memory, 0);
	structure->bytes += marks * sizeof(uint32_t);
	built = build_scene(structure, workbench, VK_GEOMETRY_TYPE_TRIANGLES_KHR, &triangles, (uint32_t) buckets + marks);
	memory_free(context, &triangles);
	return built;
}

/* Return true if the shaders of a way compare keys, and so read them. */
static bool
reads_keys(const Way *way)
{
	return way->method != METHOD_HASH &&
		(way->method != METHOD_RAYS || way->tracer == TRACER_BOXES || way->tracer == TRACER_SPHERES);
}

static bool
build(Structure *structure, Workbench *workbench, const Column *column)
{
	const Way  *way = structure->way;

	switch (way->method)
	{
		case METHOD_SEARCH_TOP:
			return build_top(structure, workbench, column);
		case METHOD_HASH:
			return build_hash(structure, workbench, column);
		case METHOD_RAYS:
			return build_primitives(structure, workbench, column, reads_keys(way));
		case METHOD_BUCKETS:
			return build_buckets(structure, workbench, column);
		default:
			return true;		/* the sorted keys are all that a search needs */
	}
}

bool
way_build(Structure *structure, const Way *way, Workbench *workbench, const Column *column)
{
	*structure = (Structure) {.way = way};
	choose_entries(structure, column);
	if (reads_keys(way))
		structure->bytes += (uint64_t) structure->task.entries * column->shape.key_bits / 8;
	if (build(structure, workbench, column))
		return true;
	way_free(structure, workbench);
	return false;
}

void
way_look_up(const Structure *structure, const Programs *programs, const LookupTask *task)
{
	static const Shader shaders[] = {
		[METHOD_SEARCH] = SHADER_SEARCH, [METHOD_SEARCH_TOP] = SHADER_SEARCH_TOP, [METHOD_HASH] = SHADER_HASH_FIND};

	if (way_casts_rays(structure->way))
		programs_trace(programs, structure->way->tracer, task);
	else
		programs_look_up(programs, shaders[structure->way->method], task);
}

void
way_free(Structure *structure, Workbench *workbench)
{
	memory_free(&workbench->context, &structure->memory);
	if (way_casts_rays(structure->way))
		scene_free(&structure->scene, &workbench->context);
}
