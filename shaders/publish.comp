/*
 * publish.comp
 *		Count the rows of each chunk, and write the bits of those that have any, and are in no
 *		tally, to where the backend reads them.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

#define THREADS 126
#define QUADS	(CHUNK_WORDS32 / 4 / THREADS)

layout(local_size_x = THREADS) in;

shared uint32_t total;

void
main()
{
	uint32_t	number = Words(tasks.publish_of).at[gl_WorkGroupID.x];
	PublishTask task = PublishTasks(tasks.publish).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	uint64_t	place = uint64_t(chunk) * (CHUNK_WORDS32 * 4);
	uint64_t	group_size = uint64_t(task.chunks) * (CHUNK_WORDS32 * 4);
	uvec4		bits[QUADS];
	uint32_t	count = 0;

	if (gl_LocalInvocationIndex == 0)
		total = 0;
	barrier();
	for (int i = 0; i < QUADS; i++)
	{
		uint32_t	quad = i * THREADS + gl_LocalInvocationIndex;

		bits[i] = Words4(task.bits + place).at[quad];
		for (uint32_t g = 1; g < task.groups; g++)
			bits[i] &= Words4(task.bits + g * group_size + place).at[quad];
		ivec4		ones = bitCount(bits[i]);

		count += ones.x + ones.y + ones.z + ones.w;
	}
	atomicAdd(total, count);
	barrier();
	if (gl_LocalInvocationIndex == 0)
		Words(task.counts).at[chunk] = total;
	if (task.words == 0 || total == 0 || (task.tallied[chunk / 32] >> (chunk % 32) & 1) != 0)
		return;
	for (int i = 0; i < QUADS; i++)
		Words4(task.words + place).at[i * THREADS + gl_LocalInvocationIndex] = bits[i];
}
