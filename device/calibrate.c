/* SPDX-License-Identifier: PostgreSQL */
/*
 * calibrate.c
 *		Measure how fast the device is.
 *
 * Three columns have distinct values in random order.  Requests have a "less than"
 * predicate on each column, at several selectivities.  A fast device takes as long for a small request as
 * for a larger one, so the time of a chunk is computed from the difference between a large and a small
 * request.  The time of adding up is the difference between requests with and without a sum.
 */
#include "calibrate.h"

#include <math.h>
#include <string.h>

#define CHUNKS			8		/* chunks of the synthetic segment */
#define SOFTWARE_CHUNKS	2		/* the same on a software device, whose time is proportional to the chunks */
#define COLUMNS			3
#define RADIX			16
#define BINS			(RADIX * RADIX)
#define VECTORS			(2 * (RADIX - 1))
#define REPETITIONS		5
#define SEGMENTS		16		/* segments of the larger request, all with the same key */

#define VALUE_BITS		16		/* bits of a value of the column that is added up */

/* Lower bound of the time to add up a chunk's column, as a fraction of the time to find its rows. */
#define LEAST_ADDING	0.1

/* The length of rays is changed only if their time falls below this fraction of the time with the default length. */
#define LEAST_SAVING	0.9

/* A request that takes more nanoseconds than this is long enough to be timed without a larger request. */
#define SHORT_TIME		1e6

static const double selectivities[] = {0.1, 0.3, 0.5};	/* of each predicate */

#define MOST_ROWS		0.95

/* The synthetic segment for which requests are timed. */
typedef struct Timed
{
	Evaluator  *evaluator;
	uint32_t	chunks;			/* chunks of the segment */
	uint32_t	rows;			/* rows of the segment: all chunks are full */
	Memory		host;			/* memory for a column, and afterwards for results */
} Timed;

#define SELECTIVITIES	(sizeof(selectivities) / sizeof(selectivities[0]))

/* Return the next random number (xorshift64*). */
static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Assign a random rank to each row. */
static void
shuffle(const Timed *timed, uint32_t *ranks, uint64_t *state)
{
	for (uint32_t i = 0; i < timed->rows; i++)
	{
		uint32_t	j = next_random(state) % (i + 1);

		ranks[i] = ranks[j];
		ranks[j] = i;
	}
}

static void
write_packed(char *data, uint32_t i, uint32_t value)
{
	for (int byte = 0; byte < 3; byte++)
		data[(size_t) i * 3 + byte] = (char) (value >> (8 * byte));
}

/* Set a row's bits in H_1 .. H_15 and L_1 .. L_15 (src/segment/sieve.h), according to its bin. */
static void
set_vectors(const Timed *timed, char *sieve, uint32_t row, uint32_t bin)
{
	uint32_t	chunk = row / DEVICE_CHUNK_ROWS;
	uint32_t	bit = row % DEVICE_CHUNK_ROWS;

	for (uint32_t vector = 0; vector < VECTORS; vector++)
	{
		uint32_t	digit = vector < RADIX - 1 ? bin / RADIX : bin % RADIX;

		if (digit < vector % (RADIX - 1) + 1)
			sieve[((size_t) vector * timed->chunks + chunk) * DEVICE_CHUNK_BYTES + bit / 8] |= (char) (1 << bit % 8);
	}
}

static void
fill_column(const Timed *timed, char *data, const ColumnLayout *layout, const uint32_t *ranks)
{
	uint32_t   *pages = (uint32_t *) (data + layout->pages);

	memset(data, 0, layout->size);
	for (uint32_t i = 0; i < VECTORS * timed->chunks; i++)
		pages[i] = i;
	for (uint32_t row = 0; row < timed->rows; row++)
	{
		set_vectors(timed, data + layout->sieve, row, (uint32_t) ((uint64_t) ranks[row] * BINS / timed->rows));
		write_packed(data + layout->order, ranks[row], row);
		write_packed(data + layout->codes, row, ranks[row]);
	}
}

static SegmentKey
made_up_key(void)
{
	return (SegmentKey) {.segment = UINT64_MAX};
}

static void
copy_column(const Timed *timed, Resident *column)
{
	vkCmdCopyBuffer(context_begin(timed->evaluator->context), timed->host.buffer, column->memory.buffer, 1,
					&(VkBufferCopy) {.size = column->layout.size});
	context_submit(timed->evaluator->context);
	cache_add(timed->evaluator->cache, column);
}

