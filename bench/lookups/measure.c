/* SPDX-License-Identifier: PostgreSQL */
/*
 * measure.c
 *		Run lookups in a structure, time them, and compare every answer with the host's.
 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Nanoseconds of warm-up before the repetitions, so that the device's clock rises, and nanoseconds of device
 * time for the repetitions.
 */
#define WARM_UP			UINT64_C(30000000)
#define TIME_LIMIT		UINT64_C(100000000)

#define MAX_REPETITIONS	1000
#define LEAST_TIMES		3

/* ---------------------------------------------------------------- lookups */

void
questions_draw(Questions *questions, const Shape *shape, const Kind *kind, uint32_t count)
{
	*questions = (Questions) {*kind, data_width(shape, kind), count, malloc(count * sizeof(uint64_t)),
		malloc(count * sizeof(Answer))};
	if (questions->lows == NULL || questions->answers == NULL)
		fail("out of memory");
	for (uint32_t i = 0; i < count; i++)
	{
		questions->lows[i] = data_draw(shape, kind);
		questions->answers[i] = data_answer(shape, questions->lows[i], questions->width);
	}
}

void
questions_free(Questions *questions)
{
	free(questions->lows);
	free(questions->answers);
}

/* ---------------------------------------------------------------- memory */

bool
desk_open(Desk *desk, Workbench *workbench, uint32_t capacity, uint32_t repetitions)
{
	Context    *context = &workbench->context;
	uint64_t	words = (uint64_t) capacity * sizeof(uint32_t);

	*desk = (Desk) {.workbench = workbench, .capacity = capacity,
		.repetitions = repetitions < MAX_REPETITIONS ? repetitions : MAX_REPETITIONS};
	for (int i = 0; i < 2; i++)
		if (!memory_on_device(context, MEMORY_SCRATCH, 2 * words, 0, &desk->lows[i]) ||
			!memory_on_device(context, MEMORY_SCRATCH, words, 0, &desk->numbers[i]))
			return false;
	return memory_on_device(context, MEMORY_SCRATCH, sort_scratch_size(capacity), 0, &desk->scratch) &&
		memory_on_device(context, MEMORY_SCRATCH, words, 0, &desk->counts) &&
		memory_on_device(context, MEMORY_SCRATCH, 2 * words, 0, &desk->sums) &&
		memory_on_host(context, HOST_READS_AND_WRITES, 3 * words, 0, &desk->host);
}

void
desk_close(Desk *desk)
{
	Context    *context = &desk->workbench->context;
	Memory	   *all[] = {&desk->lows[0], &desk->lows[1], &desk->numbers[0], &desk->numbers[1], &desk->scratch,
		&desk->counts, &desk->sums, &desk->host};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		memory_free(context, all[i]);
}

static void
copy(Context *context, const Memory *from, const Memory *to, uint64_t to_offset, uint64_t size)
{
	vkCmdCopyBuffer(context->commands, from->buffer, to->buffer, 1, &(VkBufferCopy) {.dstOffset = to_offset,
		.size = size});
}

/* Copy lookups to the device, and sort them if required.  Returns the index of the array that has them. */
static uint32_t
place_lookups(Desk *desk, const Batch *batch, uint32_t key_bits, Times *times)
{
	Context    *context = &desk->workbench->context;
	uint64_t	size = batch->lookups * sizeof(uint64_t);
	const SortArrays arrays = {
		.keys = {desk->lows[0].address, desk->lows[1].address},
		.values = {desk->numbers[0].address, desk->numbers[1].address},
		.scratch = desk->scratch.address};
	uint32_t	result;

	memcpy(desk->host.host, batch->questions->lows, size);
	context_begin(context);
	copy(context, &desk->host, &desk->lows[0], 0, size);
	/* Clear the answers, so that those of earlier lookups are not taken for new ones. */
	vkCmdFillBuffer(context->commands, desk->counts.buffer, 0, VK_WHOLE_SIZE, NONE);
	context_submit(context);
	if (!batch->sorted)
		return 0;
	context_begin(context);
	result = sort_record(&desk->workbench->sorter, &arrays, batch->lookups, 0, key_bits, true);
	times->sort = context_submit(context);
	return result;
}

