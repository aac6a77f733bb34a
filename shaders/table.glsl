// SPDX-License-Identifier: PostgreSQL
/*
 * table.glsl
 *		Look up integers in a hash table: see device/table.h.
 */
#include "common.glsl"

#define NO_INTEGER	0xFFFFFFFFFFFFFFFFul

uint64_t
integer_in_slot(Words table, uint32_t slot)
{
	return uint64_t(table.at[2 * slot]) | uint64_t(table.at[2 * slot + 1]) << 32;
}

/*
 * Find the slot of an integer.  Returns false if the table does not have it.  The loop ends even if a backend has
 * sent a table without free slots.
 */
bool
find_in_table(Words table, uint32_t slot_bits, uint64_t integer, out uint32_t slot)
{
	uint32_t	last = (1u << slot_bits) - 1;

	slot = uint32_t((integer ^ integer >> 32) * 0x9E3779B97F4A7C15ul >> (64 - slot_bits));
	for (uint32_t i = 0; i <= last; i++)
	{
		uint64_t	found = integer_in_slot(table, slot);

		if (found == integer || found == NO_INTEGER)
			return found == integer;
		slot = slot + 1 & last;
	}
	return false;
}
