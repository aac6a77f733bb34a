/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream.c
 *		Return the rows of one segment whose bits are set, in the order of a key column.
 */
#include "search/order/order_stream.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "search/exec/cpu.h"
#include "segment/plain.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* Nanoseconds to walk a rank. */
#define WALK_NANOSECONDS	5.0
/* Nanoseconds to sort a row. */
#define SORT_NANOSECONDS	100.0

/* The most ranks that are walked at a time: those of a page of the order. */
#define WALK_RANKS			ORDER_PER_PAGE
/* The most ranks that are walked at a time without bits, since most of their rows are returned. */
#define MATCHING_RANKS		64

/* The doubter is called after this multiple of the expected number of failed tests. */
#define DOUBTFUL			8

/* Value of "left" before the stream has begun. */
#define NOT_BEGUN			PG_UINT64_MAX

/* The most rows whose keys are read at a time. */
#define KEYS				1024

/* A row to be sorted. */
typedef struct SortedRow
{
	uint64		place;			/* number of its key, converted so that it ascends in the order */
	uint32		group;			/* 0 or 1: NULLs are a group of their own, before or after the values */
	uint32		row;
} SortedRow;

struct RtscanOrderStream
{
	RtscanSegmentScan *segment;
	const RtscanOrderColumn *order; /* first column of the order */
	double		wanted;			/* approximate number of rows that are wanted */
	const uint64 *words;		/* bits of the rows; NULL: all rows in the filtered ranks, or those that pass tests */
	const RtscanColumnHeader *header;
	const RtscanColumn *type;
	RtscanValues *values;
	void		(*refill) (RtscanOrderStream *stream);	/* read more rows, if any, into "rows" */
	uint64		left;			/* number of rows that have not been returned or, if rows are tested, not been tested;
								 * NOT_BEGUN before the stream has begun */

	/* State of tests. */
	RtscanRowTest *test;		/* the test; NULL: rows are not tested */
	double		tests;			/* number of tests to make before the bits are found instead */
	double		in_vain;		/* number of tests that have failed since the last row that passed */
	double		doubtful;		/* number of such tests after which the doubter is called */
	RtscanStreamDoubter doubter;	/* function to call then; NULL: none, or it has been called */
	void	   *doubter_arg;	/* its argument */
	RtscanRowBits *bits;		/* bits of all matching rows, if they have been provided; else NULL */
	uint64		found;			/* number of rows that have passed */
	uint32	   *passing;		/* the rows that have passed */
	uint64		room;			/* size of that array */

	/* State of a walk. */
	uint32		passed;			/* number of ranks, of values and of NULLs, that have been walked */

	/* State of a stream by code. */
	uint32		place;			/* place of the next code in the order, from 0 */
	RtscanRowBits *code_bits;	/* rows of the current code whose bits are set */
	uint32		code;			/* the current code */
	uint32		chunk;			/* the current chunk of these rows */
	RtscanBitPlace bit;			/* place of the next row in that chunk */

	/* State of a stream that is sorted. */
	SortedRow  *sorted;			/* all rows, sorted; "next" counts those that have been returned */
	uint32		nsorted;		/* number of these rows */

	/* The rows that have been read, but not sorted. */
	uint32		n;				/* number of rows */
	uint32		next;			/* the next row to return or to test */
	uint32		rows[WALK_RANKS];	/* the rows */
};

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE SortedRow
#define ST_COMPARE(a, b) ((a)->group != (b)->group ? ((a)->group < (b)->group ? -1 : 1) : \
	(a)->place < (b)->place ? -1 : (a)->place > (b)->place)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* ---------------------------------------------------------------- places */

/* Convert the number of a key to one that ascends in the order, or back. */
static uint64
turn(const RtscanOrderStream *stream, uint64 number)
{
	return stream->order->descending ? ~number : number;
}

static SortedRow
place_of_row(const RtscanOrderStream *stream, uint32 row, RtscanStreamKey key)
{
	return (SortedRow) {
		.place = turn(stream, key.number),
		.group = key.isnull == stream->order->nulls_first ? 0 : 1,
		.row = row,
	};
}

