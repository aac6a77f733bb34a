/*
 * masked.c
 *		What the values of a vector come to, of the rows that bits say.
 */
#include "run/masked.h"

#include "bits/bits.h"
#include "bits/masks.h"
#include "bits/multiversion.h"

/* Bits of rows less those that are NULL. */
RTSCAN_MULTIVERSION static void
leave_out_nulls(const bool *isnull, const uint64 *bits, uint32 n, uint64 *left)
{
	for (uint32 first = 0; first < n; first += 64)
	{
		uint8		values[64] = {0};

		for (uint32 i = 0; i < Min(n - first, 64); i++)
			values[i] = !isnull[first + i];
		left[first / 64] = bits[first / 64] & rtscan_pack64(values);
	}
}

/* The bits of rows that are not NULL; in the given room if need be. */
static const uint64 *
bits_of_values(const RtscanVector *vector, const uint64 *bits, uint32 n, uint64 *room)
{
	if (!vector->has_nulls)
		return bits;
	leave_out_nulls(vector->isnull, bits, n, room);
	return room;
}

uint64
rtscan_count_masked(const RtscanVector *vector, const uint64 *bits, uint32 n)
{
	uint64		room[RTSCAN_CURSOR_ROWS / 64];

	return rtscan_count_first(vector ? bits_of_values(vector, bits, n, room) : bits, n);
}

void
rtscan_sum_masked(const RtscanVector *vector, const uint64 *bits, uint32 n, RtscanSum *sum)
{
	uint64		room[RTSCAN_CURSOR_ROWS / 64];
	int64		upper;
	uint64		lower;

	rtscan_masked_sum(vector->digits, bits_of_values(vector, bits, n, room), n, &upper, &lower);
	rtscan_sum_add_halves(sum, upper, lower);
}

int64
rtscan_find_masked(const RtscanVector *vector, const uint64 *bits, uint32 n, bool greatest)
{
	uint64		room[RTSCAN_CURSOR_ROWS / 64];

	return rtscan_masked_outermost(vector->digits, bits_of_values(vector, bits, n, room), n, greatest);
}
