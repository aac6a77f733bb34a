/* SPDX-License-Identifier: PostgreSQL */
/*
 * sum.h
 *		An exact sum of integers of one scale.
 */
#ifndef RTSCAN_SUM_H
#define RTSCAN_SUM_H

#include "rtscan.h"

/* A sum in two parts, (upper * 2^64 + lower) / 10^scale. */
typedef struct RtscanSum
{
	int64		upper;
	uint64		lower;
	int			scale;
} RtscanSum;

/* Add an integer, or another sum, of the same scale: upper * 2^64 + lower. */
static inline void
rtscan_sum_add(RtscanSum *sum, int64 upper, uint64 lower)
{
	sum->lower += lower;
	sum->upper += upper + (sum->lower < lower);
}

/* Add an integer of the sum's scale: upper * 2^32 + lower. */
static inline void
rtscan_sum_add_halves(RtscanSum *sum, int64 upper, uint64 lower)
{
	rtscan_sum_add(sum, upper >> 32, (uint64) upper << 32);
	rtscan_sum_add(sum, 0, lower);
}

#endif							/* RTSCAN_SUM_H */