static RtscanStreamKey
key_of_place(const RtscanOrderStream *stream, const SortedRow *row)
{
	return (RtscanStreamKey) {
		.isnull = (row->group == 0) == stream->order->nulls_first,
		.number = turn(stream, row->place),
	};
}

/* Return the code at a place in the order of all codes, including that of NULL. */
static uint32
code_at_place(const RtscanOrderStream *stream, uint32 place)
{
	uint32		distinct = stream->header->distinct;

	if (place == (stream->order->nulls_first ? 0 : distinct))
		return distinct;
	if (stream->order->nulls_first)
		place--;
	return stream->order->descending ? distinct - 1 - place : place;
}

static uint32
place_of_code(const RtscanOrderStream *stream, RtscanStreamKey key)
{
	uint32		distinct = stream->header->distinct;

	if (key.isnull)
		return stream->order->nulls_first ? 0 : distinct;
	return (stream->order->nulls_first ? 1 : 0) +
		(stream->order->descending ? distinct - 1 - (uint32) key.number : (uint32) key.number);
}

/* Find the rank at a place in the order of all of the segment's rows; returns false if a NULL is there. */
static bool
rank_at_place(const RtscanOrderStream *stream, uint32 place, uint32 *rank)
{
	uint32		nonnull = stream->header->nonnull;
	uint32		nulls_before = stream->order->nulls_first ? stream->segment->reader.segment->header.rows - nonnull : 0;

	if (place < nulls_before || place - nulls_before >= nonnull)
		return false;
	place -= nulls_before;
	*rank = stream->order->descending ? nonnull - 1 - place : place;
	return true;
}

RtscanStreamKey
rtscan_key_at_place(const RtscanOrderStream *stream, uint32 place)
{
	RtscanReader *reader = &stream->segment->reader;
	RtscanStreamKey key = {.isnull = true};
	uint32		rank;
	int64		exact;

	if (!rank_at_place(stream, place, &rank))
		return key;
	key.isnull = false;
	if (rtscan_is_plain(stream->header))
	{
		rtscan_plain_at_rank(reader, stream->order->column, rank, &exact);
		key.number = rtscan_key_of_integer(exact);
	}
	else
		key.number = rtscan_code_at_rank(reader, stream->order->column, stream->type, rank);
	return key;
}

/* ---------------------------------------------------------------- keys of rows */

static RtscanStreamKey
key_of_code(const RtscanOrderStream *stream, uint32 code)
{
	return (RtscanStreamKey) {.isnull = code == rtscan_null_code(stream->header), .number = code};
}

/* Get the keys of rows of a plain column: exact integers, as unsigned numbers that sort as the integers do. */
static void
get_plain_keys(RtscanOrderStream *stream, const uint32 *rows, uint32 n, RtscanStreamKey *keys)
{
	Datum		datums[KEYS];
	int64		exact[KEYS];
	bool		isnull[KEYS];

	rtscan_get_values(stream->values, rows, n, datums, isnull);
	rtscan_exact_encode(stream->type->exact, datums, n, exact);
	for (uint32 i = 0; i < n; i++)
		keys[i] = (RtscanStreamKey) {.isnull = isnull[i], .number = isnull[i] ? 0 : rtscan_key_of_integer(exact[i])};
}

/* Get the keys of up to KEYS ascending rows of one chunk. */
static void
get_keys(RtscanOrderStream *stream, const uint32 *rows, uint32 n, RtscanStreamKey *keys)
{
	uint32		codes[KEYS];

	if (rtscan_is_plain(stream->header))
	{
		get_plain_keys(stream, rows, n, keys);
		return;
	}
	rtscan_get_codes(stream->values, rows, n, codes);
	for (uint32 i = 0; i < n; i++)
		keys[i] = key_of_code(stream, codes[i]);
}

/* ---------------------------------------------------------------- walked */

/*
 * Is a row to be returned?  Without bits it is.  Ranks behind the filtered ones may be walked, too, but "left" ends
 * the stream before their rows are returned.
 */
