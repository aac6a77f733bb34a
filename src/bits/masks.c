/* SPDX-License-Identifier: PostgreSQL */
/*
 * masks.c
 *		Aggregate and count the elements of an array that a bit mask selects.
 */
#include "bits/masks.h"

#include "bits/multiversion.h"
#include "port/pg_bitutils.h"

/*
 * The loops process half a word of the mask at a time, since compilers vectorise 32-bit integers better.  A half has
 * a bit for each of 32 elements.  The memory behind the last element may not be readable, so the elements of an
 * incomplete half are read from a copy.
 */
#define HALF	32

#define BIT_OF(half, i)	(((half) >> (i)) & 1)

static inline uint32
half_of(const uint64 *bits, uint32 first, uint32 n)
{
	uint32		half = (uint32) (bits[first / 64] >> first % 64);

	return n - first >= HALF ? half : half & ((1U << (n - first)) - 1);
}

#define TAKE_HALF \
	if (n - first < HALF) \
		from = memcpy(last, from, (n - first) * sizeof(*from))

/* ---------------------------------------------------------------- integers */

RTSCAN_MULTIVERSION void
rtscan_masked_sum(const int64 *integers, const uint64 *bits, uint32 n, int64 *upper, uint64 *lower)
{
	const int64 *from = integers;
	int64		last[HALF] = {0};
	int64		high = 0;
	uint64		low = 0;

	for (uint32 first = 0; first < n; first += HALF, from += HALF)
	{
		uint32		half = half_of(bits, first, n);

		TAKE_HALF;
		for (uint32 i = 0; i < HALF; i++)
		{
			int64		integer = from[i] & (int64) -(int32) BIT_OF(half, i);

			high += integer >> 32;
			low += (uint32) integer;
		}
	}
	*upper = high;
	*lower = low;
}

/*
 * Return the greatest of the selected integers, after each has been XORed with flip.  Integers that are not selected
 * count as PG_INT64_MIN.
 */
RTSCAN_MULTIVERSION static int64
find_greatest(const int64 *integers, const uint64 *bits, uint32 n, int64 flip)
{
	const int64 *from = integers;
	int64		last[HALF] = {0};
	int64		best = PG_INT64_MIN;

	for (uint32 first = 0; first < n; first += HALF, from += HALF)
	{
		uint32		half = half_of(bits, first, n);

		TAKE_HALF;
		for (uint32 i = 0; i < HALF; i++)
		{
			int64		mask = -(int32) BIT_OF(half, i);
			int64		integer = ((from[i] ^ flip) & mask) | (PG_INT64_MIN & ~mask);

			best = integer > best ? integer : best;
		}
	}
	return best;
}

int64
rtscan_masked_outermost(const int64 *integers, const uint64 *bits, uint32 n, bool greatest)
{
	int64		flip = greatest ? 0 : -1;

	return find_greatest(integers, bits, n, flip) ^ flip;
}

/* ---------------------------------------------------------------- packed elements */

/* Add up the selected elements.  The type "part" must be able to hold the sum of 32 elements. */
#define DEFINE_SUM(name, type, part) \
RTSCAN_MULTIVERSION static uint64 \
name(const char *page, const uint64 *bits, uint32 n, uint64 *sum) \
{ \
	const type *from = (const type *) page; \
	type		last[HALF] = {0}; \
	type		largest = 0; \
	uint64		total = 0; \
	\
	for (uint32 first = 0; first < n; first += HALF, from += HALF) \
	{ \
		uint32		half = half_of(bits, first, n); \
		part		some = 0; \
	\
		TAKE_HALF; \
		for (uint32 i = 0; i < HALF; i++) \
			largest = from[i] > largest ? from[i] : largest; \
		for (uint32 i = 0; i < HALF; i++) \
			some += from[i] & (part) -(int32) BIT_OF(half, i); \
		total += some; \
	} \
	*sum = total; \
	return largest; \
}

/*
 * Set *outermost to the greatest or the least of the selected elements, and return the largest of all n elements.  To
 * find the least, elements are XORed with "flip" (all ones), and the greatest is found.
 */
#define DEFINE_OUTERMOST(name, type) \
RTSCAN_MULTIVERSION static uint64 \
name(const char *page, const uint64 *bits, uint32 n, bool greatest, uint64 *outermost) \
{ \
	const type *from = (const type *) page; \
	type		last[HALF] = {0}; \
	type		flip = greatest ? 0 : (type) -1; \
	type		largest = 0; \
	type		best = 0; \
	\
	for (uint32 first = 0; first < n; first += HALF, from += HALF) \
	{ \
		uint32		half = half_of(bits, first, n); \
	\
		TAKE_HALF; \
		for (uint32 i = 0; i < HALF; i++) \
			largest = from[i] > largest ? from[i] : largest; \
		for (uint32 i = 0; i < HALF; i++) \
		{ \
			type		element = (from[i] ^ flip) & (type) -(int32) BIT_OF(half, i); \
	\
			best = element > best ? element : best; \
		} \
	} \
	*outermost = (type) (best ^ flip); \
	return largest; \
}

DEFINE_SUM(sum_8, uint8, uint32)
DEFINE_SUM(sum_16, uint16, uint32)
DEFINE_SUM(sum_32, uint32, uint64)
DEFINE_OUTERMOST(outermost_8, uint8)
DEFINE_OUTERMOST(outermost_16, uint16)
DEFINE_OUTERMOST(outermost_32, uint32)

uint64
rtscan_masked_packed_sum(const char *page, uint32 element_bits, const uint64 *bits, uint32 n, uint64 *sum)
{
	switch (element_bits)
	{
		case 8:
			return sum_8(page, bits, n, sum);
		case 16:
			return sum_16(page, bits, n, sum);
		default:
			return sum_32(page, bits, n, sum);
	}
}

uint64
rtscan_masked_packed_outermost(const char *page, uint32 element_bits, const uint64 *bits, uint32 n, bool greatest,
							   uint64 *outermost)
{
	switch (element_bits)
	{
		case 8:
			return outermost_8(page, bits, n, greatest, outermost);
		case 16:
			return outermost_16(page, bits, n, greatest, outermost);
		default:
			return outermost_32(page, bits, n, greatest, outermost);
	}
}

/* ---------------------------------------------------------------- bits */

uint64
rtscan_count_first(const uint64 *bits, uint32 n)
{
	uint64		count = 0;

	for (uint32 i = 0; i < n / 64; i++)
		count += pg_popcount64(bits[i]);
	if (n % 64 != 0)
		count += pg_popcount64(bits[n / 64] & ((UINT64CONST(1) << n % 64) - 1));
	return count;
}

void
rtscan_copy_bits(const uint64 *bits, uint32 first, uint32 n, uint64 *copy)
{
	const uint64 *from = bits + first / 64;
	uint32		shift = first % 64;

	for (uint32 i = 0; i * 64 < n; i++)
	{
		copy[i] = from[i] >> shift;
		/* The word behind the last bit may not exist. */
		if (shift > 0 && i * 64 + 64 - shift < n)
			copy[i] |= from[i + 1] << (64 - shift);
	}
}
