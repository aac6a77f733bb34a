/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream.c
 *		Return the rows of one segment whose bits are set, in the order of a key column.
 */
#include "search/order/order_stream_parts.h"

#include "utils/memutils.h"

/*
 * When more than DOUBTFUL times as many rows in succession fail their tests as are expected to be tested until one row
 * passes, the doubter (RtscanStreamDoubter) is called.
 */
#define DOUBTFUL	8

/* ---------------------------------------------------------------- begin */

/* Return the number of rows that the order has before the rows of a range of ranks. */
static uint32
places_before(const RtscanOrderStream *stream, RtscanRankRange ranks)
{
	uint32		nonnull = stream->header->nonnull;
	uint32		nulls = stream->segment->reader.segment->header.rows - nonnull;

	if (stream->order->nulls_first && ranks.end > nonnull)
		return 0;
	return (stream->order->nulls_first ? nulls : 0) +
		(stream->order->descending ? nonnull - Min(ranks.end, nonnull) : ranks.first);
}

/* Create the tests of a stream that has no bits. */
static RtscanStreamTests
create_tests(RtscanSegmentScan *segment, const RtscanOrder *order)
{
	int			ranked = rtscan_column_of_ranks(segment, order->columns[0].column);

	return (RtscanStreamTests) {
		.test = rtscan_create_row_test(&segment->reader, &segment->filter.region, ranked),
		.left = rtscan_tests_for_bits(segment),
		.doubtful = DOUBTFUL / rtscan_passing_part(segment, order),
	};
}

RtscanOrderStream *
rtscan_open_stream(RtscanSegmentScan *segment, const RtscanSchema *schema, RtscanValues *values, const uint64 *words,
				   const RtscanOrder *order)
{
	RtscanOrderStream *stream = palloc(sizeof(RtscanOrderStream));

	memset(stream, 0, offsetof(RtscanOrderStream, rows));
	stream->segment = segment;
	stream->left = RTSCAN_STREAM_NOT_BEGUN;
	stream->order = &order->columns[0];
	stream->wanted = order->wanted;
	stream->words = words;
	stream->header = &segment->reader.segment->columns[stream->order->column].header;
	stream->type = &schema->columns[stream->order->column];
	stream->values = values;
	if (words == NULL && !rtscan_filter_leaves_ranks(segment, stream->order->column))
		stream->tests = create_tests(segment, order);
	return stream;
}

bool
rtscan_stream_goes_on(const RtscanOrderStream *stream)
{
	return stream->tests.test && stream->words == NULL && stream->left > 0;
}

void
rtscan_stream_set_doubter(RtscanOrderStream *stream, RtscanStreamDoubter doubter, void *arg)
{
	stream->tests.doubter = doubter;
	stream->tests.doubter_arg = arg;
}

void
rtscan_stream_take_bits(RtscanOrderStream *stream, RtscanRowBits *bits)
{
	stream->tests.bits = bits;
}

bool
rtscan_stream_is_tested(const RtscanOrderStream *stream)
{
	return stream->tests.test != NULL;
}

/*
 * Return the number of ranks whose rows are tested.  If the conditions on the order's column accept all values in one
 * range of ranks, and no other values, only the rows of "ranks" are tested.  Otherwise, as when "ranks" includes NULLs,
 * all rows of the order are tested, except the first "passed" ones.
 */
static uint64
ranks_to_test(const RtscanOrderStream *stream, RtscanRankRange ranks, uint32 passed)
{
	if (rtscan_column_of_ranks(stream->segment, stream->order->column) >= 0)
		return ranks.end - ranks.first;
	return stream->segment->reader.segment->header.rows - passed;
}

/* Must the rows be sorted?  True if the column can be read in no other way, or if sorting is cheaper than walking. */
static bool
has_to_sort(const RtscanOrderStream *stream, uint64 rows, uint32 ranks)
{
	return !rtscan_column_has_order(stream->header) ||
		(stream->words && rtscan_sorting_is_cheaper(stream, rows, ranks));
}

void
rtscan_begin_stream(RtscanOrderStream *stream, uint64 rows, uint32 passed)
{
	RtscanRankRange ranks = rtscan_filtered_ranks(stream->segment, stream->order->column);
	uint32		all = stream->segment->reader.segment->header.rows;

	stream->left = rows;
	if (rows == 0)
		return;
	passed = Max(passed, places_before(stream, ranks));
	if (stream->tests.test)
		stream->left = ranks_to_test(stream, ranks, passed);
	if (has_to_sort(stream, rows, Min(ranks.end - ranks.first, all - passed)))
		rtscan_stream_sort(stream, rows);
	else if (stream->header->flags & RTSCAN_COLUMN_EXACT)
		rtscan_stream_begin_codes(stream, passed);
	else
	{
		stream->refill = rtscan_stream_walk;
		stream->walked = passed;
	}
}

