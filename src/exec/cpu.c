/*
 * cpu.c
 *		The executor that is always there: sieve and refine on the CPU.
 *
 * A segment is evaluated in the cheapest of four ways.
 *
 *	codes		A segment of less than a chunk has no sieve: compare all codes.
 *	candidates	Few rows match the narrowest column: take them from its order, and test
 *				each by the other columns' codes.
 *	sieve		AND, chunk by chunk, a superset of each column's rows: its vectors at the
 *				nearest boundaries outwards.
 *	fill		A column's intervals that are much narrower than bins: set their rows' bits
 *				from the order, and AND those in place of vectors.
 *
 * After sieve, the rows between an interval's ends and the boundaries, the gaps, are still
 * to be decided (RTScan's refine step, section 3.4).  Either all of them are cleared,
 * found through the order, or, where fewer rows than that survived, each survivor is
 * tested by its codes.
 */
#include "exec/executor.h"

#include "encode/sieve.h"
#include "exec/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/*
 * Measured costs, in nanoseconds: a page that is in shared buffers, got and ANDed; a row
 * found through the order; a row tested by a code on a page at hand; the bits of a chunk
 * set; and those of a chunk cleared and ANDed for a column to be filled.
 */
#define COST_PAGE		250.0
#define COST_ORDER_ROW	1.2
#define COST_TEST_ROW	6.0
#define COST_CHUNK_BITS	120.0
#define COST_FILL_CHUNK	600.0

#define ORDER_PER_PAGE	2688
StaticAssertDecl(ORDER_PER_PAGE == RTSCAN_CHUNK_BYTES / 3, "3 bytes a row number");

/* A chunk's bits on the stack. */
typedef struct ChunkBits
{
	uint64		words[RTSCAN_CHUNK_WORDS];
} ChunkBits __attribute__((aligned(64)));

/* Boundaries i and j of a column: the rows with ranks X_i .. X_j - 1 are whole bins. */
typedef struct BinRun
{
	uint32		first;
	uint32		end;
} BinRun;

/* Ranks that a superset has too many. */
typedef struct RankRange
{
	uint32		first;
	uint32		end;
} RankRange;

/* How a column takes part. */
typedef struct ColumnPlan
{
	const RtscanGroupColumn *group;
	const RtscanSegmentColumn *column;
	bool		heap_order;
	bool		done;			/* filled: no vectors to read */
	uint32		nruns;
	BinRun	   *runs;
	uint32		ngaps;
	RankRange  *gaps;
	uint32		gap_rows;
} ColumnPlan;

typedef struct Evaluation
{
	RtscanReader *reader;
	RtscanRowBits *bits;
	RtscanCounters *counters;
	uint32		rows;
	int			ncolumns;
	ColumnPlan *columns;
} Evaluation;

/* ---------------------------------------------------------------- all rows */

/* The bits of a chunk that are of rows, all of them set. */
static void
set_all(uint64 *words, uint32 rows)
{
	uint32		full = rows / 64;

	memset(words, 0xFF, full * sizeof(uint64));
	memset(words + full, 0, RTSCAN_CHUNK_BYTES - full * sizeof(uint64));
	if (rows % 64 != 0)
		words[full] = ~(~UINT64CONST(0) << (rows % 64));
}

