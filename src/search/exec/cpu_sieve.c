/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu_sieve.c
 *		Data Sieving (RTScan, section 3.3): AND supersets of the columns' rows.
 */
#include "search/exec/cpu_parts.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "search/filter/code_bitmap.h"
#include "segment/sieve.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- vectors */

static const uint32 all_zeros[RTSCAN_SEGMENT_CHUNKS] = {[0 ... RTSCAN_SEGMENT_CHUNKS - 1] = RTSCAN_PAGE_ZEROS};
static const uint32 all_ones[RTSCAN_SEGMENT_CHUNKS] = {[0 ... RTSCAN_SEGMENT_CHUNKS - 1] = RTSCAN_PAGE_ONES};

static const uint32 *
high_pages(const RtscanSegmentColumn *column, uint32 chunks, uint32 h)
{
	if (h == 0)
		return all_zeros;
	if (h >= rtscan_high_count(&column->header))
		return all_ones;
	return column->vector_pages + (Size) rtscan_high_vector(h) * chunks;
}

/* Return the sieve vector of boundary i. */
static BinVector
bin_vector(const RtscanSegmentColumn *column, uint32 chunks, uint32 i)
{
	const RtscanColumnHeader *header = &column->header;
	uint32		h = i / header->radix;
	uint32		l = i % header->radix;

	if (i == header->bins)
		return (BinVector) {all_ones, all_zeros, all_zeros};
	if (l == 0)
		return (BinVector) {high_pages(column, chunks, h), all_zeros, all_zeros};
	return (BinVector) {
		.high = high_pages(column, chunks, h),
		.next = high_pages(column, chunks, h + 1),
		.low = column->vector_pages + (Size) rtscan_low_vector(header, l) * chunks,
	};
}

void
rtscan_cpu_find_vectors(const CpuColumn *part, uint32 chunks, BinRun *run)
{
	run->first_vector = bin_vector(part->column, chunks, run->first);
	run->end_vector = bin_vector(part->column, chunks, run->end);
}

/* A sieve vector in one chunk, high | (next & low): each of the three is the number of a page of bits. */
typedef struct ChunkVector
{
	uint32		high;			/* the page whose bits are all in the vector */
	uint32		next;			/* page whose bits are in the vector if "low" has them, too */
	uint32		low;			/* page that "next" is ANDed with */
} ChunkVector;

/*
 * Return a vector in one chunk, simplified if some of its pages are constant.  If they set all bits, "high" is all
 * ones, and "next" and "low" are all zeros.  If "next" or "low" is all zeros, both are set to all zeros.
 */
