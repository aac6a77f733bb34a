/*
 * table.h
 *		Integers that are few and far apart, in a request's words (device/protocol.h): a hash table, for one probe a row.
 *
 *		uint64 integers[slots]		distances from the first; DEVICE_NO_INTEGER where there is none
 *		uint32 numbers[slots]		only of a map
 *
 * An integer is in the slot that its hash names, or in the first one behind that was free; behind the last comes the first.  Of RTIndeX's ways to
 * look keys up it is the fastest on the devices there are (bench/lookups).  Words need not be aligned to 64 bits.
 */
#ifndef RTSCAN_DEVICE_TABLE_H
#define RTSCAN_DEVICE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DEVICE_NO_INTEGER		UINT64_MAX
#define DEVICE_MAX_SLOT_BITS	21

/* So many integers are in a table at most: of its slots, a quarter is free. */
#define DEVICE_MAX_IN_TABLE		(UINT64_C(3) << (DEVICE_MAX_SLOT_BITS - 2))

/* Words of a table of 2^slot_bits slots, with numbers or without. */
static inline uint64_t
device_table_words(uint32_t slot_bits, bool numbers)
{
	return (numbers ? UINT64_C(3) : UINT64_C(2)) << slot_bits;
}

/* What a table of so many integers has, at least 2 slots. */
static inline uint32_t
device_slot_bits(uint64_t integers)
{
	uint32_t	bits = 1;

	while (integers > UINT64_C(3) << bits >> 2)
		bits++;
	return bits;
}

/* Multiplied alone, integers in equal steps would have slots in equal steps, some of which meet.  shaders/table.glsl has the same. */
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

/* The slot that has an integer, or the one for it, which is free.  A table is never full. */
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

/* Add an integer, which may be there; its slot. */
static inline uint32_t
device_add_to_table(uint32_t *words, uint32_t slot_bits, uint64_t integer)
{
	uint32_t	slot = device_find_slot(words, slot_bits, integer);

	memcpy(words + 2 * (uint64_t) slot, &integer, sizeof(integer));
	return slot;
}

/* The number of what is in a slot. */
static inline uint32_t *
device_number_in_slot(uint32_t *words, uint32_t slot_bits, uint32_t slot)
{
	return words + (UINT64_C(2) << slot_bits) + slot;
}

#endif							/* RTSCAN_DEVICE_TABLE_H */
