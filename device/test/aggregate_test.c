/* SPDX-License-Identifier: PostgreSQL */
/*
 * aggregate_test.c
 *		Test aggregates on a device against a loop over rows of the same columns (../protocol.h).
 *
 *	aggregate_test [device]
 *
 * Columns, bits and words lie in memory of the host, which the device reads and writes.
 */
#include "../evaluate.h"
#include "../make_aggregate.h"

#include <stdio.h>
#include <string.h>

#include "../shader.h"
#include "columns.h"

#define CASES			300
#define MAX_SEGMENTS	3
#define MAX_GROUPS		2
#define MAX_DIGITS		3
#define MAX_MEASURES	8
#define MAX_VALUES		3		/* measured columns */
#define MAX_CELLS		70000
#define MAX_WORDS		(MAX_SEGMENTS * (uint64_t) MAX_CELLS * (1 + MAX_MEASURES))
#define MAX_TABLES		(MAX_SEGMENTS * (AGG_HEADER + 8 * (uint64_t) MAX_CELLS * (2 + MAX_MEASURES)))
#define MAX_ANSWER		(MAX_SEGMENTS * (1 + (uint64_t) MAX_CELLS * (2 + MAX_MEASURES)))
#define TASKS_SIZE		65536
#define FILLER			UINT64_C(0xA5A5A5A5A5A5A5A5)

typedef struct Segment
{
	EvaluateSegment part;
	Column		digits[MAX_DIGITS];
	Column		values[MAX_VALUES];
	AggDigit	agg_digits[MAX_DIGITS];
	AggMeasure	measures[MAX_MEASURES];
	uint32_t	groups;
	uint64_t	bits;			/* offset of the groups' bits */
} Segment;

/* The properties that all segments of a case have in common. */
typedef struct Shape
{
	uint32_t	ndigits;
	uint32_t	null[MAX_DIGITS];
	uint32_t	dropped[MAX_DIGITS];
	ColumnForm	forms[MAX_DIGITS];
	uint32_t	cells;
	uint32_t	room;
	uint32_t	nvalues;
	uint32_t	value_bits;		/* most bits of a distance */
	uint32_t	nmeasures;
	uint32_t	columns[MAX_MEASURES];
	uint32_t	kinds[MAX_MEASURES];
} Shape;

static Context context;
static Cache cache;
static Evaluator evaluator;
static Memory bits;
static Memory words;
static Memory answer;
static Memory tasks;
static uint64_t expected[MAX_WORDS];
static bool used[AGG_WAYS][2];	/* pipelines that have been used */
static unsigned long ncases = 0;
static unsigned long lost = 0;	/* number of aggregates that did not have enough room */

/* ---------------------------------------------------------------- cases */

/* Return a random number of bits for a digit to drop. */
static uint32_t
random_dropped(void)
{
	static const uint32_t dropped[] = {0, 0, 0, 1, 5, 17, 30, 32, 40, 51, 63};

	return dropped[below(sizeof(dropped) / sizeof(dropped[0]))];
}

static Shape
make_shape(void)
{
	static const uint32_t nulls[] = {0, 1, 2, 9, 99, 99, 300, 2000, 65000};
	static const uint32_t value_bits[] = {1, 7, 15, 16, 17, 31, 32, 40, 48, 63};
	Shape		shape = {
		.cells = 1,
		.nvalues = 1 + (uint32_t) below(MAX_VALUES),
		.value_bits = value_bits[below(sizeof(value_bits) / sizeof(value_bits[0]))],
		.nmeasures = (uint32_t) below(MAX_MEASURES + 1),
	};

	for (uint32_t wanted = (uint32_t) below(MAX_DIGITS + 1); shape.ndigits < wanted; shape.ndigits++)
	{
		uint32_t	null = nulls[below(sizeof(nulls) / sizeof(nulls[0]))];

		if (shape.cells * ((uint64_t) null + 1) > MAX_CELLS)
			break;
		shape.null[shape.ndigits] = null;
		shape.dropped[shape.ndigits] = random_dropped();
		shape.forms[shape.ndigits] = (ColumnForm) below(COLUMN_FORMS);
		shape.cells *= null + 1;
	}
	shape.room = random_room(shape.cells);
	for (uint32_t m = 0; m < shape.nmeasures; m++)
	{
		shape.columns[m] = (uint32_t) below(shape.nvalues);
		shape.kinds[m] = (uint32_t) below(AGG_KINDS);
	}
	return shape;
}