/* Put a column on the device.  Returns false if there is no memory for it. */
static bool
add_column(const Timed *timed, uint32_t number, const uint32_t *ranks)
{
	ColumnShape shape = {.rows = timed->rows, .nonnull = timed->rows, .distinct = timed->rows, .code_bytes = 3,
		.bins = BINS, .radix = RADIX, .vectors = VECTORS, .sieve_pages = VECTORS * timed->chunks, .has_order = 1};
	SegmentKey	segment = made_up_key();
	ResidentKey key = cache_column_key(&segment, number, COLUMN_KEY);
	uint32_t	boundaries[BINS + 1];
	Resident   *column;

	for (uint32_t i = 0; i <= BINS; i++)
		boundaries[i] = (uint32_t) (((uint64_t) i * timed->rows + BINS - 1) / BINS);
	column = cache_create_column(timed->evaluator->cache, &key, &shape, boundaries);
	if (column == NULL)
		return false;
	fill_column(timed, timed->host.host, &column->layout, ranks);
	copy_column(timed, column);
	return true;
}

/* Create the column whose values are added up if a timed request asks for a sum.  It is the last column. */
static bool
add_values(const Timed *timed)
{
	ColumnShape shape = {.rows = timed->rows, .form = COLUMN_VALUES, .element_pages = timed->chunks * VALUE_BITS,
		.largest = (1 << VALUE_BITS) - 1};
	SegmentKey	segment = made_up_key();
	ResidentKey key = cache_column_key(&segment, COLUMNS, COLUMN_VALUES);
	uint32_t	no_boundaries = 0;
	Resident   *column = cache_create_column(timed->evaluator->cache, &key, &shape, &no_boundaries);
	uint64_t	state = 1;

	if (column == NULL)
		return false;
	for (uint32_t chunk = 0; chunk < timed->chunks; chunk++)
		((ValueFrame *) timed->host.host)[chunk] = (ValueFrame) {.null = UINT64_MAX, .page = chunk * VALUE_BITS,
			.bits = VALUE_BITS};
	for (uint64_t at = column->layout.elements; at < column->layout.size; at++)
		timed->host.host[at] = (char) next_random(&state);
	copy_column(timed, column);
	return true;
}

static bool
add_columns(const Timed *timed)
{
	uint32_t   *ranks = malloc(timed->rows * sizeof(uint32_t));
	uint64_t	state = 1;
	bool		added = true;

	if (ranks == NULL)
		fail("out of memory");
	for (uint32_t c = 0; c < COLUMNS && added; c++)
	{
		shuffle(timed, ranks, &state);
		added = add_column(timed, c, ranks);
	}
	free(ranks);
	return added && add_values(timed);
}

/* A request that has the synthetic segment up to SEGMENTS times. */
typedef struct Question
{
	EvaluateHeader header;
	EvaluateSegment segments[SEGMENTS];
	EvaluateColumn columns[SEGMENTS * COLUMNS];
	DeviceInterval intervals[SEGMENTS * COLUMNS];
	AggMeasure	measures[SEGMENTS];
} Question;

static void
make_question(const Timed *timed, Question *question, DeviceExecutor executor, uint32_t segments, double selectivity)
{
	uint32_t	end = (uint32_t) (selectivity * timed->rows);

	question->header = (EvaluateHeader) {.executor = executor, .want_bits = true, .build = true, .segments = segments,
		.columns = segments * COLUMNS, .intervals = segments * COLUMNS};
	for (uint32_t i = 0; i < segments; i++)
		question->segments[i] = (EvaluateSegment) {.key = made_up_key(), .rows = timed->rows, .columns = COLUMNS};
	for (uint32_t i = 0; i < segments * COLUMNS; i++)
	{
		question->columns[i] = (EvaluateColumn) {i % COLUMNS, 1};
		question->intervals[i] = (DeviceInterval) {0, end, 0, end};
	}
}

/* Request one sum over all segments instead of bits. */
static void
ask_for_sum(const Timed *timed, Question *question)
{
	question->header.want_bits = false;
	question->header.measures = question->header.segments;
	for (uint32_t i = 0; i < question->header.segments; i++)
	{
		EvaluateSegment *segment = &question->segments[i];

		segment->cells = segment->entries = segment->measures = 1;
		segment->aggregated[0] = (1 << timed->chunks) - 1;
		segment->joins = i > 0;
		question->measures[i] = (AggMeasure) {.column = COLUMNS, .kind = AGG_SUM_LOWER, .form = COLUMN_VALUES};
	}
}

