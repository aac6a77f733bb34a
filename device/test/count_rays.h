/* SPDX-License-Identifier: PostgreSQL */
/*
 * count_rays.h
 *		Count the rays that a plan should have, one by one, for the tests of slabs.
 */
#ifndef RTSCAN_DEVICE_TEST_COUNT_RAYS_H
#define RTSCAN_DEVICE_TEST_COUNT_RAYS_H

#include "rays.h"

#define MAX_ORDERS		6		/* orders of three columns */

/* The rays of a plan. */
typedef struct RayCount
{
	uint64_t	bundles;
	uint64_t	rays;
	uint64_t	length;			/* total length of the rays */
} RayCount;

/* Count the rays for all orders of k columns.  Returns the number of orders. */
extern int	count_orders(const SlabColumn *columns, int k, const RayParameters *parameters,
						 RayCount counts[MAX_ORDERS]);

/*
 * Check that the plan has the rays of an order that is within the limits and has the fewest rays.  If no order is
 * within the limits, there must be no plan.
 */
extern bool is_expected(const RayCount *counts, int n, const RayPlan *plan, bool planned);

#endif							/* RTSCAN_DEVICE_TEST_COUNT_RAYS_H */
