/*
 * evaluate.c
 *		Evaluate the predicate groups of some requests, in one submission.
 */
#include "evaluate.h"

#include <string.h>

#include "bins.h"
#include "publish.h"
#include "refine.h"
#include "shader.h"
#include "sieve.h"

/* Workgroups that every device can start at once. */
#define MAX_WORKGROUPS	65535

/* Runs of a column: each is as many reads of all chunks' vectors as a column with one. */
#define MAX_RUNS		64

/* Tasks begin where any structure may. */
#define TASK_ALIGNMENT	16

#define MIN_SCRATCH		(UINT64_C(1) << 20)

void
evaluator_open(Evaluator *evaluator, Context *context, Cache *cache)
{
	VkPipelineLayout layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT);

	*evaluator = (Evaluator) {
		.context = context,
		.cache = cache,
		.layout = layout,
		.sieve = shader_compute(context, layout, sieve_spirv, sizeof(sieve_spirv)),
		.refine = shader_compute(context, layout, refine_spirv, sizeof(refine_spirv)),
		.publish = shader_compute(context, layout, publish_spirv, sizeof(publish_spirv)),
		.ranges.element = sizeof(RangeTask),
		.columns.element = sizeof(ColumnTask),
		.sieve_tasks.element = sizeof(SieveTask),
		.refine_tasks.element = sizeof(RefineTask),
		.publish_tasks.element = sizeof(PublishTask),
	};
}

/* ---------------------------------------------------------------- planning */

/* Where a batch is, so that a request that cannot be planned is taken back. */
typedef struct Mark
{
	uint32_t	ranges;
	uint32_t	columns;
	uint32_t	sieve_tasks;
	uint32_t	refine_tasks;
	uint32_t	publish_tasks;
	uint32_t	sieve_chunks;
	uint32_t	refine_blocks;
	uint32_t	publish_chunks;
} Mark;

static Mark
take_mark(const Evaluator *evaluator)
{
	return (Mark) {evaluator->ranges.count, evaluator->columns.count, evaluator->sieve_tasks.count,
		evaluator->refine_tasks.count, evaluator->publish_tasks.count,
		evaluator->sieve_chunks, evaluator->refine_blocks, evaluator->publish_chunks};
}

static void
return_to(Evaluator *evaluator, const Mark *mark)
{
	evaluator->ranges.count = mark->ranges;
	evaluator->columns.count = mark->columns;
	evaluator->sieve_tasks.count = mark->sieve_tasks;
	evaluator->refine_tasks.count = mark->refine_tasks;
	evaluator->publish_tasks.count = mark->publish_tasks;
	evaluator->sieve_chunks = mark->sieve_chunks;
	evaluator->refine_blocks = mark->refine_blocks;
	evaluator->publish_chunks = mark->publish_chunks;
}

