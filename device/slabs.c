/* SPDX-License-Identifier: PostgreSQL */
/*
 * slabs.c
 *		Choose the slabs to refine, and the rays that cover them.
 */
#include "slabs.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

_Static_assert(sizeof(RayBundle) == 48 && offsetof(RayBundle, stride) == 12 &&
			   offsetof(RayBundle, count) == 24 && offsetof(RayBundle, axis) == 36 &&
			   offsetof(RayBundle, length) == 40 && offsetof(RayBundle, first_ray) == 44,
			   "shaders read bundles in this layout");

/* The columns of a group, and the parameters of boxes and rays. */
typedef struct SlabGroup
{
	SlabColumn	columns[SLABS_AXES];
	uint32_t	width[SLABS_AXES];	/* width of boxes */
	const RayParameters *parameters;
} SlabGroup;

/* ---------------------------------------------------------------- covering a slab */

static uint32_t
extent(Range side)
{
	return side.end - side.first;
}

static uint32_t
choose_axis(RayDirection direction, const Range slab[SLABS_AXES])
{
	uint32_t	best = 0;

	for (uint32_t axis = 1; axis < SLABS_AXES; axis++)
	{
		if (direction == RAY_LONGEST ? extent(slab[axis]) > extent(slab[best]) :
			extent(slab[axis]) < extent(slab[best]))
			best = axis;
	}
	return best;
}

/* Return how many rays cover "side" ranks, if the first one covers "reach" ranks and each further one "stride" more. */
static uint32_t
rays_for(uint32_t side, uint32_t reach, uint32_t stride)
{
	if (side <= reach)
		return 1;
	return 1 + (side - reach + stride - 1) / stride;
}

static void
cover_across(const SlabGroup *group, uint32_t axis, uint32_t side, RayBundle *bundle)
{
	uint32_t	spacing = group->parameters->spacing;

	bundle->count[axis] = rays_for(side, group->width[axis], spacing);
	bundle->stride[axis] = (float) spacing;
}

static void
cover_along(const SlabGroup *group, uint32_t axis, uint32_t side, RayBundle *bundle)
{
	uint32_t	gap = group->parameters->gap;
	uint32_t	longest = group->parameters->length;
	uint32_t	width = group->width[axis];
	uint32_t	rays = rays_for(side, longest + width, longest + gap);
	int64_t		to_cover = (int64_t) side - width - (int64_t) (rays - 1) * gap;
	int64_t		length = to_cover > rays ? (to_cover + rays - 1) / rays : 1;

	bundle->count[axis] = rays;
	bundle->stride[axis] = (float) (length + gap);
	bundle->length = (float) length;
}

static RayBundle
cover_slab(const SlabGroup *group, const Range slab[SLABS_AXES])
{
	RayBundle	bundle = {.axis = choose_axis(group->parameters->direction, slab)};

	for (uint32_t axis = 0; axis < SLABS_AXES; axis++)
	{
		assert(slab[axis].first < slab[axis].end && slab[axis].end <= SLABS_MAX_ROWS);
		bundle.origin[axis] = (float) (slab[axis].first + group->width[axis] / 2) - 0.5f;
		if (axis == bundle.axis)
			cover_along(group, axis, extent(slab[axis]), &bundle);
		else
			cover_across(group, axis, extent(slab[axis]), &bundle);
	}
	return bundle;
}

/* ---------------------------------------------------------------- terms of the union */

/*
 * A term of the union (slabs.h): the product of one column's difference, the exact sets of the columns before it in
 * the order, and the approximate sets of the columns after it.
 */
typedef struct Term
{
	const RangeSet *sets[SLABS_AXES];
	uint64_t	slabs;			/* number of slabs, or max_slabs + 1 if there are more */
} Term;

/* Return the product of the factors, or limit + 1 if it exceeds the limit, without overflow. */
static uint64_t
limited_product(const uint32_t factors[SLABS_AXES], uint32_t limit)
{
	uint64_t	product = 1;

	for (int i = 0; i < SLABS_AXES; i++)
		if (factors[i] == 0)
			return 0;
	for (int i = 0; i < SLABS_AXES; i++)
	{
		product *= factors[i];
		if (product > limit)
			return (uint64_t) limit + 1;
	}
	return product;
}

