/*
 * evaluate.c
 *		Evaluate the predicate groups of some requests, in one submission.
 */
#include "evaluate.h"

#include <string.h>

#include "publish.h"
#include "refine.h"
#include "shader.h"
#include "sieve.h"

/* Workgroups that every device can start at once. */
#define MAX_WORKGROUPS	65535

/* Runs of a column: each is as many reads of all chunks' vectors as a column with one. */
#define MAX_RUNS		64

/* What one group of a segment may take of rays. */
#define MAX_BUNDLES		4096
#define MAX_RAYS		(UINT32_C(1) << 22)

/* Tasks begin where any structure may. */
#define TASK_ALIGNMENT	16
#define TASK_ARRAYS		7

#define MIN_SCRATCH		(UINT64_C(1) << 20)

void
evaluator_open(Evaluator *evaluator, Context *context, Cache *cache, const EvaluatorOptions *options)
{
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(Tasks));

	*evaluator = (Evaluator) {
		.context = context,
		.cache = cache,
		.choose_bins = options->choose_bins,
		.layout = layout,
		.sieve = shader_compute(context, layout, sieve_spirv, sizeof(sieve_spirv)),
		.refine = shader_compute(context, layout, refine_spirv, sizeof(refine_spirv)),
		.publish = shader_compute(context, layout, publish_spirv, sizeof(publish_spirv)),
		.ranges.element = sizeof(RangeTask),
		.columns.element = sizeof(ColumnTask),
		.sieve_tasks.element = sizeof(SieveTask),
		.refine_tasks.element = sizeof(RefineTask),
		.publish_tasks.element = sizeof(PublishTask),
		.bundles.element = sizeof(BundleTask),
		.trace_tasks.element = sizeof(TraceTask),
	};
	if (raytrace_open(&evaluator->raytracer, context))
		bvh_open(&evaluator->bvhs, context, cache, &options->rays);
}

/* ---------------------------------------------------------------- planning */

/* How far a batch has come, so that a request that cannot be planned is taken back. */
typedef struct Mark
{
	uint32_t	ranges;
	uint32_t	columns;
	uint32_t	sieve_tasks;
	uint32_t	refine_tasks;
	uint32_t	publish_tasks;
	uint32_t	bundles;
	uint32_t	trace_tasks;
	uint32_t	largest_trace;
	uint32_t	sieve_chunks;
	uint32_t	refine_blocks;
	uint32_t	publish_chunks;
} Mark;

static Mark
take_mark(const Evaluator *evaluator)
{
	return (Mark) {
		.ranges = evaluator->ranges.count,
		.columns = evaluator->columns.count,
		.sieve_tasks = evaluator->sieve_tasks.count,
		.refine_tasks = evaluator->refine_tasks.count,
		.publish_tasks = evaluator->publish_tasks.count,
		.bundles = evaluator->bundles.count,
		.trace_tasks = evaluator->trace_tasks.count,
		.largest_trace = evaluator->largest_trace,
		.sieve_chunks = evaluator->sieve_chunks,
		.refine_blocks = evaluator->refine_blocks,
		.publish_chunks = evaluator->publish_chunks,
	};
}

static void
return_to(Evaluator *evaluator, const Mark *mark)
{
	evaluator->ranges.count = mark->ranges;
	evaluator->columns.count = mark->columns;
	evaluator->sieve_tasks.count = mark->sieve_tasks;
	evaluator->refine_tasks.count = mark->refine_tasks;
	evaluator->publish_tasks.count = mark->publish_tasks;
	evaluator->bundles.count = mark->bundles;
	evaluator->trace_tasks.count = mark->trace_tasks;
	evaluator->largest_trace = mark->largest_trace;
	evaluator->sieve_chunks = mark->sieve_chunks;
	evaluator->refine_blocks = mark->refine_blocks;
	evaluator->publish_chunks = mark->publish_chunks;
}

/* A column of a segment while it is planned. */
typedef struct PlanColumn
{
	Resident   *resident;
	const DeviceInterval *intervals;
	uint32_t	count;
} PlanColumn;

