// SPDX-License-Identifier: PostgreSQL
/*
 * publish.comp
 *		Combine the bits of groups or of a filter's parts, count each chunk's rows, and return the bits.
 *
 * If a chunk has rows and is not aggregated, its bits are written where the backend reads them.  If a chunk is partly
 * aggregated, the rows of its mask are returned, and are removed from the bits that will be aggregated.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "tasks.glsl"

#define THREADS 126
#define QUADS	(CHUNK_WORDS32 / 4 / THREADS)

layout(local_size_x = THREADS) in;

shared uint32_t matching;
shared uint32_t handed_over;

uint32_t
count_bits(uvec4 bits)
{
	ivec4		ones = bitCount(bits);

	return ones.x + ones.y + ones.z + ones.w;
}

/* Load this thread's bits of a group. */
uvec4
load_group(PublishTask task, uint32_t group, uint64_t place, uint32_t quad)
{
	uint64_t	size = uint64_t(task.chunks) * (CHUNK_WORDS32 * 4);

	return Words4(task.bits + group * size + place).at[quad];
}

uvec4
combine_groups(PublishTask task, uint64_t place, uint32_t quad)
{
	uvec4		all = uvec4(0xFFFFFFFFu);
	uvec4		any = load_group(task, 0, place, quad);

	for (uint32_t g = 1; g < task.groups; g++)
	{
		uvec4		bits = load_group(task, g, place, quad);

		if ((task.alternatives >> g & 1) != 0)
			any |= bits;
		else
		{
			all &= any;
			any = bits;
		}
	}
	return all & any;
}

void
main()
{
	uint32_t	number = Words(tasks_at(tasks.publish_of)).at[gl_WorkGroupID.x];
	PublishTask task = PublishTasks(tasks_at(tasks.publish)).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	uint64_t	place = uint64_t(chunk) * (CHUNK_WORDS32 * 4);
	bool		partly = has_bit(task.partly, chunk);
	bool		hands_over = partly || !has_bit(task.aggregated, chunk);
	uvec4		bits[QUADS];
	uint32_t	count = 0;
	uint32_t	left = 0;

	if (gl_LocalInvocationIndex == 0)
		matching = handed_over = 0;
	barrier();
	for (int i = 0; i < QUADS; i++)
	{
		uint32_t	quad = i * THREADS + gl_LocalInvocationIndex;

		bits[i] = combine_groups(task, place, quad);
		count += count_bits(bits[i]);
		if (partly)
		{
			uvec4		mask = Words4(task.words + place).at[quad];

			Words4(task.bits + place).at[quad] = bits[i] & ~mask;
			bits[i] &= mask;
		}
		else if (task.alternatives != 0)
			Words4(task.bits + place).at[quad] = bits[i];
		left += hands_over ? count_bits(bits[i]) : 0;
	}
	atomicAdd(matching, count);
	atomicAdd(handed_over, left);
	barrier();
	if (gl_LocalInvocationIndex == 0)
	{
		Words(task.counts).at[2 * chunk] = handed_over;
		Words(task.counts).at[2 * chunk + 1] = matching - handed_over;
	}
	if (task.words == 0 || handed_over == 0)
		return;
	for (int i = 0; i < QUADS; i++)
		Words4(task.words + place).at[i * THREADS + gl_LocalInvocationIndex] = bits[i];
}
