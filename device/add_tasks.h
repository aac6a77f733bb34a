/* SPDX-License-Identifier: PostgreSQL */
/*
 * add_tasks.h
 *		Add tasks to a batch.  The make_*.c files use these functions.
 *
 * A batch is one or several requests that are evaluated in one submission.  Their tasks are collected in an Evaluator's
 * arrays.  Addresses of bits and words in the tasks are offsets until the batch is submitted (relocate_tasks()).
 */
#ifndef RTSCAN_DEVICE_ADD_TASKS_H
#define RTSCAN_DEVICE_ADD_TASKS_H

#include "evaluator.h"

/* Number of an Evaluator's arrays of tasks, and index of the last array, which has the jobs' TraceTasks. */
#define TASK_ARRAYS		21
#define JOBS_ARRAY		(TASK_ARRAYS - 1)

/* Describes one of an Evaluator's arrays of tasks. */
typedef struct TaskArray
{
	size_t		array;			/* offset of the Array in an Evaluator */
	uint32_t	element;		/* bytes of a task */
	size_t		position;		/* offset in Tasks of the array's position; the jobs have a Tasks of their own */
} TaskArray;

extern const TaskArray task_arrays[];

/* The words of a request's sets and maps begin at a multiple of this number of bytes, enough to align any structure. */
#define WORDS_ALIGNMENT	64

/* The sizes of a batch's arrays before a request was added, to remove the request if it cannot be evaluated. */
typedef struct TasksMark
{
	uint32_t	counts[TASK_ARRAYS];
	uint32_t	largest_trace;
	uint32_t	largest_job;
	uint64_t	agg_words;
	uint64_t	words_size;
} TasksMark;

/* A column of the segment for which tasks are being made, and the "count" intervals that match in this column. */
typedef struct WorkColumn
{
	Resident   *resident;
	const DeviceInterval *intervals;
	uint32_t	count;
} WorkColumn;

/* The segment for which tasks are being made, with its request and its columns. */
typedef struct Work
{
	Evaluator  *evaluator;
	Request    *request;
	const EvaluateSegment *segment;
	uint64_t	bits;			/* offset of the current group's bits in the batch's bits */
	uint32_t	ncolumns;
	WorkColumn	columns[DEVICE_MAX_COLUMNS];
} Work;

/* Return the i-th array of tasks. */
static inline Array *
tasks_array(Evaluator *evaluator, int i)
{
	return (Array *) ((char *) evaluator + task_arrays[i].array);
}

/* Initialize all arrays as empty, each with the size of its tasks. */
extern void tasks_open(Evaluator *evaluator);

/* tasks_mark() returns the sizes of all arrays.  tasks_return_to() shrinks the arrays to the sizes of a mark. */
extern TasksMark tasks_mark(Evaluator *evaluator);
extern void tasks_return_to(Evaluator *evaluator, const TasksMark *mark);

/*
 * Append "workgroups" elements to an array that maps workgroups to tasks.  Each element is "task", the index of the
 * task that the caller adds next.
 */
extern void tasks_add_workgroups(Array *task_of, uint32_t task, uint32_t workgroups);

/*
 * Begin a sieve task, to which tasks_add_runs() then adds columns.  The bits of the task follow the bits of the
 * sieve tasks before it.
 */
extern void tasks_add_sieve(Work *work);

/*
 * Add a column to the last sieve task, which ANDs its bits with the rows of the column's runs.  "runs" are runs of
 * rows if "column" is NULL or in heap order, and otherwise runs of bins.
 */
extern void tasks_add_runs(Evaluator *evaluator, const Resident *column, const RangeSet *runs);

/*
 * Add a column and its intervals.  The code of each row that a ray meets is looked up in the intervals.  The returned
 * pointer is valid until the next column is added.
 */
extern ColumnTask *tasks_add_column(Evaluator *evaluator, const WorkColumn *column);

#endif							/* RTSCAN_DEVICE_ADD_TASKS_H */