/* A segment of a request while it is planned. */
typedef struct Plan
{
	Evaluator  *evaluator;
	Request    *request;
	const EvaluateSegment *segment;
	uint64_t	bits;			/* offset of the bits of the group at hand */
	uint32_t	ncolumns;
	PlanColumn	columns[DEVICE_MAX_COLUMNS];
} Plan;

/* The sets of ranks of a column: bins.h.  One allocation. */
typedef struct ColumnSets
{
	RangeSet	exact;
	RangeSet	runs;			/* of bins; in heap order, of ranks */
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
make_sets(const PlanColumn *column, ChooseBins choose_bins)
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

/* Have the rows of these ranks cleared. */
static void
add_refine(Plan *plan, const Resident *column, Range ranks)
{
	Evaluator  *evaluator = plan->evaluator;
	RefineTask *task = array_extend(&evaluator->refine_tasks, 1);

	*task = (RefineTask) {
		.order = column->memory.address + column->layout.order,
		.bits = plan->bits,
		.first = ranks.first,
		.end = ranks.end,
		.rows = plan->segment->rows,
		.first_block = evaluator->refine_blocks,
	};
	evaluator->refine_blocks += (ranks.end - (ranks.first & ~3u) + REFINE_BLOCK - 1) / REFINE_BLOCK;
	plan->request->reply.refined_rows += ranks.end - ranks.first;
}

/* Put ranges into the batch; where they are. */
static uint32_t
add_ranges(Evaluator *evaluator, const RangeSet *set)
{
	uint32_t	first = evaluator->ranges.count;

	memcpy(array_extend(&evaluator->ranges, set->n), set->ranges, set->n * sizeof(Range));
	return first;
}

static ColumnTask
column_task(Evaluator *evaluator, const Resident *column, const RangeSet *runs)
{
	ColumnTask	task = {.first_run = add_ranges(evaluator, runs), .runs = runs->n};

	if (column->shape.heap_order)
		return task;
	task.pages = column->memory.address + column->layout.pages;
	task.sieve = column->memory.address + column->layout.sieve;
	task.codes = column->memory.address + column->layout.codes;
	task.code_bytes = column->shape.code_bytes;
	task.bins = column->shape.bins;
	task.radix = column->shape.radix;
	return task;
}

/* Sieve the columns that are added next; their group's bits follow those before. */
static void
add_sieve(Plan *plan, uint32_t columns)
{
	Evaluator  *evaluator = plan->evaluator;
	uint32_t	chunks = device_chunks(plan->segment->rows);

	plan->bits = (uint64_t) evaluator->sieve_chunks * DEVICE_CHUNK_BYTES;
	*(SieveTask *) array_extend(&evaluator->sieve_tasks, 1) = (SieveTask) {
		.bits = plan->bits,
		.first_chunk = evaluator->sieve_chunks,
		.chunks = chunks,
		.rows = plan->segment->rows,
		.first_column = evaluator->columns.count,
		.columns = columns,
	};
	evaluator->sieve_chunks += chunks;
}

static void
add_column(Evaluator *evaluator, ColumnTask task)
{
	*(ColumnTask *) array_extend(&evaluator->columns, 1) = task;
}

/* ---------------------------------------------------------------- compute */

/* A column's superset, and what of it is to be cleared. */
static DeviceResult
plan_superset(Plan *plan, const PlanColumn *column)
{
	ColumnSets	sets = make_sets(column, bins_superset);
	DeviceResult result = DEVICE_OK;

	if (sets.runs.n > MAX_RUNS)
		result = DEVICE_TOO_COMPLEX;
	else if (sets.difference.n > 0 && !column->resident->shape.has_order)
		result = DEVICE_REFUSED;
	else
	{
		add_column(plan->evaluator, column_task(plan->evaluator, column->resident, &sets.runs));
		for (uint32_t i = 0; i < sets.difference.n; i++)
			add_refine(plan, column->resident, sets.difference.ranges[i]);
	}
	free_sets(&sets);
	return result;
}

static DeviceResult
plan_compute(Plan *plan)
{
	DeviceResult result = DEVICE_OK;

	add_sieve(plan, plan->ncolumns);
	for (uint32_t c = 0; c < plan->ncolumns && result == DEVICE_OK; c++)
		result = plan_superset(plan, &plan->columns[c]);
	return result;
}

/* ---------------------------------------------------------------- rt */

/* The codes, or in heap order rows, that are in the exact set. */
static void
add_exact(Evaluator *evaluator, const PlanColumn *column, ColumnTask *task)
{
	Range	   *ranges;

	task->first_interval = evaluator->ranges.count;
	task->intervals = column->count;
	ranges = array_extend(&evaluator->ranges, column->count);
	for (uint32_t i = 0; i < column->count; i++)
		ranges[i] = column->resident->shape.heap_order ?
			(Range) {column->intervals[i].low_rank, column->intervals[i].high_rank} :
			(Range) {column->intervals[i].low_code, column->intervals[i].high_code};
}

/* Trace the rays of a group whose columns have been added last. */
static DeviceResult
add_trace(Plan *plan, const PlanColumn *columns, uint32_t count, const SlabColumn *slabs)
{
	Evaluator  *evaluator = plan->evaluator;
	RayParameters parameters = bvh_parameters(&evaluator->bvhs, count, plan->segment->rows);
	uint32_t	first_bundle = evaluator->bundles.count;
	RayPlan		rays = {.max_bundles = MAX_BUNDLES, .max_rays = MAX_RAYS};
	Resident   *residents[GROUP_COLUMNS];
	Resident   *bvh;

	rays.bundles = array_extend(&evaluator->bundles, MAX_BUNDLES);
	if (!slabs_plan_rays(slabs, (int) count, &parameters, &rays))
		return DEVICE_TOO_COMPLEX;
	evaluator->bundles.count = first_bundle + rays.nbundles;
	if (rays.nrays == 0)
		return DEVICE_OK;
	for (uint32_t c = 0; c < count; c++)
		residents[c] = columns[c].resident;
	bvh = bvh_get(&evaluator->bvhs, residents, count);
	if (bvh == NULL)
		return DEVICE_NO_MEMORY;
	*(TraceTask *) array_extend(&evaluator->trace_tasks, 1) = (TraceTask) {
		.structure = bvh->top_address,
		.primitives = bvh->primitives,
		.bits = plan->bits,
		.first_bundle = first_bundle,
		.bundles = rays.nbundles,
		.rays = rays.nrays,
		.first_column = evaluator->columns.count - count,
		.columns = count,
		.rows = plan->segment->rows,
	};
	if (rays.nrays > evaluator->largest_trace)
		evaluator->largest_trace = rays.nrays;
	return DEVICE_OK;
}

/* Up to three columns: the rows of the nearest bins, and rays for what is between these and the exact ones. */
static DeviceResult
plan_group(Plan *plan, const PlanColumn *columns, uint32_t count)
{
	ColumnSets	sets[GROUP_COLUMNS];
	SlabColumn	slabs[GROUP_COLUMNS];
	DeviceResult result = DEVICE_OK;

	add_sieve(plan, count);
	for (uint32_t c = 0; c < count; c++)
	{
		ColumnTask	task;

		sets[c] = make_sets(&columns[c], plan->evaluator->choose_bins);
		slabs[c] = (SlabColumn) {&sets[c].exact, &sets[c].approximate, &sets[c].difference};
		task = column_task(plan->evaluator, columns[c].resident, &sets[c].runs);
		add_exact(plan->evaluator, &columns[c], &task);
		add_column(plan->evaluator, task);
		if (sets[c].runs.n > MAX_RUNS)
			result = DEVICE_TOO_COMPLEX;
		plan->request->reply.refined_rows += range_rows(&sets[c].difference);
	}
	if (result == DEVICE_OK)
		result = add_trace(plan, columns, count, slabs);
	for (uint32_t c = 0; c < count; c++)
		free_sets(&sets[c]);
	return result;
}

static int
compare_columns(const void *a, const void *b)
{
	uint32_t	left = ((const PlanColumn *) a)->resident->key.columns[0];
	uint32_t	right = ((const PlanColumn *) b)->resident->key.columns[0];

	return left < right ? -1 : left > right;
}

/* Only build a group's BVH. */
static DeviceResult
prepare_group(Plan *plan, const PlanColumn *columns, uint32_t count)
{
	Resident   *residents[GROUP_COLUMNS];

	for (uint32_t c = 0; c < count; c++)
		residents[c] = columns[c].resident;
	return bvh_get(&plan->evaluator->bvhs, residents, count) ? DEVICE_OK : DEVICE_NO_MEMORY;
}

/* As few groups as there can be, of about as many columns each; ascending, whatever the query's order. */
static DeviceResult
plan_rt(Plan *plan, uint32_t *groups)
{
	DeviceResult result = DEVICE_OK;
	uint32_t	first = 0;
	uint64_t	bits = (uint64_t) plan->evaluator->sieve_chunks * DEVICE_CHUNK_BYTES;
	bool		prepare = plan->request->header->prepare;

	if (plan->evaluator->raytracer.pipeline == VK_NULL_HANDLE)
		return DEVICE_UNSUPPORTED;
	*groups = (plan->ncolumns + GROUP_COLUMNS - 1) / GROUP_COLUMNS;
	qsort(plan->columns, plan->ncolumns, sizeof(PlanColumn), compare_columns);
	for (uint32_t g = 0; g < *groups && result == DEVICE_OK; g++)
	{
		uint32_t	end = (g + 1) * plan->ncolumns / *groups;

		result = prepare ? prepare_group(plan, plan->columns + first, end - first) :
			plan_group(plan, plan->columns + first, end - first);
		first = end;
	}
	plan->bits = bits;
	return result;
}

/* ---------------------------------------------------------------- requests */

static void
add_publish(Plan *plan, uint32_t chunk, uint32_t groups)
{
	Request    *request = plan->request;
	uint64_t	results = request->area->memory.address + request->results;
	uint32_t	chunks = device_chunks(plan->segment->rows);
	PublishTask *task = array_extend(&plan->evaluator->publish_tasks, 1);

	*task = (PublishTask) {
		.bits = plan->bits,
		.counts = results + chunk * sizeof(uint32_t),
		.first_chunk = plan->evaluator->publish_chunks,
		.chunks = chunks,
		.groups = groups,
	};
	if (request->header->want_bits)
		task->words = results + device_bits_offset(request->chunks) + (uint64_t) chunk * DEVICE_CHUNK_BYTES;
	plan->evaluator->publish_chunks += chunks;
}

/* Find a segment's columns on the device. */
static DeviceResult
find_columns(Plan *plan, const EvaluateColumn *wanted, const DeviceInterval *intervals)
{
	for (uint32_t c = 0; c < plan->segment->columns; c++)
	{
		ResidentKey key = cache_column_key(&plan->segment->key, wanted[c].column);
		Resident   *resident = cache_find(plan->evaluator->cache, &key);

		plan->request->reply.column = c;
		if (resident == NULL)
			return DEVICE_MISSING;
		if (resident->shape.rows != plan->segment->rows)
			return DEVICE_REFUSED;
		plan->columns[plan->ncolumns++] = (PlanColumn) {resident, intervals, wanted[c].intervals};
		intervals += wanted[c].intervals;
	}
	return DEVICE_OK;
}

/* One segment, whose first chunk has this number in the answer. */
static DeviceResult
plan_segment(Plan *plan, uint32_t chunk, const EvaluateColumn *wanted, const DeviceInterval *intervals)
{
	uint32_t	groups = 1;
	DeviceResult result = find_columns(plan, wanted, intervals);

	if (result != DEVICE_OK)
		return result;
	if (plan->request->header->executor == DEVICE_RT)
		result = plan_rt(plan, &groups);
	else if (!plan->request->header->prepare)
		result = plan_compute(plan);
	if (result == DEVICE_OK && !plan->request->header->prepare)
		add_publish(plan, chunk, groups);
	return result;
}

static bool
fits_submission(const Evaluator *evaluator)
{
	return evaluator->sieve_chunks <= MAX_WORKGROUPS && evaluator->refine_blocks <= MAX_WORKGROUPS &&
		(evaluator->trace_tasks.count == 0 ||
		 raytrace_fits(&evaluator->raytracer, evaluator->largest_trace, evaluator->trace_tasks.count));
}

static uint32_t
count_intervals(const EvaluateColumn *columns, uint32_t count)
{
	uint32_t	intervals = 0;

	for (uint32_t c = 0; c < count; c++)
		intervals += columns[c].intervals;
	return intervals;
}

/* Add a request's tasks to the batch. */
static DeviceResult
plan_request(Evaluator *evaluator, Request *request)
{
	const EvaluateColumn *columns = request->columns;
	const DeviceInterval *intervals = request->intervals;
	uint32_t	chunk = 0;

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		const EvaluateSegment *segment = &request->segments[s];
		Plan		plan = {.evaluator = evaluator, .request = request, .segment = segment};
		DeviceResult result = plan_segment(&plan, chunk, columns, intervals);

		if (result != DEVICE_OK)
		{
			request->reply.segment = s;
			return result;
		}
		chunk += device_chunks(segment->rows);
		intervals += count_intervals(columns, segment->columns);
		columns += segment->columns;
	}
	return fits_submission(evaluator) ? DEVICE_OK : DEVICE_TOO_COMPLEX;
}

