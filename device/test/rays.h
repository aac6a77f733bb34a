/* SPDX-License-Identifier: PostgreSQL */
/*
 * rays.h
 *		Rays of a plan as a device makes them, for the tests of slabs.
 */
#ifndef RTSCAN_DEVICE_TEST_RAYS_H
#define RTSCAN_DEVICE_TEST_RAYS_H

#include "../slabs.h"

#define AXES			SLABS_AXES
#define SET_RANGES		16		/* ranges of a set, at most */

/* A column's sets, with the arrays of their ranges. */
typedef struct Sets
{
	RangeSet	exact;
	RangeSet	approximate;
	RangeSet	difference;
	Range		arrays[3][SET_RANGES];
} Sets;

/* Make a column's sets empty. */
extern void clear_sets(Sets *sets);

/* Compute the difference of the exact and the approximate set.  Returns a column with all three sets. */
extern SlabColumn column_of(Sets *sets);

/* Compute the origin of a ray in float32, as the shader does.  Returns its bundle. */
extern const RayBundle *make_ray(const RayPlan *plan, uint32_t ray, float origin[AXES]);

/* Return true if a ray and the box of a rank overlap on an axis.  half is half of the box's width. */
extern bool overlap(const RayBundle *bundle, const float origin[AXES], uint32_t axis, uint32_t rank, float half);

/*
 * Check that the ends of all rays are exact half-integers, that no ray is longer than length, and that the bundles
 * number the rays one after another.  k is the number of columns.  Returns what is wrong, or NULL.
 */
extern const char *check_exactness(const RayPlan *plan, int k, uint32_t length);

#endif							/* RTSCAN_DEVICE_TEST_RAYS_H */
