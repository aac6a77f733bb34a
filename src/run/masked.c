/*
 * masked.c
 *		What the values of a vector come to, of the rows that bits say.
 */
#include "run/masked.h"

#include "bits/bits.h"
#include "bits/multiversion.h"
#include "port/pg_bitutils.h"

/*
 * All bits are set where a bit of a word is: of a half of it, as compilers make vectors of these.  Words are as they lie in memory
 * a half after the other, lowest first, so that loops go by halves of 32 rows.
 */
#define HALF	32

static inline int64
mask_of(uint32 half, uint32 i)
{
	return -(int32) ((half >> i) & 1);
}

/* The bits of 32 rows: of those that there are. */
static inline uint32
half_of(const uint64 *bits, uint32 first, uint32 n)
{
	uint32		half = (uint32) (bits[first / 64] >> first % 64);

	return n - first >= HALF ? half : half & ((1U << (n - first)) - 1);
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

/* Bits less those of rows that are NULL. */
RTSCAN_MULTIVERSION static void
leave_out_nulls(const RtscanVector *vector, const uint64 *bits, uint32 n, uint64 *left)
{
	for (uint32 first = 0; first < n; first += 64)
	{
		uint8		values[64] = {0};

		for (uint32 i = 0; i < Min(n - first, 64); i++)
			values[i] = !vector->isnull[first + i];
		left[first / 64] = bits[first / 64] & rtscan_pack64(values);
	}
}

/* The wanted that are not NULL; in the given room if need be. */
static const uint64 *
wanted_values(const RtscanVector *vector, const uint64 *bits, uint32 n, uint64 *room)
{
	if (!vector->has_nulls)
		return bits;
	leave_out_nulls(vector, bits, n, room);
	return room;
}

uint64
rtscan_masked_count(const RtscanVector *vector, const uint64 *bits, uint32 n)
{
	uint64		room[RTSCAN_CURSOR_ROWS / 64];

	return count_bits(vector ? wanted_values(vector, bits, n, room) : bits, n);
}

/* The sum of the wanted, in two parts of 32 bits each: upper * 2^32 + lower.  What is behind the n-th is not wanted, but is there. */
RTSCAN_MULTIVERSION static void
add_wanted(const int64 *values, const uint64 *bits, uint32 n, int64 *upper, uint64 *lower)
{
	int64		high = 0;
	uint64		low = 0;

	for (uint32 first = 0; first < n; first += HALF)
	{
		const int64 *from = values + first;
		uint32		half = half_of(bits, first, n);

		for (uint32 i = 0; i < HALF; i++)
		{
			int64		value = from[i] & mask_of(half, i);

			high += value >> 32;
			low += (uint32) value;
		}
	}
	*upper = high;
	*lower = low;
}

void
rtscan_masked_sum(const RtscanVector *vector, const uint64 *bits, uint32 n, RtscanSum *sum)
{
	uint64		room[RTSCAN_CURSOR_ROWS / 64];
	int64		upper;
	uint64		lower;

	add_wanted(vector->digits, wanted_values(vector, bits, n, room), n, &upper, &lower);
	rtscan_sum_add_halves(sum, upper, lower);
}

/* In place of what is not asked for, what no value is beyond. */
RTSCAN_MULTIVERSION static int64
find_outermost(const int64 *values, const uint64 *bits, uint32 n, int64 flip)
{
	int64		best = PG_INT64_MIN;

	for (uint32 first = 0; first < n; first += HALF)
	{
		const int64 *from = values + first;
		uint32		half = half_of(bits, first, n);

		for (uint32 i = 0; i < HALF; i++)
		{
			int64		mask = mask_of(half, i);
			int64		value = ((from[i] ^ flip) & mask) | (PG_INT64_MIN & ~mask);

			best = Max(best, value);
		}
	}
	return best ^ flip;
}

int64
rtscan_masked_outermost(const RtscanVector *vector, const uint64 *bits, uint32 n, bool greatest)
{
	uint64		room[RTSCAN_CURSOR_ROWS / 64];

	return find_outermost(vector->digits, wanted_values(vector, bits, n, room), n, greatest ? 0 : -1);
}
