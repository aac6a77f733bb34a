/* SPDX-License-Identifier: PostgreSQL */
/*
 * tidmap.c
 *		Read the tidmap.
 */
#include "segment/tidmap.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

/* The most TIDs that a consumer receives at a time. */
#define LOT_TIDS	1024

/* A page of the tidmap that has been checked. */
typedef struct TidmapView
{
	Buffer		buffer;			/* buffer that has the page */
	uint32		first_row;		/* first row of the page */
	uint32		rows;			/* number of rows */
	uint32		nruns;			/* number of runs */
	uint32		npointers;		/* number of line pointers */
	const RtscanTidmapRun *runs;	/* the runs */
	const OffsetNumber *pointers;	/* the line pointers */
} TidmapView;

/* Return the row behind a run, relative to the page's first row. */
static uint32
run_end(const TidmapView *view, uint32 run)
{
	return run + 1 < view->nruns ? view->runs[run + 1].row : view->rows;
}

/* Are n line pointers valid? */
static bool
pointers_are_valid(const OffsetNumber *pointers, uint32 n)
{
	OffsetNumber least = PG_UINT16_MAX;

	for (uint32 i = 0; i < n; i++)
		least = Min(least, pointers[i]);
	return least != InvalidOffsetNumber;
}

/* Does a run have at least one row, and a valid line pointer for each of its rows? */
static bool
run_is_sane(const TidmapView *view, uint32 i)
{
	const RtscanTidmapRun *run = &view->runs[i];
	uint32		end = run_end(view, i);

	if (end <= run->row)
		return false;
	if (!(run->where & RTSCAN_TIDMAP_SPARSE))
		return run->where != InvalidOffsetNumber && run->where + (end - run->row) <= PG_UINT16_MAX;
	return (run->where & ~RTSCAN_TIDMAP_SPARSE) + (end - run->row) <= view->npointers;
}

/* Do the runs ascend by block, cover the page's rows without overlap, and have valid line pointers? */
static bool
view_is_sane(const TidmapView *view)
{
	if (view->runs[0].row != 0 ||
		!BlockNumberIsValid(view->runs[view->nruns - 1].block))
		return false;
	for (uint32 i = 0; i < view->nruns; i++)
		if (!run_is_sane(view, i) || (i > 0 && view->runs[i].block < view->runs[i - 1].block))
			return false;
	return pointers_are_valid(view->pointers, view->npointers);
}

pg_noinline static void
view_fault(RtscanReader *reader, const TidmapView *view, uint32 i)
{
	rtscan_release(reader, view->buffer);
	rtscan_fault(reader, &reader->segment->header.tidmap, i, "The runs of the tidmap contradict each other.");
}

/* Open a page, and check only its header. */
static void
open_head(RtscanReader *reader, uint32 i, TidmapView *view)
{
	const RtscanArea *area = &reader->segment->header.tidmap;
	uint32		pages = area->pages;
	uint32		end = i + 1 < pages ? reader->segment->tidmap_rows[i + 1] : reader->segment->header.rows;
	Size		used;
	const char *payload = rtscan_get_page(reader, area, i, &view->buffer, &used);
	const RtscanTidmapHeader *header = (const RtscanTidmapHeader *) payload;

	view->first_row = header->first_row;
	view->rows = header->rows;
	view->nruns = header->runs;
	view->npointers = header->pointers;
	view->runs = (const RtscanTidmapRun *) (payload + sizeof(RtscanTidmapHeader));
	view->pointers = (const OffsetNumber *) (view->runs + view->nruns);
	if (used < sizeof(RtscanTidmapHeader) || header->runs > RTSCAN_CHUNK_BYTES ||
		header->pointers > RTSCAN_CHUNK_BYTES ||
		sizeof(RtscanTidmapHeader) + header->runs * sizeof(RtscanTidmapRun) +
		header->pointers * sizeof(OffsetNumber) > used ||
		header->first_row != reader->segment->tidmap_rows[i] ||
		header->rows != end - header->first_row || header->runs == 0)
		view_fault(reader, view, i);
}

