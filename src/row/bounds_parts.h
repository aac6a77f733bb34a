/*
 * bounds_parts.h
 *		What interval arithmetic forwards and backwards (bounds.h) have in common.
 */
#ifndef RTSCAN_BOUNDS_PARTS_H
#define RTSCAN_BOUNDS_PARTS_H

#include "row/bounds.h"

/* By how much, at most, a quotient of numerics, or C's power, is rounded. */
#define RTSCAN_ROUNDING	1e-12

static inline bool
rtscan_bounds_have_zero(const RtscanBounds *bounds)
{
	return bounds->low <= 0 && bounds->high >= 0;
}

/* The real results of all pairs of numbers of two sets, outwards; of division, whose second has no zero. */
extern RtscanBounds rtscan_real_bounds(RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right);

/* Outwards by what a result is rounded that is not the nearest one. */
extern void rtscan_allow_rounding(RtscanBounds *bounds);

#endif							/* RTSCAN_BOUNDS_PARTS_H */
