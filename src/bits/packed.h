/*
 * packed.h
 *		Pages of packed integers: loops compiled for several instruction sets.
 *
 * An element has 1, 2, 4, 8, 16, 24, 32, 48, 56 or 64 bits, so that a page has a whole number of elements, and a chunk takes
 * as many pages as an element has bits.  The first of several elements of a byte is lowest.
 *
 * Whoever unpacks may read seven bytes more than a page's payload has.
 */
#ifndef RTSCAN_PACKED_H
#define RTSCAN_PACKED_H

#include "rtscan.h"

static inline bool
rtscan_can_pack(uint32 bits)
{
	return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32 ||
		bits == 48 || bits == 56 || bits == 64;
}

/* The fewest bits that an element may have that is not larger than one; 0 if that is 0. */
extern uint32 rtscan_packed_bits(uint64 largest);

static inline uint32
rtscan_packed_per_page(uint32 bits)
{
	return RTSCAN_CHUNK_ROWS / bits;
}

/* Bytes of n elements. */
static inline Size
rtscan_packed_bytes(uint32 n, uint32 bits)
{
	return ((Size) n * bits + 7) / 8;
}

/* One element of a page. */
static inline uint64
rtscan_packed_element(const char *page, uint32 bits, uint32 i)
{
	uint64		word;

	memcpy(&word, page + (Size) i * bits / 8, sizeof(word));
	return bits == 64 ? word : (word >> (i * bits % 8)) & ((UINT64CONST(1) << bits) - 1);
}

/* Pack n elements, into zeros. */
extern void rtscan_pack(const uint64 *elements, uint32 n, uint32 bits, char *page);

/*
 * Unpack the first n elements of a page, base added to each, or those of n rows, whose page begins with the row first_row.
 * Return the largest element, without the base: that it may be there the caller has to check.
 */
extern uint64 rtscan_unpack(const char *page, uint32 bits, uint32 n, int64 base, int64 *values);
extern uint64 rtscan_unpack_rows(const char *page, uint32 bits, uint32 first_row, const uint32 *rows, uint32 n,
								 int64 base, int64 *values);

/* Likewise, of 24 bits at most. */
extern uint64 rtscan_unpack_small(const char *page, uint32 bits, uint32 n, uint32 base, uint32 *values);
extern uint64 rtscan_unpack_small_rows(const char *page, uint32 bits, uint32 first_row, const uint32 *rows, uint32 n,
									   uint32 base, uint32 *values);

/* Where one of some values is a marker, set it to 0, and a bool or a bit; the others' are cleared. */
extern void rtscan_take_markers(int64 *values, uint32 n, int64 marker, bool *marked);
extern void rtscan_take_marker_bits(int64 *values, uint32 n, int64 marker, uint64 *marked);

/* Put a code in place of another; a bit for each of some codes: is it this one? */
extern void rtscan_replace_code(uint32 *codes, uint32 n, uint32 from, uint32 to);
extern void rtscan_find_code(const uint32 *codes, uint32 n, uint32 code, uint64 *found);

/*
 * Clear the bits of the first n elements of a page, of 16 bits at most, that are not in low .. low + span; returns the largest element.
 * The words begin with the first element's bit.
 */
extern uint64 rtscan_and_packed_range(uint64 *words, const char *page, uint32 bits, uint32 n, uint32 low, uint32 span);

/* Likewise of those that a table of all that elements of so many bits may be, of 0 and 1, has 0 for. */
extern uint64 rtscan_and_packed_table(uint64 *words, const char *page, uint32 bits, uint32 n, const uint8 *table);

/* Likewise of n values that are not, as unsigned integers, in low .. low + span. */
extern void rtscan_and_value_range(uint64 *words, const int64 *values, uint32 n, uint64 low, uint64 span);

#endif							/* RTSCAN_PACKED_H */
