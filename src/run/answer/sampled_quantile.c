/* SPDX-License-Identifier: PostgreSQL */
/*
 * sampled_quantile.c
 *		Compute percentiles of a key column over many rows, without collecting all values.
 */
#include "run/answer/sampled_quantile.h"

#include <math.h>

#include "bits/bits.h"
#include "port/pg_bitutils.h"
#include "run/aggregate/collection.h"
#include "run/aggregate/quantiles.h"
#include "run/aggregate/select.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Number of values that are collected before chunks are sampled. */
#define MIN_VALUES		65536

/*
 * If fewer than one in DENSE rows of a chunk match, all values of these rows are collected.  But if the search is for a
 * range of values (RtscanSample.within), the chunk may be sampled even then (is_of_use()).
 */
#define DENSE			16

/*
 * A sample has at most one in LEAST_STEP values.  If it has more than MAX_SAMPLE values, half of them are dropped, and
 * further values are sampled half as often.
 */
#define LEAST_STEP		128
#define MAX_SAMPLE		16384

/* A further search for a sample pays if it saves collecting this many values. */
#define MANY_VALUES		524288

/* Narrowing gains little if the first and the last percentile are farther apart than MAX_APART of THOUSAND rows. */
#define THOUSAND		1000
#define MAX_APART		250

/* The sampled rows of a chunk fit into the arrays for a batch. */
StaticAssertDecl(RTSCAN_CHUNK_ROWS / LEAST_STEP < RTSCAN_CURSOR_ROWS, "a chunk's sample is too large");

/* ---------------------------------------------------------------- the aggregate */

/* Do the index and the collection sort the values of a key column by the same exact integers? */
static bool
sorts_alike(const RtscanColumn *column, const RtscanCollecting *collecting)
{
	return column->exact_sorts && column->exact == collecting->kind && column->key_kind != RTSCAN_KEY_NONE &&
		!collecting->floats && collecting->kind != RTSCAN_EXACT_DECIMAL;
}

bool
rtscan_may_narrow(const RtscanRowsAnswer *answer)
{
	const RtscanRowsTask *task = answer->task;
	const RtscanRowAggregate *aggregate = &task->aggregates[0];
	const RtscanCollecting *collecting = task->naggregates == 1 ? answer->current.transitions[0].collecting : NULL;

	if (collecting == NULL || answer->current.groups || answer->batch->attributes || task->nsets > 1 ||
		task->quals.state || aggregate->filter.state || answer->question->shared || aggregate->columns[0] < 0 ||
		aggregate->columns[0] >= answer->question->schema->nkeys)
		return false;
	return (collecting->how.purpose == RTSCAN_FOR_DISCRETE || collecting->how.purpose == RTSCAN_FOR_CONTINUOUS) &&
		sorts_alike(&answer->question->schema->columns[aggregate->columns[0]], collecting);
}

int
rtscan_find_ranks(const RtscanRowsAnswer *answer, int64 n, uint64 **ranks)
{
	NullableDatum fractions = {(Datum) 0, true};

	fractions.value = ExecEvalExprSwitchContext(answer->task->aggregates[0].fractions, answer->batch->context,
												&fractions.isnull);
	return rtscan_percentile_ranks(answer->current.transitions[0].collecting, fractions, n, ranks);
}

/* ---------------------------------------------------------------- the sample */

/* Are all percentiles at most MAX_APART of THOUSAND rows apart? */
static bool
percentiles_are_near(const RtscanRowsAnswer *answer)
{
	uint64	   *ranks;
	int			nranks = rtscan_find_ranks(answer, THOUSAND, &ranks);

	return nranks > 0 && ranks[nranks - 1] - ranks[0] <= MAX_APART;
}

/* Estimate how many rows a cursor finds. */
static double
expect_rows(const RtscanCursor *cursor)
{
	const RtscanSearch *search = rtscan_cursor_search(cursor);
	double		rows = 0;

	for (int i = 0; i < search->nsegments; i++)
		if (search->segments[i].looked_up)
			rows += rtscan_expected_rows(&search->segments[i]);
	return rows;
}

