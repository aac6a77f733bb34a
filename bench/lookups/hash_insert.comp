// SPDX-License-Identifier: PostgreSQL
/*
 * hash_insert.comp
 *		Insert entries into a hash table with open addressing.
 *
 * An entry is put into the first empty slot, from that of its key's hash on.  A slot has the entry's number and
 * its key, next to each other.  All keys are distinct.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

void
main()
{
	uint32_t	entry = gl_GlobalInvocationID.x;
	uint32_t	size = wide ? 4 : 2;

	if (entry >= task.entries)
		return;
	uint64_t	key = load_key(task.keys, entry);
	uint32_t	slot = first_slot(key, task.slots);

	while (atomicCompSwap(Words(task.result + uint64_t(slot) * size * 4).at[0], NONE, entry) != NONE)
		slot = slot + 1 < task.slots ? slot + 1 : 0;
	Words		words = Words(task.result + uint64_t(slot) * size * 4);

	words.at[size / 2] = uint32_t(key);
	if (wide)
		words.at[3] = uint32_t(key >> 32);
}