static uint32
chunk_rows(const Evaluation *evaluation, uint32 chunk)
{
	return Min(evaluation->rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
}

static void
fill_everything(Evaluation *evaluation)
{
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
		set_all(rtscan_bits_fill(evaluation->bits, chunk), chunk_rows(evaluation, chunk));
}

/* ---------------------------------------------------------------- rows of ranks */

/* Calls for the rows of ranks first .. end - 1, in the order of ranks. */
typedef void (*RowFunction) (uint32 row, void *arg);

/*
 * An inline function of a constant function: a loop of its own for each use.  Rows that
 * cannot be are a fault of the page, not a write out of bounds.
 */
static pg_attribute_always_inline void
visit_ranks(Evaluation *evaluation, const ColumnPlan *plan, uint32 first, uint32 end,
			RowFunction function, void *arg)
{
	RtscanReader *reader = evaluation->reader;
	const RtscanArea *area = &plan->column->header.order;

	for (uint32 rank = first; rank < end;)
	{
		uint32		page = rank / ORDER_PER_PAGE;
		uint32		stop = Min(end, (page + 1) * ORDER_PER_PAGE);
		uint32		largest = 0;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(reader, area, page, &buffer, &used);

		payload += (Size) (rank - page * ORDER_PER_PAGE) * 3;
		for (; rank < stop; rank++, payload += 3)
		{
			uint32		row = rtscan_load_packed(payload, 3);

			largest = Max(largest, row);
			if (likely(row < evaluation->rows))
				function(row, arg);
		}
		rtscan_release(reader, buffer);
		if (largest >= evaluation->rows)
			rtscan_fault(reader, area, page, "A row number is too large.");
	}
}

static inline void
set_row(uint32 row, void *words)
{
	((uint64 *) words)[row / 64] |= UINT64CONST(1) << (row % 64);
}

static inline void
clear_row(uint32 row, void *words)
{
	((uint64 *) words)[row / 64] &= ~(UINT64CONST(1) << (row % 64));
}

static inline void
append_row(uint32 row, void *next)
{
	*(*(uint32 **) next)++ = row;
}

/* ---------------------------------------------------------------- testing rows by code */

/* The page of codes at hand. */
typedef struct CodePage
{
	Buffer		buffer;
	uint32		number;
	const char *payload;
} CodePage;

/* Tests rows, best in ascending order, for which each column keeps its page. */
typedef struct RowTester
{
	Evaluation *evaluation;
	CodePage	pages[INDEX_MAX_KEYS];
} RowTester;

static void
close_tester(RowTester *tester)
{
	for (int i = 0; i < tester->evaluation->ncolumns; i++)
		if (BufferIsValid(tester->pages[i].buffer))
			rtscan_release(tester->evaluation->reader, tester->pages[i].buffer);
	memset(tester->pages, 0, sizeof(tester->pages));
}

static uint32
row_code(RowTester *tester, int i, uint32 row)
{
	const RtscanColumnHeader *header = &tester->evaluation->columns[i].column->header;
	CodePage   *page = &tester->pages[i];
	uint32		per_page = rtscan_per_page(header->code_bytes);
	uint32		number = row / per_page;

	if (!BufferIsValid(page->buffer) || page->number != number)
	{
		Size		used;

		if (BufferIsValid(page->buffer))
			rtscan_release(tester->evaluation->reader, page->buffer);
		page->buffer = InvalidBuffer;
		page->payload = rtscan_get_page(tester->evaluation->reader, &header->codes, number,
										&page->buffer, &used);
		page->number = number;
	}
	return rtscan_load_packed(page->payload + (row % per_page) * header->code_bytes,
							  header->code_bytes);
}

static bool
row_matches(RowTester *tester, int i, uint32 row)
{
	const ColumnPlan *plan = &tester->evaluation->columns[i];

	if (plan->heap_order)
		return rtscan_intervals_have_rank(&plan->group->intervals, row);
	return rtscan_intervals_have_code(&plan->group->intervals, row_code(tester, i, row));
}

/* ---------------------------------------------------------------- candidates */

static int
compare_uint32(const void *a, const void *b)
{
	uint32		left = *(const uint32 *) a,
				right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

/* The rows of the narrowest column, ascending. */
static uint32 *
candidate_rows(Evaluation *evaluation, uint32 *n)
{
	const ColumnPlan *plan = &evaluation->columns[0];
	const RtscanIntervals *set = &plan->group->intervals;
	uint32	   *rows = palloc(Max(plan->group->rows, 1) * sizeof(uint32));
	uint32	   *next = rows;

	for (uint32 i = 0; i < set->n; i++)
	{
		if (plan->heap_order)
			for (uint32 row = set->items[i].low.rank; row < set->items[i].high.rank; row++)
				*next++ = row;
		else
			visit_ranks(evaluation, plan, set->items[i].low.rank, set->items[i].high.rank,
						append_row, &next);
	}
	*n = next - rows;
	if (!plan->heap_order)
		qsort(rows, *n, sizeof(uint32), compare_uint32);
	return rows;
}

static void
test_candidates(Evaluation *evaluation)
{
	RowTester	tester = {.evaluation = evaluation};
	uint32		n;
	uint32	   *rows = candidate_rows(evaluation, &n);

	for (uint32 k = 0; k < n; k++)
	{
		uint32		row = rows[k];
		uint32		chunk = row / RTSCAN_CHUNK_ROWS;
		int			i = 1;

		while (i < evaluation->ncolumns && row_matches(&tester, i, row))
			i++;
		if (i == evaluation->ncolumns)
			set_row(row % RTSCAN_CHUNK_ROWS, rtscan_bits_fill(evaluation->bits, chunk));
	}
	close_tester(&tester);
	pfree(rows);
	evaluation->counters->refined_rows += n;
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
		if (evaluation->bits->filled[chunk])
			evaluation->counters->chunks_read++;
}

/* ---------------------------------------------------------------- codes */

/* AND one interval of a column's codes into bits of its (first and only) chunk. */
static void
and_code_interval(Evaluation *evaluation, const ColumnPlan *plan, uint64 *words,
				  const RtscanInterval *interval)
{
	const RtscanColumnHeader *header = &plan->column->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 i = 0; i < header->codes.pages; i++)
	{
		uint32		first = i * per_page;
		uint32		n = Min(evaluation->rows - first, per_page);
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(evaluation->reader, &header->codes, i, &buffer, &used);

		if (header->code_bytes == 1)
			rtscan_and_codes8(words + first / 64, (const uint8 *) payload, n,
							  interval->low.code, interval->high.code);
		else
			rtscan_and_codes16(words + first / 64, (const uint16 *) payload, n,
							   interval->low.code, interval->high.code);
		rtscan_release(evaluation->reader, buffer);
	}
}

/* AND a column's intervals into words. */
static void
and_codes(Evaluation *evaluation, const ColumnPlan *plan, uint64 *words)
{
	const RtscanIntervals *set = &plan->group->intervals;
	ChunkBits	any,
				one;

	if (set->n == 1)
	{
		and_code_interval(evaluation, plan, words, &set->items[0]);
		return;
	}
	memset(&any, 0, sizeof(any));
	for (uint32 i = 0; i < set->n; i++)
	{
		memcpy(one.words, words, RTSCAN_CHUNK_BYTES);
		and_code_interval(evaluation, plan, one.words, &set->items[i]);
		rtscan_or(any.words, one.words);
	}
	memcpy(words, any.words, RTSCAN_CHUNK_BYTES);
}

/* AND the row ranges of a column in heap order into a chunk. */
static void
and_row_ranges(Evaluation *evaluation, const ColumnPlan *plan, uint32 chunk, uint64 *words)
{
	const RtscanIntervals *set = &plan->group->intervals;
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		end = base + chunk_rows(evaluation, chunk);
	uint32		at = base;

	for (uint32 i = 0; i <= set->n && at < end; i++)
	{
		uint32		stop = i < set->n ? Min(set->items[i].low.rank, end) : end;

		for (; at < stop && at % 64 != 0; at++)
			clear_row(at - base, words);
		for (; at + 64 <= stop; at += 64)
			words[(at - base) / 64] = 0;
		for (; at < stop; at++)
			clear_row(at - base, words);
		if (i < set->n)
			at = Max(at, set->items[i].high.rank);
	}
}

static void
scan_codes(Evaluation *evaluation)
{
	uint64	   *words = rtscan_bits_fill(evaluation->bits, 0);

	set_all(words, evaluation->rows);
	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const ColumnPlan *plan = &evaluation->columns[i];

		if (plan->heap_order)
			and_row_ranges(evaluation, plan, 0, words);
		else
			and_codes(evaluation, plan, words);
	}
	evaluation->counters->refined_rows += evaluation->rows;
	evaluation->counters->chunks_read++;
}