static void
begin_sample(RtscanSample *sample, const RtscanCursor *cursor)
{
	/* If up to 25 % more rows are found than expected, the sample is not halved. */
	sample->step = Max(ceil(1.25 * expect_rows(cursor) / MAX_SAMPLE), LEAST_STEP);
	sample->skip = 0;
	sample->n = 0;
}

static RtscanSample *
create_sample(const RtscanRowsAnswer *answer)
{
	RtscanSample *sample = MemoryContextAllocZero(answer->context, sizeof(RtscanSample));

	sample->keys = MemoryContextAlloc(answer->context, (MAX_SAMPLE + RTSCAN_CURSOR_ROWS) * sizeof(int64));
	sample->refused = !percentiles_are_near(answer);
	begin_sample(sample, answer->cursor);
	return sample;
}

/*
 * Does it pay to sample a chunk?  First, enough values must have been collected: MIN_VALUES, or half of those that fit
 * into memory.  Second, one in DENSE rows of the chunk must match, unless only values in a range are sampled.  Third,
 * the number of rows that each further search has to look up in the heap again must be less than one in DENSE of the
 * collected values.
 */
static bool
is_of_use(const RtscanRowsAnswer *answer, const RtscanCursorChunk *chunk)
{
	const RtscanCollecting *collecting = answer->current.transitions[0].collecting;
	uint64		collected = answer->current.only[0].count;

	return collected >= Min(MIN_VALUES, collecting->most / 2) &&
		((answer->sample && answer->sample->within) || (uint64) chunk->wanted * DENSE >= chunk->rows) &&
		rtscan_cursor_heap_work(answer->cursor)->unremembered * DENSE < collected;
}

/* Return the number of the set bit of a word that has "lower" set bits below it. */
static inline uint32
find_set_bit(uint64 word, uint32 lower)
{
	while (lower-- > 0)
		word &= word - 1;
	return pg_rightmost_one_pos64(word);
}

/* Choose one in sample->step of the matching rows of a chunk, and return how many are chosen. */
static uint32
choose_sample_rows(RtscanSample *sample, const RtscanCursorChunk *chunk, uint32 *rows)
{
	uint32		n = 0;

	for (uint32 i = 0; i < RTSCAN_CHUNK_WORDS; i++)
	{
		uint32		count = pg_popcount64(chunk->bits[i]);

		for (; sample->skip < count; sample->skip += sample->step)
			rows[n++] = chunk->number * RTSCAN_CHUNK_ROWS + i * 64 + find_set_bit(chunk->bits[i], sample->skip);
		sample->skip -= count;
	}
	return n;
}

static void
drop_half(RtscanSample *sample)
{
	for (uint32 i = 0; i < sample->n / 2; i++)
		sample->keys[i] = sample->keys[2 * i];
	sample->n /= 2;
	sample->step *= 2;
}

static void
add_to_sample(RtscanSample *sample, const int64 *keys, const bool *isnull, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		if (!isnull[i])
			sample->keys[sample->n++] = keys[i];
	if (sample->n > MAX_SAMPLE)
		drop_half(sample);
}

/* May some rows of the current segment be NULL in a column? */
static bool
may_be_null(const RtscanCursor *cursor, int column)
{
	const RtscanSegment *segment = rtscan_cursor_segment(cursor)->reader.segment;

	return segment->columns[column].header.nonnull < segment->header.rows;
}

/* Sample the values of a chunk.  False if the values are not represented by exact integers. */
static bool
sample_values(const RtscanRowsAnswer *answer, const RtscanCursorChunk *chunk)
{
	int			column = answer->task->aggregates[0].columns[0];
	RtscanValues *values = rtscan_cursor_column(answer->cursor, column);
	uint32		rows[RTSCAN_CURSOR_ROWS];
	int64		keys[RTSCAN_CURSOR_ROWS];
	bool		isnull[RTSCAN_CURSOR_ROWS];
	uint32		n = choose_sample_rows(answer->sample, chunk, rows);
	int			scale;

	if (!rtscan_get_decimals(values, rows, n, keys, isnull, &scale))
		return false;
	add_to_sample(answer->sample, keys, isnull, n);
	answer->sample->rows += chunk->wanted;
	answer->sample->may_have_nulls |= may_be_null(answer->cursor, column);
	return true;
}

