/*
 * evaluator.h
 *		What evaluates requests (evaluate.h): its pipelines, its batches under way, and the tasks of the next one.
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

/* Approximates a column's exact set by bins: bins.h. */
typedef void (*ChooseBins) (const Bins *bins, const RangeSet *exact, RangeSet *runs);

/* For benchmarks: how the rt executor differs from the best that is known. */
typedef struct EvaluatorOptions
{
	RayTuning	rays;
	ChooseBins	choose_bins;
} EvaluatorOptions;

#define BATCHES			2		/* under way */
#define BATCH_REQUESTS	256

/* Requests that have been begun together, and the memory for that. */
typedef struct Batch
{
	Submission	submission;
	Memory		tasks;
	Memory		bits;
	Memory		tallies;
	Memory		words;			/* of sets and maps */
	uint64_t	number;			/* cache->batch */
	uint32_t	chunks;			/* that are published */
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
	VkPipeline	tally[TALLY_WAYS][2];	/* of narrow values, and of wide ones; VK_NULL_HANDLE: the device lacks what that needs */
	VkPipeline	collect;		/* likewise */
	bool		tallies[TALLY_WAYS][2];	/* of the next batch: there are some for it, */
	bool		takes_out;		/* and publishing takes rows out of what is tallied */
	uint32_t	tally_table;	/* cells of 32 bits that its workgroups have memory for, */
	uint32_t	large_table;	/* and those with large tables */
	Raytracer	raytracer;		/* of rt, */
	Raytracer	job_raytracer;	/* and of rtcudb; no pipeline: the device lacks what that needs */
	BvhBuilder	bvhs;
	uint64_t	built_before;	/* the batch at hand */
	BoxMaker	boxes;
	TriangleMaker triangles;
	ChooseBins	choose_bins;	/* of rt */

	/* Batches in turn: how many have been begun and ended. */
	Batch		batches[BATCHES];
	uint64_t	begun;
	uint64_t	ended;

	/* The tasks of the next batch; addresses of bits are offsets until it is submitted. */
	Array		ranges;
	Array		runs;
	Array		columns;
	Array		sieve_tasks;
	Array		refine_tasks;
	Array		publish_tasks;
	Array		bundles;
	Array		trace_tasks;
	Array		job_tasks;		/* TraceTask, likewise */
	Array		sieve_of;		/* the task of each workgroup; */
	Array		refine_of;
	Array		publish_of;
	Array		digits;
	Array		measures;
	Array		tally_tasks;
	Array		tally_of;
	Array		collect_tasks;
	Array		collect_of;
	Array		sets;
	Array		members_tasks;
	Array		members_of;
	uint64_t	tally_words;
	uint64_t	words_size;		/* bytes of sets and maps; the first ones are nobody's, so that 0 is none */
	uint32_t	largest_trace;	/* rays of a TraceTask, at most, */
	uint32_t	largest_job;	/* and of a job's */
} Evaluator;

/* Are values always taken for wide ones, so that there is no pipeline of narrow ones? */
static inline bool
tally_is_always_wide(uint32_t way)
{
	return way == TALLY_BY_WORDS || way == TALLY_BY_HASH;
}

#endif							/* RTSCAN_DEVICE_EVALUATOR_H */