static bool
bit_is_set(const RtscanOrderStream *stream, uint32 row)
{
	return stream->words == NULL || rtscan_bit_is_set(stream->words, row);
}

/*
 * Find the next ranks to walk: first .. end - 1, all on one page of the order.  They are walked in either direction.
 */
static void
next_ranks(const RtscanOrderStream *stream, uint32 *first, uint32 *end)
{
	uint32		nonnull = stream->header->nonnull;
	uint32		rows = stream->segment->reader.segment->header.rows;
	uint32		before = stream->order->nulls_first ? rows - nonnull : nonnull;	/* ranks of the group that comes
																				 * first */
	bool		in_first = stream->passed < before;
	bool		in_nulls = in_first == stream->order->nulls_first;
	uint32		low = in_nulls ? nonnull : 0;
	uint32		high = in_nulls ? rows : nonnull;
	uint32		passed = in_first ? stream->passed : stream->passed - before;

	if (stream->order->descending)
	{
		*end = high - passed;
		*first = Max(low, (*end - 1) / WALK_RANKS * WALK_RANKS);
	}
	else
	{
		*first = low + passed;
		*end = Min(high, (*first / WALK_RANKS + 1) * WALK_RANKS);
	}
}

/* Take the rows of n ranks whose bits are set, from a page of the order. */
static void
take_ordered(RtscanOrderStream *stream, const char *payload, uint32 n)
{
	uint32		rows = stream->segment->reader.segment->header.rows;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = rtscan_load_packed(payload + (stream->order->descending ? n - 1 - i : i) * 3, 3);

		if (row >= rows)
			rtscan_fault(&stream->segment->reader, &stream->header->order, 0, "A row number is too large.");
		stream->rows[stream->n] = row;
		stream->n += bit_is_set(stream, row);
	}
}

/* Take the rows of n ranks whose bits are set, if the column is in heap order, so that a rank is a row number. */
static void
take_ranks(RtscanOrderStream *stream, uint32 first, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = first + (stream->order->descending ? n - 1 - i : i);

		stream->rows[stream->n] = row;
		stream->n += bit_is_set(stream, row);
	}
}

