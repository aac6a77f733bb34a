/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_order.c
 *		Radix sort of 64-bit keys, from the lowest digit.
 */
#include "row/key_order.h"

#include "miscadmin.h"

/* The size of a digit in bits. */
#define DIGIT_BITS		11

/* Up to this number of keys, insertion sort is faster than counting digits. */
#define FEW				64

/* Sort n elements by key, stably, by insertion sort. */
static void
insert_each(RtscanKeyed *keyed, uint32 n)
{
	for (uint32 i = 1; i < n; i++)
	{
		RtscanKeyed one = keyed[i];
		uint32		place = i;

		for (; place > 0 && keyed[place - 1].key > one.key; place--)
			keyed[place] = keyed[place - 1];
		keyed[place] = one;
	}
}

/* Sort n elements stably by one digit of (key - least), which begins at bit "shift"; the result is in "to". */
static void
sort_by_digit(const RtscanKeyed *from, uint32 n, uint64 least, int shift, RtscanKeyed *to)
{
	uint32		ends[1 << DIGIT_BITS] = {0};
	uint32		end = 0;

	CHECK_FOR_INTERRUPTS();
	for (uint32 i = 0; i < n; i++)
		ends[((from[i].key - least) >> shift) & ((1 << DIGIT_BITS) - 1)]++;
	for (int digit = 0; digit < 1 << DIGIT_BITS; digit++)
	{
		uint32		count = ends[digit];

		ends[digit] = end;
		end += count;
	}
	for (uint32 i = 0; i < n; i++)
		to[ends[((from[i].key - least) >> shift) & ((1 << DIGIT_BITS) - 1)]++] = from[i];
}

/* Are the keys sorted?  Sets *least and *greatest to the least and the greatest key, or to 0 if n is 0. */
static bool
is_sorted(const RtscanKeyed *keyed, uint32 n, uint64 *least, uint64 *greatest)
{
	bool		sorted = true;

	*least = *greatest = n > 0 ? keyed[0].key : 0;
	for (uint32 i = 1; i < n; i++)
	{
		sorted &= keyed[i - 1].key <= keyed[i].key;
		*least = Min(*least, keyed[i].key);
		*greatest = Max(*greatest, keyed[i].key);
	}
	return sorted;
}

RtscanKeyed *
rtscan_sort_keyed(RtscanKeyed *keyed, uint32 n, RtscanKeyed *other)
{
	uint64		least,
				greatest;

	if (n <= FEW)
		insert_each(keyed, n);
	if (n <= FEW || is_sorted(keyed, n, &least, &greatest))
		return keyed;
	for (int shift = 0; shift < 64 && (greatest - least) >> shift > 0; shift += DIGIT_BITS)
	{
		RtscanKeyed *sorted = other;

		sort_by_digit(keyed, n, least, shift, sorted);
		other = keyed;
		keyed = sorted;
	}
	return keyed;
}
