/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_aggregate.c
 *		Make the tasks of a segment's aggregate.
 */
#include "make_aggregate.h"

#include <string.h>

#include "add_tasks.h"

/* Most chunks of a workgroup.  With fewer than MANY_CELLS cells, a workgroup has only one chunk. */
#define MAX_SPAN		4
#define MANY_CELLS		256
/* Large tables are used only if all cells of an aggregate fill them at most this often: each time takes a pass. */
#define MAX_PASSES		16

/*
 * Least number of slots for each entry that there is room for.  With 4 slots for each entry, most cells get the
 * first slot that is tried.
 */
#define MIN_SLOTS		4

/* Find a column on the device.  If it is missing, the reply says which column and form. */
static DeviceResult
find_column(Evaluator *evaluator, const AggSource *source, uint32_t column, ColumnForm form, Resident **found,
			DeviceReply *reply)
{
	ResidentKey key = cache_column_key(&source->segment->key, column, form);

	*found = cache_find(evaluator->cache, &key);
	if (*found == NULL)
	{
		reply->of_rows = 1;
		reply->column = column;
		reply->form = form;
		return DEVICE_MISSING;
	}
	/* A column in heap order has no data in the form COLUMN_KEY.  Its codes are aggregated in the form COLUMN_CODES. */
	return (*found)->shape.rows == source->segment->rows && (*found)->layout.size > 0 ? DEVICE_OK : DEVICE_REFUSED;
}

/*
 * Return true if load_numbers() of shaders/aggregate_rows.glsl needs 64-bit arithmetic for a digit without a map: if
 * values can be 2^32 - 1 or more, if "null" shifted left by the number of dropped bits does not fit in 32 bits, or if
 * 32 or more bits are dropped.
 */
static bool
needs_wide(const AggDigit *digit, uint64_t largest)
{
	return largest >= UINT32_MAX || digit->dropped >= 32 || digit->null > UINT32_MAX >> digit->dropped;
}

static DeviceResult
add_digits(Evaluator *evaluator, const AggSource *source, DeviceReply *reply)
{
	for (uint32_t i = 0; i < source->segment->digits; i++)
	{
		const AggDigit *digit = &source->digits[i];
		Resident   *column;
		DeviceResult result = find_column(evaluator, source, digit->column, digit->form, &column, reply);

		if (result != DEVICE_OK)
			return result;
		*(DigitTask *) array_extend(&evaluator->digits, 1) = (DigitTask) {
			.values = cache_elements(column, digit->shift), .stride = digit->stride, .null = digit->null,
			.map = digit->map != DEVICE_NO_WORDS ? source->maps + digit->map * sizeof(uint32_t) : 0,
			.reach = digit->reach, .map_bits = digit->map_bits, .slot_bits = digit->slot_bits,
			.dropped = digit->dropped,
			.wide = needs_wide(digit, column->shape.largest)};
	}
	return DEVICE_OK;
}

/*
 * Return the number of tables with 32-bit cells that a measure needs if its values are at most largest; 0 if it
 * cannot be made in tables.
 */
static uint32_t
tables_of(uint32_t kind, uint64_t largest)
{
	switch (kind)
	{
		case AGG_SUM_LOWER:
			return largest <= UINT16_MAX ? 1 : 2;
		case AGG_SUM_UPPER:
			return largest >> 32 <= UINT16_MAX ? 1 : 2;
		case AGG_GREATEST:
		case AGG_LEAST:
			return largest < UINT32_MAX ? 1 : 0;
		default:
			return 1;
	}
}

/* Return the number of chunks whose rows can be added to a measure's 32-bit cells without overflow. */
static uint32_t
span_of(const MeasureTask *measure, uint64_t largest)
{
	if (measure->tables > 1)
		return 1;
	if (measure->kind != MEASURE_SUM_LOWER && measure->kind != MEASURE_SUM_UPPER)
		return MAX_SPAN;
	return UINT32_MAX / CHUNK_ROWS / (largest >> (measure->kind == MEASURE_SUM_UPPER ? 32 : 0) | 1);
}