static void
walk(RtscanOrderStream *stream)
{
	RtscanReader *reader = &stream->segment->reader;
	uint32		first,
				end;

	CHECK_FOR_INTERRUPTS();
	if (stream->passed >= reader->segment->header.rows)
		rtscan_fault(reader, &stream->header->order, 0, "Rows are missing.");
	next_ranks(stream, &first, &end);
	if (stream->words == NULL && stream->order->descending)
		first = Max(first, end - Min(end, MATCHING_RANKS));
	else if (stream->words == NULL)
		end = Min(end, first + MATCHING_RANKS);
	stream->passed += end - first;
	if (stream->header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		take_ranks(stream, first, end - first);
	else
	{
		Buffer		buffer;
		const char *payload = rtscan_get_page(reader, &stream->header->order, first / WALK_RANKS, &buffer, NULL);

		take_ordered(stream, payload + (Size) (first % WALK_RANKS) * 3, end - first);
		rtscan_release(reader, buffer);
	}
}

/* ---------------------------------------------------------------- by code */

/* RtscanDictionaryVisitor: store the ranks of a code. */
static void
keep_ranks(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	RtscanInterval *interval = (RtscanInterval *) arg;

	*interval = (RtscanInterval) {{.rank = first_rank, .code = code}, {.rank = end_rank, .code = code + 1}};
}

static RtscanInterval
interval_of_code(RtscanOrderStream *stream, uint32 code)
{
	RtscanReader *reader = &stream->segment->reader;
	RtscanInterval interval = {
		{.rank = stream->header->nonnull, .code = code},
		{.rank = reader->segment->header.rows, .code = code + 1},
	};

	if (code < stream->header->distinct)
		rtscan_dictionary_visit(reader, stream->order->column, stream->type, code, code + 1, keep_ranks, &interval);
	return interval;
}

static uint32
next_code(RtscanOrderStream *stream)
{
	if (stream->place > stream->header->distinct)
		rtscan_fault(&stream->segment->reader, &stream->header->codes, 0, "Rows are missing.");
	return code_at_place(stream, stream->place++);
}

/* Find the rows of the next code whose bits are set. */
static void
enter_code(RtscanOrderStream *stream)
{
	uint32		code = next_code(stream);
	RtscanInterval interval = interval_of_code(stream, code);
	RtscanRegionColumn column = {
		.column = stream->order->column,
		.rows = interval.high.rank - interval.low.rank,
		.intervals = {1, 1, &interval},
	};
	RtscanRegion region = {.ncolumns = 1, .columns = &column};
	RtscanCounters counters = {0};

	CHECK_FOR_INTERRUPTS();
	stream->code = code;
	stream->chunk = 0;
	stream->bit = (RtscanBitPlace) {0, 0};
	rtscan_bits_reset(stream->code_bits, stream->segment->reader.segment->chunks);
	if (column.rows > 0)
		rtscan_cpu_evaluate(&stream->segment->reader, &region, NULL, stream->code_bits, &counters);
	for (uint32 chunk = 0; chunk < stream->code_bits->chunks; chunk++)
		if (stream->code_bits->filled[chunk])
			rtscan_and(rtscan_bits_chunk(stream->code_bits, chunk), stream->words + (Size) chunk * RTSCAN_CHUNK_WORDS);
	if (stream->code_bits->filled[0])
		stream->bit.rest = rtscan_bits_chunk(stream->code_bits, 0)[0];
}

/* Go to the next chunk of the current code, or to the next code. */
static void
leave_chunk(RtscanOrderStream *stream)
{
	if (++stream->chunk >= stream->code_bits->chunks)
		enter_code(stream);
	else if (stream->code_bits->filled[stream->chunk])
		stream->bit = (RtscanBitPlace) {0, rtscan_bits_chunk(stream->code_bits, stream->chunk)[0]};
}

static void
go_through_codes(RtscanOrderStream *stream)
{
	if (stream->code_bits->filled[stream->chunk])
		stream->n = rtscan_gather_rows(rtscan_bits_chunk(stream->code_bits, stream->chunk), &stream->bit,
									   stream->chunk * RTSCAN_CHUNK_ROWS, stream->rows, WALK_RANKS);
	if (stream->n == 0)
		leave_chunk(stream);
}

/* ---------------------------------------------------------------- sorted */

/* Collect the rows of a chunk whose bits are set, with the places by which they are sorted. */
static void
collect_chunk(RtscanOrderStream *stream, uint32 chunk)
{
	const uint64 *words = stream->words + (Size) chunk * RTSCAN_CHUNK_WORDS;
	RtscanBitPlace place = {0, words[0]};
	RtscanStreamKey keys[KEYS];
	uint32		n;

	CHECK_FOR_INTERRUPTS();
	while ((n = rtscan_gather_rows(words, &place, chunk * RTSCAN_CHUNK_ROWS, stream->rows, KEYS)) > 0)
	{
		get_keys(stream, stream->rows, n, keys);
		for (uint32 i = 0; i < n; i++)
			stream->sorted[stream->nsorted++] = place_of_row(stream, stream->rows[i], keys[i]);
	}
}

static void
sort_all(RtscanOrderStream *stream, uint64 rows)
{
	stream->sorted = palloc_extended(Max(rows, 1) * sizeof(SortedRow), MCXT_ALLOC_HUGE);
	for (uint32 chunk = 0; chunk < stream->segment->reader.segment->chunks; chunk++)
		collect_chunk(stream, chunk);
	sort_rows(stream->sorted, stream->nsorted);
}

/* ---------------------------------------------------------------- streams */

/* Return the range of the column's ranks outside of which no row matches. */
static RankRange
filtered_ranks(const RtscanSegmentScan *segment, int column)
{
	const RtscanRegion *region = &segment->filter.region;

	for (int i = 0; i < region->ncolumns; i++)
	{
		const RtscanIntervals *intervals = &region->columns[i].intervals;

		if (region->columns[i].column == column && intervals->n > 0)
			return (RankRange) {intervals->items[0].low.rank, intervals->items[intervals->n - 1].high.rank};
	}
	return (RankRange) {0, segment->reader.segment->header.rows};
}

/* Return the number of places in the order before those of a range of ranks. */
static uint32
places_before(const RtscanOrderStream *stream, RankRange ranks)
{
	uint32		nonnull = stream->header->nonnull;
	uint32		nulls = stream->segment->reader.segment->header.rows - nonnull;

	if (stream->order->nulls_first && ranks.end > nonnull)
		return 0;
	return (stream->order->nulls_first ? nulls : 0) +
		(stream->order->descending ? nonnull - Min(ranks.end, nonnull) : ranks.first);
}

/* Is sorting all rows cheaper than walking as many of the ranks as it takes to find the rows that are wanted? */
static bool
sorting_is_cheaper(const RtscanOrderStream *stream, uint64 rows, uint32 ranks)
{
	return rows * SORT_NANOSECONDS < Min(stream->wanted / rows, 1) * ranks * WALK_NANOSECONDS;
}

/* Can a column be walked, or read by code?  In small segments it has neither an order nor bins. */
static bool
has_order(const RtscanColumnHeader *header)
{
	return header->bins > 0 || (header->flags & RTSCAN_COLUMN_HEAP_ORDER);
}

/* Do the conditions on a column demand only that its rank be in one range, without NULLs? */
static bool
asks_for_range(const RtscanSegment *segment, const RtscanRegionColumn *column)
{
	return column->intervals.n == 1 &&
		column->intervals.items[0].high.rank <= segment->columns[column->column].header.nonnull;
}

/* Return "column" if rows need not be tested for it, since its conditions only limit the ranks to walk; else -1. */
static int
column_of_ranks(const RtscanSegmentScan *segment, int column)
{
	const RtscanRegion *region = &segment->filter.region;

	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column == column && asks_for_range(segment->reader.segment, &region->columns[i]))
			return column;
	return -1;
}