/* ---------------------------------------------------------------- sieve: vectors of a chunk */

/* A vector F_i in one chunk: high | (next & low), each the number of a page of bits. */
typedef struct ChunkVector
{
	uint32		high;
	uint32		next;
	uint32		low;
} ChunkVector;

static uint32
vector_page(const RtscanSegmentColumn *column, uint32 chunks, uint32 vector, uint32 chunk)
{
	return column->vector_pages[(Size) vector * chunks + chunk];
}

static uint32
high_page(const RtscanSegmentColumn *column, uint32 chunks, uint32 h, uint32 chunk)
{
	if (h == 0)
		return RTSCAN_PAGE_ZEROS;
	if (h >= rtscan_high_count(&column->header))
		return RTSCAN_PAGE_ONES;
	return vector_page(column, chunks, rtscan_high_vector(h), chunk);
}

/* F_i in a chunk, simplified where its pages are constant: next and low both ones or zeros. */
static ChunkVector
chunk_vector(const RtscanSegmentColumn *column, uint32 chunks, uint32 i, uint32 chunk)
{
	const RtscanColumnHeader *header = &column->header;
	uint32		h = i / header->radix;
	uint32		l = i % header->radix;
	ChunkVector vector = {RTSCAN_PAGE_ONES, RTSCAN_PAGE_ZEROS, RTSCAN_PAGE_ZEROS};

	if (i == header->bins)
		return vector;
	vector.high = high_page(column, chunks, h, chunk);
	if (l == 0 || vector.high == RTSCAN_PAGE_ONES)
		return vector;
	vector.next = high_page(column, chunks, h + 1, chunk);
	vector.low = vector_page(column, chunks, rtscan_low_vector(header, l), chunk);
	if (vector.next == RTSCAN_PAGE_ZEROS || vector.low == RTSCAN_PAGE_ZEROS)
		vector.next = vector.low = RTSCAN_PAGE_ZEROS;
	else if (vector.next == RTSCAN_PAGE_ONES && vector.low == RTSCAN_PAGE_ONES)
		vector = (ChunkVector) {RTSCAN_PAGE_ONES, RTSCAN_PAGE_ZEROS, RTSCAN_PAGE_ZEROS};
	return vector;
}

