/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_job.c
 *		Make the tasks of RTCUDB's job: the attributes of a space, and rays.
 */
#include "make_job.h"

#include <stdlib.h>
#include <string.h>

/* Tracing a ray takes about as long as testing this many rows that rays meet. */
#define ROWS_A_RAY		2

/* ---------------------------------------------------------------- the space */

/* Return the number of codes that a predicate matches. */
static uint64_t
count_wanted(const WorkColumn *column)
{
	bool		is_row = column->resident->shape.heap_order;
	uint64_t	wanted = 0;

	for (uint32_t i = 0; i < column->count; i++)
		wanted += is_row ? column->intervals[i].high_rank - column->intervals[i].low_rank :
			column->intervals[i].high_code - column->intervals[i].low_code;
	return wanted;
}

/* Add an attribute for a column that is on the device. */
static void
add_attribute(Space *space, const Resident *column, SpaceAxis axis, uint64_t wanted)
{
	const ColumnShape *shape = &column->shape;
	SpaceAttribute attribute = {
		.column = column->key.columns[0], .form = shape->form, .is_row = shape->heap_order, .axis = axis,
		.wanted = wanted,
		.largest = shape->form != COLUMN_KEY ? shape->largest : shape->heap_order ? shape->rows - 1 : shape->distinct};

	space_add(space, &attribute);
}

static void
add_agg_attribute(Work *work, Space *space, uint32_t column, ColumnForm form, SpaceAxis axis)
{
	ResidentKey key = cache_column_key(&work->segment->key, column, form);

	add_attribute(space, cache_find(work->evaluator->cache, &key), axis, 0);
}

/*
 * Make the space with all attributes that a segment's job reads.  Predicates come first in the record, since
 * they are evaluated for each row that a ray meets.
 */
static DeviceResult
make_space(Work *work, const AggSource *agg, Space *space)
{
	const EvaluateSegment *segment = work->segment;
	DeviceResult result = segment->cells > 0 ? find_agg(work->evaluator, agg, &work->request->reply) : DEVICE_OK;

	*space = (Space) {0};
	if (result != DEVICE_OK)
		return result;
	for (uint32_t c = 0; c < work->ncolumns; c++)
		add_attribute(space, work->columns[c].resident, SPACE_SCAN, count_wanted(&work->columns[c]));
	for (uint32_t i = 0; i < segment->digits; i++)
		add_agg_attribute(work, space, agg->digits[i].column, agg->digits[i].form, SPACE_GROUP);
	for (uint32_t i = 0; i < segment->measures; i++)
		add_agg_attribute(work, space, agg->measures[i].column, agg->measures[i].form, SPACE_AXES);
	return DEVICE_OK;
}

/* ---------------------------------------------------------------- rays */

static void
add_slots(RangeSet *set, Range slots)
{
	Range	   *last = set->n > 0 ? &set->ranges[set->n - 1] : NULL;

	if (last && slots.first <= last->end)
		last->end = slots.end > last->end ? slots.end : last->end;
	else
		set->ranges[set->n++] = slots;
}

/*
 * Find the slots of a column's intervals, which are ascending.  room must hold as many ranges as there are
 * intervals.
 */
static RangeSet
find_slots(const SpaceAttribute *attribute, const WorkColumn *column, Range *room)
{
	RangeSet	set = {.ranges = room};

	for (uint32_t i = 0; i < column->count; i++)
	{
		const DeviceInterval *interval = &column->intervals[i];

		add_slots(&set, attribute->is_row ? space_slots(attribute, interval->low_rank, interval->high_rank)
				  : space_slots(attribute, interval->low_code, interval->high_code));
	}
	return set;
}

/*
 * Return the greatest number of ranges that pays off.  With more ranges, rays meet fewer rows that do not match, but
 * each range needs up to SPACE_RAYS more rays.  A ray is as expensive as ROWS_A_RAY rows.
 */
static uint32_t
most_ranges(const EvaluateSegment *segment)
{
	uint32_t	most = segment->rows / (ROWS_A_RAY * SPACE_RAYS);

	return most < 1 ? 1 : most < SPACE_MAX_RANGES ? most : SPACE_MAX_RANGES;
}

static void
find_ranges(const Work *work, Space *space, RangeSet *ranges)
{
	SpaceQuery	query = {.most_ranges = most_ranges(work->segment)};
	Range	   *room[DEVICE_MAX_COLUMNS];

	for (uint32_t c = 0; c < work->ncolumns; c++)
	{
		const WorkColumn *column = &work->columns[c];
		SpaceAttribute *attribute = space_find(space, column->resident->key.columns[0], COLUMN_KEY);

		room[c] = malloc(column->count * sizeof(Range));
		if (room[c] == NULL)
			fail("out of memory");
		query.wanted[attribute - space->attributes] = find_slots(attribute, column, room[c]);
	}
	space_ranges(space, &query, ranges);
	for (uint32_t c = 0; c < work->ncolumns; c++)
		free(room[c]);
}

