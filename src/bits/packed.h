/* SPDX-License-Identifier: PostgreSQL */
/*
 * packed.h
 *		Pack integers into pages and unpack them, in loops compiled for several instruction sets.
 *
 * An element has 1, 2, 4, 8, 16, 24, 32, 48, 56 or 64 bits, so that a page has a whole number of elements, and
 * a chunk takes as many pages as an element has bits.  If a byte has several elements, the first one is in its
 * lowest bits.
 *
 * The functions that unpack may read up to seven bytes behind the payload of a page.
 */
#ifndef RTSCAN_PACKED_H
#define RTSCAN_PACKED_H

#include "rtscan.h"

/* Can elements have this number of bits? */
static inline bool
rtscan_can_pack(uint32 bits)
{
	return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32 ||
		bits == 48 || bits == 56 || bits == 64;
}

/* Return the smallest size, in bits, of an element that can hold "largest"; 0 if "largest" is 0. */
extern uint32 rtscan_packed_bits(uint64 largest);

/* Return how many elements of this size fit into a page. */
static inline uint32
rtscan_packed_per_page(uint32 bits)
{
	return RTSCAN_CHUNK_ROWS / bits;
}

/* Return the bytes that n elements take. */
static inline Size
rtscan_packed_bytes(uint32 n, uint32 bits)
{
	return ((Size) n * bits + 7) / 8;
}

/* Return element i of a page. */
static inline uint64
rtscan_packed_element(const char *page, uint32 bits, uint32 i)
{
	uint64		word;

	memcpy(&word, page + (Size) i * bits / 8, sizeof(word));
	return bits == 64 ? word : (word >> (i * bits % 8)) & ((UINT64CONST(1) << bits) - 1);
}

/* Pack n elements.  The page must be filled with zeros. */
extern void rtscan_pack(const uint64 *elements, uint32 n, uint32 bits, char *page);

/*
 * Unpack the first n elements of a page, or those of n rows, where first_row is the row of the page's first element.
 * values[] gets each element plus base.  Returns the largest element, without base; the caller must check that it is
 * valid.
 */
extern uint64 rtscan_unpack(const char *page, uint32 bits, uint32 n, int64 base, int64 *values);
extern uint64 rtscan_unpack_rows(const char *page, uint32 bits, uint32 first_row, const uint32 *rows, uint32 n,
								 int64 base, int64 *values);

/* Unpack elements of at most 24 bits, as rtscan_unpack() and rtscan_unpack_rows() do. */
extern uint64 rtscan_unpack_small(const char *page, uint32 bits, uint32 n, uint32 base, uint32 *values);
extern uint64 rtscan_unpack_small_rows(const char *page, uint32 bits, uint32 first_row, const uint32 *rows, uint32 n,
									   uint32 base, uint32 *values);

/*
 * Replace each value that equals marker by 0, and set the value's bool or bit in marked[].  Clear the bools or bits
 * of all other values.
 */
extern void rtscan_take_markers(int64 *values, uint32 n, int64 marker, bool *marked);
extern void rtscan_take_marker_bits(int64 *values, uint32 n, int64 marker, uint64 *marked);

/* Replace each code "from" by "to". */
extern void rtscan_replace_code(uint32 *codes, uint32 n, uint32 from, uint32 to);

/* Set the bit of each code that equals "code", and clear the bits of all other codes. */
extern void rtscan_find_code(const uint32 *codes, uint32 n, uint32 code, uint64 *found);

/*
 * For each of a page's first n elements, clear its bit in words[] if the element is not in low .. low + span.
 * Elements have at most 16 bits; bit i is that of element i.  Returns the largest of the n elements.
 */
extern uint64 rtscan_and_packed_range(uint64 *words, const char *page, uint32 bits, uint32 n, uint32 low, uint32 span);

/*
 * Clear the bits of elements for which "table" has 0; otherwise like rtscan_and_packed_range().  The table has a byte
 * of 0 or 1 for each value that an element of this size can have.
 */
extern uint64 rtscan_and_packed_table(uint64 *words, const char *page, uint32 bits, uint32 n, const uint8 *table);

/* For each of n values, clear its bit in words[] if (uint64) value - low, modulo 2^64, is more than span. */
extern void rtscan_and_value_range(uint64 *words, const int64 *values, uint32 n, uint64 low, uint64 span);

#endif							/* RTSCAN_PACKED_H */
