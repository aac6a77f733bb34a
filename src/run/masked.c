/*
 * masked.c
 *		What the values of a vector come to, of the rows that bits say.
 */
#include "run/masked.h"

#include "bits/bits.h"
#include "bits/multiversion.h"
#include "port/pg_bitutils.h"

/* All bits are set where a bit is. */
static inline int64
mask_of(const uint64 *bits, uint32 row)
{
	return -(int64) rtscan_bit_is_set(bits, row);
}

static uint64
count_bits(const uint64 *bits, uint32 n)
{
	uint64		count = 0;

	for (uint32 i = 0; i < n / 64; i++)
		count += pg_popcount64(bits[i]);
	if (n % 64 != 0)
		count += pg_popcount64(bits[n / 64] & ((UINT64CONST(1) << n % 64) - 1));
	return count;
}

RTSCAN_MULTIVERSION static uint64
count_nulls(const bool *isnull, const uint64 *bits, uint32 n)
{
	uint64		count = 0;

	for (uint32 row = 0; row < n; row++)
		count += isnull[row] & (bits[row / 64] >> row % 64);
	return count;
}

uint64
rtscan_masked_count(const RtscanVector *vector, const uint64 *bits, uint32 n)
{
	return count_bits(bits, n) - (vector && vector->has_nulls ? count_nulls(vector->isnull, bits, n) : 0);
}

/* What is NULL is 0 from here on. */
RTSCAN_MULTIVERSION static void
keep_values(const RtscanVector *vector, const uint64 *bits, uint32 n, int64 *kept)
{
	for (uint32 row = 0; row < n; row++)
		kept[row] = vector->digits[row] & mask_of(bits, row);
	for (uint32 row = 0; vector->has_nulls && row < n; row++)
		kept[row] &= (int64) vector->isnull[row] - 1;
}

RTSCAN_MULTIVERSION static void
add_halves(const int64 *values, uint32 n, int64 *upper, uint64 *lower)
{
	int64		high = 0;
	uint64		low = 0;

	for (uint32 row = 0; row < n; row++)
	{
		high += values[row] >> 32;
		low += (uint32) values[row];
	}
	*upper = high;
	*lower = low;
}

void
rtscan_masked_sum(const RtscanVector *vector, const uint64 *bits, uint32 n, RtscanSum *sum)
{
	int64		kept[RTSCAN_CURSOR_ROWS];
	int64		upper;
	uint64		lower;

	keep_values(vector, bits, n, kept);
	add_halves(kept, n, &upper, &lower);
	rtscan_sum_add_halves(sum, upper, lower);
}

/* In place of what is not asked for, what no value is beyond. */
RTSCAN_MULTIVERSION static int64
find_outermost(const RtscanVector *vector, const uint64 *bits, uint32 n, int64 flip)
{
	int64		best = PG_INT64_MIN;

	for (uint32 row = 0; row < n; row++)
	{
		int64		mask = mask_of(bits, row) & ((int64) vector->isnull[row] - 1);
		int64		value = ((vector->digits[row] ^ flip) & mask) | (PG_INT64_MIN & ~mask);

		best = Max(best, value);
	}
	return best ^ flip;
}

int64
rtscan_masked_outermost(const RtscanVector *vector, const uint64 *bits, uint32 n, bool greatest)
{
	return find_outermost(vector, bits, n, greatest ? 0 : -1);
}