/* Return the number of tests that take as long as finding the bits of all rows. */
static double
tests_for_bits(const RtscanSegmentScan *segment)
{
	RtscanReader reader = segment->reader;
	double		nanoseconds,
				pages,
				random_pages;

	rtscan_cpu_estimate(&reader, &segment->filter.region, reader.segment->header.rows, &nanoseconds, &pages,
						&random_pages);
	return nanoseconds / rtscan_row_test_time(&segment->filter.region);
}

/*
 * Return the fraction of rows that meet the conditions on columns other than the order's, if columns are independent.
 */
static double
passing_part(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	const RtscanRegion *region = &segment->filter.region;
	double		part = 1;

	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column != order->columns[0].column)
			part *= region->columns[i].stands_for * region->columns[i].rows / segment->reader.segment->header.rows;
	return part;
}

/*
 * Is testing row after row, until the rows that are wanted are found, cheaper than finding the bits?  Assumes that
 * all of these rows are in this segment.
 */
static bool
tests_are_cheaper(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	return order->wanted < segment->reader.segment->header.rows &&
		order->wanted + 1 < passing_part(segment, order) * tests_for_bits(segment);
}

/* Does the filter match all rows of a segment, or all rows in a range of a column's ranks? */
static bool
leaves_ranks(const RtscanSegmentScan *segment, int column)
{
	const RtscanRegion *region = &segment->filter.region;

	return region->ncolumns == 0 || (region->ncolumns == 1 && column_of_ranks(segment, column) >= 0);
}

bool
rtscan_stream_needs_no_bits(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	const RtscanSegmentFilter *filter = &segment->filter;
	int			column = order->columns[0].column;
	const RtscanColumnHeader *header;

	if (order->by_heap || segment->entry->dead != InvalidBlockNumber || filter->region.empty ||
		filter->nresiduals > 0 || filter->ndisjunctions > 0)
		return false;
	header = &segment->reader.segment->columns[column].header;
	return has_order(header) && !(header->flags & RTSCAN_COLUMN_EXACT) &&
		(leaves_ranks(segment, column) || tests_are_cheaper(segment, order));
}

