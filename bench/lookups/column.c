/* SPDX-License-Identifier: PostgreSQL */
/*
 * column.c
 *		Make a column of keys on the device, and its entries.
 */
#include "column.h"

#include <string.h>

#include "../../device/shader.h"
#include "../../device/tasks.h"

/* Rows uploaded at a time. */
#define UPLOAD_ROWS		(UINT32_C(1) << 22)

typedef struct SortPass SortPass;

uint32_t
workbench_read(Workbench *workbench, const Memory *memory, uint64_t offset)
{
	Context    *context = &workbench->context;
	VkBufferCopy copy = {offset, 0, sizeof(uint32_t)};
	Memory		host;
	uint32_t	word;

	if (!memory_on_host(context, HOST_READS_AND_WRITES, sizeof(uint32_t), 0, &host))
		fail("out of memory");
	context_begin(context);
	vkCmdCopyBuffer(context->commands, memory->buffer, host.buffer, 1, &copy);
	context_submit(context);
	memcpy(&word, host.host, sizeof(word));
	memory_free(context, &host);
	return word;
}

static uint32_t
key_bytes(const Column *column)
{
	return column->shape.key_bits / 8;
}

static void
fill_keys(const Column *column, char *to, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t	key = data_key(&column->shape, first + i);

		memcpy(to + (size_t) i * key_bytes(column), &key, key_bytes(column));
	}
}

static bool
upload_keys(Column *column, Context *context)
{
	uint32_t	rows = shape_rows(&column->shape);
	uint32_t	part = rows < UPLOAD_ROWS ? rows : UPLOAD_ROWS;
	uint64_t	size = (uint64_t) part * key_bytes(column);
	Memory		host;

	if (!memory_on_device(context, MEMORY_COLUMN, (uint64_t) rows * key_bytes(column), 0, &column->keys) ||
		!memory_on_host(context, HOST_WRITES, size, 0, &host))
		return false;
	for (uint32_t first = 0; first < rows; first += part)
	{
		VkBufferCopy copy = {0, (uint64_t) first * key_bytes(column), size};

		fill_keys(column, host.host, first, part);
		context_begin(context);
		vkCmdCopyBuffer(context->commands, host.buffer, column->keys.buffer, 1, &copy);
		context_submit(context);
	}
	memory_free(context, &host);
	return true;
}

/* ---------------------------------------------------------------- sorting */

/* The state of making a column's entries. */
typedef struct Build
{
	Workbench  *workbench;
	Column	   *column;
	uint32_t	rows;
	uint32_t	blocks;			/* number of blocks of rows */
	Memory		keys[2];
	Memory		values[2];
	Memory		scratch;		/* scratch memory of the sort; later the heads of each block, and their total */
} Build;

static bool
allocate(Build *build)
{
	Context    *context = &build->workbench->context;
	Column	   *column = build->column;
	uint64_t	heads = ((uint64_t) build->blocks + 1) * sizeof(uint32_t);
	uint64_t	scratch = sort_scratch_size(build->rows);

	for (int i = 0; i < 2; i++)
		if (!memory_on_device(context, MEMORY_SCRATCH, build->rows * sizeof(uint64_t), 0, &build->keys[i]) ||
			!memory_on_device(context, MEMORY_SCRATCH, build->rows * sizeof(uint32_t), 0, &build->values[i]))
			return false;
	return memory_on_device(context, MEMORY_SCRATCH, scratch > heads ? scratch : heads, 0, &build->scratch) &&
		memory_on_device(context, MEMORY_COLUMN, (uint64_t) shape_distinct(&column->shape) * key_bytes(column), 0,
						 &column->sorted_keys) &&
		memory_on_device(context, MEMORY_COLUMN, ((uint64_t) shape_distinct(&column->shape) + 1) * sizeof(uint32_t), 0,
						 &column->firsts);
}

/* Sum up the heads of the blocks by the step of device/sort.h that sums up the counts of a digit. */
static void
sum_heads(Build *build)
{
	const Sorter *sorter = &build->workbench->sorter;
	SortPass	pass = {.counts = build->scratch.address, .blocks = build->blocks,
		.totals = build->scratch.address + (uint64_t) build->blocks * sizeof(uint32_t)};

	shader_dispatch(sorter->context, sorter->layout, sorter->scan, &pass, sizeof(pass), 1);
	context_barrier(sorter->context);
}

/*
 * Sort the rows' keys, in a submission of its own, since it may take long.  There may be more than
 * DEVICE_MAX_PAIRS rows, the limit for backends' requests; the answers show that the sort is right.
 */
static uint32_t
sort_keys(Build *build, BuildTask *task)
{
	Context    *context = &build->workbench->context;
	const SortArrays arrays = {
		.keys = {build->keys[0].address, build->keys[1].address},
		.values = {build->values[0].address, build->values[1].address},
		.scratch = build->scratch.address};
	uint32_t	sorted;

	task->result = build->keys[0].address;
	context_begin(context);
	programs_build(column_programs(build->workbench, build->column), SHADER_WIDEN, task, build->rows);
	sorted = sort_record(&build->workbench->sorter, &arrays, build->rows, 0, build->column->shape.key_bits, true);
	build->column->nanoseconds += context_submit(context);
	return sorted;
}

/* Find the distinct keys, and where their rows begin. */
static void
compress(Build *build, BuildTask *task)
{
	Context    *context = &build->workbench->context;
	Column	   *column = build->column;
	const Programs *programs = column_programs(build->workbench, column);

	task->heads = build->scratch.address;
	task->result = column->sorted_keys.address;
	task->firsts = column->firsts.address;
	context_begin(context);
	programs_build(programs, SHADER_HEADS_COUNT, task, build->rows);
	sum_heads(build);
	programs_build(programs, SHADER_HEADS_WRITE, task, build->rows);
	column->nanoseconds += context_submit(context);
	column->distinct = workbench_read(build->workbench, &build->scratch, (uint64_t) build->blocks * sizeof(uint32_t));
}

static void
make_entries(Build *build)
{
	Column	   *column = build->column;
	BuildTask	task = {.keys = column->keys.address, .rows = build->rows};
	uint32_t	sorted = sort_keys(build, &task);

	task.sorted = build->keys[sorted].address;
	compress(build, &task);
	if (column->distinct != shape_distinct(&column->shape))
		fail("%u distinct keys of %u", column->distinct, shape_distinct(&column->shape));
	column->rows = build->values[sorted];
	memset(&build->values[sorted], 0, sizeof(Memory));
	if (column->distinct == build->rows)
		memory_free(&build->workbench->context, &column->firsts);
}

static void
clean_up(Build *build)
{
	Context    *context = &build->workbench->context;

	for (int i = 0; i < 2; i++)
	{
		memory_free(context, &build->keys[i]);
		memory_free(context, &build->values[i]);
	}
	memory_free(context, &build->scratch);
}

bool
column_make(Column *column, Workbench *workbench, const Shape *shape)
{
	Build		build = {.workbench = workbench, .column = column, .rows = shape_rows(shape),
		.blocks = (shape_rows(shape) + LOOKUP_GROUP - 1) / LOOKUP_GROUP};
	bool		made;

	*column = (Column) {.shape = *shape};
	made = upload_keys(column, &workbench->context) && allocate(&build);
	if (made)
		make_entries(&build);
	else
		column_free(column, workbench);
	clean_up(&build);
	return made;
}

void
column_free(Column *column, Workbench *workbench)
{
	Context    *context = &workbench->context;

	memory_free(context, &column->keys);
	memory_free(context, &column->sorted_keys);
	memory_free(context, &column->firsts);
	memory_free(context, &column->rows);
}
