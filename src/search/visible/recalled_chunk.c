/* SPDX-License-Identifier: PostgreSQL */
/*
 * recalled_chunk.c
 *		Apply what is remembered of heap pages to the rows of a chunk.
 */
#include "search/visible/recalled_chunk.h"

#include "bits/bits.h"
#include "port/pg_bitutils.h"
#include "segment/tidmap.h"

/* A chunk whose rows are looked up in what is remembered of their pages. */
typedef struct RecalledChunk
{
	RtscanHeapCheck *check;
	const RtscanVmCopy *map;	/* copy of the visibility map, or NULL */
	uint64	   *words;			/* bits of the rows; those of invisible rows are cleared */
	uint64	   *unknown;		/* bits of the rows that have to be checked in the heap */
} RecalledChunk;

/* Return 64 bits of a page's bits, from the one of a line pointer on; there are none beyond the last word. */
static inline uint64
page_bits(const uint64 *bits, uint32 offset)
{
	uint32		word = (offset - 1) / 64;
	uint32		shift = (offset - 1) % 64;
	uint64		low = word < RTSCAN_PAGE_WORDS ? bits[word] >> shift : 0;

	return shift > 0 && word + 1 < RTSCAN_PAGE_WORDS ? low | bits[word + 1] << (64 - shift) : low;
}

/* Return the line pointer of a row of a run. */
static inline OffsetNumber
offset_in_run(const RtscanRowRun *run, uint32 row)
{
	return run->offset != InvalidOffsetNumber ? run->offset + (row - run->row) : run->offsets[row - run->row];
}

/*
 * Return the bits of n rows of a run, from "row" on: does a page have their line pointers in "seen"?  The last line
 * pointer of the run is the greatest one; if the index is damaged, others can be greater, and get any bit.
 */
static inline uint64
seen_rows(const RtscanRowRun *run, uint32 row, uint32 n, const uint64 *seen)
{
	const OffsetNumber *offsets = run->offsets + (row - run->row);
	uint64		bits = 0;

	if (run->offset != InvalidOffsetNumber)
		return page_bits(seen, run->offset + row - run->row);
	for (uint32 i = 0; i < n; i++)
		bits |= (seen[(offsets[i] - 1) / 64 % RTSCAN_PAGE_WORDS] >> ((offsets[i] - 1) % 64) & 1) << i;
	return bits;
}

/*
 * Keep in "words" those bits of a run whose line pointers "seen" has, too.  Rows that were updated one by one are in
 * runs of one row each.
 */
static inline void
keep_seen(uint64 *words, const RtscanRowRun *run, const uint64 *seen)
{
	if (run->rows == 1)
	{
		if (!(seen_rows(run, run->row, 1, seen) & 1))
			words[run->row / 64] &= ~(UINT64_C(1) << (run->row % 64));
		return;
	}
	for (uint32 row = run->row, end = run->row + run->rows; row < end;)
	{
		uint32		n = Min(end - row, 64 - row % 64);
		uint64		mask = (n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0)) << (row % 64);

		if (words[row / 64] & mask)
			words[row / 64] &= ~mask | seen_rows(run, row, n, seen) << (row % 64);
		row += n;
	}
}

/* Decide each row of a run by itself: clear its bit in "words", or set that in "unknown", or do neither. */
static void
decide_rows(RecalledChunk *chunk, const RtscanRowRun *run, const RtscanPageRows *page)
{
	for (uint32 row = run->row; row < run->row + run->rows; row++)
	{
		OffsetNumber offset = offset_in_run(run, row);
		uint64		bit = chunk->words[row / 64] & UINT64_C(1) << (row % 64);
		uint64		place = UINT64_C(1) << ((offset - 1) % 64);

		if (bit == 0)
			continue;
		if (offset > RTSCAN_REMEMBERED_ROWS || (!page->all_settled && (page->unsettled[(offset - 1) / 64] & place)))
			chunk->unknown[row / 64] |= bit;
		else if ((page->seen[(offset - 1) / 64] & place) == 0)
			chunk->words[row / 64] &= ~bit;
	}
}

/* Set the bits of a run in "unknown" that are set in "words". */
static void
set_unknown(RecalledChunk *chunk, const RtscanRowRun *run)
{
	uint32		end = run->row + run->rows;

	for (uint32 w = run->row / 64; w <= (end - 1) / 64; w++)
		chunk->unknown[w] |= rtscan_mask_word(chunk->words[w], w * 64, run->row, end);
}