/* Return the least device time of REPETITIONS evaluations, in ns; infinite if the device cannot do them. */
static double
time_request(const Timed *timed, DeviceExecutor executor, uint32_t segments, double selectivity, bool adding)
{
	Area		area = {.map = timed->host.host, .size = timed->host.size, .imported = true, .memory = timed->host};
	Question	question;
	double		least = INFINITY;

	make_question(timed, &question, executor, segments, selectivity);
	if (adding)
		ask_for_sum(timed, &question);
	for (int i = 0; i < REPETITIONS; i++)
	{
		Request		request = {.area = &area, .chunks = segments * timed->chunks, .header = &question.header,
			.segments = question.segments, .columns = question.columns, .intervals = question.intervals,
			.measures = question.measures,
			.agg_words = adding ? device_agg_words(&question.segments[0]) : 0};
		Request    *requests[] = {&request};

		evaluate_begin(timed->evaluator, requests, 1);
		evaluate_end(timed->evaluator, requests);
		if (request.reply.result != DEVICE_OK)
			return INFINITY;
		least = fmin(least, request.reply.nanoseconds);
	}
	return least;
}

/* Return nanoseconds of device time for a chunk. */
static double
time_chunk(const Timed *timed, DeviceExecutor executor, double selectivity, bool adding)
{
	double		one = time_request(timed, executor, 1, selectivity, adding);
	double		several;

	if (one > SHORT_TIME)
		return one / timed->chunks;
	several = time_request(timed, executor, SEGMENTS, selectivity, adding);
	/* If the clock rate changed between the two requests, the difference may be too small or negative. */
	return fmax(several - one, one / SEGMENTS) / ((SEGMENTS - 1) * timed->chunks);
}

static double
time_executor(const Timed *timed, DeviceExecutor executor)
{
	double		sum = 0;

	for (size_t i = 0; i < SELECTIVITIES; i++)
		sum += time_chunk(timed, executor, selectivities[i], false);
	return sum / SELECTIVITIES;
}

/*
 * Choose the length of rays, and return the time of a chunk with it.  "by_default" is the time with the default
 * length.  Longer rays are fewer, but meet more neighbouring boxes, so the best length depends on the device.
 * Lengths are multiples of the default.  The default stays unless another length is faster by more than the error of
 * measurement.
 */
static double
choose_length(const Timed *timed, double by_default)
{
	static const double factors[] = {0.5, 2, 4};
	double		least = LEAST_SAVING * by_default;
	double		best = 1;

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
	{
		double		time;

		timed->evaluator->boxes.tuning.length = factors[i];
		time = time_executor(timed, DEVICE_RT);
		if (time < least)
		{
			least = time;
			best = factors[i];
		}
	}
	timed->evaluator->boxes.tuning.length = best;
	return best == 1 ? by_default : least;
}

/* Return the time to add up a column of a chunk.  Most rows match, so that adding up makes a large difference. */
static double
time_adding(const Timed *timed)
{
	double		finding = time_chunk(timed, DEVICE_COMPUTE, MOST_ROWS, false);
	double		both = time_chunk(timed, DEVICE_COMPUTE, MOST_ROWS, true);

	return fmax(both - finding, LEAST_ADDING * finding);
}

Calibration
calibrate(Evaluator *evaluator, bool chooses_rays)
{
	Calibration calibration = {{INFINITY, INFINITY, INFINITY}, INFINITY, INFINITY};
	Timed		timed = {.evaluator = evaluator, .chunks = evaluator->context->software ? SOFTWARE_CHUNKS : CHUNKS};
	ColumnShape shape = {.vectors = VECTORS, .sieve_pages = VECTORS * timed.chunks, .has_order = 1, .code_bytes = 3};

	shape.rows = timed.rows = timed.chunks * DEVICE_CHUNK_ROWS;
	if (!memory_on_host(evaluator->context, HOST_READS_AND_WRITES, device_column_layout(&shape).size, 0, &timed.host))
		return calibration;
	if (add_columns(&timed))
	{
		for (DeviceExecutor executor = DEVICE_COMPUTE; executor <= DEVICE_RT; executor++)
			calibration.chunk[executor] = time_executor(&timed, executor);
		if (chooses_rays && isfinite(calibration.chunk[DEVICE_RT]))
			calibration.chunk[DEVICE_RT] = choose_length(&timed, calibration.chunk[DEVICE_RT]);
		calibration.adding = time_adding(&timed);
		if (evaluator->bvhs.builds > 0)
			calibration.building = (double) evaluator->bvhs.nanoseconds /
				((double) evaluator->bvhs.builds * timed.chunks);
	}
	cache_evict_all(evaluator->cache);
	memory_free(evaluator->context, &timed.host);
	return calibration;
}
