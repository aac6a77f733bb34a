/* SPDX-License-Identifier: PostgreSQL */
/*
 * vectors.c
 *		Make the sieve vectors of a column that a backend has sorted.
 */
#include "vectors.h"

#include "shader.h"
#include "tasks.h"
#include "vectors_bits.h"
#include "vectors_digits.h"

#define ARRAY_ALIGNMENT	256

/* Digits of a row that is missing from the order: greater than all others, so that the row is in no vector. */
#define NO_DIGITS		UINT32_MAX

/* Offsets of arrays in the memory that vectors_make() allocates. */
typedef struct VectorArrays
{
	uint64_t	boundaries;
	uint64_t	order;
	uint64_t	digits;
	uint64_t	bits;
	uint64_t	size;
} VectorArrays;

void
vectors_open(VectorMaker *maker, Context *context, Cache *cache)
{
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(VectorTask));

	*maker = (VectorMaker) {
		.context = context,
		.cache = cache,
		.layout = layout,
		.digits = shader_compute(context, layout, vectors_digits_spirv, sizeof(vectors_digits_spirv)),
		.bits = shader_compute(context, layout, vectors_bits_spirv, sizeof(vectors_bits_spirv)),
	};
}

static uint64_t
boundaries_size(const ColumnShape *shape)
{
	return ((uint64_t) shape->bins + 1) * sizeof(uint32_t);
}

static uint64_t
order_size(const ColumnShape *shape)
{
	return (uint64_t) shape->rows * sizeof(uint32_t);
}

static VectorArrays
lay_out_arrays(const ColumnShape *shape)
{
	VectorArrays arrays = {0};
	uint64_t	rows = (uint64_t) device_chunks(shape->rows) * DEVICE_CHUNK_ROWS;

	arrays.order = device_align(boundaries_size(shape), ARRAY_ALIGNMENT);
	arrays.digits = device_align(arrays.order + order_size(shape), ARRAY_ALIGNMENT);
	arrays.bits = device_align(arrays.digits + rows * sizeof(uint32_t), ARRAY_ALIGNMENT);
	arrays.size = arrays.bits + device_vectors_size(shape);
	return arrays;
}

static void
dispatch(VectorMaker *maker, VkPipeline pipeline, const VectorTask *task, uint32_t threads)
{
	shader_dispatch(maker->context, maker->layout, pipeline, task, sizeof(*task),
					(threads + VECTOR_GROUP - 1) / VECTOR_GROUP);
	context_barrier(maker->context);
}

static void
record_vectors(VectorMaker *maker, const VectorSource *source, const Memory *memory, const VectorArrays *arrays)
{
	const ColumnShape *shape = source->shape;
	uint32_t	high_vectors = device_high_vectors(shape);
	VectorTask	task = {
		.boundaries = memory->address + arrays->boundaries,
		.order = memory->address + arrays->order,
		.digits = memory->address + arrays->digits,
		.bits = memory->address + arrays->bits,
		.rows = shape->rows,
		.bins = shape->bins,
		.radix = shape->radix,
		.high_vectors = high_vectors,
		.low_vectors = shape->vectors - high_vectors,
		.words = device_chunks(shape->rows) * CHUNK_WORDS32,
	};

	vkCmdUpdateBuffer(maker->context->commands, memory->buffer, arrays->boundaries, boundaries_size(shape),
					  source->boundaries);
	vkCmdFillBuffer(maker->context->commands, memory->buffer, arrays->digits, arrays->bits - arrays->digits, NO_DIGITS);
	context_barrier(maker->context);
	dispatch(maker, maker->digits, &task, task.rows);
	dispatch(maker, maker->bits, &task, task.words);
}

bool
vectors_make(VectorMaker *maker, const VectorSource *source, const Memory *target, uint64_t offset)
{
	VectorArrays arrays = lay_out_arrays(source->shape);
	VkBufferCopy order = {source->order, arrays.order, order_size(source->shape)};
	VkBufferCopy vectors = {arrays.bits, offset, device_vectors_size(source->shape)};
	Memory		memory;

	if (!cache_allocate(maker->cache, MEMORY_BVH, arrays.size, 0, &memory))
		return false;
	vkCmdCopyBuffer(context_begin(maker->context), target->buffer, memory.buffer, 1, &order);
	record_vectors(maker, source, &memory, &arrays);
	vkCmdCopyBuffer(maker->context->commands, memory.buffer, target->buffer, 1, &vectors);
	maker->nanoseconds += context_submit(maker->context);
	memory_free(maker->context, &memory);
	maker->sieves++;
	return true;
}
