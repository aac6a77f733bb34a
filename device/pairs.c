/*
 * pairs.c
 *		Sort pairs of a key and a value that a backend shares.
 */
#include "pairs.h"

#include "shader.h"
#include "sort_join.h"
#include "sort_split.h"
#include "tasks.h"

#define PART_ALIGNMENT	256

/* Enough to be busy, and no more than every device can start. */
#define MAX_WORKGROUPS	4096

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

/* Where the arrays of a sort are, and how much they take. */
static uint64_t
lay_out_arrays(uint32_t n, uint64_t base, SortArrays *arrays)
{
	uint64_t	end = base;

	for (int i = 0; i < 2; i++)
	{
		arrays->keys[i] = end;
		end = device_align(end + (uint64_t) n * sizeof(uint64_t), PART_ALIGNMENT);
		arrays->values[i] = end;
		end = device_align(end + (uint64_t) n * sizeof(uint32_t), PART_ALIGNMENT);
	}
	arrays->scratch = end;
	return end + sort_scratch_size(n) - base;
}

static void
dispatch(PairSorter *sorter, VkPipeline pipeline, const PairTask *task)
{
	uint32_t	workgroups = (task->n + PAIR_GROUP - 1) / PAIR_GROUP;

	shader_dispatch(sorter->context, sorter->layout, pipeline, task, sizeof(*task),
					workgroups < MAX_WORKGROUPS ? workgroups : MAX_WORKGROUPS);
	context_barrier(sorter->context);
}

bool
pairs_sort(PairSorter *sorter, VkDeviceAddress pairs, uint32_t n, uint32_t first_bit, uint32_t bits)
{
	SortArrays	arrays;
	Memory		memory;
	PairTask	task = {.pairs = pairs, .n = n};
	uint32_t	result;

	if (!cache_allocate(sorter->cache, MEMORY_BVH, lay_out_arrays(n, 0, &arrays), 0, &memory))
		return false;
	lay_out_arrays(n, memory.address, &arrays);
	context_begin(sorter->context);
	task.keys = arrays.keys[0];
	task.values = arrays.values[0];
	dispatch(sorter, sorter->split, &task);
	result = sort_record(&sorter->sorter, &arrays, n, first_bit, bits, false);
	task.keys = arrays.keys[result];
	task.values = arrays.values[result];
	dispatch(sorter, sorter->join, &task);
	context_submit(sorter->context);
	memory_free(sorter->context, &memory);
	sorter->sorts++;
	return true;
}
