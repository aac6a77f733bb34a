// SPDX-License-Identifier: PostgreSQL
/*
 * members.comp
 *		Clear the bits of rows whose integers are missing from at least one of a task's sets.
 *
 * The sets are conditions that cannot be looked up, or that have very many values, such as a dimension's keys.
 *
 * Each thread handles one word of bits at a time, so that no other thread changes it.  The elements of four rows
 * are loaded at the same time.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "columns.glsl"
#include "table.glsl"
#include "tasks.glsl"

layout(local_size_x = MEMBERS_GROUP) in;

/* A set in the current chunk. */
struct Set
{
	Elements	values;
	uint64_t	words;
	uint64_t	reach;
	uint32_t	null;
	uint32_t	slot_bits;
	uint32_t	lacks;
};

shared Set	sets[MEMBERS_SETS];

/* Locate the sets' elements in a chunk.  Locations are the same for all threads, so thread i locates only set i. */
void
enter_chunk(MembersTask task, uint32_t chunk)
{
	uint32_t	i = gl_LocalInvocationIndex;

	if (i < task.sets)
	{
		SetTask		set = Sets(tasks_at(tasks.sets)).at[task.first_set + i];

		sets[i] = Set(enter_column(set.values, chunk), set.words, set.reach, set.null, set.slot_bits, set.lacks);
	}
	barrier();
}

/*
 * Return which of four integers a table has; if set.lacks is 1, return which it does not have.  The caller ignores
 * the result for integers above reach.
 */
uvec4
find_members(Set set, u64vec4 places)
{
	uvec4		found;
	uint32_t	slot;

	for (uint32_t k = 0; k < 4; k++)
		found[k] = uint32_t(places[k] <= set.reach && find_in_table(Words(set.words), set.slot_bits, places[k], slot));
	return found ^ set.lacks;
}

/* Return which of four integers are members.  The caller ignores the result for integers above reach. */
uvec4
load_members(Set set, u64vec4 places)
{
	if (set.words == 0)
		return uvec4(1);
	if (set.slot_bits > 0)
		return find_members(set, places);
	uvec4		bits = uvec4(min(places, u64vec4(set.reach)) & 0xFFFFFFFFul);
	Words		words = Words(set.words);
	uvec4		loaded = uvec4(words.at[bits.x / 32], words.at[bits.y / 32], words.at[bits.z / 32],
							   words.at[bits.w / 32]);

	return loaded >> (bits & 31u) & 1u;
}

/* Remove the lowest four set bits from "rows", return their positions.  Repeat the last if there are fewer. */
uvec4
next_rows(inout uint32_t rows)
{
	uvec4		next;

	for (uint32_t k = 0; k < 4; k++)
	{
		next[k] = findLSB(rows);
		if ((rows & rows - 1) != 0 || k == 3)
			rows &= rows - 1;
	}
	return next;
}

/* Return the rows of a word that are in a set, out of "rows". */
uint32_t
test_rows(Set set, uint32_t word, uint32_t rows)
{
	uint32_t	members = 0;

	while (rows != 0)
	{
		uvec4		next = next_rows(rows);
		bvec4		known = bvec4(true);
		u64vec4		places = load_wide(set.values, word * 32 + next, known);
		uvec4		are = mix(uvec4(set.null),
							  load_members(set, places) & uvec4(lessThanEqual(places, u64vec4(set.reach))), known);

		are <<= next;
		members |= are.x | are.y | are.z | are.w;
	}
	return members;
}

void
main()
{
	uint32_t	number = Words(tasks_at(tasks.members_of)).at[gl_WorkGroupID.x];
	MembersTask task = MembersTasks(tasks_at(tasks.members)).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	Words		bits = Words(task.bits + uint64_t(chunk) * (CHUNK_WORDS32 * 4));

	enter_chunk(task, chunk);
	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += MEMBERS_GROUP)
	{
		uint32_t	rows = bits.at[word];
		uint32_t	left = rows;

		for (uint32_t i = 0; i < task.sets && left != 0; i++)
			left = test_rows(sets[i], word, left);
		if (left != rows)
			bits.at[word] = left;
	}
}
