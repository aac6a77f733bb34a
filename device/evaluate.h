/* SPDX-License-Identifier: PostgreSQL */
/*
 * evaluate.h
 *		Evaluate the regions of several requests, a batch, in one submission.
 *
 * Two batches can be in progress, so that the device works on one while the host handles the
 * other.  A batch is evaluated in steps.  Each step is a dispatch of shaders for all requests of the batch, with
 * barriers between the steps:
 *
 *	sieve		AND the vectors; this gives a superset of each segment's rows (compute), or the
 *				rows of the nearest bins (rt)
 *	refine		clear the rows that are in a column's superset but not in its intervals
 *				(compute), or test the rows that rays meet (rt: raytrace.h)
 *	members		clear the rows whose integers are not in all sets, for conditions that cannot be looked up
 *	publish		count the rows; return the bits
 *	aggregate	add up rows instead of returning their bits (protocol.h); runs beside publish, or
 *				after publish if chunks have masks or filters have alternatives
 *	collect		return the entries of aggregates
 *
 * The executor rtcudb has a job (make_job.h) instead of refine and aggregate; its sieve step only clears bits.
 * A job cannot aggregate chunks with masks, or segments with members or maps: the aggregate step does.
 * The executors rt and rtcudb evaluate segments without columns, and filters with several parts, as compute does.
 */
#ifndef RTSCAN_DEVICE_EVALUATE_H
#define RTSCAN_DEVICE_EVALUATE_H

#include "evaluator.h"

extern void evaluator_open(Evaluator *evaluator, Context *context, Cache *cache,
						   const EvaluatorOptions *options);

/* Return the number of batches in progress.  If the number is less than BATCHES, another batch can be begun. */
static inline uint32_t
evaluate_running(const Evaluator *evaluator)
{
	return (uint32_t) (evaluator->begun - evaluator->ended);
}

/*
 * Begin a batch of up to BATCH_REQUESTS requests, which must stay in place until the batch is ended.  Normally only
 * one BVH is built for a batch (see allowed_builds()).  A request that needs another BVH ends with REQUEST_WAITS
 * if its "build" is set, and has to be put into a later batch.
 */
extern void evaluate_begin(Evaluator *evaluator, Request **requests, uint32_t count);

/* Return true if the device has finished the oldest batch. */
extern bool evaluate_is_done(const Evaluator *evaluator);

/*
 * Wait for the device and end the oldest batch.  Stores the batch's requests in "requests", with their replies set,
 * and returns the number of requests.
 */
extern uint32_t evaluate_end(Evaluator *evaluator, Request **requests);

#endif							/* RTSCAN_DEVICE_EVALUATE_H */
