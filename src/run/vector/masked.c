/* SPDX-License-Identifier: PostgreSQL */
/*
 * masked.c
 *		Aggregate a vector over the rows selected by a bit mask.
 *
 * The loops process a word of the mask, and its 64 rows, at a time, since compilers vectorise that.
 */
#include "run/vector/masked.h"

#include "bits/bits.h"
#include "bits/masks.h"
#include "bits/multiversion.h"

/* All bits are set if bit i of the word is set; else no bit is.  (i has 64 bits, since compilers vectorise that.) */
#define MASK_OF(word, i)	(-(int64) ((word) >> (i) & 1))

/* ---------------------------------------------------------------- rows */

void
rtscan_mask_rows(const uint64 *wanted, uint32 n, uint64 *mask)
{
	for (uint32 i = 0; i * 64 < n; i++)
		mask[i] = wanted ? wanted[i] : ~UINT64CONST(0);
	if (n % 64 != 0)
		mask[n / 64] &= (UINT64CONST(1) << n % 64) - 1;
}

RTSCAN_MULTIVERSION void
rtscan_mask_nulls(const RtscanVector *vector, uint32 n, uint64 *mask)
{
	for (uint32 first = 0; vector->has_nulls && first < n; first += 64)
		mask[first / 64] &= ~rtscan_pack64((const uint8 *) vector->isnull + first);
}

RTSCAN_MULTIVERSION void
rtscan_mask_true(const RtscanVector *condition, uint32 n, uint64 *mask)
{
	for (uint32 first = 0; first < n; first += 64)
	{
		const int64 *truth = condition->digits + first;
		const uint8 *isnull = (const uint8 *) condition->isnull + first;
		uint8		is_true[64];

		for (int i = 0; i < 64; i++)
			is_true[i] = (uint8) truth[i] & (isnull[i] ^ 1);
		mask[first / 64] &= rtscan_pack64(is_true);
	}
}

/* ---------------------------------------------------------------- values */

RTSCAN_MULTIVERSION void
rtscan_keep_masked(const int64 *values, const uint64 *mask, uint32 n, int64 neutral, int64 *kept)
{
	for (uint32 first = 0; first < n; first += 64)
	{
		const int64 *from = values + first;
		int64	   *to = kept + first;
		uint64		word = mask[first / 64];

		for (uint64 i = 0; i < 64; i++)
			to[i] = (from[i] & MASK_OF(word, i)) | (neutral & ~MASK_OF(word, i));
	}
}

RTSCAN_MULTIVERSION uint64
rtscan_sum_modulo(const int64 *values, const uint64 *mask, uint32 n)
{
	uint64		sum = 0;

	for (uint32 first = 0; first < n; first += 64)
	{
		const int64 *from = values + first;
		uint64		word = mask[first / 64];

		for (uint64 i = 0; i < 64; i++)
			sum += from[i] & MASK_OF(word, i);
	}
	return sum;
}

RTSCAN_MULTIVERSION uint64
rtscan_sum_products_modulo(const int64 *left, const int64 *right, const uint64 *mask, uint32 n)
{
	uint64		sum = 0;

	for (uint32 first = 0; first < n; first += 64)
	{
		const int64 *a = left + first;
		const int64 *b = right + first;
		uint64		word = mask[first / 64];

		for (uint64 i = 0; i < 64; i++)
			sum += ((uint64) a[i] * (uint64) b[i]) & MASK_OF(word, i);
	}
	return sum;
}

void
rtscan_sum_masked(const RtscanVector *vector, const uint64 *mask, uint32 n, RtscanSum *sum)
{
	int64		upper;
	uint64		lower;

	if (rtscan_is_within(vector, PG_INT64_MAX / RTSCAN_CURSOR_ROWS))
	{
		int64		small = (int64) rtscan_sum_modulo(vector->digits, mask, n);

		rtscan_sum_add(sum, small >> 63, (uint64) small);
		return;
	}
	rtscan_masked_sum(vector->digits, mask, n, &upper, &lower);
	rtscan_sum_add_halves(sum, upper, lower);
}