/* ---------------------------------------------------------------- submitting */

/* Memory of at least this size; what was there before is not kept. */
static bool
ensure_scratch(Evaluator *evaluator, uint64_t size, Memory *memory)
{
	if (memory->size >= size)
		return true;
	memory_free(evaluator->context, memory);
	return cache_allocate(evaluator->cache, MEMORY_SCRATCH, size + size / 2 + MIN_SCRATCH, 0, memory) ||
		cache_allocate(evaluator->cache, MEMORY_SCRATCH, size, 0, memory);
}

static bool
ensure_staging(Evaluator *evaluator, uint64_t size)
{
	if (evaluator->staging.size >= size)
		return true;
	memory_free(evaluator->context, &evaluator->staging);
	return memory_on_host(evaluator->context, size * 2 + MIN_SCRATCH, 0, &evaluator->staging);
}

static void
locate_bits(Evaluator *evaluator)
{
	SieveTask  *sieve = (SieveTask *) evaluator->sieve_tasks.data;
	RefineTask *refine = (RefineTask *) evaluator->refine_tasks.data;
	PublishTask *publish = (PublishTask *) evaluator->publish_tasks.data;
	TraceTask  *trace = (TraceTask *) evaluator->trace_tasks.data;

	for (uint32_t i = 0; i < evaluator->sieve_tasks.count; i++)
		sieve[i].bits += evaluator->bits.address;
	for (uint32_t i = 0; i < evaluator->refine_tasks.count; i++)
		refine[i].bits += evaluator->bits.address;
	for (uint32_t i = 0; i < evaluator->publish_tasks.count; i++)
		publish[i].bits += evaluator->bits.address;
	for (uint32_t i = 0; i < evaluator->trace_tasks.count; i++)
		trace[i].bits += evaluator->bits.address;
}

