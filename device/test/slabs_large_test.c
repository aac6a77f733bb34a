/* SPDX-License-Identifier: PostgreSQL */
/*
 * slabs_large_test.c
 *		Test that the rays of a plan meet the boxes that have to be refined, in large spaces.
 *
 * Points near the slabs' edges are checked.  Limits of a plan and the default parameters are tested as well.
 * slabs_test.c tests all points of small spaces.
 */
#include "../slabs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rays.h"

#define MAX_BUNDLES		4096
#define MANY			UINT32_MAX
#define BINS			256
#define SAMPLES			100

static unsigned long ncases = 0;

/* ---------------------------------------------------------------- random spaces */

typedef struct Large
{
	int			k;
	uint32_t	rows;
	Sets		sets[AXES];
	SlabColumn	columns[AXES];
	RayParameters parameters;
	RayPlan		plan;
} Large;

static void
fail_large(const Large *test, const char *what)
{
	printf("%d columns, %u rows", test->k, test->rows);
	for (int axis = 0; axis < test->k; axis++)
		for (int s = 0; s < 2; s++)
		{
			const RangeSet *set = s == 0 ? &test->sets[axis].exact : &test->sets[axis].approximate;

			printf(s == 0 ? ", exact" : ", approximate");
			for (uint32_t i = 0; i < set->n; i++)
				printf(" %u-%u", set->ranges[i].first, set->ranges[i].end);
		}
	printf(", direction %d: %s\n", test->parameters.direction, what);
	exit(1);
}

static uint32_t
random_below(uint32_t limit)
{
	return (uint32_t) (drand48() * limit);
}

/* Make a random predicate: below, above, between, one value, or two values. */
static void
random_exact(uint32_t rows, RangeSet *exact)
{
	uint32_t	places[4];

	for (int i = 0; i < 4; i++)
		places[i] = 1 + random_below(rows / 4 - 4) + i * (rows / 4);
	exact->n = 1;
	exact->ranges[0] = (Range) {places[0], places[2]};
	switch (random_below(5))
	{
		case 0:
			exact->ranges[0].first = 0;
			break;
		case 1:
			exact->ranges[0].end = rows;
			break;
		case 2:
			exact->ranges[0].end = places[0] + 1;
			break;
		case 3:
			exact->ranges[0].end = places[1];
			exact->ranges[exact->n++] = (Range) {places[2], places[3]};
			break;
	}
}

static void
random_column(Large *test, int axis)
{
	Sets	   *sets = &test->sets[axis];
	Range		room[SET_RANGES];
	RangeSet	runs = {.capacity = SET_RANGES, .ranges = room};
	uint32_t	edges[BINS + 1];
	Bins		bins = {.n = BINS, .boundaries = edges};

	clear_sets(sets);
	for (uint64_t i = 0; i <= BINS; i++)
		edges[i] = i * test->rows / BINS;
	random_exact(test->rows, &sets->exact);
	if (random_below(2))
		bins_nearest(&bins, &sets->exact, &runs);
	else
		bins_superset(&bins, &sets->exact, &runs);
	bins_ranks(&bins, &runs, &sets->approximate);
	test->columns[axis] = column_of(sets);
}

/* ---------------------------------------------------------------- random points */

static bool
contains(const RangeSet *set, uint32_t rank)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (rank >= set->ranges[i].first && rank < set->ranges[i].end)
			return true;
	return false;
}

static bool
is_to_refine(const Large *test, const uint32_t point[AXES])
{
	bool		in_a = true,
				in_e = true;

	for (int axis = 0; axis < test->k; axis++)
	{
		in_a = in_a && contains(&test->sets[axis].approximate, point[axis]);
		in_e = in_e && contains(&test->sets[axis].exact, point[axis]);
	}
	return in_a != in_e;
}

/* Return a random rank: any rank of a range, or a rank near an end of a range or near the end of what a ray covers. */
static uint32_t
random_rank(const Large *test, int axis)
{
	const Sets *sets = &test->sets[axis];
	const RangeSet *all[] = {&sets->exact, &sets->approximate, &sets->difference};
	const RangeSet *set = all[random_below(3)];
	Range		range = {0, test->rows};
	int64_t		rank;

	if (set->n > 0)
		range = set->ranges[random_below(set->n)];
	if (random_below(3) == 0)
		return range.first + random_below(range.end - range.first);
	rank = random_below(2) ? range.first : range.end - 1;
	if (random_below(3) == 0)
		rank = range.first + (int64_t) random_below(10) * test->parameters.spacing + test->parameters.width;
	rank += (int64_t) random_below(3) - 1;
	return rank < 0 ? 0 : rank >= test->rows ? test->rows - 1 : rank;
}

/* ---------------------------------------------------------------- rays that meet a point */

