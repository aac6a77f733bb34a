/*
 * add_tasks.h
 *		Add tasks to a batch: what make_tasks.c, make_job.c and make_tally.c share.
 *
 * Tasks of several requests gather in an Evaluator's arrays: a batch.  Addresses of bits are
 * offsets until it is submitted.
 */
#ifndef RTSCAN_DEVICE_ADD_TASKS_H
#define RTSCAN_DEVICE_ADD_TASKS_H

#include "evaluator.h"

#define TASK_ARRAYS		21

/* Words of a request's sets and maps begin where any structure may. */
#define WORDS_ALIGNMENT	64

/* How far a batch has come, so that a request that cannot be evaluated is taken back. */
typedef struct TasksMark
{
	uint32_t	counts[TASK_ARRAYS];
	uint32_t	largest_trace;
	uint32_t	largest_job;
	uint64_t	tally_words;
	uint64_t	words_size;
} TasksMark;

/* A column of a segment while its tasks are made. */
typedef struct WorkColumn
{
	Resident   *resident;
	const DeviceInterval *intervals;
	uint32_t	count;
} WorkColumn;

/* A segment of a request while its tasks are made. */
typedef struct Work
{
	Evaluator  *evaluator;
	Request    *request;
	const EvaluateSegment *segment;
	uint64_t	bits;			/* offset of the bits of the group at hand */
	uint32_t	ncolumns;
	WorkColumn	columns[DEVICE_MAX_COLUMNS];
} Work;

/* All arrays of tasks; their order is that of stage_tasks(). */
extern void tasks_list_arrays(Evaluator *evaluator, Array **arrays);

extern TasksMark tasks_mark(Evaluator *evaluator);
extern void tasks_return_to(Evaluator *evaluator, const TasksMark *mark);

/* The next workgroups of a kind, whose tasks are in another array, belong to the one that is added next. */
extern void tasks_add_workgroups(Array *task_of, uint32_t task, uint32_t workgroups);

/* Sieve the columns whose runs are added next; their group's bits follow those before. */
extern void tasks_add_sieve(Work *work);

/* Have a column's runs, or ranges of rows if that is NULL, ANDed into the bits of the sieve that was added last. */
extern void tasks_add_runs(Evaluator *evaluator, const Resident *column, const RangeSet *runs);

/* A column whose exact set rays look up; its task stays there until the next one is added. */
extern ColumnTask *tasks_add_column(Evaluator *evaluator, const WorkColumn *column);

#endif							/* RTSCAN_DEVICE_ADD_TASKS_H */
