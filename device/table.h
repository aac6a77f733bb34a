/* SPDX-License-Identifier: PostgreSQL */
/*
 * table.h
 *		Hash table of integers that are few and far apart, in a request's words (device/protocol.h).
 *
 *		uint64 integers[slots]		distances from the first integer of the set or map;
 *									DEVICE_NO_INTEGER in a free slot
 *		uint32 numbers[slots]		only in a map
 *
 * An integer is added to the slot of its hash, or if that is taken, to the next free slot; the first slot follows
 * the last.  A row usually needs one probe.  Of RTIndeX's ways to look up keys, which include rays, a hash table is
 * the fastest on the devices measured (bench/lookups).  Words need not be aligned to 64 bits.
 */
#ifndef RTSCAN_DEVICE_TABLE_H
#define RTSCAN_DEVICE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DEVICE_NO_INTEGER		UINT64_MAX
#define DEVICE_MAX_SLOT_BITS	21

/* At most this many integers are in a table, so that at least a quarter of the slots is free. */
#define DEVICE_MAX_IN_TABLE		(UINT64_C(3) << (DEVICE_MAX_SLOT_BITS - 2))

/* Return the number of 32-bit words of a table with 2^slot_bits slots.  "numbers" is true for a map. */
static inline uint64_t
device_table_words(uint32_t slot_bits, bool numbers)
{
	return (numbers ? UINT64_C(3) : UINT64_C(2)) << slot_bits;
}

/* Return the slot_bits of a table that is to hold "integers" integers; at least 1. */
static inline uint32_t
device_slot_bits(uint64_t integers)
{
	uint32_t	bits = 1;

	while (integers > UINT64_C(3) << bits >> 2)
		bits++;
	return bits;
}

/*
 * Return the slot of an integer's hash.  The upper half is XORed into the lower half first.  Otherwise integers at
 * equal distances would have slots at equal distances, some of which collide.  shaders/table.glsl has the same
 * function.
 */
static inline uint32_t
device_slot_of(uint64_t integer, uint32_t slot_bits)
{
	return (uint32_t) ((integer ^ integer >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - slot_bits));
}

static inline uint64_t
device_integer_in_slot(const uint32_t *words, uint32_t slot)
{
	uint64_t	integer;

	memcpy(&integer, words + 2 * (uint64_t) slot, sizeof(integer));
	return integer;
}

/* Return the slot that has an integer, or else the free slot for it.  A table is never full. */
static inline uint32_t
device_find_slot(const uint32_t *words, uint32_t slot_bits, uint64_t integer)
{
	uint32_t	slot = device_slot_of(integer, slot_bits);
	uint64_t	found;

	while ((found = device_integer_in_slot(words, slot)) != integer && found != DEVICE_NO_INTEGER)
		slot = (slot + 1) & ((UINT32_C(1) << slot_bits) - 1);
	return slot;
}

static inline void
device_clear_table(uint32_t *words, uint32_t slot_bits)
{
	memset(words, 0xFF, sizeof(uint64_t) << slot_bits);
}

/* Add an integer, unless the table has it.  Returns its slot. */
static inline uint32_t
device_add_to_table(uint32_t *words, uint32_t slot_bits, uint64_t integer)
{
	uint32_t	slot = device_find_slot(words, slot_bits, integer);

	memcpy(words + 2 * (uint64_t) slot, &integer, sizeof(integer));
	return slot;
}

/* Return the address of a slot's number, in a map. */
static inline uint32_t *
device_number_in_slot(uint32_t *words, uint32_t slot_bits, uint32_t slot)
{
	return words + (UINT64_C(2) << slot_bits) + slot;
}

#endif							/* RTSCAN_DEVICE_TABLE_H */