/* Copy an array to where the staging memory has come to; its address on the device. */
static uint64_t
stage(Evaluator *evaluator, const Array *array, uint64_t *used)
{
	uint64_t	offset = *used;

	memcpy(evaluator->staging.host + offset, array->data, array_size(array));
	*used = device_align(offset + array_size(array), TASK_ALIGNMENT);
	return evaluator->tasks.address + offset;
}

static uint64_t
tasks_size(const Evaluator *evaluator)
{
	return array_size(&evaluator->ranges) + array_size(&evaluator->columns) +
		array_size(&evaluator->sieve_tasks) + array_size(&evaluator->refine_tasks) +
		array_size(&evaluator->publish_tasks) + array_size(&evaluator->bundles) +
		array_size(&evaluator->trace_tasks) + TASK_ARRAYS * TASK_ALIGNMENT;
}

static Tasks
stage_tasks(Evaluator *evaluator, uint64_t *used)
{
	Tasks		tasks = {
		.sieve_count = evaluator->sieve_tasks.count,
		.refine_count = evaluator->refine_tasks.count,
		.publish_count = evaluator->publish_tasks.count,
	};

	*used = 0;
	tasks.ranges = stage(evaluator, &evaluator->ranges, used);
	tasks.columns = stage(evaluator, &evaluator->columns, used);
	tasks.sieve = stage(evaluator, &evaluator->sieve_tasks, used);
	tasks.refine = stage(evaluator, &evaluator->refine_tasks, used);
	tasks.publish = stage(evaluator, &evaluator->publish_tasks, used);
	tasks.bundles = stage(evaluator, &evaluator->bundles, used);
	tasks.traces = stage(evaluator, &evaluator->trace_tasks, used);
	return tasks;
}

