/* SPDX-License-Identifier: PostgreSQL */
/*
 * evaluator.h
 *		The state of evaluation (evaluate.h): pipelines, batches in progress, and the tasks of the next batch.
 */
#ifndef RTSCAN_DEVICE_EVALUATOR_H
#define RTSCAN_DEVICE_EVALUATOR_H

#include "array.h"
#include "bins.h"
#include "boxes.h"
#include "cache.h"
#include "raytrace.h"
#include "request.h"
#include "tasks.h"
#include "triangles.h"

/* Approximate a column's exact set by bins: bins.h. */
typedef void (*ChooseBins) (const Bins *bins, const RangeSet *exact, RangeSet *runs);

/* Settings of the executor rt.  Benchmarks also use settings other than the best known ones. */
typedef struct EvaluatorOptions
{
	RayTuning	rays;
	ChooseBins	choose_bins;
} EvaluatorOptions;

#define BATCHES			2		/* batches in progress, at most */
#define BATCH_REQUESTS	256

/* A batch: requests that are evaluated in one submission, and their memory. */
typedef struct Batch
{
	Submission	submission;
	Memory		tasks;
	Memory		bits;
	Memory		aggs;
	Memory		words;			/* sets and maps */
	uint64_t	number;			/* number of the batch, which is the value of cache->batch when it was begun */
	uint32_t	chunks;			/* number of chunks that publish handles */
	uint32_t	count;
	Request    *requests[BATCH_REQUESTS];
} Batch;

typedef struct Evaluator
{
	Context    *context;
	Cache	   *cache;
	VkPipelineLayout layout;
	VkPipeline	sieve;
	VkPipeline	refine;
	VkPipeline	members;
	VkPipeline	publish;
	/* pipelines by way, and by whether values are wide; VK_NULL_HANDLE: not needed, or not supported by the device */
	VkPipeline	agg[AGG_WAYS][2];
	VkPipeline	collect;		/* VK_NULL_HANDLE: not supported by the device */
	bool		aggs[AGG_WAYS][2];	/* elements of agg that the next batch uses */
	bool		takes_out;		/* true if publish changes bits that the next batch aggregates */
	uint32_t	agg_table;		/* 32-bit cells that fit in a workgroup's memory */
	uint32_t	large_table;	/* 32-bit cells that fit in a workgroup's memory with large tables */
	Raytracer	raytracer;		/* pipeline of the executor rt */
	Raytracer	job_raytracer;	/* pipeline of rtcudb; VK_NULL_HANDLE: not supported by the device */
	BvhBuilder	bvhs;
	uint64_t	built_before;	/* value of bvhs.builds before the current batch */
	BoxMaker	boxes;
	TriangleMaker triangles;
	ChooseBins	choose_bins;	/* for the executor rt */

	/* The batches are used in turn.  begun and ended count the batches begun and ended so far. */
	Batch		batches[BATCHES];
	uint64_t	begun;
	uint64_t	ended;

	/* The tasks of the next batch.  Until it is submitted, addresses in its memory are offsets (relocate_tasks()). */
	Array		ranges;
	Array		runs;
	Array		columns;
	Array		sieve_tasks;
	Array		refine_tasks;
	Array		publish_tasks;
	Array		bundles;
	Array		trace_tasks;
	Array		job_tasks;		/* elements are TraceTask */
	/* uint32: the sieve task of each workgroup; the other *_of map workgroups in the same way */
	Array		sieve_of;
	Array		refine_of;
	Array		publish_of;
	Array		digits;
	Array		measures;
	Array		agg_tasks;
	Array		agg_of;
	Array		collect_tasks;
	Array		collect_of;
	Array		sets;
	Array		members_tasks;
	Array		members_of;
	uint64_t	agg_words;
	/* bytes of sets and maps, and of WORDS_ALIGNMENT unused bytes before them: offset 0 can mean that there are none */
	uint64_t	words_size;
	uint32_t	largest_trace;	/* greatest number of rays of one of trace_tasks */
	uint32_t	largest_job;	/* greatest number of rays of one of job_tasks */
} Evaluator;

/* Return true if a way has no pipeline for narrow values, and treats all values as wide. */
static inline bool
agg_is_always_wide(uint32_t way)
{
	return way == AGG_BY_WORDS || way == AGG_BY_HASH;
}

#endif							/* RTSCAN_DEVICE_EVALUATOR_H */