uint64
rtscan_filtered_rows(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	RankRange	ranks = filtered_ranks(segment, order->columns[0].column);

	return ranks.end - ranks.first;
}

RtscanOrderStream *
rtscan_open_stream(RtscanSegmentScan *segment, const RtscanSchema *schema, RtscanValues *values, const uint64 *words,
				   const RtscanOrder *order)
{
	RtscanOrderStream *stream = palloc(sizeof(RtscanOrderStream));

	memset(stream, 0, offsetof(RtscanOrderStream, rows));
	stream->segment = segment;
	stream->left = NOT_BEGUN;
	stream->order = &order->columns[0];
	stream->wanted = order->wanted;
	stream->words = words;
	stream->header = &segment->reader.segment->columns[stream->order->column].header;
	stream->type = &schema->columns[stream->order->column];
	stream->values = values;
	if (words == NULL && !leaves_ranks(segment, stream->order->column))
	{
		stream->test = rtscan_create_row_test(&segment->reader, &segment->filter.region,
											  column_of_ranks(segment, stream->order->column));
		stream->tests = tests_for_bits(segment);
		stream->doubtful = DOUBTFUL / passing_part(segment, order);
	}
	return stream;
}

bool
rtscan_stream_goes_on(const RtscanOrderStream *stream)
{
	return stream->test && stream->words == NULL && stream->left > 0;
}

void
rtscan_stream_tell(RtscanOrderStream *stream, RtscanStreamDoubter doubter, void *arg)
{
	stream->doubter = doubter;
	stream->doubter_arg = arg;
}

void
rtscan_stream_take_bits(RtscanOrderStream *stream, RtscanRowBits *bits)
{
	stream->bits = bits;
}

bool
rtscan_stream_is_tested(const RtscanOrderStream *stream)
{
	return stream->test != NULL;
}

/*
 * Return the number of ranks to test.  If the range of ranks decides the conditions on the column, these are its
 * ranks; otherwise, as when the range extends into the NULLs, all ranks after the passed ones.
 */
static uint64
ranks_to_test(const RtscanOrderStream *stream, RankRange ranks, uint32 passed)
{
	if (column_of_ranks(stream->segment, stream->order->column) >= 0)
		return ranks.end - ranks.first;
	return stream->segment->reader.segment->header.rows - passed;
}

/* Begin to read by code, at the code that follows the passed places in the order. */
static void
begin_by_code(RtscanOrderStream *stream, uint32 passed)
{
	stream->refill = go_through_codes;
	stream->code_bits = rtscan_bits_create(CurrentMemoryContext, stream->segment->reader.segment->chunks);
	stream->place = passed == 0 ? 0 : place_of_code(stream, rtscan_key_at_place(stream, passed));
	enter_code(stream);
}

void
rtscan_begin_stream(RtscanOrderStream *stream, uint64 rows, uint32 passed)
{
	RankRange	ranks = filtered_ranks(stream->segment, stream->order->column);

	stream->left = rows;
	if (rows == 0)
		return;
	passed = Max(passed, places_before(stream, ranks));
	if (stream->test)
		stream->left = ranks_to_test(stream, ranks, passed);
	if (!has_order(stream->header) ||
		(stream->words &&
		 sorting_is_cheaper(stream, rows, Min(ranks.end - ranks.first,
											  stream->segment->reader.segment->header.rows - passed))))
		sort_all(stream, rows);
	else if (stream->header->flags & RTSCAN_COLUMN_EXACT)
		begin_by_code(stream, passed);
	else
	{
		stream->refill = walk;
		stream->passed = passed;
	}
}

/* Read more rows, until there are some. */
static void
refill(RtscanOrderStream *stream)
{
	stream->n = stream->next = 0;
	while (stream->n == 0)
		stream->refill(stream);
}

/* Find the bits of all matching rows by the CPU. */
static RtscanRowBits *
find_bits(RtscanOrderStream *stream)
{
	uint32		chunks = stream->segment->reader.segment->chunks;
	RtscanRowBits *bits = rtscan_bits_create(GetMemoryChunkContext(stream), chunks);
	RtscanCounters counters = {0};

	rtscan_bits_reset(bits, chunks);
	rtscan_cpu_evaluate(&stream->segment->reader, &stream->segment->filter.region, NULL, bits, &counters);
	return bits;
}