/* Return true if the ray with these indexes in its bundle meets the box of a point. */
static bool
ray_meets(const Large *test, const RayBundle *bundle, const int64_t index[AXES], const uint32_t point[AXES])
{
	float		origin[AXES];
	uint32_t	number = 0;

	for (int axis = AXES - 1; axis >= 0; axis--)
	{
		if (index[axis] < 0 || index[axis] >= bundle->count[axis])
			return false;
		number = number * bundle->count[axis] + index[axis];
	}
	if (make_ray(&test->plan, bundle->first_ray + number, origin) != bundle)
		return false;
	for (int axis = 0; axis < AXES; axis++)
		if (!overlap(bundle, origin, axis, point[axis], axis < test->k ? test->parameters.width / 2 : 1))
			return false;
	return true;
}

/* Return true if a ray of the bundle meets the box of a point.  Only the 27 rays next to the point are tried. */
static bool
bundle_meets(const Large *test, const RayBundle *bundle, const uint32_t point[AXES])
{
	for (int i = 0; i < 27; i++)
	{
		const int	offsets[AXES] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
		int64_t		index[AXES];

		for (int axis = 0; axis < AXES; axis++)
			index[axis] = floor(((double) point[axis] - bundle->origin[axis]) / bundle->stride[axis]) +
				offsets[axis];
		if (ray_meets(test, bundle, index, point))
			return true;
	}
	return false;
}

static bool
is_met(const Large *test, const uint32_t point[AXES])
{
	for (uint32_t i = 0; i < test->plan.nbundles; i++)
		if (bundle_meets(test, &test->plan.bundles[i], point))
			return true;
	return false;
}

/* ---------------------------------------------------------------- large spaces */

/* Check a large space.  Returns false if it has too many rays to check. */
static bool
check_large(Large *test)
{
	const char *error;

	test->parameters = slabs_default_parameters(test->k, test->rows);
	test->parameters.direction = random_below(2) ? RAY_LONGEST : RAY_THINNEST;
	if (random_below(2))
		test->parameters.spacing = test->parameters.gap = test->parameters.width;
	if (!slabs_plan_rays(test->columns, test->k, &test->parameters, &test->plan))
		return false;
	error = check_exactness(&test->plan, test->k, test->parameters.length);
	if (error != NULL)
		fail_large(test, error);
	for (int tries = 0, found = 0; tries < 20 * SAMPLES && found < SAMPLES; tries++)
	{
		uint32_t	point[AXES] = {0, 0, 0};

		for (int axis = 0; axis < test->k; axis++)
			point[axis] = random_rank(test, axis);
		if (!is_to_refine(test, point))
			continue;
		if (!is_met(test, point))
			fail_large(test, "a point is missed");
		found++;
	}
	ncases++;
	return true;
}

/* Check n cases for each number of columns. */
static void
check_large_spaces(int n)
{
	static RayBundle bundles[MAX_BUNDLES];
	static Large test;
	int			checked[AXES] = {0};

	srand48(1);
	for (int i = 0; checked[0] < n || checked[1] < n || checked[2] < n; i++)
	{
		test.k = 1 + i % 3;
		test.rows = i / 3 % 4 == 0 ? SLABS_MAX_ROWS : SLABS_MAX_ROWS - random_below(100000);
		test.plan = (RayPlan) {.bundles = bundles, .max_bundles = MAX_BUNDLES, .max_rays = 300000};
		for (int axis = 0; axis < test.k; axis++)
			random_column(&test, axis);
		if (checked[test.k - 1] < n && check_large(&test))
			checked[test.k - 1]++;
	}
}

/* Check the longest allowed rays in the last corner of the space. */
static void
check_last_corner(void)
{
	static RayBundle bundles[MAX_BUNDLES];
	static Large test = {.k = 3, .rows = SLABS_MAX_ROWS};

	test.parameters = (RayParameters) {.width = 1 << 20, .length = (1 << 22) - (1 << 19)};
	test.parameters.spacing = test.parameters.gap = 1;
	for (int i = 0; i < 6; i++)
	{
		Range		whole[] = {{0, SLABS_MAX_ROWS}};
		Range		last[] = {{SLABS_MAX_ROWS - 1 - (i % 3) * 1000, SLABS_MAX_ROWS}};
		RangeSet	none = {.n = 0};
		RangeSet	all = {.n = 1, .ranges = whole};
		RangeSet	some = {.n = 1, .ranges = last};
		const char *error;

		test.plan = (RayPlan) {.bundles = bundles, .max_bundles = MAX_BUNDLES, .max_rays = MANY};
		test.parameters.direction = i / 3;
		test.columns[0] = (SlabColumn) {&none, &some, &some};
		test.columns[1] = (SlabColumn) {&some, &some, &none};
		test.columns[2] = (SlabColumn) {&all, &all, &none};
		if (!slabs_plan_rays(test.columns, 3, &test.parameters, &test.plan))
			fail_large(&test, "a small plan is refused");
		error = check_exactness(&test.plan, 3, test.parameters.length);
		if (error != NULL)
			fail_large(&test, error);
		ncases++;
	}
}

/* ---------------------------------------------------------------- refusals */

