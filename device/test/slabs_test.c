/* SPDX-License-Identifier: PostgreSQL */
/*
 * slabs_test.c
 *		Test that the rays of a plan meet every box that has to be refined, in small spaces.
 *
 * All points of a space are checked, for all sets or for all kinds of predicates.  Rays are computed as in a shader,
 * in float32, and meet boxes exactly as slabs.h says.  The number of rays and their length are
 * compared with numbers found by counting them one by one.  slabs_large_test.c tests large spaces.
 *
 * Sets of few ranks are bit masks, and their ranges are the runs of ones.
 */
#include "../slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count_rays.h"
#include "rays.h"

#define SMALL_ROWS		SET_RANGES
#define SMALL_BUNDLES	4096
#define MANY			UINT32_MAX

typedef struct Case
{
	int			k;
	uint32_t	exact[AXES];	/* masks; a single rank on an axis without a column */
	uint32_t	approximate[AXES];
	RayParameters parameters;
} Case;

static unsigned long ncases = 0;

/* ---------------------------------------------------------------- sets */

/* Convert a mask to its runs of ones. */
static void
mask_ranges(uint32_t mask, RangeSet *set)
{
	set->n = 0;
	for (uint32_t rank = 0; rank < SMALL_ROWS; rank++)
	{
		if (!(mask & (1u << rank)))
			continue;
		if (rank == 0 || !(mask & (1u << (rank - 1))))
			set->ranges[set->n++].first = rank;
		set->ranges[set->n - 1].end = rank + 1;
	}
}

static uint32_t
range_mask(uint32_t first, uint32_t end)
{
	return ((1u << end) - 1) & ~((1u << first) - 1);
}

static uint32_t
set_mask(const RangeSet *set)
{
	uint32_t	mask = 0;

	for (uint32_t i = 0; i < set->n; i++)
		mask |= range_mask(set->ranges[i].first, set->ranges[i].end);
	return mask;
}

static SlabColumn
make_column(Sets *sets, uint32_t exact, uint32_t approximate)
{
	clear_sets(sets);
	mask_ranges(exact, &sets->exact);
	mask_ranges(approximate, &sets->approximate);
	return column_of(sets);
}

/* Compute the difference with ranges that may be adjacent, which slabs_plan_rays() accepts as well. */
static void
split_difference(Sets *sets)
{
	bool		marks[SMALL_ROWS];

	bins_difference(&sets->approximate, &sets->exact, &sets->difference, marks);
}

/* ---------------------------------------------------------------- coverage */

typedef uint32_t MetPoints[SMALL_ROWS][SMALL_ROWS]; /* masks of ranks on the third axis */

/* Return the ranks on an axis whose boxes a ray meets, if it meets the box on the other axes. */
static uint32_t
met_ranks(const Case *test, const RayBundle *bundle, const float origin[AXES], int axis)
{
	uint32_t	mask = 0;

	if (axis >= test->k)
		return overlap(bundle, origin, axis, 0, 1) ? 1 : 0;
	for (uint32_t rank = 0; rank < SMALL_ROWS; rank++)
		if (overlap(bundle, origin, axis, rank, test->parameters.width / 2))
			mask |= 1u << rank;
	return mask;
}

static void
shoot(const Case *test, const RayPlan *plan, MetPoints met)
{
	memset(met, 0, sizeof(MetPoints));
	for (uint32_t ray = 0; ray < plan->nrays; ray++)
	{
		float		origin[AXES];
		const RayBundle *bundle = make_ray(plan, ray, origin);
		uint32_t	masks[AXES];

		for (int axis = 0; axis < AXES; axis++)
			masks[axis] = met_ranks(test, bundle, origin, axis);
		for (uint32_t x = masks[0]; x != 0; x &= x - 1)
			for (uint32_t y = masks[1]; y != 0; y &= y - 1)
				met[__builtin_ctz(x)][__builtin_ctz(y)] |= masks[2];
	}
}

/* Find a point that is in exactly one of A and E, and that no ray meets. */
static bool
find_missed(const Case *test, MetPoints met, uint32_t point[AXES])
{
	const uint32_t *a = test->approximate;
	const uint32_t *e = test->exact;

	for (uint32_t x = 0; x < SMALL_ROWS; x++)
	{
		for (uint32_t y = 0; y < SMALL_ROWS; y++)
		{
			uint32_t	in_a = (a[0] >> x & 1) && (a[1] >> y & 1) ? a[2] : 0;
			uint32_t	in_e = (e[0] >> x & 1) && (e[1] >> y & 1) ? e[2] : 0;
			uint32_t	missed = (in_a ^ in_e) & ~met[x][y];

			if (missed != 0)
			{
				point[0] = x;
				point[1] = y;
				point[2] = __builtin_ctz(missed);
				return true;
			}
		}
	}
	return false;
}