static void
dispatch(Evaluator *evaluator, VkPipeline pipeline, const Tasks *tasks, uint32_t workgroups)
{
	VkCommandBuffer commands = evaluator->context->commands;

	if (workgroups == 0)
		return;
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdPushConstants(commands, evaluator->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*tasks), tasks);
	vkCmdDispatch(commands, workgroups, 1, 1);
	context_barrier(evaluator->context);
}

static uint64_t
run_tasks(Evaluator *evaluator)
{
	uint64_t	used;
	Tasks		tasks = stage_tasks(evaluator, &used);
	VkCommandBuffer commands = context_begin(evaluator->context);

	vkCmdCopyBuffer(commands, evaluator->staging.buffer, evaluator->tasks.buffer, 1,
					&(VkBufferCopy) {.size = used});
	context_barrier(evaluator->context);
	dispatch(evaluator, evaluator->sieve, &tasks, evaluator->sieve_chunks);
	dispatch(evaluator, evaluator->refine, &tasks, evaluator->refine_blocks);
	raytrace_record(&evaluator->raytracer, &tasks, evaluator->largest_trace, evaluator->trace_tasks.count);
	dispatch(evaluator, evaluator->publish, &tasks, evaluator->publish_chunks);
	return context_submit(evaluator->context);
}

