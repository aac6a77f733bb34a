/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_region.c
 *		Make the tasks that find the rows of a region: bins, ranks and rays.
 */
#include "make_region.h"

#include <string.h>

/* Limits of the rays of a single group in a segment. */
#define MAX_BUNDLES		4096
#define MAX_RAYS		(UINT32_C(1) << 22)

_Static_assert(SPACE_MAX_RANGES * SPACE_RAYS <= MAX_RAYS, "a job has no more rays than a group");

/* ---------------------------------------------------------------- sets of ranks */

/* A column's sets of ranks (bins.h).  All their ranges are in one allocation, which begins at exact.ranges. */
typedef struct ColumnSets
{
	RangeSet	exact;
	RangeSet	runs;			/* bins; or ranks, if the column is in heap order */
	RangeSet	approximate;
	RangeSet	difference;
} ColumnSets;

static RangeSet
take_ranges(Range **room, uint32_t capacity)
{
	RangeSet	set = {.capacity = capacity, .ranges = *room};

	*room += capacity;
	return set;
}

static ColumnSets
make_sets(const WorkColumn *column, ChooseBins choose_bins)
{
	const Resident *resident = column->resident;
	Bins		bins = {resident->shape.bins, resident->boundaries};
	uint32_t	count = column->count;
	Range	   *room = malloc(5 * (size_t) count * sizeof(Range));
	ColumnSets	sets;

	if (room == NULL)
		fail("out of memory");
	sets.exact = take_ranges(&room, count);
	sets.runs = take_ranges(&room, count);
	sets.approximate = take_ranges(&room, count);
	sets.difference = take_ranges(&room, 2 * count);
	for (uint32_t i = 0; i < count; i++)
		sets.exact.ranges[i] = (Range) {column->intervals[i].low_rank, column->intervals[i].high_rank};
	sets.exact.n = count;
	if (resident->shape.heap_order)
	{
		memcpy(sets.runs.ranges, sets.exact.ranges, count * sizeof(Range));
		memcpy(sets.approximate.ranges, sets.exact.ranges, count * sizeof(Range));
		sets.runs.n = sets.approximate.n = count;
		return sets;
	}
	choose_bins(&bins, &sets.exact, &sets.runs);
	bins_ranks(&bins, &sets.runs, &sets.approximate);
	bins_difference(&sets.approximate, &sets.exact, &sets.difference, NULL);
	return sets;
}

static uint32_t
range_rows(const RangeSet *set)
{
	uint32_t	rows = 0;

	for (uint32_t i = 0; i < set->n; i++)
		rows += set->ranges[i].end - set->ranges[i].first;
	return rows;
}

static void
free_sets(ColumnSets *sets)
{
	free(sets->exact.ranges);
}

/* Add a task that clears the bits of the rows with the ranks "ranks". */
static void
add_refine(Work *work, const Resident *column, Range ranks)
{
	Evaluator  *evaluator = work->evaluator;
	uint32_t	blocks = (ranks.end - (ranks.first & ~3u) + REFINE_BLOCK - 1) / REFINE_BLOCK;
	RefineTask	task = {
		.order = column->memory.address + column->layout.order,
		.bits = work->bits,
		.first = ranks.first,
		.end = ranks.end,
		.rows = work->segment->rows,
		.first_block = evaluator->refine_of.count,
	};

	tasks_add_workgroups(&evaluator->refine_of, evaluator->refine_tasks.count, blocks);
	*(RefineTask *) array_extend(&evaluator->refine_tasks, 1) = task;
	work->request->reply.refined_rows += ranks.end - ranks.first;
}

/* ---------------------------------------------------------------- compute */

/* Add the runs of a column's superset, and tasks that clear the rows outside of the exact set. */
static DeviceResult
add_superset(Work *work, const WorkColumn *column)
{
	ColumnSets	sets = make_sets(column, bins_superset);
	DeviceResult result = DEVICE_OK;

	if (sets.runs.n > DEVICE_MAX_RUNS)
		result = DEVICE_TOO_COMPLEX;
	else if (sets.difference.n > 0 && !column->resident->shape.has_order)
		result = DEVICE_REFUSED;
	else
	{
		tasks_add_runs(work->evaluator, column->resident, &sets.runs);
		for (uint32_t i = 0; i < sets.difference.n; i++)
			add_refine(work, column->resident, sets.difference.ranges[i]);
	}
	free_sets(&sets);
	return result;
}

DeviceResult
add_compute(Work *work)
{
	DeviceResult result = DEVICE_OK;

	tasks_add_sieve(work);
	for (uint32_t c = 0; c < work->ncolumns && result == DEVICE_OK; c++)
		result = add_superset(work, &work->columns[c]);
	return result;
}

/* ---------------------------------------------------------------- rt */

/*
 * Add the task that traces the rays of a group of columns.  The group's columns must be the last "count" columns that
 * tasks_add_column() has added.
 */
