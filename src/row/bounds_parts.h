/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds_parts.h
 *		The common parts of interval arithmetic forwards and backwards (bounds.h).
 */
#ifndef RTSCAN_BOUNDS_PARTS_H
#define RTSCAN_BOUNDS_PARTS_H

#include "row/bounds.h"

/* The largest relative error of a quotient of numerics, and of C's pow(). */
#define RTSCAN_ROUNDING	1e-12

/* Is zero between the bounds? */
static inline bool
rtscan_bounds_have_zero(const RtscanBounds *bounds)
{
	return bounds->low <= 0 && bounds->high >= 0;
}

/*
 * Return bounds of the real results for all pairs of numbers of two sets, rounded outwards.  For a division, the
 * second set must not contain zero.
 */
extern RtscanBounds rtscan_real_bounds(RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right);

/* Widen bounds by the error of a result that is not rounded to the nearest number. */
extern void rtscan_allow_rounding(RtscanBounds *bounds);

#endif							/* RTSCAN_BOUNDS_PARTS_H */