/* Where the device could not write into the area itself, copy what it wrote. */
static void
copy_results(Request *request)
{
	const char *from = request->area->memory.host + request->results;
	char	   *to = request->area->map + request->results;
	uint64_t	bits = device_bits_offset(request->chunks);
	const uint32_t *counts = (const uint32_t *) from;

	if (request->area->imported)
		return;
	memcpy(to, from, request->chunks * sizeof(uint32_t));
	for (uint32_t i = 0; request->header->want_bits && i < request->chunks; i++)
		if (counts[i] > 0)
			memcpy(to + bits + (uint64_t) i * DEVICE_CHUNK_BYTES, from + bits + (uint64_t) i * DEVICE_CHUNK_BYTES,
				   DEVICE_CHUNK_BYTES);
}

/* Run the batch, of these requests. */
static void
submit(Evaluator *evaluator, Request **requests, uint32_t count)
{
	uint64_t	size = tasks_size(evaluator);
	bool		room = count > 0 &&
		ensure_scratch(evaluator, (uint64_t) evaluator->sieve_chunks * DEVICE_CHUNK_BYTES, &evaluator->bits) &&
		ensure_scratch(evaluator, size, &evaluator->tasks) && ensure_staging(evaluator, size);
	uint64_t	nanoseconds = 0;

	if (room && evaluator->publish_chunks > 0)
	{
		locate_bits(evaluator);
		nanoseconds = run_tasks(evaluator);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		requests[i]->reply.result = room ? DEVICE_OK : DEVICE_NO_MEMORY;
		requests[i]->reply.nanoseconds = nanoseconds;
		if (room && !requests[i]->header->prepare)
			copy_results(requests[i]);
	}
	return_to(evaluator, &(Mark) {0});
	evaluator->cache->batch++;
}

void
evaluate(Evaluator *evaluator, Request **requests, uint32_t count)
{
	uint32_t	first = 0;		/* of the batch at hand: those before have been submitted */
	uint32_t	planned = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		Mark		mark = take_mark(evaluator);
		DeviceResult result = plan_request(evaluator, requests[i]);

		if (result == DEVICE_TOO_COMPLEX && planned > 0)
		{
			/* It may fit a submission of its own. */
			return_to(evaluator, &mark);
			submit(evaluator, requests + first, planned);
			first += planned;
			planned = 0;
			mark = (Mark) {0};
			requests[i]->reply.refined_rows = 0;
			result = plan_request(evaluator, requests[i]);
		}
		requests[i]->reply.result = result;
		if (result != DEVICE_OK)
		{
			return_to(evaluator, &mark);
			submit(evaluator, requests + first, planned);
			first = i + 1;
			planned = 0;
		}
		else
			planned++;
	}
	submit(evaluator, requests + first, planned);
}