static bool
is_zeros(const ChunkVector *vector)
{
	return vector->high == RTSCAN_PAGE_ZEROS && vector->next == RTSCAN_PAGE_ZEROS;
}

static bool
is_ones(const ChunkVector *vector)
{
	return vector->high == RTSCAN_PAGE_ONES;
}

/* The pages of bits that a run of bins needs in a chunk: those of two vectors, each got once. */
#define RUN_PAGES	6

typedef struct RunPages
{
	int			n;
	uint32		numbers[RUN_PAGES];
	Buffer		buffers[RUN_PAGES];
	const uint64 *words[RUN_PAGES];
} RunPages;

static const uint64 *
get_vector_page(RtscanReader *reader, const RtscanArea *area, uint32 number, RunPages *pages)
{
	Size		used;

	if (number == RTSCAN_PAGE_ZEROS)
		return rtscan_zeros();
	if (number == RTSCAN_PAGE_ONES)
		return rtscan_ones();
	for (int i = 0; i < pages->n; i++)
		if (pages->numbers[i] == number)
			return pages->words[i];
	pages->numbers[pages->n] = number;
	pages->words[pages->n] = (const uint64 *)
		rtscan_get_page(reader, area, number, &pages->buffers[pages->n], &used);
	return pages->words[pages->n++];
}

static RtscanVectorPages
get_vector(RtscanReader *reader, const RtscanArea *area, const ChunkVector *vector, RunPages *pages)
{
	return (RtscanVectorPages) {
		.high = get_vector_page(reader, area, vector->high, pages),
		.next = get_vector_page(reader, area, vector->next, pages),
		.low = get_vector_page(reader, area, vector->low, pages),
	};
}

/* AND the bins of a run into words. */
static void
and_run(Evaluation *evaluation, const ColumnPlan *plan, const BinRun *run, uint32 chunk,
		uint64 *words)
{
	const RtscanArea *area = &plan->column->header.sieve;
	uint32		chunks = evaluation->bits->chunks;
	ChunkVector end = chunk_vector(plan->column, chunks, run->end, chunk);
	ChunkVector first = chunk_vector(plan->column, chunks, run->first, chunk);
	RtscanVectorPages end_pages,
				first_pages;
	RunPages	pages = {.n = 0};

	if (is_zeros(&end) || is_ones(&first))
	{
		memset(words, 0, RTSCAN_CHUNK_BYTES);
		return;
	}
	end_pages = get_vector(evaluation->reader, area, &end, &pages);
	first_pages = get_vector(evaluation->reader, area, &first, &pages);
	if (!is_zeros(&first))
		rtscan_and_between(words, &first_pages, &end_pages);
	else if (end.next != RTSCAN_PAGE_ZEROS)
		rtscan_and_below(words, &end_pages);
	else if (!is_ones(&end))
		rtscan_and(words, end_pages.high);
	for (int i = 0; i < pages.n; i++)
		rtscan_release(evaluation->reader, pages.buffers[i]);
}