bool
rtscan_sample_chunk(const RtscanCursorChunk *chunk, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	MemoryContext old;
	bool		sampled;

	if (!is_of_use(answer, chunk))
		return false;
	if (answer->sample == NULL)
		answer->sample = create_sample(answer);
	else if (answer->sample->rows == 0)
		begin_sample(answer->sample, answer->cursor);
	/* Reading leaves garbage in per-tuple memory, which is reset before each chunk. */
	ResetExprContext(answer->batch->context);
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	sampled = !answer->sample->refused && sample_values(answer, chunk);
	MemoryContextSwitchTo(old);
	return sampled;
}

/* Add one in sample->step of the collected values to the sample. */
static void
sample_collected(RtscanSample *sample, const RtscanCollection *collection)
{
	const bool	isnull = false;

	for (uint64 i = 0; i < collection->n; i += sample->step)
		add_to_sample(sample, &collection->keys[i], &isnull, 1);
}

/* ---------------------------------------------------------------- the range */

/* Return a condition that compares the column with the value of the key "key". */
static RtscanFilter
compare_with(const RtscanRowsAnswer *answer, StrategyNumber strategy, int64 key)
{
	const RtscanQuestion *question = answer->question;
	int			column = answer->task->aggregates[0].columns[0];
	Oid			type = question->index->rd_opcintype[column];
	RtscanAsked asked = {
		.kind = RTSCAN_CONDITION_ANY,
		.column = column,
		.strategy = strategy,
		.collation = question->schema->columns[column].collation,
		.function = get_opcode(get_opfamily_member(question->index->rd_opfamily[column], type, type, strategy)),
	};
	RtscanCondition condition;
	RtscanOutcome outcome = rtscan_condition(question->index, question->schema, &asked,
											 rtscan_key_value(answer->current.transitions[0].collecting, key), false,
											 &condition);

	return rtscan_outcome_filter(outcome, &condition);
}

/*
 * Return a filter for the rows that pass the query's filter and two further filters.  The ranges of earlier steps need
 * not be repeated, because new ranges are within them.
 */
static RtscanFilter
and_filters(const RtscanQuestion *question, RtscanFilter one, RtscanFilter other)
{
	RtscanFilter filter = rtscan_begin_filter(RTSCAN_FILTER_AND, 3);

	filter.parts[0] = *question->filter;
	filter.parts[1] = one;
	filter.parts[2] = other;
	rtscan_join_filter(&filter);
	return filter;
}

RtscanFilter
rtscan_filter_between(const RtscanRowsAnswer *answer, int64 low, int64 high)
{
	return and_filters(answer->question, compare_with(answer, BTGreaterEqualStrategyNumber, low),
					   compare_with(answer, BTLessEqualStrategyNumber, high));
}

/*
 * Return how far a value's place in a sample of n values may be from its ideal place: at least four standard
 * deviations.
 */
static uint64
find_margin(uint64 n)
{
	return (uint64) (2 * sqrt((double) n)) + 1;
}

uint64
rtscan_sampled_rows(const RtscanSample *sample, const RtscanState *collected)
{
	return collected->count + (sample ? sample->rows : 0);
}

void
rtscan_begin_to_narrow(RtscanSampledQuantile *quantile, const RtscanSample *sample)
{
	memset(quantile, 0, sizeof(RtscanSampledQuantile));
	quantile->counted = !sample->may_have_nulls;
}

void
rtscan_sample_within(RtscanSample *sample)
{
	sample->rows = 0;
	sample->within = true;
}

void
rtscan_sample_all(RtscanSample *sample)
{
	if (sample == NULL)
		return;
	sample->rows = 0;
	sample->within = false;
}

/*
 * Find the places of the percentiles in the sorted sample, and return their number; 0 if some percentile is not in the
 * range, or the sample is empty.  Each value of the sample represents the same number of rows.  If rows may be NULL,
 * the number of values is not known; instead, the places are the percentiles' ranks in the sample, which has no NULLs.
 */
