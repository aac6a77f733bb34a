/* SPDX-License-Identifier: PostgreSQL */
/*
 * evaluate.c
 *		Evaluate the regions of some requests, in one submission.
 */
#include "evaluate.h"

#include <string.h>

#include "add_tasks.h"
#include "aggregate.h"
#include "collect.h"
#include "make_tasks.h"
#include "members.h"
#include "publish.h"
#include "refine.h"
#include "shader.h"
#include "sieve.h"

#define MIN_SCRATCH		(UINT64_C(1) << 20)

/*
 * Bytes of the shared memory of a workgroup that aggregates.  AGG_MEMORY is small, so that several workgroups fit on
 * one of the device's multiprocessors.  LARGE_AGG_MEMORY is for tables that are as large as possible.  Both sizes
 * include OTHER_AGG_MEMORY, which is for everything besides the tables and the list of rows.
 */
#define AGG_MEMORY			24576
#define LARGE_AGG_MEMORY	49152
#define OTHER_AGG_MEMORY	2560

/* Return the number of 32-bit table cells that fit in "memory" bytes, beside a list of "listed" rows. */
static uint32_t
table_size(const Context *context, uint32_t memory, uint32_t listed)
{
	uint32_t	most = context->properties.limits.maxComputeSharedMemorySize;

	return ((memory < most ? memory : most) - OTHER_AGG_MEMORY) / sizeof(uint32_t) - listed / 2;
}

static VkPipeline
open_agg_way(Evaluator *evaluator, uint32_t way, uint32_t wide)
{
	const VkPhysicalDeviceLimits *limits = &evaluator->context->properties.limits;
	bool		large = way == AGG_BY_LARGE_TABLES && limits->maxComputeWorkGroupInvocations >= AGG_LARGE_GROUP &&
		limits->maxComputeWorkGroupSize[0] >= AGG_LARGE_GROUP;
	uint32_t	table = way == AGG_BY_TABLES ? evaluator->agg_table :
		way == AGG_BY_LARGE_TABLES ? evaluator->large_table : 1;
	uint32_t	constants[] = {way, wide, table, large ? AGG_LARGE_GROUP : AGG_GROUP,
		way == AGG_BY_LARGE_TABLES ? AGG_LARGE_LISTED : AGG_LISTED};

	return shader_compute_with(evaluator->context, evaluator->layout, aggregate_spirv, sizeof(aggregate_spirv),
							   constants, 5);
}

static void
open_agg(Evaluator *evaluator)
{
	evaluator->agg_table = table_size(evaluator->context, AGG_MEMORY, AGG_LISTED);
	evaluator->large_table = table_size(evaluator->context, LARGE_AGG_MEMORY, AGG_LARGE_LISTED);
	for (uint32_t way = 0; way < AGG_WAYS; way++)
		for (uint32_t wide = 0; wide < 2; wide++)
			if (wide || !agg_is_always_wide(way))
				evaluator->agg[way][wide] = open_agg_way(evaluator, way, wide);
	evaluator->collect = shader_compute(evaluator->context, evaluator->layout, collect_spirv, sizeof(collect_spirv));
}

static void
open_raytracers(Evaluator *evaluator, const EvaluatorOptions *options)
{
	raytrace_open(&evaluator->raytracer, evaluator->context, &raytrace_of_boxes);
	bvh_open(&evaluator->bvhs, evaluator->context, evaluator->cache);
	boxes_open(&evaluator->boxes, &evaluator->bvhs, &options->rays);
	if (!evaluator->context->int64_atomics)
		return;
	raytrace_open(&evaluator->job_raytracer, evaluator->context, &raytrace_of_triangles);
	triangles_open(&evaluator->triangles, &evaluator->bvhs);
}

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
		.members = shader_compute(context, layout, members_spirv, sizeof(members_spirv)),
		.publish = shader_compute(context, layout, publish_spirv, sizeof(publish_spirv)),
	};
	tasks_open(evaluator);
	if (context->int64_atomics)
		open_agg(evaluator);
	for (int i = 0; i < BATCHES; i++)
		submission_open(context, &evaluator->batches[i].submission);
	if (context->ray_tracing)
		open_raytracers(evaluator, options);
}