/* ---------------------------------------------------------------- times and answers */

static int
compare_numbers(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

static uint64_t
look_up(Desk *desk, const Structure *structure, const Programs *programs, const LookupTask *task)
{
	context_begin(&desk->workbench->context);
	way_look_up(structure, programs, task);
	return context_submit(&desk->workbench->context);
}

/* Return the median time of the repetitions, which end early at TIME_LIMIT. */
static uint64_t
time_lookups(Desk *desk, const Structure *structure, const Programs *programs, const LookupTask *task)
{
	uint64_t	times[MAX_REPETITIONS];
	uint32_t	count = 0;

	for (uint64_t begin = clock_now(); desk->repetitions > 1 && clock_now() - begin < WARM_UP;)
		look_up(desk, structure, programs, task);
	for (uint64_t sum = 0; count < desk->repetitions && (count < LEAST_TIMES || sum < TIME_LIMIT); count++)
		sum += times[count] = look_up(desk, structure, programs, task);
	qsort(times, count, sizeof(uint64_t), compare_numbers);
	return times[count / 2];
}

/*
 * Put the expected answers into the order of the sorted lookups.  The order is always the same, so this is done
 * only once: it takes the host longer than everything else.
 */
static void
sort_answers(Desk *desk, Batch *batch, uint32_t array)
{
	Context    *context = &desk->workbench->context;
	const uint32_t *numbers = (const uint32_t *) desk->host.host;

	batch->answers = malloc(batch->lookups * sizeof(Answer));
	if (batch->answers == NULL)
		fail("out of memory");
	context_begin(context);
	copy(context, &desk->numbers[array], &desk->host, 0, batch->lookups * sizeof(uint32_t));
	context_submit(context);
	for (uint32_t i = 0; i < batch->lookups; i++)
		batch->answers[i] = batch->questions->answers[numbers[i]];
}

/* Return the number of wrong answers, and report the first of them. */
static uint32_t
compare_answers(Desk *desk, const Batch *batch)
{
	Context    *context = &desk->workbench->context;
	const Answer *answers = batch->sorted ? batch->answers : batch->questions->answers;
	uint64_t	words = (uint64_t) batch->lookups * sizeof(uint32_t);
	const uint64_t *sums = (const uint64_t *) desk->host.host;
	const uint32_t *counts = (const uint32_t *) (desk->host.host + 2 * words);
	uint32_t	wrong = 0;

	context_begin(context);
	copy(context, &desk->sums, &desk->host, 0, 2 * words);
	copy(context, &desk->counts, &desk->host, 2 * words, words);
	context_submit(context);
	for (uint32_t i = 0; i < batch->lookups; i++)
		if ((counts[i] != answers[i].count || sums[i] != answers[i].sum) && wrong++ == 0)
			printf("WRONG: lookup %u: %u rows with the sum %lu, not %u with %lu\n", i, counts[i],
				   (unsigned long) sums[i],
				   answers[i].count, (unsigned long) answers[i].sum);
	return wrong;
}

Times
measure(Desk *desk, const Structure *structure, const Programs *programs, Batch *batch)
{
	Times		times = {0};
	uint32_t	key_bits = programs == &desk->workbench->programs[1] ? 64 : 32;
	uint32_t	array = place_lookups(desk, batch, key_bits, &times);
	LookupTask	task = structure->task;

	task.lows = desk->lows[array].address;
	task.counts = desk->counts.address;
	task.sums = desk->sums.address;
	task.width = batch->questions->width;
	task.lookups = batch->lookups;
	times.lookups = time_lookups(desk, structure, programs, &task);
	if (batch->sorted && batch->answers == NULL)
		sort_answers(desk, batch, array);
	times.wrong = compare_answers(desk, batch);
	return times;
}