static void
add_measure(Evaluator *evaluator, AggTask *task, MeasureTask measure, uint64_t largest)
{
	uint32_t	span = span_of(&measure, largest);

	if (span < task->span)
		task->span = span;
	if (measure.tables == 0 && task->way == AGG_BY_TABLES)
		task->way = AGG_BY_WORDS;
	task->wide |= largest >= UINT32_MAX;
	*(MeasureTask *) array_extend(&evaluator->measures, 1) = measure;
}

static DeviceResult
add_measures(Evaluator *evaluator, const AggSource *source, AggTask *task, DeviceReply *reply)
{
	add_measure(evaluator, task, (MeasureTask) {.kind = MEASURE_ROWS, .tables = 1}, 0);
	for (uint32_t i = 0; i < source->segment->measures; i++)
	{
		const AggMeasure *measure = &source->measures[i];
		Resident   *column;
		DeviceResult result = find_column(evaluator, source, measure->column, measure->form, &column, reply);
		uint64_t	largest;

		if (result != DEVICE_OK)
			return result;
		largest = column->shape.largest + measure->shift;
		add_measure(evaluator, task, (MeasureTask) {
			cache_elements(column, measure->shift), measure->kind, tables_of(measure->kind, largest)}, largest);
	}
	return DEVICE_OK;
}

DeviceResult
find_agg(Evaluator *evaluator, const AggSource *source, DeviceReply *reply)
{
	Resident   *column;
	DeviceResult result = DEVICE_OK;

	for (uint32_t i = 0; i < source->segment->digits && result == DEVICE_OK; i++)
		result = find_column(evaluator, source, source->digits[i].column, source->digits[i].form, &column, reply);
	for (uint32_t i = 0; i < source->segment->measures && result == DEVICE_OK; i++)
		result = find_column(evaluator, source, source->measures[i].column, source->measures[i].form, &column, reply);
	return result;
}

/* Return the number of 32-bit cells of all tables of an aggregate. */
static uint64_t
count_table_cells(const Evaluator *evaluator, const AggTask *task)
{
	const MeasureTask *measures = (const MeasureTask *) evaluator->measures.data + task->first_measure;
	uint64_t	tables = 0;

	for (uint32_t i = 0; i < task->measures; i++)
		tables += measures[i].tables;
	return tables * task->slots;
}

static uint32_t
choose_tables(const Evaluator *evaluator, const AggTask *task)
{
	uint64_t	cells = count_table_cells(evaluator, task);

	if (cells <= evaluator->agg_table)
		return AGG_BY_TABLES;
	/* If there were more slots than rows in a workgroup, most slots would be cleared in vain. */
	return task->slots <= DEVICE_CHUNK_ROWS && cells <= evaluator->large_table * (uint64_t) MAX_PASSES ?
		AGG_BY_LARGE_TABLES : AGG_BY_WORDS;
}

/*
 * Choose how workgroups accumulate the aggregate.  With tables of at least MANY_CELLS cells, a workgroup gets as many
 * chunks as add_measure() allows, since it clears its tables and adds them to the aggregate's words only once for all
 * of its chunks.
 */
static void
choose_way(const Evaluator *evaluator, AggTask *task)
{
	if (task->slots == 1)
		task->way = AGG_OF_ONE_CELL;
	else if (task->way == AGG_BY_TABLES)
		task->way = choose_tables(evaluator, task);
	if ((task->way != AGG_BY_TABLES && task->way != AGG_BY_LARGE_TABLES) || task->slots < MANY_CELLS)
		task->span = 1;
	task->wide |= agg_is_always_wide(task->way);
}

static void
add_task(Evaluator *evaluator, AggTask task)
{
	task.first_group = evaluator->agg_of.count;
	evaluator->aggs[task.way][task.wide] = true;
	tasks_add_workgroups(&evaluator->agg_of, evaluator->agg_tasks.count, (task.chunks + task.span - 1) / task.span);
	*(AggTask *) array_extend(&evaluator->agg_tasks, 1) = task;
}

/* Return true if cells get their slots by hashing, because there are more cells than entries that can be returned. */
static bool
is_hashed(const EvaluateSegment *segment)
{
	return segment->entries < segment->cells;
}

