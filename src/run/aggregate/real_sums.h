/*
 * real_sums.h
 *		Sums of doubles of a batch's rows that a mask has, and of their squares and products about the means.
 *
 * Values are added in several lanes, and the lanes in the end: other digits may come of that than of one value after another, as of
 * several processes' parts.
 */
#ifndef RTSCAN_REAL_SUMS_H
#define RTSCAN_REAL_SUMS_H

#include "rtscan.h"

#include "run/vector/masked.h"

/* Of fewer rows digits are as of one after another: they are added so. */
#define RTSCAN_MIN_REALS	64

/*
 * Where neither an argument's sums nor the state that they are added to are farther from 0, no sum can overflow, also of squares. NaN
 * is beyond all.
 */
#define RTSCAN_MAX_REAL		1e140

static inline bool
rtscan_is_far_from_overflow(double value)
{
	return (value > -RTSCAN_MAX_REAL) & (value < RTSCAN_MAX_REAL);
}

typedef struct RtscanRealSums
{
	double		sum;
	double		mean;
	double		squares;		/* of what values differ by from their mean: 0 if they are all equal */
	bool		differ;			/* are they not? */
} RtscanRealSums;

/* Values, and in the others' places the mean, are left in room for a batch; there must be some. */
extern RtscanRealSums rtscan_masked_reals(const RtscanVector *vector, const RtscanMaskedRows *rows, double *room);

/* The products of two arguments' differences from their means, whose rooms have been filled. */
extern double rtscan_masked_products(const double *xs, double mean_x, const double *ys, double mean_y, uint32 n);

/* The sum only: infinite if there is a value that is not far from overflow. */
extern double rtscan_masked_real_sum(const RtscanVector *vector, const RtscanMaskedRows *rows);

#endif							/* RTSCAN_REAL_SUMS_H */