/* ---------------------------------------------------------------- rows */

/* Refill the stream's array of rows; call refill() until it has found at least one row. */
static void
read_more(RtscanOrderStream *stream)
{
	stream->n = stream->next = 0;
	while (stream->n == 0)
		stream->refill(stream);
}

/* Let the CPU find the bits of all matching rows of the segment. */
static RtscanRowBits *
find_bits_to_stream(RtscanOrderStream *stream)
{
	uint32		chunks = stream->segment->reader.segment->chunks;
	RtscanRowBits *bits = rtscan_bits_create(GetMemoryChunkContext(stream), chunks);
	RtscanCounters counters = {0};

	rtscan_bits_reset(bits, chunks);
	rtscan_cpu_evaluate(&stream->segment->reader, &stream->segment->filter.region, NULL, bits, &counters);
	return bits;
}

/* Switch from tests to bits.  Bits are set for all matching rows, except the rows that have been returned. */
static void
find_rest(RtscanOrderStream *stream)
{
	const RtscanStreamTests *tests = &stream->tests;
	RtscanRowBits *bits = tests->bits ? tests->bits : find_bits_to_stream(stream);
	uint64	   *words;

	stream->left = rtscan_bits_count(bits) - tests->found;
	if (stream->left == 0)
		return;
	words = rtscan_bits_fill_all(bits);
	for (uint64 i = 0; i < tests->found; i++)
		words[tests->passing[i] / 64] &= ~(UINT64CONST(1) << (tests->passing[i] % 64));
	stream->words = words;
}

/*
 * Stop testing rows, after too many tests or because bits have been provided.  Continue with the bits of the matching
 * rows that have not been returned, as if the stream had had bits from the beginning.
 */
static void
stop_testing(RtscanOrderStream *stream)
{
	uint32		n = stream->next;

	find_rest(stream);
	if (stream->left == 0)
		return;
	if (rtscan_sorting_is_cheaper(stream, stream->left, stream->segment->reader.segment->header.rows - stream->walked))
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(stream));

		stream->n = stream->next = 0;
		rtscan_stream_sort(stream, stream->left);
		MemoryContextSwitchTo(old);
		return;
	}
	for (uint32 i = stream->next; i < stream->n; i++)
		if (rtscan_stream_bit_is_set(stream, stream->rows[i]))
			stream->rows[n++] = stream->rows[i];
	stream->n = n;
}

/* Record a row that has passed its test, so that it is not returned again after find_rest(). */
static void
note_passing(RtscanOrderStream *stream, uint32 row)
{
	RtscanStreamTests *tests = &stream->tests;

	if (tests->found == tests->capacity)
	{
		tests->capacity = Max(2 * tests->capacity, 16);
		tests->passing = tests->passing ? repalloc(tests->passing, tests->capacity * sizeof(uint32)) :
			MemoryContextAlloc(GetMemoryChunkContext(stream), tests->capacity * sizeof(uint32));
	}
	tests->passing[tests->found++] = row;
	tests->in_vain = 0;
}

/*
 * Count a row that has not passed.  If far more rows than expected have failed since the last one that passed, call
 * the doubter, but only once.
 */
static void
note_failing(RtscanStreamTests *tests)
{
	RtscanStreamDoubter doubter = tests->doubter;

	if (++tests->in_vain > tests->doubtful && doubter)
	{
		tests->doubter = NULL;
		doubter(tests->doubter_arg);
	}
}

/*
 * Set *row to the next row that passes its test.  Returns false if no row is left, after too many tests, or if bits
 * have been provided.
 */
static bool
next_tested(RtscanOrderStream *stream, uint32 *row)
{
	RtscanStreamTests *tests = &stream->tests;

	while (stream->left > 0 && tests->left > 0 && tests->bits == NULL)
	{
		if (stream->next == stream->n)
			read_more(stream);
		*row = stream->rows[stream->next++];
		stream->left--;
		tests->left--;
		if (rtscan_row_passes(tests->test, *row))
		{
			note_passing(stream, *row);
			return true;
		}
		note_failing(tests);
	}
	return false;
}

bool
rtscan_next_of_stream(RtscanOrderStream *stream, uint32 *row)
{
	if (stream->tests.test && stream->words == NULL)
	{
		if (next_tested(stream, row))
			return true;
		if (stream->left > 0)
			stop_testing(stream);
	}
	if (stream->left == 0)
		return false;
	stream->left--;
	if (stream->sorted)
	{
		*row = stream->sorted[stream->next++].row;
		return true;
	}
	if (stream->next == stream->n)
		read_more(stream);
	*row = stream->rows[stream->next++];
	return true;
}