static int
find_places(const RtscanRowsAnswer *answer, const RtscanSampledQuantile *quantile, uint64 **places)
{
	uint64		n = answer->sample->n;
	int			count;

	if (n == 0)
		return 0;
	if (!quantile->counted)
		return rtscan_find_ranks(answer, n, places);
	count = rtscan_find_ranks(answer, quantile->rows_below + quantile->all + quantile->rows_above, places);
	for (int i = 0; i < count; i++)
	{
		uint64		rank = (*places)[i];

		if (rank < quantile->rows_below || rank - quantile->rows_below >= quantile->all)
			return 0;
		(*places)[i] = (uint64) ((double) (rank - quantile->rows_below) / quantile->all * n);
	}
	return count;
}

static void
sort_sample(RtscanSample *sample)
{
	int64	   *room = palloc(sample->n * sizeof(int64));

	rtscan_sort_integers(sample->keys, sample->n, room);
	pfree(room);
}

/* Return the number of keys in the sample that are from "low" to "high". */
static uint32
count_keys(const RtscanSample *sample, int64 low, int64 high)
{
	uint32		count = 0;

	for (uint32 i = 0; i < sample->n; i++)
		count += sample->keys[i] >= low && sample->keys[i] <= high;
	return count;
}

/*
 * Does the new range probably have enough values to make another sample worth while?  "between" is the number of the
 * sample's values in the range, "most" the most values that are collected in memory.  False if the range has half of
 * the sample or more: one value may be so frequent that narrowing makes no progress.
 */
static bool
are_many(const RtscanSampledQuantile *quantile, const RtscanSample *sample, uint32 between, uint64 most)
{
	double		part = (double) between / sample->n;

	return part < 0.5 && part * quantile->all > Min(MANY_VALUES, most / 2);
}

bool
rtscan_narrow(const RtscanRowsAnswer *answer, RtscanSampledQuantile *quantile)
{
	RtscanSample *sample = answer->sample;
	const RtscanState *collected = &answer->current.only[0];
	RtscanFilter always = rtscan_begin_filter(RTSCAN_FILTER_AND, 0);
	uint64	   *places;
	int			count;
	uint64		margin;
	int64		low,
				high;

	quantile->all = rtscan_sampled_rows(sample, collected);
	if (collected->has_value)
		sample_collected(sample, rtscan_collection(collected));
	margin = find_margin(sample->n);
	count = find_places(answer, quantile, &places);
	if (count == 0 || places[0] < margin || places[count - 1] + margin >= sample->n)
		return false;
	sort_sample(sample);
	low = sample->keys[places[0] - margin];
	high = sample->keys[places[count - 1] + margin];
	quantile->many = are_many(quantile, sample, count_keys(sample, low, high),
							  answer->current.transitions[0].collecting->most);
	quantile->below = and_filters(answer->question, compare_with(answer, BTLessStrategyNumber, low), always);
	quantile->between = rtscan_filter_between(answer, low, high);
	quantile->above = and_filters(answer->question, compare_with(answer, BTGreaterStrategyNumber, high), always);
	return true;
}

/* ---------------------------------------------------------------- counting */

/* RtscanTakeChunk: add the number of the chunk's rows that match to the uint64 *arg */
static bool
count_chunk(const RtscanCursorChunk *chunk, void *arg)
{
	*(uint64 *) arg += chunk->wanted;
	return true;
}

uint64
rtscan_count_matching(RtscanCursor *cursor)
{
	uint64		count = 0;
	uint32		n;

	rtscan_cursor_offer_chunks(cursor, count_chunk, &count);
	while ((n = rtscan_next_rows(cursor)) > 0)
		count += n;
	return count;
}

void
rtscan_forget_collected(const RtscanCurrentSet *current)
{
	RtscanState *state = &current->only[0];

	if (state->has_value)
		rtscan_end_collection(current->transitions[0].collecting, rtscan_collection(state));
	memset(state, 0, sizeof(RtscanState));
}

bool
rtscan_add_uncollected(const RtscanRowsAnswer *answer, uint64 below, uint64 above)
{
	RtscanState *state = &answer->current.only[0];
	uint64		end = below + state->count;
	uint64	   *ranks;
	int			nranks;

	if (state->count == 0)
		return false;
	nranks = rtscan_find_ranks(answer, end + above, &ranks);
	if (ranks[0] < below || ranks[nranks - 1] >= end)
		return false;
	state->count = end + above;
	rtscan_collection(state)->below = below;
	return true;
}
