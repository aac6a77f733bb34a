/*
 * evaluate.h
 *		Evaluate the predicate groups of some requests, in one submission.
 *
 * Three steps, each for all requests at once, with a barrier between:
 *
 *	sieve		AND the vectors: a superset of each segment's rows (compute), or the rows
 *				of the nearest bins (rt)
 *	refine		clear the rows that are in a column's superset and not in its intervals
 *				(compute), or decide the rows that rays meet (rt: raytrace.h)
 *	publish		count; hand over the bits
 */
#ifndef RTSCAN_DEVICE_EVALUATE_H
#define RTSCAN_DEVICE_EVALUATE_H

#include "array.h"
#include "bins.h"
#include "bvh.h"
#include "cache.h"
#include "raytrace.h"
#include "request.h"
#include "tasks.h"

/* Approximates a column's exact set by bins: bins.h. */
typedef void (*ChooseBins) (const Bins *bins, const RangeSet *exact, RangeSet *runs);

/* For benchmarks: how the rt executor differs from the best that is known. */
typedef struct EvaluatorOptions
{
	RayTuning	rays;
	ChooseBins	choose_bins;
} EvaluatorOptions;

typedef struct Evaluator
{
	Context    *context;
	Cache	   *cache;
	VkPipelineLayout layout;
	VkPipeline	sieve;
	VkPipeline	refine;
	VkPipeline	publish;
	Raytracer	raytracer;
	BvhBuilder	bvhs;
	ChooseBins	choose_bins;	/* of rt */

	/* The tasks of the batch at hand; addresses of bits are offsets until it is submitted. */
	Array		ranges;
	Array		runs;
	Array		columns;
	Array		sieve_tasks;
	Array		refine_tasks;
	Array		publish_tasks;
	Array		bundles;
	Array		trace_tasks;
	Array		sieve_of;		/* the task of each workgroup; */
	Array		refine_of;
	Array		publish_of;
	uint32_t	largest_trace;	/* rays of a TraceTask, at most */

	Memory		tasks;
	Memory		bits;
} Evaluator;

extern void evaluator_open(Evaluator *evaluator, Context *context, Cache *cache,
						   const EvaluatorOptions *options);

/* Evaluate; fills in the replies. */
extern void evaluate(Evaluator *evaluator, Request **requests, uint32_t count);

#endif							/* RTSCAN_DEVICE_EVALUATE_H */