static uint32_t
random_rows(void)
{
	static const uint32_t rows[] = {1, 31, 513, 4097, DEVICE_CHUNK_ROWS - 1, DEVICE_CHUNK_ROWS, DEVICE_CHUNK_ROWS + 1,
		130000, MAX_ROWS};

	return rows[below(sizeof(rows) / sizeof(rows[0]))];
}

/*
 * Return a random word of bits.  For the densities 0 to 4, it has no bits; at most one bit; two bits, with which a
 * chunk has as many rows as can be listed; about half of all bits; or most bits.
 */
static uint32_t
random_word(uint64_t density)
{
	uint32_t	one = (uint32_t) random64();

	switch (density)
	{
		case 0:
			return 0;
		case 1:
			return one % 2 << one / 2 % 32;
		case 2:
			return UINT32_C(0x10001) << one % 16;
		case 3:
			return one;
		default:
			return ~(one & (uint32_t) random64() & (uint32_t) random64());
	}
}

/* Clear a group's bits after its last row. */
static void
clear_behind(uint32_t *group, uint32_t rows)
{
	for (uint32_t row = rows; row < device_chunks(rows) * DEVICE_CHUNK_ROWS; row++)
		group[row / 32] &= ~(UINT32_C(1) << row % 32);
}

static void
make_bits(Segment *segment, uint32_t number)
{
	uint32_t	n = device_chunks(segment->part.rows) * CHUNK_WORDS32;
	uint32_t   *place,
			   *first;

	segment->groups = 1 + (uint32_t) below(MAX_GROUPS);
	segment->bits = (uint64_t) number * MAX_GROUPS * MAX_CHUNKS * DEVICE_CHUNK_BYTES;
	place = first = (uint32_t *) (bits.host + segment->bits);
	for (uint32_t chunk = 0; chunk < n * segment->groups; chunk += CHUNK_WORDS32)
	{
		uint64_t	density = below(5);

		for (uint32_t i = 0; i < CHUNK_WORDS32; i++)
			*place++ = random_word(density);
	}
	for (uint32_t g = 0; g < segment->groups; g++)
		clear_behind(first + g * n, segment->part.rows);
	for (uint32_t chunk = 0; chunk < MAX_CHUNKS; chunk++)
		if (below(4) > 0)
			segment->part.aggregated[0] |= 1u << chunk;
}

static void
make_segment(Segment *segment, const Shape *shape, uint32_t number)
{
	uint64_t	stride = 1;

	*segment = (Segment) {.part = {
		.key.segment = ncases * MAX_SEGMENTS + number,
		.rows = random_rows(), .cells = shape->cells, .entries = shape->room, .digits = shape->ndigits,
		.measures = shape->nmeasures,
		.joins = number > 0 && below(2) > 0}};
	make_bits(segment, number);
	for (uint32_t d = 0; d < shape->ndigits; d++)
	{
		Column	   *column = &segment->digits[d];

		*column = new_column();
		if (shape->forms[d] != COLUMN_KEY)
			make_values(column, &cache, &segment->part, d, shape->forms[d],
						digit_limit(shape->null[d], shape->dropped[d]));
		else
			make_codes(column, &cache, &segment->part, d, shape->null[d]);
		segment->agg_digits[d] = (AggDigit) {
			.column = d, .form = shape->forms[d], .null = shape->null[d], .map = DEVICE_NO_WORDS, .stride = stride,
			.shift = column->shift,
			.dropped = shape->forms[d] == COLUMN_KEY ? 0 : shape->dropped[d]};
		stride *= shape->null[d] + 1;
	}
	for (uint32_t v = 0; v < shape->nvalues; v++)
	{
		segment->values[v] = new_column();
		make_values(&segment->values[v], &cache, &segment->part, MAX_DIGITS + v, random_form(),
					UINT64_C(1) << shape->value_bits);
	}
	for (uint32_t m = 0; m < shape->nmeasures; m++)
	{
		const Column *column = &segment->values[shape->columns[m]];

		segment->measures[m] = (AggMeasure) {
			.column = MAX_DIGITS + shape->columns[m], .kind = shape->kinds[m], .form = column->resident->shape.form,
			.shift = column->shift};
	}
}

