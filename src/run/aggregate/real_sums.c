/* SPDX-License-Identifier: PostgreSQL */
/*
 * real_sums.c
 *		Sum the doubles of those rows of a batch that a mask selects, and the squares and products of their differences
 *		from the mean.
 */
#include "run/aggregate/real_sums.h"

#include "bits/multiversion.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"

/*
 * Number of *lanes*: partial sums that are calculated at the same time, each of every eighth value.  It does not
 * depend on the width of the processor's registers, so that results have the same digits on all processors.
 */
#define LANES	8

#define AS_BITS(value)	(((union { double value_; int64 bits; }) {.value_ = (value)}).bits)

static double
add_lanes(const double *lanes)
{
	return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/*
 * Add up n values.  Behind them, up to the next multiple of 64 values, the array must have -0, which changes no sum:
 * the loop adds LANES values at a time.
 */
RTSCAN_MULTIVERSION static double
add_all(const double *values, uint32 n)
{
	double		lanes[LANES] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};

	for (const double *end = values + n; values < end; values += LANES)
		for (int k = 0; k < LANES; k++)
			lanes[k] += values[k];
	return add_lanes(lanes);
}

RTSCAN_MULTIVERSION double
rtscan_masked_products(const double *xs, double mean_x, const double *ys, double mean_y, uint32 n)
{
	double		lanes[LANES] = {0};

	for (const double *end = xs + n; xs < end; xs += LANES, ys += LANES)
		for (int k = 0; k < LANES; k++)
			lanes[k] += (xs[k] - mean_x) * (ys[k] - mean_y);
	return add_lanes(lanes);
}

/* Does any of the n values differ from "value"?  If there are NaNs, it does not matter: the sums are discarded. */
RTSCAN_MULTIVERSION static bool
any_differs(const double *values, double value, uint32 n)
{
	int64		differ = 0;

	for (const double *end = values + n; values < end; values += 64)
		for (int i = 0; i < 64; i++)
			differ |= values[i] != value;
	return differ != 0;
}

/* Is any of the values not far from overflow, or a NaN? */
RTSCAN_MULTIVERSION static bool
any_is_large(const double *values, uint32 n)
{
	int64		large = 0;

	for (const double *end = values + n; values < end; values += 64)
		for (int i = 0; i < 64; i++)
			large |= !rtscan_is_far_from_overflow(values[i]);
	return large != 0;
}

/* Return the value of the first row that is selected. */
static double
first_selected(const RtscanVector *vector, const uint64 *mask)
{
	uint32		word = 0;

	while (mask[word] == 0)
		word++;
	return vector->doubles[word * 64 + pg_rightmost_one_pos64(mask[word])];
}

/* In place of rows that are not selected, -0 is added, which changes no sum. */
double
rtscan_masked_real_sum(const RtscanVector *vector, const RtscanMaskedRows *rows)
{
	double		kept[RTSCAN_CURSOR_ROWS];

	rtscan_keep_masked(vector->digits, rows->mask, rows->n, AS_BITS(-0.0), (int64 *) kept);
	return any_is_large(kept, rows->n) ? get_float8_infinity() : add_all(kept, rows->n);
}

RtscanRealSums
rtscan_masked_reals(const RtscanVector *vector, const RtscanMaskedRows *rows, double *room)
{
	double		first = first_selected(vector, rows->mask);
	RtscanRealSums sums = {.sum = rtscan_masked_real_sum(vector, rows), .mean = first};

	rtscan_keep_masked(vector->digits, rows->mask, rows->n, AS_BITS(first), (int64 *) room);
	sums.differ = any_differs(room, first, rows->n);
	if (!sums.differ)
		return sums;
	sums.mean = sums.sum / rows->count;
	rtscan_keep_masked(vector->digits, rows->mask, rows->n, AS_BITS(sums.mean), (int64 *) room);
	sums.squares = rtscan_masked_products(room, sums.mean, room, sums.mean, rows->n);
	return sums;
}