/* Are all line pointers of a run among those that are remembered? */
static inline bool
is_within(const RtscanRowRun *run)
{
	return offset_in_run(run, run->row + run->rows - 1) <= RTSCAN_REMEMBERED_ROWS;
}

/* Apply the rows of a run's page to the run; "page" is NULL if they are not known. */
static void
apply_page(RecalledChunk *chunk, const RtscanRowRun *run, const RtscanPageRows *page)
{
	if (page == NULL)
		set_unknown(chunk, run);
	else if (page->all_settled && is_within(run))
		keep_seen(chunk->words, run, page->seen);
	else
		decide_rows(chunk, run, page);
}

/* RtscanRunsVisitor */
static void
recall_runs(const RtscanRowRun *runs, uint32 n, void *arg)
{
	RecalledChunk *chunk = (RecalledChunk *) arg;
	BlockNumber blocks[RTSCAN_VISITED_RUNS] = {0};
	RtscanPageRows pages[RTSCAN_VISITED_RUNS];
	uint64		wanted = 0,
				known;

	for (uint32 i = 0; i < n; i++)
	{
		const uint64 *seen = rtscan_known_page(chunk->check, runs[i].block);

		blocks[i] = runs[i].block;
		if (seen && is_within(&runs[i]))
			keep_seen(chunk->words, &runs[i], seen);
		else if (chunk->map == NULL || !rtscan_block_is_visible(chunk->map, blocks[i]))
			wanted |= UINT64_C(1) << i;
	}
	if (wanted == 0)
		return;
	known = rtscan_recall_rows_of_pages(chunk->check, blocks, wanted, pages);
	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		apply_page(chunk, &runs[i], known & rest & -rest ? &pages[i] : NULL);
	}
}

void
rtscan_recall_chunk(RtscanHeapCheck *check, const RtscanVmCopy *map, RtscanReader *reader, uint32 chunk, uint64 *words,
					uint64 *unknown)
{
	RecalledChunk recalled = {.check = check, .map = map, .words = words, .unknown = unknown};

	StaticAssertStmt(RTSCAN_VISITED_RUNS <= RTSCAN_RECALLED_PAGES, "the pages of the runs are recalled at once");
	memset(unknown, 0, RTSCAN_CHUNK_BYTES);
	rtscan_visit_runs(reader, chunk, words, recall_runs, &recalled);
}

/* ---------------------------------------------------------------- pages that are looked into */

/* Pages of unknown rows. */
typedef struct PagesOfRows
{
	const RtscanHeapCheck *check;
	const uint64 *unknown;		/* bits of the rows */
	RtscanAskedPage *pages;		/* the pages; has room for one a row */
	uint32		n;				/* number of pages */
} PagesOfRows;

static uint32
count_bits(const uint64 *bits, const RtscanRowRun *run)
{
	uint32		end = run->row + run->rows;
	uint32		n = 0;

	for (uint32 w = run->row / 64; w <= (end - 1) / 64; w++)
		n += pg_popcount64(rtscan_mask_word(bits[w], w * 64, run->row, end));
	return n;
}

/* RtscanRunsVisitor */
static void
list_pages(const RtscanRowRun *runs, uint32 n, void *arg)
{
	PagesOfRows *list = (PagesOfRows *) arg;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		rows = count_bits(list->unknown, &runs[i]);

		if (runs[i].block < list->check->blocks && rtscan_looks_into_page(list->check, rows) &&
			(list->check->memory || rtscan_can_keep_page(list->check->kept, runs[i].block)))
			list->pages[list->n++] = (RtscanAskedPage) {runs[i].block, rows};
	}
}

void
rtscan_look_into_chunk(RtscanHeapCheck *check, RtscanReader *reader, uint32 chunk, uint64 *words, uint64 *unknown)
{
	RecalledChunk recalled = {.check = check, .words = words, .unknown = unknown};
	uint64		asked[RTSCAN_CHUNK_WORDS];
	PagesOfRows list = {.check = check, .unknown = asked};

	memcpy(asked, unknown, sizeof(asked));
	list.pages = palloc(rtscan_popcount(asked) * sizeof(RtscanAskedPage));
	rtscan_visit_runs(reader, chunk, asked, list_pages, &list);
	rtscan_look_into_pages(check, list.pages, list.n);
	pfree(list.pages);
	memset(unknown, 0, RTSCAN_CHUNK_BYTES);
	rtscan_visit_runs(reader, chunk, asked, recall_runs, &recalled);
}
