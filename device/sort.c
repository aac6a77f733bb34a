/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.c
 *		Sort pairs of a 64-bit key and a 32-bit value on the device.
 */
#include "sort.h"

#include "shader.h"
#include "sort_count.h"
#include "sort_scan.h"
#include "sort_scatter.h"
#include "tasks.h"

typedef struct SortPass SortPass;

void
sort_open(Sorter *sorter, Context *context)
{
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(SortPass));

	*sorter = (Sorter) {
		.context = context,
		.layout = layout,
		.count = shader_compute(context, layout, sort_count_spirv, sizeof(sort_count_spirv)),
		.scan = shader_compute(context, layout, sort_scan_spirv, sizeof(sort_scan_spirv)),
		.scatter = shader_compute(context, layout, sort_scatter_spirv, sizeof(sort_scatter_spirv)),
	};
}

static uint32_t
sort_blocks(uint32_t n)
{
	return (n + SORT_BLOCK - 1) / SORT_BLOCK;
}

static uint64_t
counts_size(uint32_t n)
{
	return (uint64_t) sort_blocks(n) * SORT_DIGITS * sizeof(uint32_t);
}

uint64_t
sort_scratch_size(uint32_t n)
{
	return counts_size(n) + SORT_DIGITS * sizeof(uint32_t);
}

static void
dispatch(const Sorter *sorter, VkPipeline pipeline, const SortPass *pass, uint32_t workgroups)
{
	shader_dispatch(sorter->context, sorter->layout, pipeline, pass, sizeof(*pass), workgroups);
	context_shader_barrier(sorter->context, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
}

/* Record the three steps of a pass. */
static void
record_pass(const Sorter *sorter, const SortPass *pass)
{
	dispatch(sorter, sorter->count, pass, pass->blocks);
	dispatch(sorter, sorter->scan, pass, SORT_DIGITS);
	dispatch(sorter, sorter->scatter, pass, pass->blocks);
}

uint32_t
sort_record(const Sorter *sorter, const SortArrays *arrays, uint32_t n, uint32_t first_bit, uint32_t bits,
			bool generate)
{
	SortPass	pass = {
		.counts = arrays->scratch,
		.totals = arrays->scratch + counts_size(n),
		.n = n,
		.blocks = sort_blocks(n),
	};
	uint32_t	from = 0;

	for (uint32_t done = 0; done == 0 || done < bits; done += SORT_DIGIT_BITS)
	{
		uint32_t	digit_bits = bits - done < SORT_DIGIT_BITS ? bits - done : SORT_DIGIT_BITS;

		pass.keys = arrays->keys[from];
		pass.values = generate && done == 0 ? 0 : arrays->values[from];
		pass.sorted_keys = arrays->keys[!from];
		pass.sorted_values = arrays->values[!from];
		pass.first_bit = first_bit + done;
		pass.digit_mask = (1u << digit_bits) - 1;
		record_pass(sorter, &pass);
		from = !from;
	}
	return from;
}