/* ---------------------------------------------------------------- submitting */

/*
 * Make sure that memory for bits, aggregates or words is large enough, without keeping its content.  Returns false if
 * the memory cannot be allocated.
 */
static bool
ensure_scratch(Evaluator *evaluator, Memory *memory, uint64_t size)
{
	if (memory->size >= size)
		return true;
	memory_free(evaluator->context, memory);
	return cache_allocate(evaluator->cache, MEMORY_SCRATCH, size + size / 2 + MIN_SCRATCH, 0, memory) ||
		cache_allocate(evaluator->cache, MEMORY_SCRATCH, size, 0, memory);
}

/*
 * Make sure that the memory for tasks is large enough.  The host writes it and the device reads it in place,
 * since tasks are few.
 */
static bool
ensure_tasks(Evaluator *evaluator, Batch *batch, uint64_t size)
{
	if (batch->tasks.size >= size)
		return true;
	memory_free(evaluator->context, &batch->tasks);
	return memory_on_host(evaluator->context, HOST_WRITES, size * 2 + MIN_SCRATCH, 0, &batch->tasks);
}

/* A member of tasks that is an offset in some memory of the batch, until relocate() adds the address of this memory. */
typedef struct Relocation
{
	size_t		array;			/* offset of the array of tasks in an Evaluator */
	size_t		member;			/* offset of the member in a task */
	size_t		memory;			/* offset of the memory in a Batch */
	bool		optional;		/* true if the value 0 is not an offset and stays 0 */
} Relocation;

#define RELOCATION(array, task, member, memory, optional) \
	{offsetof(Evaluator, array), offsetof(task, member), offsetof(Batch, memory), optional}

static const Relocation relocations[] = {
	RELOCATION(sieve_tasks, SieveTask, bits, bits, false),
	RELOCATION(refine_tasks, RefineTask, bits, bits, false),
	RELOCATION(publish_tasks, PublishTask, bits, bits, false),
	RELOCATION(members_tasks, MembersTask, bits, bits, false),
	RELOCATION(trace_tasks, TraceTask, bits, bits, false),
	RELOCATION(job_tasks, TraceTask, bits, bits, false),
	RELOCATION(agg_tasks, AggTask, bits, bits, false),
	RELOCATION(agg_tasks, AggTask, words, aggs, false),
	RELOCATION(collect_tasks, CollectTask, words, aggs, false),
	RELOCATION(sets, SetTask, words, words, true),
	RELOCATION(digits, DigitTask, map, words, true),
};

static void
relocate(Evaluator *evaluator, const Batch *batch, const Relocation *relocation)
{
	const Array *array = (const Array *) ((const char *) evaluator + relocation->array);
	const Memory *memory = (const Memory *) ((const char *) batch + relocation->memory);

	for (uint32_t i = 0; i < array->count; i++)
	{
		uint64_t   *member = (uint64_t *) (array->data + (size_t) i * array->element + relocation->member);

		if (*member != 0 || !relocation->optional)
			*member += memory->address;
	}
}

/* Turn the offsets in tasks into addresses of the batch's memory. */
static void
relocate_tasks(Evaluator *evaluator, const Batch *batch)
{
	for (size_t i = 0; i < sizeof(relocations) / sizeof(relocations[0]); i++)
		relocate(evaluator, batch, &relocations[i]);
}

/* Copy a request's words to the device's memory, since each word may be read for many rows. */
static void
copy_words(Evaluator *evaluator, const Batch *batch, const Request *request)
{
	const Area *area = request->area;
	VkBufferCopy copy = {request->words, request->device_words, request->header->words * sizeof(uint32_t)};

	if (copy.size == 0 || request->header->prepare)
		return;
	if (!area->imported)
		memcpy(area->memory.host + request->words, area->map + request->words, copy.size);
	vkCmdCopyBuffer(evaluator->context->commands, area->memory.buffer, batch->words.buffer, 1, &copy);
}

