// SPDX-License-Identifier: PostgreSQL
/*
 * refine.comp
 *		Clear the bits of rows that are in the sieve's superset but not in the exact set (RTScan, section
 *		3.4).  The column's order has the row of each rank.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "tasks.glsl"

layout(local_size_x = REFINE_GROUP) in;

void
clear_row(RefineTask task, uint32_t rank, uint32_t row)
{
	uint32_t	bit = 1u << (row % 32);

	if (rank < task.first || rank >= task.end || row >= task.rows)
		return;
	/* Most bits have already been cleared for another column, and reading is cheaper than an atomic. */
	if ((Words(task.bits).at[row / 32] & bit) != 0)
		atomicAnd(Words(task.bits).at[row / 32], ~bit);
}

void
main()
{
	uint32_t	number = Words(tasks_at(tasks.refine_of)).at[gl_WorkGroupID.x];
	RefineTask	task = RefineTasks(tasks_at(tasks.refine)).at[number];
	uint32_t	block = gl_WorkGroupID.x - task.first_block;
	uint32_t	rank = (task.first & ~3u) + block * REFINE_BLOCK + gl_LocalInvocationIndex * 4;
	uvec3		words;

	if (rank >= task.end)
		return;
	/* Load four row numbers of three bytes each. */
	for (int i = 0; i < 3; i++)
		words[i] = Words(task.order).at[rank / 4 * 3 + i];
	clear_row(task, rank, words.x & 0xFFFFFFu);
	clear_row(task, rank + 1, words.x >> 24 | (words.y & 0xFFFFu) << 8);
	clear_row(task, rank + 2, words.y >> 16 | (words.z & 0xFFu) << 16);
	clear_row(task, rank + 3, words.z >> 8);
}