/* Make the term of a column.  before has a bit for each column that is earlier in the order. */
static Term
make_term(const SlabGroup *group, int column, unsigned before, uint32_t max_slabs)
{
	Term		term;
	uint32_t	sizes[SLABS_AXES];

	for (int axis = 0; axis < SLABS_AXES; axis++)
	{
		const SlabColumn *sets = &group->columns[axis];

		if (axis == column)
			term.sets[axis] = sets->difference;
		else
			term.sets[axis] = before & (1u << axis) ? sets->exact : sets->approximate;
		sizes[axis] = term.sets[axis]->n;
	}
	term.slabs = limited_product(sizes, max_slabs);
	return term;
}

/* Return the rays of a term's i-th slab. */
static RayBundle
cover_term(const SlabGroup *group, const Term *term, uint32_t i)
{
	Range		slab[SLABS_AXES];

	for (int axis = 0; axis < SLABS_AXES; axis++)
	{
		slab[axis] = term->sets[axis]->ranges[i % term->sets[axis]->n];
		i /= term->sets[axis]->n;
	}
	return cover_slab(group, slab);
}

static void
append_term(const SlabGroup *group, const Term *term, RayPlan *plan)
{
	for (uint32_t i = 0; i < term->slabs; i++)
	{
		RayBundle	bundle = cover_term(group, term, i);

		bundle.first_ray = plan->nrays;
		plan->nrays += (uint32_t) limited_product(bundle.count, plan->max_rays);
		plan->bundles[plan->nbundles++] = bundle;
	}
}

/* ---------------------------------------------------------------- the order of columns */

static const uint8_t orders[][SLABS_AXES] = {
	{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}
};

#define ORDERS		(sizeof(orders) / sizeof(orders[0]))

/* The cost of a term or an order.  Counting stops when a limit is exceeded. */
typedef struct Cost
{
	uint64_t	bundles;
	uint64_t	rays;
} Cost;

static Cost
term_cost(const SlabGroup *group, const Term *term, const RayPlan *plan)
{
	Cost		cost = {.bundles = term->slabs};

	if (cost.bundles > plan->max_bundles)
		return cost;
	for (uint32_t i = 0; i < term->slabs && cost.rays <= plan->max_rays; i++)
	{
		RayBundle	bundle = cover_term(group, term, i);

		cost.rays += limited_product(bundle.count, plan->max_rays);
	}
	return cost;
}

static Cost
order_cost(Cost costs[SLABS_AXES][1 << SLABS_AXES], const uint8_t order[SLABS_AXES])
{
	Cost		sum = {0, 0};
	unsigned	before = 0;

	for (int i = 0; i < SLABS_AXES; i++)
	{
		sum.bundles += costs[order[i]][before].bundles;
		sum.rays += costs[order[i]][before].rays;
		before |= 1u << order[i];
	}
	return sum;
}

/*
 * Compute the costs of all terms.  A term depends on the set of columns before it, not on their order, so there
 * are 12 terms for 6 orders.
 */
static void
cost_terms(const SlabGroup *group, const RayPlan *plan, Cost costs[SLABS_AXES][1 << SLABS_AXES])
{
	for (int column = 0; column < SLABS_AXES; column++)
	{
		for (unsigned before = 0; before < 1 << SLABS_AXES; before++)
		{
			Term		term;

			if (before & (1u << column))
				continue;
			term = make_term(group, column, before, plan->max_bundles);
			costs[column][before] = term_cost(group, &term, plan);
		}
	}
}

/* Choose the order with the fewest rays within the limits.  Returns NULL if no order is within the limits. */
static const uint8_t *
choose_order(const SlabGroup *group, const RayPlan *plan)
{
	Cost		costs[SLABS_AXES][1 << SLABS_AXES];
	const uint8_t *best = NULL;
	uint64_t	best_rays = 0;

	cost_terms(group, plan, costs);
	for (unsigned i = 0; i < ORDERS; i++)
	{
		Cost		cost = order_cost(costs, orders[i]);

		if (cost.bundles > plan->max_bundles || cost.rays > plan->max_rays)
			continue;
		if (best == NULL || cost.rays < best_rays)
		{
			best = orders[i];
			best_rays = cost.rays;
		}
	}
	return best;
}

