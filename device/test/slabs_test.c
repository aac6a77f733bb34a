/* SPDX-License-Identifier: PostgreSQL */
/*
 * slabs_test.c
 *		Test that the rays of a plan meet every box that has to be refined.
 *
 * In small spaces all points are checked, for all sets or for all kinds of predicates; in large
 * spaces, points near the slabs' edges.  Rays are computed as in a shader,
 * in float32, and meet boxes exactly as slabs.h says.  The number of rays and their length are
 * compared with numbers found by counting them one by one.
 *
 * Sets of few ranks are bit masks, and their ranges are the runs of ones.
 */
#include "../slabs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AXES			SLABS_AXES
#define SMALL_ROWS		16
#define SMALL_BUNDLES	4096
#define MANY			UINT32_MAX

/* A column's sets, with the arrays of their ranges. */
typedef struct Sets
{
	RangeSet	exact;
	RangeSet	approximate;
	RangeSet	difference;
	Range		arrays[4][SMALL_ROWS];
} Sets;

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
	RangeSet   *all[] = {&sets->exact, &sets->approximate, &sets->difference};

	for (int i = 0; i < 3; i++)
		*all[i] = (RangeSet) {.capacity = SMALL_ROWS, .ranges = sets->arrays[i]};
	mask_ranges(exact, &sets->exact);
	mask_ranges(approximate, &sets->approximate);
	bins_difference(&sets->approximate, &sets->exact, &sets->difference, NULL);
	return (SlabColumn) {&sets->exact, &sets->approximate, &sets->difference};
}