static void
free_segment(Segment *segment, const Shape *shape)
{
	for (uint32_t d = 0; d < shape->ndigits; d++)
		free_column(&segment->digits[d]);
	for (uint32_t v = 0; v < shape->nvalues; v++)
		free_column(&segment->values[v]);
}

/* ---------------------------------------------------------------- expected results */

static bool
is_chosen(const Segment *segment, uint32_t row)
{
	uint32_t	chunk = row / DEVICE_CHUNK_ROWS;
	const char *group = bits.host + segment->bits;

	if ((segment->part.aggregated[0] >> chunk & 1) == 0)
		return false;
	for (uint32_t g = 0; g < segment->groups; g++, group += device_chunks(segment->part.rows) * DEVICE_CHUNK_BYTES)
		if ((group[row / 8] >> row % 8 & 1) == 0)
			return false;
	return true;
}

static uint32_t
cell_of(const Segment *segment, uint32_t row)
{
	uint32_t	cell = 0;

	for (uint32_t d = 0; d < segment->part.digits; d++)
	{
		const AggDigit *digit = &segment->agg_digits[d];
		uint64_t	number = (segment->digits[d].numbers[row] + digit->shift) >> digit->dropped;

		cell += (segment->digits[d].isnull[row] || number > digit->null ? digit->null : (uint32_t) number) *
			digit->stride;
	}
	return cell;
}

static void
expect_segment(const Segment *segment, uint64_t *agg)
{
	for (uint32_t row = 0; row < segment->part.rows; row++)
	{
		uint64_t   *word = agg + cell_of(segment, row);

		if (!is_chosen(segment, row))
			continue;
		*word += 1;
		for (uint32_t m = 0; m < segment->part.measures; m++)
		{
			const AggMeasure *measure = &segment->measures[m];
			const Column *column = &segment->values[measure->column - MAX_DIGITS];

			word += segment->part.cells;
			if (!column->isnull[row])
				measure_value(word, measure->kind, column->numbers[row] + measure->shift);
		}
	}
}

/* ---------------------------------------------------------------- the device's results */

/* Append an array to the staged tasks.  Returns its position in units of TASK_ALIGNMENT. */
static uint32_t
stage(const Array *array, uint64_t *size)
{
	uint32_t	place = *size / TASK_ALIGNMENT;

	if (*size + array_size(array) > tasks.size)
		fail("there is no room for tasks");
	if (array->count > 0)
		memcpy(tasks.host + *size, array->data, array_size(array));
	*size = device_align(*size + array_size(array), TASK_ALIGNMENT);
	return place;
}

static void
run(void)
{
	AggTask    *agg = (AggTask *) evaluator.agg_tasks.data;
	CollectTask *collect = (CollectTask *) evaluator.collect_tasks.data;
	VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
	uint64_t	size = 0;
	Tasks		staged = {.base = tasks.address};

	for (uint32_t i = 0; i < evaluator.agg_tasks.count; i++)
		agg[i].words += words.address;
	for (uint32_t i = 0; i < evaluator.collect_tasks.count; i++)
		collect[i].words += words.address;
	staged.digits = stage(&evaluator.digits, &size);
	staged.measures = stage(&evaluator.measures, &size);
	staged.aggs = stage(&evaluator.agg_tasks, &size);
	staged.agg_of = stage(&evaluator.agg_of, &size);
	staged.collects = stage(&evaluator.collect_tasks, &size);
	staged.collect_of = stage(&evaluator.collect_of, &size);
	context_begin(&context);
	for (uint32_t way = 0; way < AGG_WAYS; way++)
		for (uint32_t wide = 0; wide < 2; wide++)
			if (evaluator.aggs[way][wide])
			{
				shader_dispatch(&context, evaluator.layout, evaluator.agg[way][wide], &staged, sizeof(staged),
								evaluator.agg_of.count);
				used[way][wide] = true;
			}
	context_shader_barrier(&context, compute, compute);
	shader_dispatch(&context, evaluator.layout, evaluator.collect, &staged, sizeof(staged), evaluator.collect_of.count);
	context_barrier(&context);
	context_submit(&context);
}