/* ---------------------------------------------------------------- the plan */

/*
 * On an axis without a column all points are at 0, and nothing is approximate.  Boxes of width 2 place the rays
 * at 1/2, as slabs.h requires.
 */
#define UNUSED_WIDTH	2

static Range unused_range[] = {{0, 1}};
static const RangeSet unused_set = {.n = 1, .ranges = unused_range};
static const RangeSet empty_set = {.n = 0};
static const SlabColumn unused_column = {&unused_set, &unused_set, &empty_set};

static SlabGroup
make_group(const SlabColumn *columns, int ncolumns, const RayParameters *parameters)
{
	SlabGroup	group = {.parameters = parameters};

	for (int axis = 0; axis < SLABS_AXES; axis++)
	{
		group.columns[axis] = axis < ncolumns ? columns[axis] : unused_column;
		group.width[axis] = axis < ncolumns ? parameters->width : UNUSED_WIDTH;
	}
	return group;
}

bool
slabs_plan_rays(const SlabColumn *columns, int ncolumns,
				const RayParameters *parameters, RayPlan *plan)
{
	SlabGroup	group = make_group(columns, ncolumns, parameters);
	const uint8_t *order;
	unsigned	before = 0;

	assert(ncolumns >= 1 && ncolumns <= SLABS_AXES);
	assert(parameters->width >= 2 && parameters->width % 2 == 0 && parameters->length >= 1);
	assert((uint64_t) parameters->width / 2 + parameters->length <= SLABS_MAX_ROWS);
	assert(parameters->spacing >= 1 && parameters->spacing <= parameters->width);
	assert(parameters->gap <= parameters->width);

	plan->nbundles = plan->nrays = 0;
	order = choose_order(&group, plan);
	if (order == NULL)
		return false;
	for (int i = 0; i < SLABS_AXES; i++)
	{
		Term		term = make_term(&group, order[i], before, plan->max_bundles);

		append_term(&group, &term, plan);
		before |= 1u << order[i];
	}
	return true;
}

/* ---------------------------------------------------------------- parameters */

/* Round to the nearest even number, but not below "least". */
static uint32_t
nearest_even(double value, uint32_t least)
{
	uint32_t	rounded = 2 * (uint32_t) (value / 2 + 0.5);

	return rounded > least ? rounded : least;
}

/*
 * A ray along a slab meets the boxes of the points in a volume of (L + w) w^(k-1).  If n points are spread
 * evenly over n^k places, the volume has (L + w) w^(k-1) / n^(k-1) points.  To keep this number constant for all
 * n, both L and w are proportional to n^((k-1)/k).  For k = 3 the factors 0.386 (of w) and 2.55 (of L) were the
 * fastest when measured (bench/device.sh --sweep).  With them a ray meets 0.44 boxes, and L = 6.6 w.  The same
 * two conditions give the factors for k = 2: 0.24 * (0.24 + 1.58) = 0.44.
 *
 * For k = 1 there is a point at every rank, and a ray cannot meet only 0.44 boxes.  The narrowest box and the
 * shortest ray with a margin are w = 4 and L = 2, so a ray meets L + w = 6 boxes.  For other k, w is at least 4 and
 * L at least 2 as well, however few rows there are.
 *
 * Spacing and gap could be as large as w.  The margin is for devices whose box test is slightly inexact.
 */
RayParameters
slabs_default_parameters(int ncolumns, uint32_t rows)
{
	static const double widths[SLABS_AXES] = {4, 0.24, 0.386};
	static const double lengths[SLABS_AXES] = {2, 1.58, 2.55};
	const uint32_t margin = 2;
	double		unit;
	RayParameters parameters = {.direction = RAY_LONGEST};

	assert(ncolumns >= 1 && ncolumns <= SLABS_AXES && rows <= SLABS_MAX_ROWS);
	unit = pow(rows, (ncolumns - 1.0) / ncolumns);
	parameters.width = nearest_even(widths[ncolumns - 1] * unit, 2 * margin);
	parameters.length = nearest_even(lengths[ncolumns - 1] * unit, margin);
	parameters.spacing = parameters.gap = parameters.width - margin;
	return parameters;
}