/* Return the difference of two sets of single ranks, with a range for each rank.  All ranges are adjacent. */
static RangeSet
every_rank(const RangeSet *approximate, const RangeSet *exact)
{
	uint32_t	n = approximate->n + exact->n;
	RangeSet	set = {.capacity = n, .ranges = malloc(n * sizeof(Range))};
	bool	   *marks = malloc(n * sizeof(bool));

	bins_difference(approximate, exact, &set, marks);
	free(marks);
	return set;
}

static RangeSet
every_other_rank(uint32_t n, uint32_t first)
{
	RangeSet	set = {.n = n, .capacity = n, .ranges = malloc(n * sizeof(Range))};

	for (uint32_t i = 0; i < n; i++)
		set.ranges[i] = (Range) {2 * i + first, 2 * i + first + 1};
	return set;
}

static void
expect(bool expected, const SlabColumn *columns, RayParameters parameters, RayPlan *plan, const char *what)
{
	clock_t		start = clock();
	bool		planned = slabs_plan_rays(columns, 3, &parameters, plan);

	if (planned != expected || (!planned && (plan->nbundles > 0 || plan->nrays > 0)) ||
		clock() - start > CLOCKS_PER_SEC / 10)
	{
		printf("%s: %s, %u bundles, %u rays, %f s\n", what, planned ? "planned" : "refused",
			   plan->nbundles, plan->nrays, (double) (clock() - start) / CLOCKS_PER_SEC);
		exit(1);
	}
	ncases++;
}

/* Check the longest possible IN lists, and plans whose number of rays does not fit in 64 bits. */
static void
check_refusals(void)
{
	static RayBundle bundles[MAX_BUNDLES];
	RayPlan		plan = {.bundles = bundles, .max_bundles = MAX_BUNDLES, .max_rays = MANY};
	RayParameters parameters = {.width = 2, .length = 1, .spacing = 1, .gap = 0};
	RangeSet	list = every_other_rank(SLABS_MAX_ROWS / 2, 0);
	RangeSet	other = every_other_rank(SLABS_MAX_ROWS / 2, 1);
	RangeSet	both = every_rank(&other, &list);
	RangeSet	shorter = every_other_rank(100000, 0);
	Range		whole_range[] = {{0, SLABS_MAX_ROWS}};
	RangeSet	whole = {.n = 1, .ranges = whole_range};
	RangeSet	none = {.n = 0};
	SlabColumn	lists = {&list, &other, &whole};
	SlabColumn	longest_lists = {&list, &other, &both};
	SlabColumn	shorter_lists = {&shorter, &none, &shorter};
	SlabColumn	equal_lists = {&list, &list, &none};
	SlabColumn	nothing = {&none, &none, &none};
	SlabColumn	everything = {&whole, &none, &whole};
	SlabColumn	whole_equal = {&whole, &whole, &none};

	expect(false, (SlabColumn[]) {lists, lists, lists}, parameters, &plan, "long lists");
	expect(false, (SlabColumn[]) {longest_lists, longest_lists, longest_lists}, parameters, &plan,
		   "2^64 slabs");
	expect(false, (SlabColumn[]) {shorter_lists, shorter_lists, shorter_lists}, parameters, &plan, "lists");
	expect(false, (SlabColumn[]) {shorter_lists, whole_equal, whole_equal}, parameters, &plan, "one list");
	expect(true, (SlabColumn[]) {equal_lists, equal_lists, equal_lists}, parameters, &plan, "equal lists");
	expect(true, (SlabColumn[]) {lists, lists, nothing}, parameters, &plan, "lists and nothing");
	expect(false, (SlabColumn[]) {everything, everything, everything}, parameters, &plan, "2^66 rays");
	expect(false, (SlabColumn[]) {everything, whole_equal, whole_equal}, parameters, &plan,
		   "2^66 rays in one slab");
	free(list.ranges);
	free(other.ranges);
	free(both.ranges);
	free(shorter.ranges);
}

/* ---------------------------------------------------------------- default parameters */

/*
 * Check that the default parameters are valid.  Also check how many boxes a ray meets on average if n points are
 * spread over n^k places: 0.4 to 0.5 for k > 1 and n >= 1024, at most 10 for k = 1.
 */
static void
check_defaults(void)
{
	for (int k = 1; k <= AXES; k++)
	{
		for (uint32_t rows = 1; rows <= SLABS_MAX_ROWS; rows *= 2)
		{
			RayParameters p = slabs_default_parameters(k, rows);
			double		met = (p.length + (double) p.width) * pow((double) p.width / rows, k - 1);
			bool		valid = p.width % 2 == 0 && p.length % 2 == 0 && p.length > 0 &&
				p.spacing == p.width - 2 && p.gap == p.width - 2 && p.spacing > 0;

			if (!valid || (k > 1 && rows >= 1024 && (met < 0.4 || met > 0.5)) || (k == 1 && met > 10))
			{
				printf("%d columns, %u rows: width %u, length %u, %f boxes a ray\n",
					   k, rows, p.width, p.length, met);
				exit(1);
			}
			ncases++;
		}
	}
}

int
main(void)
{
	check_defaults();
	check_refusals();
	check_last_corner();
	check_large_spaces(30);
	printf("ok %lu cases\n", ncases);
	return 0;
}