/* Copy the masks to the memory that receives the answer, if the device cannot access the area itself. */
static void
copy_masks(const Request *request)
{
	uint64_t	place = request->results + device_bits_offset(request->chunks, request->agg_words);

	if (request->area->imported || request->header->prepare)
		return;
	for (uint32_t s = 0; s < request->header->segments; s++)
		for (uint32_t chunk = 0;
			 request->segments[s].part == PART_FIRST && chunk < device_chunks(request->segments[s].rows);
			 chunk++, place += DEVICE_CHUNK_BYTES)
			if ((request->segments[s].partly[chunk / 32] >> (chunk % 32) & 1) != 0)
				memcpy(request->area->memory.host + place, request->area->map + place, DEVICE_CHUNK_BYTES);
}

/* Append an array to the tasks' memory.  Returns its position in this memory, in units of TASK_ALIGNMENT. */
static uint32_t
stage_array(const Memory *tasks, const Array *array, uint64_t *used)
{
	uint64_t	offset = *used;

	if (array->count > 0)
		memcpy(tasks->host + offset, array->data, array_size(array));
	*used = device_align(offset + array_size(array), TASK_ALIGNMENT);
	return (uint32_t) (offset / TASK_ALIGNMENT);
}

static uint64_t
tasks_size(Evaluator *evaluator)
{
	uint64_t	size = 0;

	for (int i = 0; i < TASK_ARRAYS; i++)
		size += device_align(array_size(tasks_array(evaluator, i)), TASK_ALIGNMENT);
	return size;
}

/*
 * Copy all tasks to "memory", and store the positions of their arrays in *tasks and *jobs.  *jobs is for the shaders
 * that trace the rays of jobs: its member "traces" is the position of the jobs.
 */
static void
stage_tasks(Evaluator *evaluator, const Memory *memory, Tasks *tasks, Tasks *jobs)
{
	Tasks	   *staged = tasks;
	uint64_t	used = 0;

	*tasks = (Tasks) {.base = memory->address};
	for (int i = 0; i < TASK_ARRAYS; i++)
	{
		if (i == JOBS_ARRAY)
		{
			*jobs = *tasks;
			staged = jobs;
		}
		*(uint32_t *) ((char *) staged + task_arrays[i].position) =
			stage_array(memory, tasks_array(evaluator, i), &used);
	}
}

static void
dispatch(Evaluator *evaluator, VkPipeline pipeline, const Tasks *tasks, uint32_t workgroups,
		 VkPipelineStageFlags next)
{
	if (workgroups == 0)
		return;
	shader_dispatch(evaluator->context, evaluator->layout, pipeline, tasks, sizeof(*tasks), workgroups);
	if (next)
		context_shader_barrier(evaluator->context, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, next);
}

/*
 * For each way of aggregating that the batch uses, dispatch all workgroups.  A workgroup ends at once if its task
 * has another way.  Then collect the entries of all aggregates, including those of jobs.
 */
static void
dispatch_aggs(Evaluator *evaluator, const Tasks *tasks)
{
	VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;

	for (uint32_t way = 0; way < AGG_WAYS; way++)
		for (uint32_t wide = 0; wide < 2; wide++)
			if (evaluator->aggs[way][wide])
				dispatch(evaluator, evaluator->agg[way][wide], tasks, evaluator->agg_of.count, 0);
	memset(evaluator->aggs, 0, sizeof(evaluator->aggs));
	if (evaluator->collect_of.count > 0)
		context_shader_barrier(evaluator->context, compute, compute);
	dispatch(evaluator, evaluator->collect, tasks, evaluator->collect_of.count, 0);
}

/* Clear the words of aggregates, and copy the words of sets and maps from the requests. */
static void
prepare_memory(Evaluator *evaluator, Batch *batch, Request **requests, uint32_t count)
{
	bool		copies = evaluator->words_size > WORDS_ALIGNMENT;

	for (uint32_t i = 0; i < count && copies; i++)
		if (requests[i]->reply.result == DEVICE_OK)
			copy_words(evaluator, batch, requests[i]);
	if (evaluator->agg_words > 0)
		vkCmdFillBuffer(evaluator->context->commands, batch->aggs.buffer, 0,
						evaluator->agg_words * sizeof(uint64_t), 0);
	if (evaluator->agg_words > 0 || copies)
		context_barrier(evaluator->context);
}