/* Open a page, and check all of it. */
static void
open_view(RtscanReader *reader, uint32 i, TidmapView *view)
{
	open_head(reader, i, view);
	if (!view_is_sane(view))
		view_fault(reader, view, i);
}

/* Return the offset number of a row of a run.  "row" is relative to the page's first row. */
static inline OffsetNumber
row_offset(const TidmapView *view, const RtscanTidmapRun *run, uint32 row)
{
	uint32		nth = row - run->row;

	if (run->where & RTSCAN_TIDMAP_SPARSE)
		return view->pointers[(run->where & ~RTSCAN_TIDMAP_SPARSE) + nth];
	return run->where + nth;
}

/* Return the page that has a row: the last page whose first row is not above "row". */
static uint32
find_page(const RtscanSegment *segment, uint32 row)
{
	return rtscan_last_not_above(segment->tidmap_rows, segment->header.tidmap.pages, row);
}

/*
 * Return the run that has a row.  "row" is relative to the page's first row.  The search begins at the run "from",
 * which must not begin behind the row.
 */
static uint32
find_run(const TidmapView *view, uint32 row, uint32 from)
{
	uint32		low = from,
				high = view->nruns,
				step = 1;

	while (from + step < view->nruns && view->runs[from + step].row <= row)
	{
		low = from + step;
		step *= 2;
	}
	high = Min(from + step, view->nruns);
	while (high - low > 1)
	{
		uint32		middle = (low + high) / 2;

		if (view->runs[middle].row <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* TIDs that are collected for a consumer. */
typedef struct TidLot
{
	int			n;				/* number of TIDs in the array */
	uint64		total;			/* number of TIDs that the consumer has received */
	RtscanTidConsumer consumer; /* the consumer */
	void	   *arg;			/* argument of the consumer */
	ItemPointerData tids[LOT_TIDS]; /* the TIDs */
} TidLot;

static void
begin_lot(TidLot *lot, RtscanTidConsumer consumer, void *arg)
{
	lot->n = 0;
	lot->total = 0;
	lot->consumer = consumer;
	lot->arg = arg;
}

static void
send_lot(TidLot *lot)
{
	if (lot->n > 0)
		lot->consumer(lot->tids, lot->n, lot->arg);
	lot->total += lot->n;
	lot->n = 0;
}

/*
 * Add the TIDs of the rows whose bits are set in a word.  The lowest bit of the word belongs to the row "base".  The
 * search for the rows' runs begins at the run *run_number.  Sets *run_number to the run of the last row.
 */
static void
add_word(TidLot *lot, const TidmapView *view, uint32 *run_number, uint64 word, uint32 base)
{
	const RtscanTidmapRun *run = &view->runs[*run_number];
	uint32		end = run_end(view, *run_number);

	if (lot->n > LOT_TIDS - 64)
		send_lot(lot);
	while (word != 0)
	{
		uint32		row = base + pg_rightmost_one_pos64(word) - view->first_row;

		word &= word - 1;
		if (row >= end)
		{
			*run_number = find_run(view, row, *run_number);
			run = &view->runs[*run_number];
			end = run_end(view, *run_number);
		}
		ItemPointerSet(&lot->tids[lot->n], run->block, row_offset(view, run, row));
		lot->n++;
	}
}

/*
 * Add the TIDs of the rows from "first" up to "last", exclusively, whose bits are set.  All these rows are on one page
 * of the tidmap.
 */
static void
add_rows(TidLot *lot, const TidmapView *view, uint32 chunk_base, const uint64 *bits,
		 uint32 first, uint32 last)
{
	uint32		run = 0;

	for (uint32 w = (first - chunk_base) / 64; w <= (last - 1 - chunk_base) / 64; w++)
	{
		uint32		base = chunk_base + w * 64;
		uint64		word;

		if (bits[w] == 0)
			continue;
		word = rtscan_mask_word(bits[w], base, first, last);
		if (word != 0)
			add_word(lot, view, &run, word, base);
	}
}

/*
 * Skip words of bits that are zero.  If the word that has the bit of "row" is not zero, returns "row".  Otherwise
 * returns the first row of the next word that is not zero, or "end" if there is no such word.
 */
static uint32
next_word(const uint64 *bits, uint32 base, uint32 row, uint32 end)
{
	uint32		w = (row - base) / 64;

	if (row >= end || bits[w] != 0)
		return row;
	while (base + w * 64 < end && bits[w] == 0)
		w++;
	return Min(base + w * 64, end);
}

uint64
rtscan_visit_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits,
				  RtscanTidConsumer consumer, void *arg)
{
	RtscanSegment *segment = reader->segment;
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		end = Min(base + RTSCAN_CHUNK_ROWS, segment->header.rows);
	TidLot		lot;

	begin_lot(&lot, consumer, arg);
	for (uint32 row = next_word(bits, base, base, end); row < end; row = next_word(bits, base, row, end))
	{
		TidmapView	view;
		uint32		last;

		open_view(reader, find_page(segment, row), &view);
		last = Min(end, view.first_row + view.rows);
		add_rows(&lot, &view, base, bits, row, last);
		rtscan_release(reader, view.buffer);
		row = last;
	}
	send_lot(&lot);
	return lot.total;
}

/* TIDs that have been collected. */
typedef struct Collection
{
	ItemPointerData *tids;		/* the TIDs */
	uint32		n;				/* number of TIDs */
} Collection;

/* RtscanTidConsumer.  Does nothing but copy TIDs, since on a standby the index page is locked during the call. */
static void
collect_tids(ItemPointer tids, int ntids, void *arg)
{
	Collection *collection = (Collection *) arg;

	memcpy(collection->tids + collection->n, tids, ntids * sizeof(ItemPointerData));
	collection->n += ntids;
}

void
rtscan_collect_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits, ItemPointerData *tids)
{
	Collection	collection = {tids, 0};

	(void) rtscan_visit_tids(reader, chunk, bits, collect_tids, &collection);
}

/* Does a run have a row, and is it sane?  "row" is relative to the page's first row. */
static bool
run_has_row(const TidmapView *view, uint32 i, uint32 row)
{
	return row >= view->runs[i].row && row < run_end(view, i) && run_is_sane(view, i) &&
		BlockNumberIsValid(view->runs[i].block);
}

/*
 * Find the TID of a row.  "row" is relative to the page's first row.  The search begins at the run *number, which
 * becomes the run of the row.  Returns false if the page is damaged.
 */
static bool
find_tid(const TidmapView *view, uint32 row, uint32 *number, ItemPointer tid)
{
	const RtscanTidmapRun *run;

	*number = find_run(view, row, *number);
	run = &view->runs[*number];
	if (!run_has_row(view, *number, row))
		return false;
	ItemPointerSet(tid, run->block, row_offset(view, run, row));
	return ItemPointerGetOffsetNumberNoCheck(tid) != InvalidOffsetNumber;
}

void
rtscan_find_tids(RtscanReader *reader, const uint32 *rows, uint32 n, ItemPointerData *tids)
{
	for (uint32 i = 0; i < n;)
	{
		uint32		page = find_page(reader->segment, rows[i]);
		uint32		run = 0;
		TidmapView	view;

		open_head(reader, page, &view);
		for (; i < n && rows[i] - view.first_row < view.rows; i++)
			if (!find_tid(&view, rows[i] - view.first_row, &run, &tids[i]))
				view_fault(reader, &view, page);
		rtscan_release(reader, view.buffer);
	}
}

RtscanBlockRange
rtscan_tidmap_blocks(RtscanReader *reader)
{
	RtscanBlockRange blocks;
	TidmapView	view;

	open_view(reader, 0, &view);
	blocks.first = view.runs[0].block;
	rtscan_release(reader, view.buffer);
	open_view(reader, reader->segment->header.tidmap.pages - 1, &view);
	blocks.last = view.runs[view.nruns - 1].block;
	rtscan_release(reader, view.buffer);
	return blocks;
}

/* Set n bits, from the bit "from" on. */
static void
set_bits(uint64 *bits, uint32 from, uint32 n)
{
	uint32		end = from + n;

	for (uint32 base = from / 64 * 64; base < end; base += 64)
		bits[base / 64] |= rtscan_mask_word(~UINT64CONST(0), base, from, end);
}

/* Rows on one page of the tidmap, and the test of their heap blocks. */
typedef struct Mask
{
	const TidmapView *view;		/* the page */
	uint32		first;			/* first row */
	uint32		last;			/* row behind the last one */
	RtscanBlocksTest pass;		/* the test */
	void	   *arg;			/* argument of the test */
} Mask;

/*
 * Set the bits of the rows of nruns runs whose blocks do not pass the test.  Usually most blocks pass, so one test
 * covers the range of all these blocks.  If it fails, each half of the runs is tested again.
 */
static void
mask_runs(const Mask *mask, uint32 chunk_base, uint32 run, uint32 nruns, uint64 *bits)
{
	const TidmapView *view = mask->view;

	if (mask->pass(view->runs[run].block, view->runs[run + nruns - 1].block, mask->arg))
		return;
	if (nruns > 1)
	{
		mask_runs(mask, chunk_base, run, nruns / 2, bits);
		mask_runs(mask, chunk_base, run + nruns / 2, nruns - nruns / 2, bits);
	}
	else
	{
		uint32		from = Max(view->first_row + view->runs[run].row, mask->first);
		uint32		end = Min(view->first_row + run_end(view, run), mask->last);

		set_bits(bits, from - chunk_base, end - from);
	}
}

/*
 * Set the bits of the rows from "first" up to "last", exclusively, whose blocks do not pass the test.  All these rows
 * are on one page of the tidmap.
 */
static void
mask_rows(const TidmapView *view, uint32 chunk_base, uint32 first, uint32 last,
		  RtscanBlocksTest pass, void *arg, uint64 *bits)
{
	Mask		mask = {view, first, last, pass, arg};
	uint32		run = find_run(view, first - view->first_row, 0);

	mask_runs(&mask, chunk_base, run, find_run(view, last - 1 - view->first_row, run) + 1 - run, bits);
}

/* Clear bits that are not set in "others", in all words that have rows from "first" up to "last", exclusively. */
static void
and_rows(uint64 *bits, const uint64 *others, uint32 chunk_base, uint32 first, uint32 last)
{
	for (uint32 w = (first - chunk_base) / 64; w <= (last - 1 - chunk_base) / 64; w++)
		bits[w] &= others[w];
}

void
rtscan_find_failing_rows(RtscanReader *reader, uint32 chunk, RtscanBlocksTest pass, void *arg, uint64 *failing)
{
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		end = Min(base + RTSCAN_CHUNK_ROWS, reader->segment->header.rows);

	memset(failing, 0, RTSCAN_CHUNK_BYTES);
	for (uint32 row = base; row < end;)
	{
		TidmapView	view;
		uint32		last;

		open_view(reader, find_page(reader->segment, row), &view);
		last = Min(end, view.first_row + view.rows);
		mask_rows(&view, base, row, last, pass, arg, failing);
		rtscan_release(reader, view.buffer);
		row = last;
	}
}

void
rtscan_collect_failing_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits, RtscanBlocksTest pass, void *arg,
							uint64 *failing, ItemPointerData *tids)
{
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		end = Min(base + RTSCAN_CHUNK_ROWS, reader->segment->header.rows);
	Collection	collection = {tids, 0};
	TidLot		lot;

	begin_lot(&lot, collect_tids, &collection);
	memset(failing, 0, RTSCAN_CHUNK_BYTES);
	for (uint32 row = next_word(bits, base, base, end); row < end; row = next_word(bits, base, row, end))
	{
		TidmapView	view;
		uint32		last;

		open_view(reader, find_page(reader->segment, row), &view);
		last = Min(end, view.first_row + view.rows);
		mask_rows(&view, base, row, last, pass, arg, failing);
		and_rows(failing, bits, base, row, last);
		add_rows(&lot, &view, base, failing, row, last);
		rtscan_release(reader, view.buffer);
		row = last;
	}
	send_lot(&lot);
}