/* AND a column's superset into words. */
static void
and_superset(Evaluation *evaluation, const ColumnPlan *plan, uint32 chunk, uint64 *words)
{
	ChunkBits	any,
				one;

	if (plan->nruns == 1)
	{
		and_run(evaluation, plan, &plan->runs[0], chunk, words);
		return;
	}
	memset(&any, 0, sizeof(any));
	for (uint32 i = 0; i < plan->nruns; i++)
	{
		memcpy(one.words, words, RTSCAN_CHUNK_BYTES);
		and_run(evaluation, plan, &plan->runs[i], chunk, one.words);
		rtscan_or(any.words, one.words);
	}
	memcpy(words, any.words, RTSCAN_CHUNK_BYTES);
}

/* Do the states of its pages alone say that no row of a chunk is in the column's superset? */
static bool
excludes_chunk(const Evaluation *evaluation, const ColumnPlan *plan, uint32 chunk)
{
	uint32		chunks = evaluation->bits->chunks;

	if (plan->heap_order)
	{
		const RtscanIntervals *set = &plan->group->intervals;
		uint32		base = chunk * RTSCAN_CHUNK_ROWS;

		for (uint32 i = 0; i < set->n; i++)
			if (set->items[i].low.rank < base + RTSCAN_CHUNK_ROWS && set->items[i].high.rank > base)
				return false;
		return true;
	}
	for (uint32 i = 0; i < plan->nruns; i++)
	{
		ChunkVector end = chunk_vector(plan->column, chunks, plan->runs[i].end, chunk);
		ChunkVector first = chunk_vector(plan->column, chunks, plan->runs[i].first, chunk);

		if (!is_zeros(&end) && !is_ones(&first))
			return false;
	}
	return true;
}

static void
prefetch_vector(RtscanReader *reader, const RtscanArea *area, const ChunkVector *vector)
{
	const uint32 pages[] = {vector->high, vector->next, vector->low};

	for (size_t i = 0; i < lengthof(pages); i++)
		if (pages[i] != RTSCAN_PAGE_ZEROS && pages[i] != RTSCAN_PAGE_ONES)
			rtscan_prefetch_page(reader, area, pages[i]);
}

/* The pages of a column's first run in a chunk are going to be needed next. */
static void
prefetch_run(Evaluation *evaluation, const ColumnPlan *plan, uint32 chunk)
{
	const RtscanArea *area = &plan->column->header.sieve;
	uint32		chunks = evaluation->bits->chunks;
	ChunkVector end,
				first;

	if (chunk >= chunks || plan->nruns == 0)
		return;
	end = chunk_vector(plan->column, chunks, plan->runs[0].end, chunk);
	first = chunk_vector(plan->column, chunks, plan->runs[0].first, chunk);
	prefetch_vector(evaluation->reader, area, &end);
	prefetch_vector(evaluation->reader, area, &first);
}

/* ---------------------------------------------------------------- sieve: runs and gaps */