static void
start_tasks(Evaluator *evaluator, Batch *batch, Request **requests, uint32_t count)
{
	Tasks		tasks,
				jobs;
	VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
	VkPipelineStageFlags refiners = compute |
		(evaluator->trace_tasks.count + evaluator->job_tasks.count > 0 ?
		 VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR : 0);

	stage_tasks(evaluator, &batch->tasks, &tasks, &jobs);
	for (uint32_t i = 0; i < count; i++)
		if (requests[i]->reply.result == DEVICE_OK)
			copy_masks(requests[i]);
	submission_begin(evaluator->context, &batch->submission);
	prepare_memory(evaluator, batch, requests, count);
	dispatch(evaluator, evaluator->sieve, &tasks, evaluator->sieve_of.count, refiners);
	dispatch(evaluator, evaluator->refine, &tasks, evaluator->refine_of.count, compute);
	raytrace_record(&evaluator->raytracer, &tasks, evaluator->largest_trace, evaluator->trace_tasks.count);
	raytrace_record(&evaluator->job_raytracer, &jobs, evaluator->largest_job, evaluator->job_tasks.count);
	dispatch(evaluator, evaluator->members, &tasks, evaluator->members_of.count, compute);
	dispatch(evaluator, evaluator->publish, &tasks, evaluator->publish_of.count, evaluator->takes_out ? compute : 0);
	evaluator->takes_out = false;
	dispatch_aggs(evaluator, &tasks);
	submission_start(evaluator->context, &batch->submission);
}

/*
 * Copy the number of each aggregate's entries to the area.  Also copy the entries, unless there are more of them than
 * the answer has room for.
 */
static void
copy_entries(const Request *request)
{
	uint64_t	place = request->results + device_aggs_offset(request->chunks);

	for (uint32_t s = 0; s < request->header->segments; s++)
	{
		const EvaluateSegment *segment = &request->segments[s];
		uint64_t	words = device_agg_words(segment);
		uint64_t	entries;

		if (words == 0)
			continue;
		memcpy(&entries, request->area->memory.host + place, sizeof(entries));
		if (entries > segment->entries)
			entries = 0;
		memcpy(request->area->map + place, request->area->memory.host + place,
			   device_agg_size(entries, segment->measures) * sizeof(uint64_t));
		place += words * sizeof(uint64_t);
	}
}

/* Copy the answer to the area, unless the device has written it to the area itself. */
static void
copy_results(Request *request)
{
	const char *from = request->area->memory.host + request->results;
	char	   *to = request->area->map + request->results;
	uint64_t	bits = device_bits_offset(request->chunks, request->agg_words);
	const ChunkCount *counts = (const ChunkCount *) from;

	if (request->area->imported)
		return;
	memcpy(to, from, request->chunks * sizeof(ChunkCount));
	copy_entries(request);
	for (uint32_t i = 0; request->header->want_bits && i < request->chunks; i++)
		if (counts[i].rows > 0)
			memcpy(to + bits + (uint64_t) i * DEVICE_CHUNK_BYTES, from + bits + (uint64_t) i * DEVICE_CHUNK_BYTES,
				   DEVICE_CHUNK_BYTES);
}

/*
 * Make the next batch current.  cache->done becomes the number of the batch before the first running one, or if none is
 * running, before the new current one.
 */
static void
next_batch(Evaluator *evaluator)
{
	Cache	   *cache = evaluator->cache;

	cache->done = cache->batch++;
	for (int i = 0; i < BATCHES; i++)
		if (evaluator->batches[i].submission.running && evaluator->batches[i].number <= cache->done)
			cache->done = evaluator->batches[i].number - 1;
}