/* Switch to the bits of all matching rows, except those that have been returned. */
static void
find_rest(RtscanOrderStream *stream)
{
	RtscanRowBits *bits = stream->bits ? stream->bits : find_bits(stream);
	uint64	   *words;

	stream->left = rtscan_bits_count(bits) - stream->found;
	if (stream->left == 0)
		return;
	words = rtscan_bits_fill_all(bits);
	for (uint64 i = 0; i < stream->found; i++)
		words[stream->passing[i] / 64] &= ~(UINT64CONST(1) << (stream->passing[i] % 64));
	stream->words = words;
}

/*
 * Stop testing rows, since there have been too many tests, or the bits have been provided.  Continue with the bits of
 * the rows that have not been returned, as if they had been there from the beginning.
 */
static void
stop_testing(RtscanOrderStream *stream)
{
	uint32		n = stream->next;

	find_rest(stream);
	if (stream->left == 0)
		return;
	if (sorting_is_cheaper(stream, stream->left, stream->segment->reader.segment->header.rows - stream->passed))
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(stream));

		stream->n = stream->next = 0;
		sort_all(stream, stream->left);
		MemoryContextSwitchTo(old);
		return;
	}
	for (uint32 i = stream->next; i < stream->n; i++)
		if (bit_is_set(stream, stream->rows[i]))
			stream->rows[n++] = stream->rows[i];
	stream->n = n;
}

static void
note_passing(RtscanOrderStream *stream, uint32 row)
{
	if (stream->found == stream->room)
	{
		stream->room = Max(2 * stream->room, 16);
		stream->passing = stream->passing ? repalloc(stream->passing, stream->room * sizeof(uint32)) :
			MemoryContextAlloc(GetMemoryChunkContext(stream), stream->room * sizeof(uint32));
	}
	stream->passing[stream->found++] = row;
}

/* Call the doubter: far fewer rows pass than expected. */
static void
tell(RtscanOrderStream *stream)
{
	RtscanStreamDoubter doubter = stream->doubter;

	stream->doubter = NULL;
	doubter(stream->doubter_arg);
}

/*
 * Find the next row that passes; returns false if there is none, after too many tests, or if bits have been provided.
 */
static bool
next_tested(RtscanOrderStream *stream, uint32 *row)
{
	while (stream->left > 0 && stream->tests > 0 && stream->bits == NULL)
	{
		if (stream->next == stream->n)
			refill(stream);
		*row = stream->rows[stream->next++];
		stream->left--;
		stream->tests--;
		if (rtscan_row_passes(stream->test, *row))
		{
			note_passing(stream, *row);
			stream->in_vain = 0;
			return true;
		}
		if (++stream->in_vain > stream->doubtful && stream->doubter)
			tell(stream);
	}
	return false;
}

bool
rtscan_next_of_stream(RtscanOrderStream *stream, uint32 *row)
{
	if (stream->test && stream->words == NULL)
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
		refill(stream);
	*row = stream->rows[stream->next++];
	return true;
}

RtscanStreamKey
rtscan_stream_key(RtscanOrderStream *stream)
{
	RtscanStreamKey key;

	if (stream->sorted)
		return key_of_place(stream, &stream->sorted[stream->next - 1]);
	if (stream->code_bits)
		return key_of_code(stream, stream->code);
	get_keys(stream, &stream->rows[stream->next - 1], 1, &key);
	return key;
}

Datum
rtscan_stream_value(RtscanOrderStream *stream, RtscanStreamKey key)
{
	uint32		code = (uint32) key.number;
	int64		exact = rtscan_integer_of_key(key.number);
	Datum		value;

	if (rtscan_is_plain(stream->header))
		rtscan_exact_decode(stream->type->exact, &exact, 1, &value);
	else
		rtscan_get_values_of_codes(stream->values, &code, 1, &value);
	return value;
}