/* The last boundary that is not above a rank. */
static uint32
boundary_below(const RtscanSegmentColumn *column, uint32 rank)
{
	uint32		low = 0,
				high = column->header.bins + 1;

	while (high - low > 1)
	{
		uint32		middle = (low + high) / 2;

		if (column->boundaries[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The bins that the intervals touch, as few runs as there can be. */
static void
find_runs(ColumnPlan *plan)
{
	const RtscanIntervals *set = &plan->group->intervals;
	const uint32 *boundaries = plan->column->boundaries;

	plan->runs = palloc(set->n * sizeof(BinRun));
	for (uint32 i = 0; i < set->n; i++)
	{
		BinRun		run = {
			.first = boundary_below(plan->column, set->items[i].low.rank),
			.end = boundary_below(plan->column, set->items[i].high.rank),
		};

		if (boundaries[run.end] < set->items[i].high.rank)
			run.end++;
		if (plan->nruns > 0 && plan->runs[plan->nruns - 1].end >= run.first)
			plan->runs[plan->nruns - 1].end = run.end;
		else
			plan->runs[plan->nruns++] = run;
	}
}

static void
add_gap(ColumnPlan *plan, uint32 first, uint32 end)
{
	if (first >= end)
		return;
	plan->gaps[plan->ngaps++] = (RankRange) {first, end};
	plan->gap_rows += end - first;
}

/* The ranks that the runs have and the intervals do not. */
static void
find_gaps(ColumnPlan *plan)
{
	const RtscanIntervals *set = &plan->group->intervals;
	const uint32 *boundaries = plan->column->boundaries;
	uint32		i = 0;

	plan->gaps = palloc((set->n + plan->nruns) * sizeof(RankRange));
	for (uint32 r = 0; r < plan->nruns; r++)
	{
		uint32		at = boundaries[plan->runs[r].first];
		uint32		end = boundaries[plan->runs[r].end];

		for (; i < set->n && set->items[i].low.rank < end; i++)
		{
			add_gap(plan, at, set->items[i].low.rank);
			at = set->items[i].high.rank;
		}
		add_gap(plan, at, end);
	}
}

/* Pages of bits that a chunk of a column takes, at most. */
static uint32
pages_per_chunk(const ColumnPlan *plan)
{
	uint32		pages = 0;

	if (plan->heap_order)
		return 0;
	for (uint32 i = 0; i < plan->nruns; i++)
		pages += (plan->runs[i].first > 0 ? 3 : 0) +
			(plan->runs[i].end < plan->column->header.bins ? 3 : 0);
	return pages;
}

/* Is setting the intervals' rows one by one cheaper than vectors, and clearing gaps? */
static bool
fill_is_cheaper(const Evaluation *evaluation, const ColumnPlan *plan)
{
	double		chunks = evaluation->bits->chunks;

	if (plan->heap_order || plan->column->header.order.pages == 0)
		return false;
	return plan->group->rows * COST_ORDER_ROW + chunks * COST_FILL_CHUNK <
		chunks * pages_per_chunk(plan) * COST_PAGE + plan->gap_rows * COST_ORDER_ROW;
}

/* Bits of a segment to fill; one for all evaluations, which do not nest. */
static uint64 *
fill_room(Size bytes)
{
	static uint64 *room;

	if (room == NULL)
		room = rtscan_bits_create(TopMemoryContext)->words;
	return memset(room, 0, bytes);
}

/* Set the bits of all rows of a column's intervals, and AND them into the segment's. */
static void
fill_column(Evaluation *evaluation, ColumnPlan *plan)
{
	const RtscanIntervals *set = &plan->group->intervals;
	uint32		chunks = evaluation->bits->chunks;
	uint64	   *room = fill_room((Size) chunks * RTSCAN_CHUNK_BYTES);

	for (uint32 i = 0; i < set->n; i++)
		visit_ranks(evaluation, plan, set->items[i].low.rank, set->items[i].high.rank, set_row, room);
	for (uint32 chunk = 0; chunk < chunks; chunk++)
		rtscan_and(rtscan_bits_chunk(evaluation->bits, chunk), room + (Size) chunk * RTSCAN_CHUNK_WORDS);
	evaluation->counters->refined_rows += plan->group->rows;
	plan->ngaps = plan->gap_rows = 0;
	plan->done = true;
}

/* ---------------------------------------------------------------- sieve: chunks */

static void
sieve_chunk(Evaluation *evaluation, uint32 chunk)
{
	uint64	   *words = rtscan_bits_chunk(evaluation->bits, chunk);

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const ColumnPlan *plan = &evaluation->columns[i];

		if (plan->heap_order)
			and_row_ranges(evaluation, plan, chunk, words);
		else if (!plan->done)
		{
			prefetch_run(evaluation, plan, chunk + 1);
			and_superset(evaluation, plan, chunk, words);
		}
	}
}

static bool
chunk_is_excluded(const Evaluation *evaluation, uint32 chunk)
{
	for (int i = 0; i < evaluation->ncolumns; i++)
		if (excludes_chunk(evaluation, &evaluation->columns[i], chunk))
			return true;
	return false;
}

/* Set the bits of all rows of the chunks that no column excludes. */
static void
choose_chunks(Evaluation *evaluation)
{
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
	{
		if (chunk_is_excluded(evaluation, chunk))
		{
			evaluation->counters->chunks_skipped++;
			continue;
		}
		set_all(rtscan_bits_chunk(evaluation->bits, chunk), chunk_rows(evaluation, chunk));
		evaluation->bits->filled[chunk] = true;
		evaluation->counters->chunks_read++;
	}
}

static void
sieve_chunks(Evaluation *evaluation)
{
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		if (evaluation->bits->filled[chunk])
			sieve_chunk(evaluation, chunk);
	}
}

/* ---------------------------------------------------------------- refine */

static void
clear_gaps(Evaluation *evaluation)
{
	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const ColumnPlan *plan = &evaluation->columns[i];

		for (uint32 g = 0; g < plan->ngaps; g++)
			visit_ranks(evaluation, plan, plan->gaps[g].first, plan->gaps[g].end,
						clear_row, evaluation->bits->words);
		evaluation->counters->refined_rows += plan->gap_rows;
	}
}

static void
test_survivors_of_word(RowTester *tester, uint64 *word, uint32 base)
{
	Evaluation *evaluation = tester->evaluation;

	for (uint64 left = *word; left != 0; left &= left - 1)
	{
		int			bit = pg_rightmost_one_pos64(left);

		for (int i = 0; i < evaluation->ncolumns; i++)
			if (evaluation->columns[i].ngaps > 0 && !row_matches(tester, i, base + bit))
			{
				*word &= ~(UINT64CONST(1) << bit);
				break;
			}
	}
}

static void
test_survivors(Evaluation *evaluation, uint64 survivors)
{
	RowTester	tester = {.evaluation = evaluation};

	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
	{
		uint64	   *words = rtscan_bits_chunk(evaluation->bits, chunk);

		if (!evaluation->bits->filled[chunk])
			continue;
		for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
			if (words[w] != 0)
				test_survivors_of_word(&tester, &words[w], chunk * RTSCAN_CHUNK_ROWS + w * 64);
	}
	close_tester(&tester);
	evaluation->counters->refined_rows += survivors;
}

/* What testing survivors costs: as good as every test may need another page. */
static double
survivor_cost(const Evaluation *evaluation, double survivors)
{
	double		cost = 0;

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const ColumnPlan *plan = &evaluation->columns[i];

		if (plan->ngaps > 0)
			cost += Min(survivors, plan->column->header.codes.pages) * COST_PAGE +
				survivors * COST_TEST_ROW;
	}
	return cost;
}