/* ---------------------------------------------------------------- small spaces */

static void
fail(const Case *test, const char *what)
{
	const RayParameters *p = &test->parameters;

	printf("%d columns, exact %x %x %x, approximate %x %x %x, "
		   "width %u, length %u, spacing %u, gap %u, direction %d: %s\n",
		   test->k, test->exact[0], test->exact[1], test->exact[2],
		   test->approximate[0], test->approximate[1], test->approximate[2],
		   p->width, p->length, p->spacing, p->gap, p->direction, what);
	exit(1);
}

static void
check_coverage(const Case *test, const RayPlan *plan)
{
	MetPoints	met;
	uint32_t	missed[AXES];
	char		what[100];

	shoot(test, plan, met);
	if (find_missed(test, met, missed))
	{
		snprintf(what, sizeof(what), "no ray meets %u, %u, %u", missed[0], missed[1], missed[2]);
		fail(test, what);
	}
}

/* Check limits that are just large enough, and limits that are just too small. */
static void
check_limits(const Case *test, const SlabColumn *columns, const RayCount *sums, int n)
{
	for (int i = 0; i < 4 * n; i++)
	{
		const RayCount *sum = &sums[i / 4];
		RayPlan		plan = {.max_bundles = sum->bundles, .max_rays = sum->rays};
		bool		planned;

		plan.max_bundles -= i % 2 == 1 && sum->bundles > 0;
		plan.max_rays -= i / 2 % 2 == 1 && sum->rays > 0;
		plan.bundles = malloc(plan.max_bundles * sizeof(RayBundle));
		planned = slabs_plan_rays(columns, test->k, &test->parameters, &plan);
		if (!is_expected(sums, n, &plan, planned))
			fail(test, "limits are not respected");
		free(plan.bundles);
	}
}

static void
check_case(const Case *test)
{
	static RayBundle bundles[SMALL_BUNDLES];
	static Sets sets[AXES];
	RayPlan		plan = {.bundles = bundles, .max_bundles = SMALL_BUNDLES, .max_rays = MANY};
	SlabColumn	columns[AXES];
	RayCount	sums[MAX_ORDERS];
	const char *error;
	bool		planned;
	int			n;

	for (int i = 0; i < test->k; i++)
	{
		columns[i] = make_column(&sets[i], test->exact[i], test->approximate[i]);
		if (ncases % 2 == 1)
			split_difference(&sets[i]);
	}
	n = count_orders(columns, test->k, &test->parameters, sums);
	planned = slabs_plan_rays(columns, test->k, &test->parameters, &plan);
	if (!is_expected(sums, n, &plan, planned))
		fail(test, "not the fewest rays");
	error = check_exactness(&plan, test->k, test->parameters.length);
	if (error != NULL)
		fail(test, error);
	check_coverage(test, &plan);
	if (ncases % 16 == 0)
		check_limits(test, columns, sums, n);
	ncases++;
}

static void
check_parameters(Case *test, RayParameters parameters)
{
	for (int direction = RAY_LONGEST; direction <= RAY_THINNEST; direction++)
	{
		test->parameters = parameters;
		test->parameters.direction = direction;
		check_case(test);
	}
}

/* ---------------------------------------------------------------- parameters */

#define MAX_PARAMETERS	1000

static RayParameters all_parameters[MAX_PARAMETERS];
static uint32_t nparameters = 0;

/* List all spacings 1 .. w and gaps 0 .. w for the widths w = 2, 4 and 6, with lengths of rays from 1 to 40. */
static void
list_parameters(void)
{
	static const uint32_t lengths[] = {1, 2, 3, 5, 40};

	for (uint32_t width = 2; width <= 6; width += 2)
		for (uint32_t spacing = 1; spacing <= width; spacing++)
			for (uint32_t gap = 0; gap <= width; gap++)
				for (int i = 0; i < 5; i++)
					all_parameters[nparameters++] = (RayParameters) {
						.width = width, .length = lengths[i], .spacing = spacing, .gap = gap};
}

/*
 * Return the next parameters from the list, in steps of 97.  In the end all parameters have been used, each with
 * many sets.
 */
static RayParameters
next_parameters(void)
{
	static uint32_t i = 0;

	i = (i + 97) % nparameters;
	return all_parameters[i];
}

/* ---------------------------------------------------------------- all sets */

/* Check all exact and all approximate sets of a column, with all parameters. */
static void
check_lines(uint32_t rows)
{
	uint32_t	sets = 1u << rows;

	for (uint32_t i = 0; i < sets * sets; i++)
	{
		Case		test = {1, {i % sets, 1, 1}, {i / sets, 1, 1}, {0}};

		for (uint32_t p = 0; p < nparameters; p++)
			check_parameters(&test, all_parameters[p]);
	}
}