/* Divide the difference into ranges that may be adjacent, which is allowed as well. */
static void
split_difference(Sets *sets)
{
	bool		marks[SMALL_ROWS];

	bins_difference(&sets->approximate, &sets->exact, &sets->difference, marks);
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

static const RayBundle *
make_ray(const RayPlan *plan, uint32_t ray, float origin[AXES])
{
	const RayBundle *bundle = find_bundle(plan, ray);
	uint32_t	rest = ray - bundle->first_ray;

	for (int axis = 0; axis < AXES; axis++)
	{
		volatile float offset = bundle->step[axis] * (float) (rest % bundle->count[axis]);

		origin[axis] = bundle->origin[axis] + offset;
		rest /= bundle->count[axis];
	}
	return bundle;
}

/* Return true if a ray and the box of a rank overlap on an axis.  half is half of the box's width. */
static bool
overlap(const RayBundle *bundle, const float origin[AXES], uint32_t axis, uint32_t rank, float half)
{
	float		low = (float) rank - half;
	float		high = (float) rank + half;

	if (axis == bundle->axis)
		return origin[axis] < high && origin[axis] + bundle->length > low;
	return low < origin[axis] && origin[axis] < high;
}

/* ---------------------------------------------------------------- coverage */

typedef uint32_t Space[SMALL_ROWS][SMALL_ROWS]; /* masks of ranks on the third axis */

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
shoot(const Case *test, const RayPlan *plan, Space met)
{
	memset(met, 0, sizeof(Space));
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
find_missed(const Case *test, Space met, uint32_t point[AXES])
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

/* ---------------------------------------------------------------- expected rays */

typedef struct Sum
{
	uint64_t	bundles;
	uint64_t	rays;
	uint64_t	length;			/* total length of the rays */
} Sum;

/* Return the least number of parallel rays that cover a side. */
static uint32_t
count_across(uint32_t side, uint32_t width, uint32_t spacing)
{
	uint32_t	n = 1;

	while (width + (n - 1) * spacing < side)
		n++;
	return n;
}

/* Return the least number of rays, one after another, that cover a side, and then their least length. */
static uint32_t
count_along(uint32_t side, uint32_t width, const RayParameters *parameters, uint32_t *length)
{
	uint32_t	n = 1;

	while (n * parameters->length + (n - 1) * parameters->gap + width < side)
		n++;
	*length = 1;
	while (n * *length + (n - 1) * parameters->gap + width < side)
		++*length;
	return n;
}

static void
add_slab(const Case *test, const Range slab[AXES], Sum *sum)
{
	uint32_t	sides[AXES];
	uint32_t	rays = 1,
				length = 0;
	int			along = 0;

	for (int axis = 0; axis < AXES; axis++)
		sides[axis] = slab[axis].end - slab[axis].first;
	for (int axis = 0; axis < AXES; axis++)
		if (test->parameters.direction == RAY_LONGEST ? sides[axis] > sides[along] :
			sides[axis] < sides[along])
			along = axis;
	for (int axis = 0; axis < AXES; axis++)
	{
		uint32_t	width = axis < test->k ? test->parameters.width : 2;

		rays *= axis == along ? count_along(sides[axis], width, &test->parameters, &length) :
			count_across(sides[axis], width, test->parameters.spacing);
	}
	sum->bundles++;
	sum->rays += rays;
	sum->length += (uint64_t) rays * length;
}

/* Count the rays of the slabs for an order of the columns. */
static Sum
sum_order(const Case *test, const SlabColumn *columns, const int *order)
{
	Sum			sum = {0, 0, 0};

	for (int j = 0; j < test->k; j++)
	{
		static Range unused[] = {{0, 1}};
		RangeSet	sets[AXES];

		for (int axis = 0; axis < AXES; axis++)
			sets[axis] = (RangeSet) {.n = 1, .ranges = unused};
		for (int i = 0; i < test->k; i++)
			sets[order[i]] = i < j ? *columns[order[i]].exact :
				i == j ? *columns[order[i]].difference : *columns[order[i]].approximate;
		for (uint32_t x = 0; x < sets[0].n; x++)
			for (uint32_t y = 0; y < sets[1].n; y++)
				for (uint32_t z = 0; z < sets[2].n; z++)
					add_slab(test, (Range[]) {sets[0].ranges[x], sets[1].ranges[y], sets[2].ranges[z]}, &sum);
	}
	return sum;
}

/* Count the rays for all orders of k columns.  Returns the number of orders. */
static int
sum_orders(const Case *test, const SlabColumn *columns, Sum sums[6])
{
	static const int one[][AXES] = {{0}};
	static const int two[][AXES] = {{0, 1}, {1, 0}};
	static const int three[][AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const int (*const orders[])[AXES] = {one, two, three};
	static const int counts[] = {1, 2, 6};

	for (int i = 0; i < counts[test->k - 1]; i++)
		sums[i] = sum_order(test, columns, orders[test->k - 1][i]);
	return counts[test->k - 1];
}

static Sum
sum_plan(const RayPlan *plan)
{
	Sum			sum = {.bundles = plan->nbundles, .rays = plan->nrays};

	for (uint32_t i = 0; i < plan->nbundles; i++)
		sum.length += (uint64_t) plan->bundles[i].length * plan->bundles[i].count[0] *
			plan->bundles[i].count[1] * plan->bundles[i].count[2];
	return sum;
}

/*
 * Check that the plan has the rays of an order with the fewest rays within the limits, and that there is no
 * plan if no order is within the limits.
 */
static bool
is_expected(const Sum *sums, int n, const RayPlan *plan, bool planned)
{
	Sum			sum = sum_plan(plan);
	uint64_t	fewest = UINT64_MAX;
	bool		found = false;

	for (int i = 0; i < n; i++)
		if (sums[i].bundles <= plan->max_bundles && sums[i].rays <= plan->max_rays && sums[i].rays < fewest)
			fewest = sums[i].rays;
	if (fewest == UINT64_MAX)
		return !planned && sum.bundles == 0 && sum.rays == 0;
	for (int i = 0; i < n; i++)
		found = found || memcmp(&sums[i], &sum, sizeof(Sum)) == 0;
	return planned && found && sum.rays == fewest && sum.bundles <= plan->max_bundles;
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
		double		exact = bundle->origin[axis] + (double) bundle->step[axis] * index;

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

static const char *
check_exactness(const RayPlan *plan, int k, uint32_t length)
{
	const char *error = check_numbering(plan);

	for (uint32_t ray = 0; error == NULL && ray < plan->nrays; ray++)
		error = check_ray(plan, ray, k, length);
	return error;
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
	Space		met;
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
check_limits(const Case *test, const SlabColumn *columns, const Sum *sums, int n)
{
	for (int i = 0; i < 4 * n; i++)
	{
		const Sum  *sum = &sums[i / 4];
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
	Sum			sums[6];
	const char *error;
	bool		planned;
	int			n;

	for (int i = 0; i < test->k; i++)
	{
		columns[i] = make_column(&sets[i], test->exact[i], test->approximate[i]);
		if (ncases % 2 == 1)
			split_difference(&sets[i]);
	}
	n = sum_orders(test, columns, sums);
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

/* List all spacings 1 .. w and gaps 0 .. w, with rays that are short or long in comparison. */
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

/* Return the next parameters.  In the end all have been used, each with many sets. */
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

/* Check random sets of several ranges, with more rows. */
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
 * Ranges below, above and between ranks.  They begin and end at boundaries, next to boundaries, and halfway
 * between them, where bins_nearest() rounds up; some are empty, complete, or a single value.
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

/* Check one combination of predicates, one digit of mix for each column.  Boundaries differ between columns. */
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

/* ---------------------------------------------------------------- large spaces */

#define BINS			256
#define SAMPLES			100

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
	RangeSet   *all[] = {&sets->exact, &sets->approximate, &sets->difference};
	RangeSet	runs = {.capacity = SMALL_ROWS, .ranges = sets->arrays[3]};
	uint32_t	edges[BINS + 1];
	Bins		bins = {.n = BINS, .boundaries = edges};

	for (int i = 0; i < 3; i++)
		*all[i] = (RangeSet) {.capacity = SMALL_ROWS, .ranges = sets->arrays[i]};
	for (uint64_t i = 0; i <= BINS; i++)
		edges[i] = i * test->rows / BINS;
	random_exact(test->rows, &sets->exact);
	if (random_below(2))
		bins_nearest(&bins, &sets->exact, &runs);
	else
		bins_superset(&bins, &sets->exact, &runs);
	bins_ranks(&bins, &runs, &sets->approximate);
	bins_difference(&sets->approximate, &sets->exact, &sets->difference, NULL);
	test->columns[axis] = (SlabColumn) {&sets->exact, &sets->approximate, &sets->difference};
}

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

/* Return a random rank: the end of a range, the end of what a ray covers from there, or any rank. */
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

/* Return true if one of the rays next to a point meets its box. */
static bool
bundle_meets(const Large *test, const RayBundle *bundle, const uint32_t point[AXES])
{
	for (int i = 0; i < 27; i++)
	{
		const int	offsets[AXES] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
		int64_t		index[AXES];

		for (int axis = 0; axis < AXES; axis++)
			index[axis] = floor(((double) point[axis] - bundle->origin[axis]) / bundle->step[axis]) +
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
	static RayBundle bundles[SMALL_BUNDLES];
	static Large test;
	int			checked[AXES] = {0};

	srand48(1);
	for (int i = 0; checked[0] < n || checked[1] < n || checked[2] < n; i++)
	{
		test.k = 1 + i % 3;
		test.rows = i / 3 % 4 == 0 ? SLABS_MAX_ROWS : SLABS_MAX_ROWS - random_below(100000);
		test.plan = (RayPlan) {.bundles = bundles, .max_bundles = SMALL_BUNDLES, .max_rays = 300000};
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
	static RayBundle bundles[SMALL_BUNDLES];
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

		test.plan = (RayPlan) {.bundles = bundles, .max_bundles = SMALL_BUNDLES, .max_rays = MANY};
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

/* Return the difference of two sets as a range for each rank, which are adjacent everywhere. */
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

/* Check the longest possible IN lists, and more rays than fit in 64 bits. */
static void
check_refusals(void)
{
	static RayBundle bundles[SMALL_BUNDLES];
	RayPlan		plan = {.bundles = bundles, .max_bundles = SMALL_BUNDLES, .max_rays = MANY};
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
 * Check that default parameters are valid, and that a ray meets about half a box if n points are spread over
 * n^k places.
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
	list_parameters();
	check_defaults();
	check_refusals();
	check_last_corner();
	for (uint32_t rows = 0; rows <= 4; rows++)
		check_lines(rows);
	check_planes(3, 8);
	check_planes(4, 1);
	check_cubes(2);
	check_cubes(3);
	for (int k = 1; k <= AXES; k++)
		check_mixes(k, k == 1 ? 100 : k == 2 ? 20 : 2);
	check_random_sets(20000);
	check_large_spaces(30);
	printf("ok %lu cases\n", ncases);
	return 0;
}
