/* SPDX-License-Identifier: PostgreSQL */
/*
 * count_rays.c
 *		Count the rays that a plan should have, one by one, for the tests of slabs.
 */
#include "count_rays.h"

#include <string.h>

/* Return the least number of parallel rays that cover a side. */
static uint32_t
count_across(uint32_t side, uint32_t width, uint32_t spacing)
{
	uint32_t	n = 1;

	while (width + (n - 1) * spacing < side)
		n++;
	return n;
}

/*
 * Return the least number of rays on one line that cover a side.  *length is the least length with which this number
 * of rays covers it.
 */
static uint32_t
count_along(uint32_t side, uint32_t width, const RayParameters *parameters, uint32_t *length)
{
	uint32_t	n = 1;

	while (n * parameters->length + (n - 1) * parameters->gap + width < side)
		n++;
	*length = 1;
	while (n * *length + (n - 1) * parameters->gap + width < side)
		(*length)++;
	return n;
}

static void
add_slab(int k, const RayParameters *parameters, const Range slab[AXES], RayCount *sum)
{
	uint32_t	sides[AXES];
	uint32_t	rays = 1,
				length = 0;
	int			along = 0;

	for (int axis = 0; axis < AXES; axis++)
		sides[axis] = slab[axis].end - slab[axis].first;
	for (int axis = 0; axis < AXES; axis++)
		if (parameters->direction == RAY_LONGEST ? sides[axis] > sides[along] :
			sides[axis] < sides[along])
			along = axis;
	for (int axis = 0; axis < AXES; axis++)
	{
		uint32_t	width = axis < k ? parameters->width : 2;

		rays *= axis == along ? count_along(sides[axis], width, parameters, &length) :
			count_across(sides[axis], width, parameters->spacing);
	}
	sum->bundles++;
	sum->rays += rays;
	sum->length += (uint64_t) rays * length;
}

/* Count the rays of the slabs for an order of the columns. */
static RayCount
count_order(const SlabColumn *columns, int k, const RayParameters *parameters, const int *order)
{
	RayCount	sum = {0, 0, 0};

	for (int j = 0; j < k; j++)
	{
		static Range unused[] = {{0, 1}};
		RangeSet	sets[AXES];

		for (int axis = 0; axis < AXES; axis++)
			sets[axis] = (RangeSet) {.n = 1, .ranges = unused};
		for (int i = 0; i < k; i++)
			sets[order[i]] = i < j ? *columns[order[i]].exact :
				i == j ? *columns[order[i]].difference : *columns[order[i]].approximate;
		for (uint32_t x = 0; x < sets[0].n; x++)
			for (uint32_t y = 0; y < sets[1].n; y++)
				for (uint32_t z = 0; z < sets[2].n; z++)
					add_slab(k, parameters, (Range[]) {sets[0].ranges[x], sets[1].ranges[y], sets[2].ranges[z]}, &sum);
	}
	return sum;
}

int
count_orders(const SlabColumn *columns, int k, const RayParameters *parameters, RayCount counts[MAX_ORDERS])
{
	static const int one[][AXES] = {{0}};
	static const int two[][AXES] = {{0, 1}, {1, 0}};
	static const int three[][AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const int (*const orders[])[AXES] = {one, two, three};
	static const int norders[] = {1, 2, MAX_ORDERS};

	for (int i = 0; i < norders[k - 1]; i++)
		counts[i] = count_order(columns, k, parameters, orders[k - 1][i]);
	return norders[k - 1];
}

static RayCount
count_plan(const RayPlan *plan)
{
	RayCount	sum = {.bundles = plan->nbundles, .rays = plan->nrays};

	for (uint32_t i = 0; i < plan->nbundles; i++)
		sum.length += (uint64_t) plan->bundles[i].length * plan->bundles[i].count[0] *
			plan->bundles[i].count[1] * plan->bundles[i].count[2];
	return sum;
}

bool
is_expected(const RayCount *counts, int n, const RayPlan *plan, bool planned)
{
	RayCount	sum = count_plan(plan);
	uint64_t	fewest = UINT64_MAX;
	bool		found = false;

	for (int i = 0; i < n; i++)
		if (counts[i].bundles <= plan->max_bundles && counts[i].rays <= plan->max_rays && counts[i].rays < fewest)
			fewest = counts[i].rays;
	if (fewest == UINT64_MAX)
		return !planned && sum.bundles == 0 && sum.rays == 0;
	for (int i = 0; i < n; i++)
		found = found || memcmp(&counts[i], &sum, sizeof(RayCount)) == 0;
	return planned && found && sum.rays == fewest && sum.bundles <= plan->max_bundles;
}
