/* SPDX-License-Identifier: PostgreSQL */
/*
 * add_tasks.c
 *		Add tasks to a batch.
 */
#include "add_tasks.h"

#define ARRAY(array, task, position)	{offsetof(Evaluator, array), sizeof(task), offsetof(Tasks, position)}

const TaskArray task_arrays[] = {
	ARRAY(ranges, RangeTask, ranges),
	ARRAY(runs, RunTask, runs),
	ARRAY(columns, ColumnTask, columns),
	ARRAY(sieve_tasks, SieveTask, sieve),
	ARRAY(refine_tasks, RefineTask, refine),
	ARRAY(publish_tasks, PublishTask, publish),
	ARRAY(bundles, BundleTask, bundles),
	ARRAY(trace_tasks, TraceTask, traces),
	ARRAY(sieve_of, uint32_t, sieve_of),
	ARRAY(refine_of, uint32_t, refine_of),
	ARRAY(publish_of, uint32_t, publish_of),
	ARRAY(digits, DigitTask, digits),
	ARRAY(measures, MeasureTask, measures),
	ARRAY(agg_tasks, AggTask, aggs),
	ARRAY(agg_of, uint32_t, agg_of),
	ARRAY(collect_tasks, CollectTask, collects),
	ARRAY(collect_of, uint32_t, collect_of),
	ARRAY(sets, SetTask, sets),
	ARRAY(members_tasks, MembersTask, members),
	ARRAY(members_of, uint32_t, members_of),
	ARRAY(job_tasks, TraceTask, traces),
};

_Static_assert(sizeof(task_arrays) / sizeof(task_arrays[0]) == TASK_ARRAYS, "all arrays are in the table");

void
tasks_open(Evaluator *evaluator)
{
	for (int i = 0; i < TASK_ARRAYS; i++)
		*tasks_array(evaluator, i) = (Array) {.element = task_arrays[i].element};
}

TasksMark
tasks_mark(Evaluator *evaluator)
{
	TasksMark	mark = {.largest_trace = evaluator->largest_trace, .largest_job = evaluator->largest_job,
		.agg_words = evaluator->agg_words, .words_size = evaluator->words_size};

	for (int i = 0; i < TASK_ARRAYS; i++)
		mark.counts[i] = tasks_array(evaluator, i)->count;
	return mark;
}

void
tasks_return_to(Evaluator *evaluator, const TasksMark *mark)
{
	for (int i = 0; i < TASK_ARRAYS; i++)
		tasks_array(evaluator, i)->count = mark->counts[i];
	evaluator->largest_trace = mark->largest_trace;
	evaluator->largest_job = mark->largest_job;
	evaluator->agg_words = mark->agg_words;
	evaluator->words_size = mark->words_size;
}

void
tasks_add_workgroups(Array *task_of, uint32_t task, uint32_t workgroups)
{
	uint32_t   *numbers = array_extend(task_of, workgroups);

	for (uint32_t i = 0; i < workgroups; i++)
		numbers[i] = task;
}

void
tasks_add_sieve(Work *work)
{
	Evaluator  *evaluator = work->evaluator;
	uint32_t	chunks = device_chunks(work->segment->rows);
	SieveTask	task = {
		.bits = (uint64_t) evaluator->sieve_of.count * DEVICE_CHUNK_BYTES,
		.first_chunk = evaluator->sieve_of.count,
		.chunks = chunks,
		.rows = work->segment->rows,
		.first_run = evaluator->runs.count,
	};

	work->bits = task.bits;
	tasks_add_workgroups(&evaluator->sieve_of, evaluator->sieve_tasks.count, chunks);
	*(SieveTask *) array_extend(&evaluator->sieve_tasks, 1) = task;
}

void
tasks_add_runs(Evaluator *evaluator, const Resident *column, const RangeSet *runs)
{
	SieveTask  *sieve = (SieveTask *) evaluator->sieve_tasks.data + evaluator->sieve_tasks.count - 1;
	uint32_t	count = runs->n > 0 ? runs->n : 1;	/* without runs, add an empty one, so that no row matches */
	RunTask    *tasks = array_extend(&evaluator->runs, count);

	for (uint32_t i = 0; i < count; i++)
	{
		Range		range = runs->n > 0 ? runs->ranges[i] : (Range) {0, 0};

		tasks[i] = (RunTask) {.first = range.first, .end = range.end, .last = i + 1 == count};
		if (column == NULL || column->shape.heap_order)
			continue;
		tasks[i].pages = column->memory.address + column->layout.pages;
		tasks[i].sieve = column->memory.address + column->layout.sieve;
		tasks[i].bins = column->shape.bins;
		tasks[i].radix = column->shape.radix;
	}
	sieve->runs += count;
}

ColumnTask *
tasks_add_column(Evaluator *evaluator, const WorkColumn *column)
{
	const Resident *resident = column->resident;
	bool		heap_order = resident->shape.heap_order;
	ColumnTask	task = {
		.codes = heap_order ? 0 : resident->memory.address + resident->layout.codes,
		.code_bytes = resident->shape.code_bytes,
		.first_interval = evaluator->ranges.count,
		.intervals = column->count,
	};
	RangeTask  *ranges = array_extend(&evaluator->ranges, column->count);
	ColumnTask *added = array_extend(&evaluator->columns, 1);

	for (uint32_t i = 0; i < column->count; i++)
		ranges[i] = heap_order ?
			(RangeTask) {column->intervals[i].low_rank, column->intervals[i].high_rank} :
			(RangeTask) {column->intervals[i].low_code, column->intervals[i].high_code};
	*added = task;
	return added;
}