/* Add a bundle of rays for each range.  Returns the total number of rays. */
static uint32_t
add_bundles(Evaluator *evaluator, const Space *space, const RangeSet *ranges)
{
	BundleTask *bundles = array_extend(&evaluator->bundles, ranges->n);
	uint32_t	rays = 0;

	for (uint32_t i = 0; i < ranges->n; i++)
	{
		Range		range = ranges->ranges[i];

		bundles[i] = (BundleTask) {
			.origin = {0.5f, 0.5f, (float) range.first - 0.5f},
			.stride = {1, 1, 1},
			.count = {space->slots[SPACE_GROUP], space->slots[SPACE_PLACE], 1},
			.axis = SPACE_SCAN,
			.reach = (float) (range.end - range.first),
			.first_ray = rays,
		};
		rays += space->slots[SPACE_GROUP] * space->slots[SPACE_PLACE];
	}
	return rays;
}

/* ---------------------------------------------------------------- the job */

/* Add a sieve task that clears the bits: its run of rows is empty. */
static void
add_zeros(Work *work)
{
	tasks_add_sieve(work);
	tasks_add_runs(work->evaluator, NULL, &(RangeSet) {0});
}

static DeviceResult
add_rays(Work *work, AggSource *agg, const Resident *bvh)
{
	Evaluator  *evaluator = work->evaluator;
	Range		room[SPACE_MAX_RANGES];
	RangeSet	ranges = {.capacity = SPACE_MAX_RANGES, .ranges = room};
	TraceTask	task = {
		.structure = bvh->top_address,
		.kept = bvh->kept,
		.bits = work->bits,
		.first_bundle = evaluator->bundles.count,
		.first_column = evaluator->columns.count,
		.columns = work->ncolumns,
		.rows = work->segment->rows,
		.agg = NO_AGG,
		.record_words = bvh->space->record_words,
	};

	for (uint32_t c = 0; c < work->ncolumns; c++)
		tasks_add_column(evaluator, &work->columns[c])->field =
			space_field(space_find(bvh->space, work->columns[c].resident->key.columns[0], COLUMN_KEY));
	find_ranges(work, bvh->space, &ranges);
	task.bundles = ranges.n;
	task.rays = add_bundles(evaluator, bvh->space, &ranges);
	if (work->segment->cells > 0)
	{
		DeviceResult result = add_agg_of_job(evaluator, agg, bvh->space, &work->request->reply);

		if (result != DEVICE_OK)
			return result;
		task.agg = evaluator->agg_tasks.count - 1;
	}
	*(TraceTask *) array_extend(&evaluator->job_tasks, 1) = task;
	if (task.rays > evaluator->largest_job)
		evaluator->largest_job = task.rays;
	work->request->reply.rays += task.rays;
	return DEVICE_OK;
}

/* Return true if the BVH's key can represent all columns: it has a bit for each number below DEVICE_MAX_COLUMNS. */
static bool
has_key(const Work *work, const AggSource *agg)
{
	bool		has = true;

	for (uint32_t c = 0; c < work->ncolumns; c++)
		has = has && work->columns[c].resident->key.columns[0] < DEVICE_MAX_COLUMNS;
	for (uint32_t i = 0; i < work->segment->digits; i++)
		has = has && agg->digits[i].column < DEVICE_MAX_COLUMNS;
	for (uint32_t i = 0; i < work->segment->measures; i++)
		has = has && agg->measures[i].column < DEVICE_MAX_COLUMNS;
	return has;
}

DeviceResult
add_job(Work *work, AggSource *agg)
{
	Evaluator  *evaluator = work->evaluator;
	Space		space;
	Resident   *bvh;
	DeviceResult result;

	if (evaluator->job_raytracer.pipeline == VK_NULL_HANDLE)
		return DEVICE_UNSUPPORTED;
	if (!has_key(work, agg))
		return DEVICE_REFUSED;
	result = make_space(work, agg, &space);
	if (result != DEVICE_OK)
		return result;
	result = triangles_get(&evaluator->triangles, &work->segment->key, &space, work->segment->rows, &bvh);
	if (result != DEVICE_OK)
		return result;
	if (bvh->shape.rows != work->segment->rows)
		return DEVICE_REFUSED;
	if (work->request->header->prepare)
		return DEVICE_OK;
	add_zeros(work);
	agg->bits = work->bits;
	return add_rays(work, agg, bvh);
}