static void
check_planes(uint32_t rows, int repeat)
{
	uint32_t	sets = 1u << rows;
	uint32_t	pairs = sets * sets;

	for (uint32_t i = 0; i < pairs * pairs; i++)
	{
		uint32_t	x = i % pairs,
					y = i / pairs;
		Case		test = {2, {x % sets, y % sets, 1}, {x / sets, y / sets, 1}, {0}};

		for (int j = 0; j < repeat; j++)
			check_parameters(&test, next_parameters());
	}
}

static void
check_cubes(uint32_t rows)
{
	uint32_t	sets = 1u << rows;
	uint32_t	pairs = sets * sets;

	for (uint32_t i = 0; i < pairs * pairs * pairs; i++)
	{
		uint32_t	x = i % pairs,
					y = i / pairs % pairs,
					z = i / pairs / pairs;
		Case		test = {3, {x % sets, y % sets, z % sets}, {x / sets, y / sets, z / sets}, {0}};

		check_parameters(&test, next_parameters());
	}
}

/* Check random sets of several ranges, of up to 10 ranks. */
static void
check_random_sets(int n)
{
	for (int i = 0; i < n; i++)
	{
		Case		test = {1 + i % 3, {1, 1, 1}, {1, 1, 1}, {0}};

		for (int axis = 0; axis < test.k; axis++)
		{
			test.exact[axis] = rand() & rand() & 0x3FF;
			test.approximate[axis] = rand() & 0x3FF;
			if (i / 3 % 2 == 0)
				test.approximate[axis] = test.exact[axis] ^ (rand() & test.approximate[axis]);
		}
		check_parameters(&test, next_parameters());
	}
}

/* ---------------------------------------------------------------- all kinds of predicates */

#define ROWS			12

/*
 * Ranges below, above and between ranks.  They begin and end at boundaries, next to boundaries, and halfway between
 * boundaries, where bins_nearest() rounds up.  Some are empty, complete, or a single value.
 */
static const Range kinds[][5] = {
	{{0, 0}, {0, 1}, {0, 4}, {0, 6}, {0, 11}},
	{{0, 12}, {1, 12}, {4, 12}, {7, 12}, {11, 12}},
	{{3, 3}, {5, 6}, {4, 8}, {3, 9}, {1, 10}},
};

static const uint32_t boundaries[][ROWS + 1] = {
	{0, 12},
	{0, 4, 8, 12},
	{0, 1, 6, 7, 11, 12},
};

static const uint32_t nbins[] = {1, 3, 5};

#define BOUNDARIES		3

static uint32_t
approximate_mask(uint32_t exact, int which, bool nearest)
{
	Bins		bins = {.n = nbins[which], .boundaries = boundaries[which]};
	Range		arrays[3][SMALL_ROWS];
	RangeSet	set = {.capacity = SMALL_ROWS, .ranges = arrays[0]};
	RangeSet	runs = {.capacity = SMALL_ROWS, .ranges = arrays[1]};
	RangeSet	ranks = {.capacity = SMALL_ROWS, .ranges = arrays[2]};

	mask_ranges(exact, &set);
	if (nearest)
		bins_nearest(&bins, &set, &runs);
	else
		bins_superset(&bins, &set, &runs);
	bins_ranks(&bins, &runs, &ranks);
	return set_mask(&ranks);
}

/*
 * Check one combination of predicates: "mix" has a digit to the base 15 for each column.  Boundaries differ between
 * columns.
 */
static void
check_mix(int k, uint32_t mix, int which, bool nearest)
{
	Case		test = {k, {1, 1, 1}, {1, 1, 1}, {0}};

	for (int axis = 0; axis < k; axis++)
	{
		Range		range = kinds[mix % 3][mix / 3 % 5];

		test.exact[axis] = range_mask(range.first, range.end);
		test.approximate[axis] = approximate_mask(test.exact[axis], (which + axis) % BOUNDARIES, nearest);
		mix /= 15;
	}
	check_parameters(&test, next_parameters());
}

static void
check_mixes(int k, int repeat)
{
	uint32_t	mixes = k == 1 ? 15 : k == 2 ? 15 * 15 : 15 * 15 * 15;

	for (uint32_t mix = 0; mix < mixes; mix++)
		for (int which = 0; which < BOUNDARIES; which++)
			for (int j = 0; j < repeat; j++)
			{
				check_mix(k, mix, which, true);
				check_mix(k, mix, which, false);
			}
}

int
main(void)
{
	list_parameters();
	for (uint32_t rows = 0; rows <= 4; rows++)
		check_lines(rows);
	check_planes(3, 8);
	check_planes(4, 1);
	check_cubes(2);
	check_cubes(3);
	for (int k = 1; k <= AXES; k++)
		check_mixes(k, k == 1 ? 100 : k == 2 ? 20 : 2);
	check_random_sets(20000);
	printf("ok %lu cases\n", ncases);
	return 0;
}