/* Remove all tasks, before the next case. */
static void
forget(void)
{
	evaluator.digits.count = evaluator.measures.count = evaluator.agg_tasks.count = evaluator.agg_of.count = 0;
	evaluator.collect_tasks.count = evaluator.collect_of.count = 0;
	evaluator.agg_words = 0;
	memset(evaluator.aggs, 0, sizeof(evaluator.aggs));
	cache.done = cache.batch++;
	cache_evict_all(&cache);
}

/* Compare the aggregates of all segments that do not join another one. */
static void
compare(const Shape *shape, const Segment *segments, uint32_t n)
{
	const uint64_t *found = (const uint64_t *) answer.host;
	const uint64_t *words_expected = expected;

	for (uint32_t i = 0; i < n; i++)
	{
		const EvaluateSegment *part = &segments[i].part;

		if (part->joins)
			continue;
		if (!has_expected_entries(part, found, words_expected))
			fail("case %lu, segment %u of %u, %u cells, room for %u, %u digits, %u measures of %u bits: other entries",
				 ncases, i, n,
				 shape->cells, shape->room, shape->ndigits, shape->nmeasures, shape->value_bits);
		lost += *found > shape->room;
		found += device_agg_words(part);
		words_expected += expected_words_of(part);
	}
	if (*found != FILLER)
		fail("case %lu: written behind the entries", ncases);
}

static void
check_case(void)
{
	Shape		shape = make_shape();
	uint32_t	n = 1 + (uint32_t) below(MAX_SEGMENTS);
	Segment		segments[MAX_SEGMENTS];
	uint64_t	at = 0,
				next = answer.address;
	uint64_t   *agg = expected,
			   *next_agg = expected;
	DeviceReply reply = {0};

	memset(expected, 0, sizeof(expected));
	memset(answer.host, 0xA5, answer.size);
	for (uint32_t i = 0; i < n; i++)
	{
		AggSource	source = {&segments[i].part, segments[i].agg_digits, segments[i].measures, .words = &at,
			.answer = &next};

		make_segment(&segments[i], &shape, i);
		source.bits = bits.address + segments[i].bits;
		source.groups = segments[i].groups;
		if (find_agg(&evaluator, &source, &reply) != DEVICE_OK || add_agg(&evaluator, &source, &reply) != DEVICE_OK)
			fail("case %lu: the aggregate is refused", ncases);
		if (!segments[i].part.joins)
			agg = next_agg;
		next_agg = agg + shape.cells * (1 + shape.nmeasures);
		expect_segment(&segments[i], agg);
	}
	if (evaluator.agg_words * sizeof(uint64_t) > words.size)
		fail("case %lu: there is no room for tables", ncases);
	memset(words.host, 0, evaluator.agg_words * sizeof(uint64_t));
	run();
	compare(&shape, segments, n);
	for (uint32_t i = 0; i < n; i++)
		free_segment(&segments[i], &shape);
	forget();
	ncases++;
}

int
main(int argc, char **argv)
{
	open_test_device(argc, argv, &context);
	cache_open(&cache, &context);
	evaluator_open(&evaluator, &context, &cache, &(EvaluatorOptions) {0});
	if (!context.int64_atomics)
		fail("the device has no atomic operations on 64 bits");
	if (!memory_on_host(&context, HOST_READS_AND_WRITES, MAX_SEGMENTS * MAX_GROUPS * MAX_CHUNKS * DEVICE_CHUNK_BYTES, 0,
						&bits) ||
		!memory_on_host(&context, HOST_READS_AND_WRITES, MAX_TABLES * sizeof(uint64_t), 0, &words) ||
		!memory_on_host(&context, HOST_READS_AND_WRITES, (MAX_ANSWER + 1) * sizeof(uint64_t), 0, &answer) ||
		!memory_on_host(&context, HOST_WRITES, TASKS_SIZE, 0, &tasks))
		fail("there is no memory for the host");
	while (ncases < CASES)
		check_case();
	if (lost == 0)
		fail("all had room");
	/* AGG_BY_WORDS and AGG_BY_HASH have only pipelines for wide values. */
	for (int i = 0; i < 2 * AGG_WAYS; i++)
		if (used[i / 2][i % 2] == (i == 2 * AGG_BY_WORDS || i == 2 * AGG_BY_HASH))
			fail("pipeline %d has %sbeen used", i, used[i / 2][i % 2] ? "" : "not ");
	printf("ok %lu cases\n", ncases);
	return 0;
}