/* A segment of a request while it is planned. */
typedef struct Plan
{
	Evaluator  *evaluator;
	Request    *request;
	const EvaluateSegment *segment;
	uint64_t	bits;			/* offset of the group's bits */
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
make_sets(const Resident *column, const DeviceInterval *intervals, uint32_t count)
{
	Bins		bins = {column->shape.bins, column->boundaries};
	Range	   *room = malloc(5 * (size_t) count * sizeof(Range));
	ColumnSets	sets;

	if (room == NULL)
		fail("out of memory");
	sets.exact = take_ranges(&room, count);
	sets.runs = take_ranges(&room, count);
	sets.approximate = take_ranges(&room, count);
	sets.difference = take_ranges(&room, 2 * count);
	for (sets.exact.n = 0; sets.exact.n < count; sets.exact.n++)
		sets.exact.ranges[sets.exact.n] = (Range) {intervals[sets.exact.n].low_rank, intervals[sets.exact.n].high_rank};
	if (column->shape.heap_order)
	{
		memcpy(sets.runs.ranges, sets.exact.ranges, count * sizeof(Range));
		sets.runs.n = count;
		return sets;
	}
	bins_superset(&bins, &sets.exact, &sets.runs);
	bins_ranks(&bins, &sets.runs, &sets.approximate);
	bins_difference(&sets.approximate, &sets.exact, &sets.difference, NULL);
	return sets;
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

static ColumnTask
column_task(Evaluator *evaluator, const Resident *column, const RangeSet *runs)
{
	ColumnTask	task = {.first_run = evaluator->ranges.count, .runs = runs->n};

	memcpy(array_extend(&evaluator->ranges, runs->n), runs->ranges, runs->n * sizeof(Range));
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

static DeviceResult
plan_column(Plan *plan, const EvaluateColumn *wanted, const DeviceInterval *intervals)
{
	ResidentKey key = cache_column_key(&plan->segment->key, wanted->column);
	Resident   *column = cache_find(plan->evaluator->cache, &key);
	DeviceResult result = DEVICE_OK;
	ColumnSets	sets;

	if (column == NULL)
		return DEVICE_MISSING;
	if (column->shape.rows != plan->segment->rows)
		return DEVICE_REFUSED;
	sets = make_sets(column, intervals, wanted->intervals);
	if (sets.runs.n > MAX_RUNS)
		result = DEVICE_TOO_COMPLEX;
	else if (sets.difference.n > 0 && !column->shape.has_order)
		result = DEVICE_REFUSED;
	else
	{
		ColumnTask	task = column_task(plan->evaluator, column, &sets.runs);

		*(ColumnTask *) array_extend(&plan->evaluator->columns, 1) = task;
		for (uint32_t i = 0; i < sets.difference.n; i++)
			add_refine(plan, column, sets.difference.ranges[i]);
	}
	free_sets(&sets);
	return result;
}

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

/* One segment, whose columns and intervals begin where these say. */
static DeviceResult
plan_segment(Plan *plan, uint32_t chunk, uint32_t *column, uint32_t *interval)
{
	Evaluator  *evaluator = plan->evaluator;
	uint32_t	chunks = device_chunks(plan->segment->rows);
	SieveTask  *task = array_extend(&evaluator->sieve_tasks, 1);

	plan->bits = (uint64_t) evaluator->sieve_chunks * DEVICE_CHUNK_BYTES;
	*task = (SieveTask) {
		.bits = plan->bits,
		.first_chunk = evaluator->sieve_chunks,
		.chunks = chunks,
		.rows = plan->segment->rows,
		.first_column = evaluator->columns.count,
		.columns = plan->segment->columns,
	};
	evaluator->sieve_chunks += chunks;
	for (uint32_t c = 0; c < plan->segment->columns; c++)
	{
		const EvaluateColumn *wanted = &plan->request->columns[*column + c];
		DeviceResult result = plan_column(plan, wanted, plan->request->intervals + *interval);

		if (result != DEVICE_OK)
		{
			plan->request->reply.column = c;
			return result;
		}
		*interval += wanted->intervals;
	}
	*column += plan->segment->columns;
	add_publish(plan, chunk, 1);
	return DEVICE_OK;
}

static bool
fits_submission(const Evaluator *evaluator)
{
	return evaluator->sieve_chunks <= MAX_WORKGROUPS && evaluator->refine_blocks <= MAX_WORKGROUPS;
}

/* Add a request's tasks to the batch. */
static DeviceResult
plan_request(Evaluator *evaluator, Request *request)
{
	uint32_t	chunk = 0;
	uint32_t	column = 0;
	uint32_t	interval = 0;

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		Plan		plan = {.evaluator = evaluator, .request = request, .segment = &request->segments[s]};
		DeviceResult result = plan_segment(&plan, chunk, &column, &interval);

		if (result != DEVICE_OK)
		{
			request->reply.segment = s;
			return result;
		}
		chunk += device_chunks(request->segments[s].rows);
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
	return memory_on_host(evaluator->context, size * 2 + MIN_SCRATCH, &evaluator->staging);
}

static void
locate_bits(Evaluator *evaluator)
{
	SieveTask  *sieve = (SieveTask *) evaluator->sieve_tasks.data;
	RefineTask *refine = (RefineTask *) evaluator->refine_tasks.data;
	PublishTask *publish = (PublishTask *) evaluator->publish_tasks.data;

	for (uint32_t i = 0; i < evaluator->sieve_tasks.count; i++)
		sieve[i].bits += evaluator->bits.address;
	for (uint32_t i = 0; i < evaluator->refine_tasks.count; i++)
		refine[i].bits += evaluator->bits.address;
	for (uint32_t i = 0; i < evaluator->publish_tasks.count; i++)
		publish[i].bits += evaluator->bits.address;
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
		array_size(&evaluator->publish_tasks) + 5 * TASK_ALIGNMENT;
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

	if (room)
	{
		locate_bits(evaluator);
		nanoseconds = run_tasks(evaluator);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		requests[i]->reply.result = room ? DEVICE_OK : DEVICE_NO_MEMORY;
		requests[i]->reply.nanoseconds = nanoseconds;
		if (room)
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
