/* SPDX-License-Identifier: PostgreSQL */
/*
 * rays.c
 *		Rays of a plan as a device makes them, for the tests of slabs.
 */
#include "rays.h"

#include <math.h>
#include <stddef.h>

/* ---------------------------------------------------------------- sets */

void
clear_sets(Sets *sets)
{
	RangeSet   *all[] = {&sets->exact, &sets->approximate, &sets->difference};

	for (int i = 0; i < 3; i++)
		*all[i] = (RangeSet) {.capacity = SET_RANGES, .ranges = sets->arrays[i]};
}

SlabColumn
column_of(Sets *sets)
{
	bins_difference(&sets->approximate, &sets->exact, &sets->difference, NULL);
	return (SlabColumn) {&sets->exact, &sets->approximate, &sets->difference};
}

/* ---------------------------------------------------------------- the device's rays */

static const RayBundle *
find_bundle(const RayPlan *plan, uint32_t ray)
{
	uint32_t	low = 0,
				high = plan->nbundles;

	while (high - low > 1)
	{
		uint32_t	middle = (low + high) / 2;

		if (plan->bundles[middle].first_ray <= ray)
			low = middle;
		else
			high = middle;
	}
	return &plan->bundles[low];
}

const RayBundle *
make_ray(const RayPlan *plan, uint32_t ray, float origin[AXES])
{
	const RayBundle *bundle = find_bundle(plan, ray);
	uint32_t	rest = ray - bundle->first_ray;

	for (int axis = 0; axis < AXES; axis++)
	{
		volatile float offset = bundle->stride[axis] * (float) (rest % bundle->count[axis]);

		origin[axis] = bundle->origin[axis] + offset;
		rest /= bundle->count[axis];
	}
	return bundle;
}

bool
overlap(const RayBundle *bundle, const float origin[AXES], uint32_t axis, uint32_t rank, float half)
{
	float		low = (float) rank - half;
	float		high = (float) rank + half;

	if (axis == bundle->axis)
		return origin[axis] < high && origin[axis] + bundle->length > low;
	return low < origin[axis] && origin[axis] < high;
}

/* ---------------------------------------------------------------- exactness */

/* Return true if a coordinate is exactly a half-integer, small enough for its neighbours to be exact as well. */
static bool
is_half(double exact, float single)
{
	return exact == single && fabs(exact) < 8388608 && fabs(exact - floor(exact)) == 0.5;
}

static const char *
check_ray(const RayPlan *plan, uint32_t ray, int k, uint32_t length)
{
	float		origin[AXES];
	const RayBundle *bundle = make_ray(plan, ray, origin);
	uint32_t	rest = ray - bundle->first_ray;

	for (uint32_t axis = 0; axis < AXES; axis++)
	{
		uint32_t	index = rest % bundle->count[axis];
		double		exact = bundle->origin[axis] + (double) bundle->stride[axis] * index;

		if (!is_half(exact, origin[axis]) || (axis >= (uint32_t) k && exact != 0.5))
			return "a ray's origin is no half-integer";
		if (axis == bundle->axis && !is_half(exact + bundle->length, origin[axis] + bundle->length))
			return "a ray's end is no half-integer";
		rest /= bundle->count[axis];
	}
	if (rest != 0)
		return "a ray belongs to no bundle";
	if (bundle->length < 1 || bundle->length > length)
		return "a ray is too long or too short";
	return NULL;
}

static const char *
check_numbering(const RayPlan *plan)
{
	uint64_t	rays = 0;

	for (uint32_t i = 0; i < plan->nbundles; i++)
	{
		const RayBundle *bundle = &plan->bundles[i];

		if (bundle->first_ray != rays || bundle->axis >= AXES)
			return "first_ray or axis is wrong";
		rays += (uint64_t) bundle->count[0] * bundle->count[1] * bundle->count[2];
	}
	return rays == plan->nrays ? NULL : "the bundles have another number of rays";
}

const char *
check_exactness(const RayPlan *plan, int k, uint32_t length)
{
	const char *error = check_numbering(plan);

	for (uint32_t ray = 0; error == NULL && ray < plan->nrays; ray++)
		error = check_ray(plan, ray, k, length);
	return error;
}
