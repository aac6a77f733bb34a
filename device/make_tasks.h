/*
 * make_tasks.h
 *		What a request means in tasks: what to sieve, to refine, to trace, to publish and to tally.
 *
 * Tasks of several requests gather in an Evaluator's arrays: a batch.  Addresses of bits are
 * offsets until it is submitted.
 */
#ifndef RTSCAN_DEVICE_MAKE_TASKS_H
#define RTSCAN_DEVICE_MAKE_TASKS_H

#include "evaluate.h"

#define TASK_ARRAYS		15

/* How far a batch has come, so that a request that cannot be evaluated is taken back. */
typedef struct TasksMark
{
	uint32_t	counts[TASK_ARRAYS];
	uint32_t	largest_trace;
	uint64_t	tally_words;
} TasksMark;

/* All arrays of tasks; their order is that of stage_tasks(). */
extern void tasks_list_arrays(Evaluator *evaluator, Array **arrays);

extern TasksMark tasks_mark(Evaluator *evaluator);
extern void tasks_return_to(Evaluator *evaluator, const TasksMark *mark);

/* The next workgroups of a kind, whose tasks are in another array, belong to the one that is added next. */
extern void tasks_add_workgroups(Array *task_of, uint32_t task, uint32_t workgroups);

/*
 * Add a request's tasks to the batch; for the executor rt, build the BVHs that are missing.
 * Where that is not DEVICE_OK, some may have been added: return to the mark before.
 */
extern DeviceResult make_tasks(Evaluator *evaluator, Request *request);

#endif							/* RTSCAN_DEVICE_MAKE_TASKS_H */
