/* SPDX-License-Identifier: PostgreSQL */
/*
 * pairs.c
 *		Sort pairs of a key and a value in memory that a backend shares.
 */
#include "pairs.h"

#include "shader.h"
#include "sort_join.h"
#include "sort_split.h"
#include "tasks.h"

#define ARRAY_ALIGNMENT	256

/* Most workgroups of a dispatch: enough to keep the device busy, and fewer than MAX_WORKGROUPS. */
#define PAIR_WORKGROUPS	4096

void
pairs_open(PairSorter *sorter, Context *context, Cache *cache)
{
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(PairTask));

	*sorter = (PairSorter) {
		.context = context,
		.cache = cache,
		.layout = layout,
		.split = shader_compute(context, layout, sort_split_spirv, sizeof(sort_split_spirv)),
		.join = shader_compute(context, layout, sort_join_spirv, sizeof(sort_join_spirv)),
	};
	sort_open(&sorter->sorter, context);
}

/* Positions in the memory of a sort. */
typedef struct PairArrays
{
	uint64_t	pairs;			/* copy of the pairs; one transfer across the bus is faster than many small ones */
	SortArrays	sort;
	uint64_t	size;
} PairArrays;

static PairArrays
lay_out_arrays(uint32_t n, uint64_t base)
{
	uint64_t	end = device_align(base + (uint64_t) n * sizeof(SortPair), ARRAY_ALIGNMENT);
	PairArrays	arrays = {.pairs = base};

	for (int i = 0; i < 2; i++)
	{
		arrays.sort.keys[i] = end;
		end = device_align(end + (uint64_t) n * sizeof(uint64_t), ARRAY_ALIGNMENT);
		arrays.sort.values[i] = end;
		end = device_align(end + (uint64_t) n * sizeof(uint32_t), ARRAY_ALIGNMENT);
	}
	arrays.sort.scratch = end;
	arrays.size = end + sort_scratch_size(n) - base;
	return arrays;
}

static void
dispatch(PairSorter *sorter, VkPipeline pipeline, const PairTask *task)
{
	uint32_t	workgroups = (task->n + PAIR_GROUP - 1) / PAIR_GROUP;

	shader_dispatch(sorter->context, sorter->layout, pipeline, task, sizeof(*task),
					workgroups < PAIR_WORKGROUPS ? workgroups : PAIR_WORKGROUPS);
	context_barrier(sorter->context);
}

static void
record_sort(PairSorter *sorter, const PairArrays *arrays, uint32_t n, uint32_t first_bit, uint32_t bits)
{
	const SortArrays *sort = &arrays->sort;
	PairTask	task = {.pairs = arrays->pairs, .keys = sort->keys[0], .values = sort->values[0], .n = n};
	uint32_t	result;

	dispatch(sorter, sorter->split, &task);
	result = sort_record(&sorter->sorter, sort, n, first_bit, bits, false);
	task.keys = sort->keys[result];
	task.values = sort->values[result];
	dispatch(sorter, sorter->join, &task);
}

bool
pairs_sort(PairSorter *sorter, const Memory *target, uint64_t offset, uint32_t n, uint32_t first_bit, uint32_t bits)
{
	Context    *context = sorter->context;
	uint64_t	size = (uint64_t) n * sizeof(SortPair);
	PairArrays	arrays;
	Memory		memory;

	/* Allocate ARRAY_ALIGNMENT bytes more: if the address is unaligned, aligning the arrays takes more room. */
	if (!cache_allocate(sorter->cache, MEMORY_BVH, lay_out_arrays(n, 0).size + ARRAY_ALIGNMENT, 0, &memory))
		return false;
	arrays = lay_out_arrays(n, memory.address);
	vkCmdCopyBuffer(context_begin(context), target->buffer, memory.buffer, 1, &(VkBufferCopy) {offset, 0, size});
	context_barrier(context);
	record_sort(sorter, &arrays, n, first_bit, bits);
	vkCmdCopyBuffer(context->commands, memory.buffer, target->buffer, 1, &(VkBufferCopy) {0, offset, size});
	sorter->nanoseconds += context_submit(context);
	memory_free(context, &memory);
	sorter->sorts++;
	return true;
}