/* Return the number of the first set bit from "from" on, or "end" if there is none before. */
static uint32
next_bit(const uint64 *bits, uint32 from, uint32 end)
{
	uint32		w = from / 64;
	uint64		word;

	if (from >= end)
		return end;
	word = bits[w] & ~UINT64_C(0) << (from % 64);
	while (word == 0)
	{
		if (++w * 64 >= end)
			return end;
		word = bits[w];
	}
	return Min(w * 64 + pg_rightmost_one_pos64(word), end);
}

/* Return the part of a run that has rows from "first" up to "last", exclusively, relative to the chunk. */
static RtscanRowRun
part_of_run(const TidmapView *view, uint32 i, uint32 chunk_base, uint32 first, uint32 last)
{
	const RtscanTidmapRun *run = &view->runs[i];
	uint32		from = Max(view->first_row + run->row, chunk_base + first);
	uint32		to = Min(view->first_row + run_end(view, i), chunk_base + last);
	uint32		skipped = from - view->first_row - run->row;
	RtscanRowRun rows = {.block = run->block, .row = from - chunk_base, .rows = to - from};

	if (run->where & RTSCAN_TIDMAP_SPARSE)
		rows.offsets = view->pointers + (run->where & ~RTSCAN_TIDMAP_SPARSE) + skipped;
	else
		rows.offset = run->where + skipped;
	return rows;
}

