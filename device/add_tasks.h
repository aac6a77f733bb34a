/* SPDX-License-Identifier: PostgreSQL */
/*
 * add_tasks.h
 *		Functions that add tasks to a batch, for the make_*.c.
 *
 * The tasks of several requests, a batch, are collected in an Evaluator's arrays.  Addresses of bits are
 * offsets until the batch is submitted.
 */
#ifndef RTSCAN_DEVICE_ADD_TASKS_H
#define RTSCAN_DEVICE_ADD_TASKS_H

#include "evaluator.h"

/* Number of an Evaluator's arrays of tasks.  The last one has the jobs. */
#define TASK_ARRAYS		21
#define JOBS_ARRAY		(TASK_ARRAYS - 1)

/* An array of tasks. */
typedef struct TaskArray
{
	size_t		array;			/* offset of the Array in an Evaluator */
	uint32_t	element;		/* bytes of a task */
	size_t		position;		/* offset of its position in Tasks; of the jobs, in the Tasks of their shaders */
} TaskArray;

extern const TaskArray task_arrays[];

/* The words of a request's sets and maps begin at a multiple of this, which suits any structure. */
#define WORDS_ALIGNMENT	64

/* The sizes of a batch's arrays at some time, to remove a request that cannot be evaluated. */
typedef struct TasksMark
{
	uint32_t	counts[TASK_ARRAYS];
	uint32_t	largest_trace;
	uint32_t	largest_job;
	uint64_t	agg_words;
	uint64_t	words_size;
} TasksMark;

/* A column of a segment whose tasks are being made. */
typedef struct WorkColumn
{
	Resident   *resident;
	const DeviceInterval *intervals;
	uint32_t	count;
} WorkColumn;

/* A segment of a request whose tasks are being made. */
typedef struct Work
{
	Evaluator  *evaluator;
	Request    *request;
	const EvaluateSegment *segment;
	uint64_t	bits;			/* offset of the bits of the current group */
	uint32_t	ncolumns;
	WorkColumn	columns[DEVICE_MAX_COLUMNS];
} Work;

/* Return the i-th array of tasks. */
static inline Array *
tasks_array(Evaluator *evaluator, int i)
{
	return (Array *) ((char *) evaluator + task_arrays[i].array);
}

/* Set the sizes of tasks in all arrays, which are empty. */
extern void tasks_open(Evaluator *evaluator);

/* Note the present sizes of all arrays, and return to them later. */
extern TasksMark tasks_mark(Evaluator *evaluator);
extern void tasks_return_to(Evaluator *evaluator, const TasksMark *mark);

/* Add workgroups of one kind to the array that maps them to tasks.  Their task is the one to be added next. */
extern void tasks_add_workgroups(Array *task_of, uint32_t task, uint32_t workgroups);

/* Begin a sieve task.  Add its columns' runs next.  Its bits follow those of the tasks before. */
extern void tasks_add_sieve(Work *work);

/* AND a column's runs of bins, or runs of rows if column is NULL, into the bits of the last sieve task. */
extern void tasks_add_runs(Evaluator *evaluator, const Resident *column, const RangeSet *runs);

/* Add a column whose exact set is looked up by rays.  The returned task is valid until the next one is added. */
extern ColumnTask *tasks_add_column(Evaluator *evaluator, const WorkColumn *column);

#endif							/* RTSCAN_DEVICE_ADD_TASKS_H */
