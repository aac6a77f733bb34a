/* SPDX-License-Identifier: PostgreSQL */
/*
 * real_sums.h
 *		Sum the doubles of a batch's rows that a mask selects, and squares and products of their differences from the
 *		mean.
 *
 * Values are added in several lanes, and the lanes at the end.  The result may differ in its last digits from that of
 * adding one value after another, just as it does if several processes compute parts of it.
 */
#ifndef RTSCAN_REAL_SUMS_H
#define RTSCAN_REAL_SUMS_H

#include "rtscan.h"

#include "run/vector/masked.h"

/* Fewer rows than this are added one after another, so that digits are those of PostgreSQL. */
#define RTSCAN_MIN_REALS	64

/*
 * If neither the sums of an argument nor those of the state that they are added to are farther from 0 than this, no
 * sum can overflow, not even a sum of squares.
 */
#define RTSCAN_MAX_REAL		1e140

/* Is a value within that limit?  False for NaN. */
static inline bool
rtscan_is_far_from_overflow(double value)
{
	return (value > -RTSCAN_MAX_REAL) & (value < RTSCAN_MAX_REAL);
}

/* Sums of some values. */
typedef struct RtscanRealSums
{
	double		sum;
	double		mean;			/* exact if all values are equal */
	double		squares;		/* sum of squared differences from the mean, 0 if all values are equal */
	bool		differ;			/* are there different values? */
} RtscanRealSums;

/*
 * Return the sums of the values of the selected rows, at least one.  "room" has space for a batch; it gets the values
 * of the selected rows, and the mean in the places of all others.
 */
extern RtscanRealSums rtscan_masked_reals(const RtscanVector *vector, const RtscanMaskedRows *rows, double *room);

/*
 * Return the sum of the products of two arguments' differences from their means.  rtscan_masked_reals() has filled
 * "xs" and "ys".
 */
extern double rtscan_masked_products(const double *xs, double mean_x, const double *ys, double mean_y, uint32 n);

/* Return only the sum; infinity if some value is not far from overflow. */
extern double rtscan_masked_real_sum(const RtscanVector *vector, const RtscanMaskedRows *rows);

#endif							/* RTSCAN_REAL_SUMS_H */
