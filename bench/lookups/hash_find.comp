// SPDX-License-Identifier: PostgreSQL
/*
 * hash_find.comp
 *		Look up in the hash table that hash_insert.comp has filled, with one thread for each lookup.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lookup.glsl"

layout(local_size_x = LOOKUP_GROUP) in;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Slots { uvec2 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer WideSlots { uvec4 at[]; };

/* Load a slot: an entry and its key. */
uvec4
load_slot(uint32_t slot)
{
	if (wide)
		return WideSlots(task.structure).at[slot];
	uvec2		narrow = Slots(task.structure).at[slot];

	return uvec4(narrow.x, 0, narrow.y, 0);
}

void
main()
{
	uint32_t	lookup = gl_GlobalInvocationID.x;
	Found		found = Found(0, 0);

	if (lookup >= task.lookups)
		return;
	uint64_t	key = Doublewords(task.lows).at[lookup];
	uint32_t	slot = first_slot(key, task.slots);

	for (uvec4 at = load_slot(slot); at.x != NONE; at = load_slot(slot))
	{
		if (at.z == uint32_t(key) && at.w == uint32_t(key >> 32))
		{
			add_entry(at.x, found);
			break;
		}
		slot = slot + 1 < task.slots ? slot + 1 : 0;
	}
	write_answer(lookup, found);
}
