/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu_ranks.c
 *		Find rows by their ranks, through a column's order, and set or clear their bits.
 */
#include "search/exec/cpu_parts.h"

#include "bits/packed.h"
#include "miscadmin.h"

/* Prefetch distance, in intervals. */
#define PREFETCHED_INTERVALS	12

/* Number of rows to prefetch in each interval; the processor itself prefetches the rows after them. */
#define PREFETCHED_ROWS			64

/* Rows that are unpacked at a time. */
#define RANKS_AT_ONCE	256

void
rtscan_cpu_visit_ranks(CpuEvaluation *evaluation, const CpuColumn *part, uint32 first, uint32 end,
					   RankRowsFunction function, void *arg)
{
	RtscanReader *reader = evaluation->reader;
	const RtscanArea *area = &part->column->header.order;

	for (uint32 rank = first; rank < end;)
	{
		uint32		page = rank / RTSCAN_ORDER_PER_PAGE;
		uint32		stop = Min(end, (page + 1) * RTSCAN_ORDER_PER_PAGE);
		uint64		largest = 0;
		Buffer		buffer;
		const char *payload = rtscan_get_page(reader, area, page, &buffer, NULL);

		while (rank < stop && largest < evaluation->rows)
		{
			uint32		rows[RANKS_AT_ONCE];
			uint32		n = Min(stop - rank, RANKS_AT_ONCE);

			largest = rtscan_unpack_small(payload + (Size) (rank - page * RTSCAN_ORDER_PER_PAGE) * 3, 24, n, 0, rows);
			if (likely(largest < evaluation->rows))
				function(rows, n, arg);
			rank += n;
		}
		rtscan_release(reader, buffer);
		CHECK_FOR_INTERRUPTS();
		if (largest >= evaluation->rows)
			rtscan_fault(reader, area, page, "A row number is too large.");
	}
}

/*
 * Bits of rows that are in the same word, gathered to be written at once.  If ranks are nearly in the order of rows,
 * and each bit were written by itself, each write would wait for the preceding write to the same word.
 */
typedef struct WordOfRows
{
	uint64	   *words;			/* all words */
	uint32		place;			/* number of the word whose bits are gathered */
	uint64		rows;			/* bits to set, or to clear, in that word */
} WordOfRows;

static inline void
set_word(WordOfRows *word)
{
	word->words[word->place] |= word->rows;
}

static inline void
clear_word(WordOfRows *word)
{
	word->words[word->place] &= ~word->rows;
}

/* Are 64 rows consecutive? */
static bool
are_64_consecutive(const uint32 *rows)
{
	uint32		differences = 0;

	if (rows[63] != rows[0] + 63)
		return false;
	for (uint32 i = 0; i < 64; i++)
		differences |= rows[i] ^ (rows[0] + i);
	return differences == 0;
}

static pg_attribute_always_inline void
add_bits_to_words(WordOfRows *word, uint32 place, uint64 bits, void (*write) (WordOfRows *word))
{
	if (place != word->place)
	{
		write(word);
		word->place = place;
		word->rows = 0;
	}
	word->rows |= bits;
}

static pg_attribute_always_inline void
add_rows_to_words(WordOfRows *word, const uint32 *rows, uint32 n, void (*write) (WordOfRows *word))
{
	WordOfRows	current = *word;

	for (uint32 i = 0; i < n;)
	{
		uint64		first = UINT64CONST(1) << (rows[i] % 64);

		if (n - i >= 64 && are_64_consecutive(rows + i))
		{
			add_bits_to_words(&current, rows[i] / 64, -first, write);
			if (first > 1)
				add_bits_to_words(&current, rows[i] / 64 + 1, first - 1, write);
			i += 64;
		}
		else
			add_bits_to_words(&current, rows[i++] / 64, first, write);
	}
	*word = current;
}

static void
set_ranked_rows(const uint32 *rows, uint32 n, void *arg)
{
	add_rows_to_words((WordOfRows *) arg, rows, n, set_word);
}

static void
clear_ranked_rows(const uint32 *rows, uint32 n, void *arg)
{
	add_rows_to_words((WordOfRows *) arg, rows, n, clear_word);
}

/*
 * Prefetch the beginning of a column's interval i.  If a condition has many values, intervals are short and scattered.
 */
static inline void
prefetch_interval(const CpuEvaluation *evaluation, const CpuColumn *part, uint32 i)
{
	const RtscanIntervals *set = &part->region->intervals;
	const RtscanArea *area = &part->column->header.order;
	uint32		page;
	Size		first,
				end;

	if (i >= set->n)
		return;
	page = set->items[i].low.rank / RTSCAN_ORDER_PER_PAGE;
	first = (Size) (set->items[i].low.rank % RTSCAN_ORDER_PER_PAGE) * 3;
	end = first + Min(set->items[i].high.rank - set->items[i].low.rank, PREFETCHED_ROWS) * 3;
	rtscan_prefetch_head(evaluation->reader, area, page);
	for (; first < Min(end, RTSCAN_ORDER_PER_PAGE * 3); first += PG_CACHE_LINE_SIZE / 2)
		rtscan_prefetch_place(evaluation->reader, area, page, first);
}

void
rtscan_cpu_set_interval_rows(CpuEvaluation *evaluation, const CpuColumn *part, uint64 *words)
{
	const RtscanIntervals *set = &part->region->intervals;
	WordOfRows	word = {.words = words};

	for (uint32 i = 0; i < set->n; i++)
	{
		prefetch_interval(evaluation, part, i + PREFETCHED_INTERVALS);
		rtscan_cpu_visit_ranks(evaluation, part, set->items[i].low.rank, set->items[i].high.rank,
							   set_ranked_rows, &word);
	}
	set_word(&word);
}

void
rtscan_cpu_clear_gaps(CpuEvaluation *evaluation)
{
	WordOfRows	word = {.words = evaluation->bits->words};

	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		const CpuColumn *part = &evaluation->columns[i];

		for (uint32 g = 0; g < part->ngaps; g++)
			rtscan_cpu_visit_ranks(evaluation, part, part->gaps[g].first, part->gaps[g].end, clear_ranked_rows, &word);
		evaluation->counters->refined_rows += part->gap_rows;
	}
	clear_word(&word);
}