static DeviceResult
add_trace(Work *work, const WorkColumn *columns, uint32_t count, const SlabColumn *slabs)
{
	Evaluator  *evaluator = work->evaluator;
	RayParameters parameters = boxes_parameters(&evaluator->boxes, count, work->segment->rows);
	uint32_t	first_bundle = evaluator->bundles.count;
	RayPlan		rays = {.max_bundles = MAX_BUNDLES, .max_rays = MAX_RAYS};
	Resident   *residents[DEVICE_GROUP_COLUMNS];
	Resident   *bvh;
	DeviceResult result;

	rays.bundles = array_extend(&evaluator->bundles, MAX_BUNDLES);
	if (!slabs_plan_rays(slabs, (int) count, &parameters, &rays))
		return DEVICE_TOO_COMPLEX;
	evaluator->bundles.count = first_bundle + rays.nbundles;
	if (rays.nrays == 0)
		return DEVICE_OK;
	for (uint32_t c = 0; c < count; c++)
		residents[c] = columns[c].resident;
	result = boxes_get(&evaluator->boxes, residents, count, &bvh);
	if (result != DEVICE_OK)
		return result;
	if (bvh->shape.rows != work->segment->rows)
		return DEVICE_REFUSED;
	*(TraceTask *) array_extend(&evaluator->trace_tasks, 1) = (TraceTask) {
		.structure = bvh->top_address,
		.kept = bvh->kept,
		.bits = work->bits,
		.first_bundle = first_bundle,
		.bundles = rays.nbundles,
		.rays = rays.nrays,
		.first_column = evaluator->columns.count - count,
		.columns = count,
		.rows = work->segment->rows,
	};
	work->request->reply.rays += rays.nrays;
	if (rays.nrays > evaluator->largest_trace)
		evaluator->largest_trace = rays.nrays;
	return DEVICE_OK;
}

/* Add a group of up to three columns: the rows of the nearest bins, and rays for the difference from the exact sets. */
static DeviceResult
add_group(Work *work, const WorkColumn *columns, uint32_t count)
{
	ColumnSets	sets[DEVICE_GROUP_COLUMNS];
	SlabColumn	slabs[DEVICE_GROUP_COLUMNS];
	DeviceResult result = DEVICE_OK;

	tasks_add_sieve(work);
	for (uint32_t c = 0; c < count; c++)
	{
		sets[c] = make_sets(&columns[c], work->evaluator->choose_bins);
		slabs[c] = (SlabColumn) {&sets[c].exact, &sets[c].approximate, &sets[c].difference};
		tasks_add_runs(work->evaluator, columns[c].resident, &sets[c].runs);
		tasks_add_column(work->evaluator, &columns[c]);
		if (sets[c].runs.n > DEVICE_MAX_RUNS)
			result = DEVICE_TOO_COMPLEX;
		work->request->reply.refined_rows += range_rows(&sets[c].difference);
	}
	if (result == DEVICE_OK)
		result = add_trace(work, columns, count, slabs);
	for (uint32_t c = 0; c < count; c++)
		free_sets(&sets[c]);
	return result;
}

static int
compare_columns(const void *a, const void *b)
{
	uint32_t	left = ((const WorkColumn *) a)->resident->key.columns[0];
	uint32_t	right = ((const WorkColumn *) b)->resident->key.columns[0];

	return left < right ? -1 : left > right;
}

/* Only build a group's BVH. */
static DeviceResult
prepare_group(Work *work, const WorkColumn *columns, uint32_t count)
{
	Resident   *residents[DEVICE_GROUP_COLUMNS];
	Resident   *bvh;

	for (uint32_t c = 0; c < count; c++)
		residents[c] = columns[c].resident;
	return boxes_get(&work->evaluator->boxes, residents, count, &bvh);
}

DeviceResult
add_rt(Work *work, uint32_t *groups)
{
	DeviceResult result = DEVICE_OK;
	uint32_t	first = 0;
	uint64_t	bits = (uint64_t) work->evaluator->sieve_of.count * DEVICE_CHUNK_BYTES;
	bool		prepare = work->request->header->prepare;

	if (work->evaluator->raytracer.pipeline == VK_NULL_HANDLE)
		return DEVICE_UNSUPPORTED;
	*groups = (work->ncolumns + DEVICE_GROUP_COLUMNS - 1) / DEVICE_GROUP_COLUMNS;
	qsort(work->columns, work->ncolumns, sizeof(WorkColumn), compare_columns);
	for (uint32_t g = 0; g < *groups && result == DEVICE_OK; g++)
	{
		uint32_t	end = (g + 1) * work->ncolumns / *groups;

		result = prepare ? prepare_group(work, work->columns + first, end - first) :
			add_group(work, work->columns + first, end - first);
		first = end;
	}
	work->bits = bits;
	return result;
}