/*
 * Visit the runs of a page that have rows with set bits, from "first" up to "last", exclusively, relative to the chunk.
 * Returns false if the page is damaged.
 */
static bool
visit_view(const TidmapView *view, uint32 chunk_base, uint32 first, uint32 last, const uint64 *bits,
		   RtscanRunsVisitor visit, void *arg)
{
	RtscanRowRun runs[RTSCAN_VISITED_RUNS];
	uint32		n = 0,
				number = 0;

	for (uint32 row = next_bit(bits, first, last), end; row < last; row = next_bit(bits, end, last))
	{
		if (n == RTSCAN_VISITED_RUNS)
		{
			visit(runs, n, arg);
			n = 0;
		}
		number = find_run(view, chunk_base + row - view->first_row, number);
		if (!run_has_row(view, number, chunk_base + row - view->first_row))
			return false;
		runs[n] = part_of_run(view, number, chunk_base, first, last);
		if (runs[n].offset == InvalidOffsetNumber && !pointers_are_valid(runs[n].offsets, runs[n].rows))
			return false;
		end = runs[n].row + runs[n].rows;
		n++;
	}
	if (n > 0)
		visit(runs, n, arg);
	return true;
}

void
rtscan_visit_runs(RtscanReader *reader, uint32 chunk, const uint64 *bits, RtscanRunsVisitor visit, void *arg)
{
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint32		end = Min(base + RTSCAN_CHUNK_ROWS, reader->segment->header.rows);

	for (uint32 row = next_word(bits, base, base, end); row < end; row = next_word(bits, base, row, end))
	{
		uint32		page = find_page(reader->segment, row);
		TidmapView	view;
		uint32		last;

		open_head(reader, page, &view);
		last = Min(end, view.first_row + view.rows);
		if (!visit_view(&view, base, row - base, last - base, bits, visit, arg))
			view_fault(reader, &view, page);
		rtscan_release(reader, view.buffer);
		row = last;
	}
}

ItemPointerData *
rtscan_read_tids(RtscanReader *reader)
{
	uint32		rows = reader->segment->header.rows;
	ItemPointerData *tids = palloc_extended((Size) rows * sizeof(ItemPointerData), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < reader->segment->header.tidmap.pages; i++)
	{
		TidmapView	view;

		open_view(reader, i, &view);
		for (uint32 r = 0; r < view.nruns; r++)
			for (uint32 row = view.runs[r].row; row < run_end(&view, r); row++)
				ItemPointerSet(&tids[view.first_row + row], view.runs[r].block,
							   row_offset(&view, &view.runs[r], row));
		rtscan_release(reader, view.buffer);
		CHECK_FOR_INTERRUPTS();
	}
	return tids;
}