/* Return the number of slots; a power of two if cells get them by hashing. */
static uint32_t
slots_of_agg(const EvaluateSegment *segment)
{
	uint32_t	slots = 1;

	if (!is_hashed(segment))
		return segment->entries;
	while (slots < segment->entries * MIN_SLOTS)
		slots *= 2;
	return slots;
}

/* Add the words of an aggregate that joins no other, and the task that collects its entries. */
static void
add_table(Evaluator *evaluator, const AggSource *source, const AggTask *task)
{
	CollectTask collect = {
		.words = (evaluator->agg_words + AGG_HEADER) * sizeof(uint64_t),
		.answer = *source->answer,
		.first_group = evaluator->collect_of.count,
		.slots = task->slots,
		.measures = task->measures,
		.hashed = is_hashed(source->segment),
		.entries = source->segment->entries,
	};

	tasks_add_workgroups(&evaluator->collect_of, evaluator->collect_tasks.count, (task->slots - 1) / COLLECT_BLOCK + 1);
	*(CollectTask *) array_extend(&evaluator->collect_tasks, 1) = collect;
	evaluator->agg_words += AGG_HEADER + (uint64_t) task->slots * (task->measures + collect.hashed);
	*source->words = collect.words;
	*source->answer += device_agg_words(source->segment) * sizeof(uint64_t);
}

/* Make an aggregate's task, except for its workgroups. */
static DeviceResult
make_task(Evaluator *evaluator, const AggSource *source, AggTask *task, DeviceReply *reply)
{
	const EvaluateSegment *segment = source->segment;
	DeviceResult result;

	*task = (AggTask) {
		.bits = source->bits,
		.span = MAX_SPAN,
		.chunks = device_chunks(segment->rows),
		.groups = source->groups,
		.rows = segment->rows,
		.way = is_hashed(segment) ? AGG_BY_HASH : AGG_BY_TABLES,
		.slots = slots_of_agg(segment),
		.first_digit = evaluator->digits.count,
		.digits = segment->digits,
		.first_measure = evaluator->measures.count,
		.measures = 1 + segment->measures,
	};
	result = add_digits(evaluator, source, reply);
	if (result == DEVICE_OK)
		result = add_measures(evaluator, source, task, reply);
	if (result != DEVICE_OK)
		return result;
	if (!segment->joins)
		add_table(evaluator, source, task);
	task->words = *source->words;
	memcpy(task->aggregated, segment->aggregated, sizeof(task->aggregated));
	return DEVICE_OK;
}

DeviceResult
add_agg(Evaluator *evaluator, const AggSource *source, DeviceReply *reply)
{
	AggTask		task;
	DeviceResult result = make_task(evaluator, source, &task, reply);

	if (result != DEVICE_OK)
		return result;
	choose_way(evaluator, &task);
	add_task(evaluator, task);
	return DEVICE_OK;
}

DeviceResult
add_agg_of_job(Evaluator *evaluator, const AggSource *source, Space *space, DeviceReply *reply)
{
	AggTask		task;
	DeviceResult result = make_task(evaluator, source, &task, reply);
	DigitTask  *digits = (DigitTask *) evaluator->digits.data + task.first_digit;

	/* the first measure, MEASURE_ROWS, has no column */
	MeasureTask *measures = (MeasureTask *) evaluator->measures.data + task.first_measure + 1;

	if (result != DEVICE_OK)
		return result;
	for (uint32_t i = 0; i < source->segment->digits; i++)
		digits[i].values.field = space_field(space_find(space, source->digits[i].column, source->digits[i].form));
	for (uint32_t i = 0; i < source->segment->measures; i++)
		measures[i].values.field = space_field(space_find(space, source->measures[i].column, source->measures[i].form));
	for (uint32_t i = 0; i < DEVICE_AGG_MASKS; i++)
		task.aggregated[i] &= ~source->segment->partly[i];
	*(AggTask *) array_extend(&evaluator->agg_tasks, 1) = task;
	return DEVICE_OK;
}