/* Start the tasks of some requests on the device.  Returns false if there is not enough memory. */
static bool
start_batch(Evaluator *evaluator, Batch *batch, Request **requests, uint32_t count)
{
	bool		room = ensure_scratch(evaluator, &batch->bits,
									  (uint64_t) evaluator->sieve_of.count * DEVICE_CHUNK_BYTES) &&
		ensure_scratch(evaluator, &batch->aggs, evaluator->agg_words * sizeof(uint64_t)) &&
		ensure_scratch(evaluator, &batch->words, evaluator->words_size) &&
		ensure_tasks(evaluator, batch, tasks_size(evaluator));

	batch->number = evaluator->cache->batch;
	batch->chunks = evaluator->publish_of.count;
	if (room && batch->chunks > 0)
	{
		relocate_tasks(evaluator, batch);
		start_tasks(evaluator, batch, requests, count);
	}
	tasks_return_to(evaluator, &(TasksMark) {0});
	next_batch(evaluator);
	return room;
}

/* Wait for the device, and store the results of a batch's requests. */
static void
finish_batch(Evaluator *evaluator, Batch *batch, Request **requests, uint32_t count)
{
	bool		running = batch->submission.running;
	uint64_t	nanoseconds = running ? submission_finish(evaluator->context, &batch->submission) : 0;

	for (uint32_t i = 0; i < count; i++)
	{
		if (requests[i]->reply.result != DEVICE_OK || requests[i]->header->prepare)
			continue;
		requests[i]->reply.nanoseconds = nanoseconds * requests[i]->chunks / batch->chunks;
		copy_results(requests[i]);
	}
	next_batch(evaluator);
}

/* ---------------------------------------------------------------- batches */

/* Evaluate a single request in a batch of its own. */
static void
evaluate_alone(Evaluator *evaluator, Batch *batch, Request *request)
{
	request->reply = (DeviceReply) {0};
	evaluator->built_before = evaluator->bvhs.builds;
	request->reply.result = make_tasks(evaluator, request);
	if (request->reply.result != DEVICE_OK)
		tasks_return_to(evaluator, &(TasksMark) {0});
	else if (!start_batch(evaluator, batch, &request, 1))
		request->reply.result = DEVICE_NO_MEMORY;
	finish_batch(evaluator, batch, &request, 1);
}

void
evaluate_begin(Evaluator *evaluator, Request **requests, uint32_t count)
{
	Batch	   *batch = &evaluator->batches[evaluator->begun++ % BATCHES];

	evaluator->built_before = evaluator->bvhs.builds;
	for (uint32_t i = 0; i < count; i++)
	{
		TasksMark	mark = tasks_mark(evaluator);

		requests[i]->reply = (DeviceReply) {0};
		requests[i]->reply.result = make_tasks(evaluator, requests[i]);
		if (requests[i]->reply.result != DEVICE_OK)
			tasks_return_to(evaluator, &mark);
		batch->requests[i] = requests[i];
	}
	batch->count = count;
	if (!start_batch(evaluator, batch, requests, count))
		for (uint32_t i = 0; i < count; i++)
			if (requests[i]->reply.result == DEVICE_OK)
				requests[i]->reply.result = DEVICE_NO_MEMORY;
}

bool
evaluate_is_done(const Evaluator *evaluator)
{
	const Batch *batch = &evaluator->batches[evaluator->ended % BATCHES];

	return !batch->submission.running || submission_is_done(evaluator->context, &batch->submission);
}

uint32_t
evaluate_end(Evaluator *evaluator, Request **requests)
{
	Batch	   *batch = &evaluator->batches[evaluator->ended % BATCHES];

	finish_batch(evaluator, batch, batch->requests, batch->count);
	memcpy(requests, batch->requests, batch->count * sizeof(Request *));
	/* Repeat requests that may have failed only because the batch was too large. */
	for (uint32_t i = 0; i < batch->count; i++)
		if (requests[i]->reply.result == DEVICE_TOO_COMPLEX || requests[i]->reply.result == DEVICE_NO_MEMORY)
			evaluate_alone(evaluator, batch, requests[i]);
	for (uint32_t i = 0; i < batch->count; i++)
		requests[i]->reply.built = (uint32_t) (evaluator->bvhs.builds - requests[i]->built_before);
	evaluator->ended++;
	return batch->count;
}