/* Survivors to expect if columns are independent: is it worth counting them? */
static double
expected_survivors(const Evaluation *evaluation)
{
	double		expected = evaluation->rows;

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const ColumnPlan *plan = &evaluation->columns[i];

		expected *= (double) (plan->group->rows + plan->gap_rows) / evaluation->rows;
	}
	return expected;
}

static void
refine(Evaluation *evaluation)
{
	double		gap_rows = 0;

	for (int i = 0; i < evaluation->ncolumns; i++)
		gap_rows += evaluation->columns[i].gap_rows;
	if (gap_rows == 0)
		return;
	if (survivor_cost(evaluation, expected_survivors(evaluation)) < gap_rows * COST_ORDER_ROW)
	{
		uint64		survivors = rtscan_bits_count(evaluation->bits);

		if (survivor_cost(evaluation, survivors) < gap_rows * COST_ORDER_ROW)
		{
			test_survivors(evaluation, survivors);
			return;
		}
	}
	clear_gaps(evaluation);
}

/* ---------------------------------------------------------------- the choice */

/* What a way to evaluate takes. */
typedef struct WayCost
{
	double		nanoseconds;
	double		pages;
} WayCost;

/* Codes of a segment without a sieve. */
static WayCost
codes_cost(const Evaluation *evaluation)
{
	WayCost		cost = {0, 0};

	for (int i = 0; i < evaluation->ncolumns; i++)
		cost.pages += evaluation->columns[i].column->header.codes.pages;
	cost.nanoseconds = cost.pages * COST_PAGE;
	return cost;
}

/* Each row of the narrowest column tested by the others' codes; no pages: it cannot be done. */
static WayCost
candidates_cost(const Evaluation *evaluation)
{
	const ColumnPlan *narrowest = &evaluation->columns[0];
	double		n = narrowest->group->rows;
	WayCost		cost = {n * COST_ORDER_ROW, 1 + n / ORDER_PER_PAGE};

	if (!narrowest->heap_order && narrowest->column->header.order.pages == 0)
		return (WayCost) {0, 0};
	for (int i = 1; i < evaluation->ncolumns; i++)
	{
		cost.pages += Min(n, evaluation->columns[i].column->header.codes.pages);
		cost.nanoseconds += n * COST_TEST_ROW;
	}
	cost.nanoseconds += cost.pages * COST_PAGE;
	return cost;
}