static inline ChunkVector
chunk_vector(const BinVector *bins, uint32 chunk)
{
	const ChunkVector ones = {RTSCAN_PAGE_ONES, RTSCAN_PAGE_ZEROS, RTSCAN_PAGE_ZEROS};
	ChunkVector vector = {bins->high[chunk], bins->next[chunk], bins->low[chunk]};

	if (vector.high == RTSCAN_PAGE_ONES || (vector.next == RTSCAN_PAGE_ONES && vector.low == RTSCAN_PAGE_ONES))
		return ones;
	if (vector.next == RTSCAN_PAGE_ZEROS || vector.low == RTSCAN_PAGE_ZEROS)
		vector.next = vector.low = RTSCAN_PAGE_ZEROS;
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

/* The most pages of bits that a run of bins needs in a chunk: three for each of its two vectors. */
#define RUN_PAGES	6

/* The pages of bits of a run in a chunk, each pinned once. */
typedef struct RunPages
{
	int			n;				/* number of pages */
	uint32		numbers[RUN_PAGES]; /* their numbers */
	Buffer		buffers[RUN_PAGES]; /* their buffers */
	const uint64 *words[RUN_PAGES]; /* their bits */
} RunPages;

static const uint64 *
get_vector_page(RtscanReader *reader, const RtscanArea *area, uint32 number, RunPages *pages)
{
	if (number == RTSCAN_PAGE_ZEROS)
		return rtscan_zeros();
	if (number == RTSCAN_PAGE_ONES)
		return rtscan_ones();
	for (int i = 0; i < pages->n; i++)
		if (pages->numbers[i] == number)
			return pages->words[i];
	pages->numbers[pages->n] = number;
	pages->words[pages->n] = (const uint64 *)
		rtscan_get_page(reader, area, number, &pages->buffers[pages->n], NULL);
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

/* AND the rows of a run of bins into a chunk's words. */
static void
and_run(CpuEvaluation *evaluation, const CpuColumn *part, const BinRun *run, uint32 chunk,
		uint64 *words)
{
	const RtscanArea *area = &part->column->header.sieve;
	ChunkVector end = chunk_vector(&run->end_vector, chunk);
	ChunkVector first = chunk_vector(&run->first_vector, chunk);
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

/*
 * AND the rows of all runs of a column into a chunk's words.  The rows of the runs are a superset of the rows in the
 * column's intervals.
 */
static void
and_superset(CpuEvaluation *evaluation, const CpuColumn *part, uint32 chunk, uint64 *words)
{
	ChunkBits	any,
				one;

	if (part->nruns == 1)
	{
		and_run(evaluation, part, &part->runs[0], chunk, words);
		return;
	}
	memset(&any, 0, sizeof(any));
	for (uint32 i = 0; i < part->nruns; i++)
	{
		memcpy(one.words, words, RTSCAN_CHUNK_BYTES);
		and_run(evaluation, part, &part->runs[i], chunk, one.words);
		rtscan_or(any.words, one.words);
	}
	memcpy(words, any.words, RTSCAN_CHUNK_BYTES);
}

static void
prefetch_vector(RtscanReader *reader, const RtscanArea *area, const ChunkVector *vector)
{
	const uint32 pages[] = {vector->high, vector->next, vector->low};

	for (size_t i = 0; i < lengthof(pages); i++)
		if (pages[i] != RTSCAN_PAGE_ZEROS && pages[i] != RTSCAN_PAGE_ONES)
			rtscan_prefetch_page(reader, area, pages[i]);
}

/* Prefetch the pages of a column's first run in a chunk, which will be needed next. */
static void
prefetch_bin_run(CpuEvaluation *evaluation, const CpuColumn *part, uint32 chunk)
{
	const RtscanArea *area = &part->column->header.sieve;
	ChunkVector end,
				first;

	if (chunk >= evaluation->bits->chunks || part->nruns == 0)
		return;
	end = chunk_vector(&part->runs[0].end_vector, chunk);
	first = chunk_vector(&part->runs[0].first_vector, chunk);
	prefetch_vector(evaluation->reader, area, &end);
	prefetch_vector(evaluation->reader, area, &first);
}

/* ---------------------------------------------------------------- filled columns, ranges of rows */

/*
 * Return memory for a segment's row bits, in which the rows of a filled column are set.  The bits of open chunks are
 * clear.  Evaluations do not nest, so all of them use the same memory.
 */
static uint64 *
fill_room(const CpuEvaluation *evaluation)
{
	static uint64 *room;

	if (room == NULL)
		room = rtscan_bits_create(TopMemoryContext, RTSCAN_SEGMENT_CHUNKS)->words;
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
		if (evaluation->open[chunk])
			memset(room + (Size) chunk * RTSCAN_CHUNK_WORDS, 0, RTSCAN_CHUNK_BYTES);
	return room;
}

/* Find the rows of a column's intervals through its order, and AND their bits into those of the segment. */
static void
fill_column(CpuEvaluation *evaluation, CpuColumn *part)
{
	uint64	   *room = fill_room(evaluation);

	rtscan_cpu_set_interval_rows(evaluation, part, room);
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
		if (evaluation->open[chunk])
			rtscan_and(rtscan_bits_chunk(evaluation->bits, chunk), room + (Size) chunk * RTSCAN_CHUNK_WORDS);
	evaluation->counters->refined_rows += part->region->rows;
	part->ngaps = part->gap_rows = 0;
}

/* Test the "rows" remaining rows by their codes. */
static void
test_column(CpuEvaluation *evaluation, CpuColumn *part, uint64 rows)
{
	rtscan_and_code_bitmap(evaluation->reader, &part->column->header, rtscan_cpu_members(part), evaluation->bits);
	evaluation->counters->refined_rows += rows;
	part->ngaps = part->gap_rows = 0;
}

/*
 * Evaluate the columns that are "done" (CpuColumn), whose rows are cheaper to find or test than their vectors are to
 * read.  Call this after the other columns' vectors have been ANDed.
 */
static void
fill_columns(CpuEvaluation *evaluation)
{
	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		CpuColumn  *part = &evaluation->columns[i];
		uint64		left;

		if (!part->done)
			continue;
		left = rtscan_bits_count(evaluation->bits);
		if (rtscan_cpu_codes_are_cheaper(evaluation, part, left))
			test_column(evaluation, part, left);
		else
			fill_column(evaluation, part);
		rtscan_cpu_trace_bits(evaluation, part, part->members ? RTSCAN_BY_CODES : RTSCAN_BY_ORDER);
	}
}

/* AND a column in heap order into a chunk's words: its intervals are ranges of rows. */
void
rtscan_cpu_and_row_ranges(CpuEvaluation *evaluation, const CpuColumn *part, uint32 chunk, uint64 *words)
{
	const RtscanIntervals *set = &part->region->intervals;
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		end = base + rtscan_cpu_chunk_rows(evaluation, chunk);
	uint32		at = base;

	for (uint32 i = 0; i <= set->n && at < end; i++)
	{
		uint32		stop = i < set->n ? Min(set->items[i].low.rank, end) : end;

		for (; at < stop && at % 64 != 0; at++)
			rtscan_cpu_clear_row(at - base, words);
		for (; at + 64 <= stop; at += 64)
			words[(at - base) / 64] = 0;
		for (; at < stop; at++)
			rtscan_cpu_clear_row(at - base, words);
		if (i < set->n)
			at = Max(at, set->items[i].high.rank);
	}
}

/* ---------------------------------------------------------------- chunks */

/* Set the first "rows" bits of a chunk, and clear the rest. */
void
rtscan_cpu_set_all(uint64 *words, uint32 rows)
{
	uint32		full = rows / 64;

	memset(words, 0xFF, full * sizeof(uint64));
	memset(words + full, 0, RTSCAN_CHUNK_BYTES - full * sizeof(uint64));
	if (rows % 64 != 0)
		words[full] = ~(~UINT64CONST(0) << (rows % 64));
}

static void
sieve_chunk(CpuEvaluation *evaluation, uint32 chunk)
{
	uint64	   *words = rtscan_bits_chunk(evaluation->bits, chunk);

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const CpuColumn *part = &evaluation->columns[i];

		if (part->heap_order)
			rtscan_cpu_and_row_ranges(evaluation, part, chunk, words);
		else if (!part->done)
		{
			prefetch_bin_run(evaluation, part, chunk + 1);
			and_superset(evaluation, part, chunk, words);
		}
	}
}

/*
 * Do a column's constant pages alone show that a chunk has no row of the column's superset?  For a column in heap
 * order, its ranges of rows show it.
 */
bool
rtscan_cpu_excludes_chunk(const CpuColumn *part, uint32 chunk)
{
	if (part->heap_order)
	{
		const RtscanIntervals *set = &part->region->intervals;
		uint32		base = chunk * RTSCAN_CHUNK_ROWS;

		for (uint32 i = 0; i < set->n; i++)
			if (set->items[i].low.rank < base + RTSCAN_CHUNK_ROWS && set->items[i].high.rank > base)
				return false;
		return true;
	}
	for (uint32 i = 0; i < part->nruns; i++)
	{
		ChunkVector end = chunk_vector(&part->runs[i].end_vector, chunk);
		ChunkVector first = chunk_vector(&part->runs[i].first_vector, chunk);

		if (!is_zeros(&end) && !is_ones(&first))
			return false;
	}
	return true;
}

/* Set the bits of all rows of the open chunks. */
static void
fill_open_chunks(CpuEvaluation *evaluation)
{
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!evaluation->open[chunk])
		{
			evaluation->counters->chunks_skipped++;
			continue;
		}
		rtscan_cpu_set_all(rtscan_bits_chunk(evaluation->bits, chunk), rtscan_cpu_chunk_rows(evaluation, chunk));
		evaluation->bits->filled[chunk] = true;
		evaluation->counters->chunks_read++;
	}
}

void
rtscan_cpu_sieve(CpuEvaluation *evaluation)
{
	fill_open_chunks(evaluation);
	for (int i = 0; i < evaluation->ncolumns; i++)
		evaluation->columns[i].done = rtscan_cpu_fill_is_cheaper(evaluation, &evaluation->columns[i]);
	for (uint32 chunk = 0; chunk < evaluation->bits->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		if (evaluation->open[chunk])
			sieve_chunk(evaluation, chunk);
	}
	fill_columns(evaluation);
}
