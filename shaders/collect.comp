// SPDX-License-Identifier: PostgreSQL
/*
 * collect.comp
 *		Write an entry (device/protocol.h) for each slot of an aggregate that has rows, where the backend reads it.
 *
 * Each workgroup reserves consecutive entries for its slots.  The last workgroup to reserve entries writes the
 * number of all entries.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "measures.glsl"
#include "tasks.glsl"

layout(local_size_x = COLLECT_GROUP) in;

#define SLOTS	(COLLECT_BLOCK / COLLECT_GROUP)
#define NONE	0xFFFFFFFFu

shared uint32_t found;
shared uint64_t first;

/* Reserve entries for this workgroup.  Returns the number of entries reserved before. */
uint64_t
reserve(CollectTask task)
{
	Doublewords	header = Doublewords(task.words - AGG_HEADER * 8);
	uint64_t	before = atomicAdd(header.at[0], uint64_t(found));

	memoryBarrierBuffer();
	if (atomicAdd(header.at[1], uint64_t(1)) == (task.slots - 1) / COLLECT_BLOCK)
		Doublewords(task.answer).at[0] = atomicAdd(header.at[0], uint64_t(0));
	return before;
}

void
write_entry(CollectTask task, uint64_t entry, uint32_t slot)
{
	Doublewords	words = Doublewords(task.words + slot * 8ul);
	Doublewords	place = Doublewords(task.answer + 8 + entry * (1 + task.measures) * 8);
	uint64_t	behind = uint64_t(task.measures) * task.slots;

	place.at[0] = task.hashed != 0 ? words.at[uint32_t(behind)] - 1 : slot;
	for (uint32_t m = 0; m < task.measures; m++)
		place.at[1 + m] = words.at[m * task.slots];
}

void
main()
{
	uint32_t	number = Words(tasks_at(tasks.collect_of)).at[gl_WorkGroupID.x];
	CollectTask	task = CollectTasks(tasks_at(tasks.collects)).at[number];
	uint32_t	low = (gl_WorkGroupID.x - task.first_group) * COLLECT_BLOCK + gl_LocalInvocationIndex;
	uint32_t	places[SLOTS];

	if (gl_LocalInvocationIndex == 0)
		found = 0;
	barrier();
	for (uint32_t i = 0; i < SLOTS; i++)
	{
		uint32_t	slot = low + i * COLLECT_GROUP;

		places[i] = NONE;
		if (slot < task.slots && Doublewords(task.words).at[slot] != 0)
			places[i] = atomicAdd(found, 1);
	}
	barrier();
	if (gl_LocalInvocationIndex == 0)
		first = reserve(task);
	barrier();
	for (uint32_t i = 0; i < SLOTS; i++)
		if (places[i] != NONE && first + places[i] < task.entries)
			write_entry(task, first + places[i], low + i * COLLECT_GROUP);
}
