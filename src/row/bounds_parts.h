/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds_parts.h
 *		Functions that interval arithmetic forwards and backwards (bounds.h) have in common.
 */
#ifndef RTSCAN_BOUNDS_PARTS_H
#define RTSCAN_BOUNDS_PARTS_H

#include "row/bounds.h"

/* The largest relative error that is assumed of a quotient of numerics, and of C's pow(). */
#define RTSCAN_ROUNDING	1e-12

/* Is zero between the bounds? */
static inline bool
rtscan_bounds_have_zero(const RtscanBounds *bounds)
{
	return bounds->low <= 0 && bounds->high >= 0;
}

/*
 * Return bounds, rounded outwards, of the exact results of an addition, subtraction, multiplication or division whose
 * operands are any finite numbers within the bounds "left" and "right".  For a division, zero must not be within
 * "right".
 */
extern RtscanBounds rtscan_real_bounds(RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right);

/* Widen bounds by RTSCAN_ROUNDING, for a result that is not rounded to the nearest number. */
extern void rtscan_allow_rounding(RtscanBounds *bounds);

#endif							/* RTSCAN_BOUNDS_PARTS_H */
