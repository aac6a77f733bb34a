// SPDX-License-Identifier: PostgreSQL
/*
 * search_top.comp
 *		Look up by a binary search whose first steps are in shared memory.
 *
 * Shared memory has TOP_KEYS of the keys, the last ones of equal parts of the array.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lookup.glsl"

layout(local_size_x = LOOKUP_GROUP) in;

shared uint64_t top[TOP_KEYS];

/* Return where a part of the array ends. */
uint32_t
part_end(uint32_t part)
{
	return uint32_t(uint64_t(part + 1) * task.entries / TOP_KEYS);
}

/* Return the first part whose last key is at least this one, or TOP_KEYS. */
uint32_t
find_part(uint64_t key)
{
	uint32_t	first = 0;
	uint32_t	end = TOP_KEYS;

	while (first < end)
	{
		uint32_t	middle = (first + end) / 2;

		if (top[middle] < key)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

void
look_up(uint32_t lookup)
{
	uint64_t	low = Doublewords(task.lows).at[lookup];
	uint32_t	part = find_part(low);
	Found		found = Found(0, 0);

	if (part < TOP_KEYS)
		add_run(search(part == 0 ? 0 : part_end(part - 1), part_end(part), low), low + task.width, found);
	write_answer(lookup, found);
}

void
main()
{
	uint32_t	first = gl_WorkGroupID.x * LOOKUP_GROUP * task.slots + gl_LocalInvocationIndex;

	for (uint32_t i = gl_LocalInvocationIndex; i < TOP_KEYS; i += LOOKUP_GROUP)
		top[i] = load_key(task.structure, i);
	barrier();
	for (uint32_t i = 0; i < task.slots; i++)
		if (first + i * LOOKUP_GROUP < task.lookups)
			look_up(first + i * LOOKUP_GROUP);
}
