/* SPDX-License-Identifier: PostgreSQL */
/*
 * real_sums.h
 *		Sum the doubles of those rows of a batch that a mask selects, and the squares and products of their differences
 *		from the mean.
 *
 * Values are added up in several *lanes*, partial sums that the processor calculates side by side.  At the end the
 * lanes are added.  So the result may differ in its last digits from that of adding one value after another, as may the
 * result of a parallel query.
 */
#ifndef RTSCAN_REAL_SUMS_H
#define RTSCAN_REAL_SUMS_H

#include "rtscan.h"

#include "run/vector/masked.h"

/* Fewer rows than this are added one after another, so that the result has the same digits as PostgreSQL's. */
#define RTSCAN_MIN_REALS	64

/*
 * If the sums of a batch's argument, and those of the state to which they are added, are within this distance from 0,
 * no sum can overflow, not even a sum of squares.
 */
#define RTSCAN_MAX_REAL		1e140

/* Is a value closer to 0 than RTSCAN_MAX_REAL?  False for NaN. */
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
 * Return the sums of the values of the selected rows, which must be at least one.  "room" has space for a batch.  It
 * gets the values of the selected rows in their places, and the mean in the places of all other rows.
 */
extern RtscanRealSums rtscan_masked_reals(const RtscanVector *vector, const RtscanMaskedRows *rows, double *room);

/*
 * Return the sum of the products of two arguments' differences from their means.  rtscan_masked_reals() has filled
 * "xs" and "ys".
 */
extern double rtscan_masked_products(const double *xs, double mean_x, const double *ys, double mean_y, uint32 n);

/*
 * Return only the sum of the selected rows' values.  Return infinity if any of these values is not far from overflow.
 */
extern double rtscan_masked_real_sum(const RtscanVector *vector, const RtscanMaskedRows *rows);

#endif							/* RTSCAN_REAL_SUMS_H */