/* Chunks that the narrowest column does not exclude if it is in heap order. */
static double
chunks_to_sieve(const Evaluation *evaluation)
{
	double		chunks = evaluation->bits->chunks;

	for (int i = 0; i < evaluation->ncolumns; i++)
		if (evaluation->columns[i].heap_order)
			chunks = Min(chunks, 1 + evaluation->columns[i].group->rows / RTSCAN_CHUNK_ROWS);
	return chunks;
}

static WayCost
sieve_cost(const Evaluation *evaluation)
{
	double		chunks = chunks_to_sieve(evaluation);
	WayCost		cost = {chunks * COST_CHUNK_BITS, 0};

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const ColumnPlan *plan = &evaluation->columns[i];
		bool		fill = fill_is_cheaper(evaluation, plan);
		double		order_rows = fill ? plan->group->rows : plan->gap_rows;

		cost.pages += order_rows / ORDER_PER_PAGE + (fill ? 0 : chunks * pages_per_chunk(plan));
		cost.nanoseconds += order_rows * COST_ORDER_ROW + (fill ? chunks * COST_FILL_CHUNK : 0);
	}
	cost.nanoseconds += cost.pages * COST_PAGE;
	return cost;
}

static bool
candidates_are_cheaper(const Evaluation *evaluation)
{
	WayCost		candidates = candidates_cost(evaluation);

	return candidates.pages > 0 && candidates.nanoseconds < sieve_cost(evaluation).nanoseconds;
}

/* ---------------------------------------------------------------- the executor */

static void
plan_column(ColumnPlan *plan, RtscanReader *reader, const RtscanGroupColumn *group)
{
	plan->group = group;
	plan->column = &reader->segment->columns[group->column];
	plan->heap_order = (plan->column->header.flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	if (plan->column->header.bins > 0)
	{
		find_runs(plan);
		find_gaps(plan);
	}
}

static Evaluation
plan_evaluation(RtscanReader *reader, const RtscanPredicateGroup *group,
				RtscanRowBits *bits, RtscanCounters *counters)
{
	Evaluation	evaluation = {
		.reader = reader,
		.bits = bits,
		.counters = counters,
		.rows = reader->segment->header.rows,
		.ncolumns = group->ncolumns,
		.columns = palloc0(Max(group->ncolumns, 1) * sizeof(ColumnPlan)),
	};

	for (int i = 0; i < group->ncolumns; i++)
		plan_column(&evaluation.columns[i], reader, &group->columns[i]);
	return evaluation;
}

static void
sieve_and_refine(Evaluation *evaluation)
{
	choose_chunks(evaluation);
	for (int i = 0; i < evaluation->ncolumns; i++)
		if (fill_is_cheaper(evaluation, &evaluation->columns[i]))
			fill_column(evaluation, &evaluation->columns[i]);
	sieve_chunks(evaluation);
	refine(evaluation);
}

static void
cpu_evaluate(RtscanReader *reader, const RtscanPredicateGroup *group,
			 RtscanRowBits *bits, RtscanCounters *counters)
{
	Evaluation	evaluation = plan_evaluation(reader, group, bits, counters);

	if (group->ncolumns == 0)
		fill_everything(&evaluation);
	else if (evaluation.rows < RTSCAN_CHUNK_ROWS)
		scan_codes(&evaluation);
	else if (candidates_are_cheaper(&evaluation))
		test_candidates(&evaluation);
	else
		sieve_and_refine(&evaluation);
}

static void
cpu_estimate(RtscanReader *reader, const RtscanPredicateGroup *group,
			 double *nanoseconds, double *pages)
{
	RtscanRowBits bits = {.chunks = reader->segment->chunks};
	Evaluation	evaluation = plan_evaluation(reader, group, &bits, NULL);
	WayCost		cost;

	if (evaluation.rows < RTSCAN_CHUNK_ROWS || group->ncolumns == 0)
		cost = codes_cost(&evaluation);
	else if (candidates_are_cheaper(&evaluation))
		cost = candidates_cost(&evaluation);
	else
		cost = sieve_cost(&evaluation);
	*nanoseconds = cost.nanoseconds;
	*pages = cost.pages;
}

const RtscanExecutor rtscan_cpu_executor = {
	.name = "cpu",
	.evaluate = cpu_evaluate,
	.estimate = cpu_estimate,
};
