// SPDX-License-Identifier: PostgreSQL
/*
 * lookup.glsl
 *		Declarations shared by the shaders that look up.
 */
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { LookupTask task; };

/* The rows that a lookup has found. */
struct Found
{
	uint64_t	sum;
	uint32_t	count;
};

void
add_entry(uint32_t entry, inout Found found)
{
	uint32_t	end = 1;

	if (task.rows == 0)
		found.sum += entry;
	else if (task.firsts == 0)
		found.sum += Words(task.rows).at[entry];
	else
	{
		uint32_t	first = Words(task.firsts).at[entry];

		end = Words(task.firsts).at[entry + 1] - first;
		for (uint32_t i = 0; i < end; i++)
			found.sum += Words(task.rows).at[first + i];
	}
	found.count += end;
}

/* Return the first of the sorted entries first .. end - 1 whose key is at least this one, or end if there is none. */
uint32_t
search(uint32_t first, uint32_t end, uint64_t key)
{
	while (first < end)
	{
		uint32_t	middle = (first + end) / 2;

		if (load_key(task.keys, middle) < key)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Add all sorted entries from one on whose keys are at most last.  All keys are distinct. */
void
add_run(uint32_t entry, uint64_t last, inout Found found)
{
	for (; entry < task.entries; entry++)
	{
		uint64_t	key = load_key(task.keys, entry);

		if (key <= last)
			add_entry(entry, found);
		if (key >= last)
			break;
	}
}

void
write_answer(uint32_t lookup, Found found)
{
	Words(task.counts).at[lookup] = found.count;
	Doublewords(task.sums).at[lookup] = found.sum;
}
