/* SPDX-License-Identifier: PostgreSQL */
/*
 * heap_check.c
 *		Check in the heap which rows a snapshot sees, a page at a time.
 */
#include "search/visible/heap_check.h"

#include "access/heapam.h"
#include "bits/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "search/visible/page_look.h"
#include "search/visible/read_stream.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"

/* At least this many rows of a page are asked before it is looked into for all of them, if that is not remembered. */
#define MANY_ROWS			16

/* To check this many rows or pages or fewer in the heap, no read stream is begun. */
#define FEW_ROWS			4
#define FEW_PAGES			4

/* Bytes of a line of the processor's caches. */
#define CACHE_LINE			64

void
rtscan_begin_heap_check(RtscanHeapCheck *check, Relation heap, Snapshot snapshot, bool reads_only, BlockNumber blocks)
{
	*check = (RtscanHeapCheck) {
		.heap = heap,
		.snapshot = snapshot,
		.reads_only = reads_only,
		.checks_conflicts = CheckForSerializableConflictOutNeeded(heap, snapshot),
		.blocks = blocks,
		.kept = rtscan_begin_kept_pages(blocks),
	};
	if (!check->checks_conflicts)
		check->memory = rtscan_begin_page_memory(heap, snapshot);
}

/* ---------------------------------------------------------------- pages */

/* Keep the pages of a block's group that are remembered. */
static void
keep_group(RtscanHeapCheck *check, BlockNumber block)
{
	RtscanKeptLot *lot = rtscan_kept_lot(check->kept, block);
	uint32		pages;

	if (lot == NULL)
		return;
	pages = rtscan_recall_group(check->memory, block, ~lot->is_kept, lot->seen);
	lot->is_recalled = true;
	lot->is_kept |= pages;
	lot->unused |= pages;
}

const uint64 *
rtscan_known_page(RtscanHeapCheck *check, BlockNumber block)
{
	RtscanKeptLot *lot = rtscan_find_kept_lot(check->kept, block);
	uint32		page = UINT32_C(1) << (block % RTSCAN_LOT_PAGES);

	if ((lot == NULL || !lot->is_recalled) && check->memory && rtscan_may_recall_group(check->memory, block))
	{
		keep_group(check, block);
		lot = rtscan_find_kept_lot(check->kept, block);
	}
	if (lot == NULL || (lot->is_kept & page) == 0)
		return NULL;
	if (lot->unused & page)
		check->work.remembered++;
	lot->unused &= ~page;
	return lot->seen[block % RTSCAN_LOT_PAGES];
}

uint64
rtscan_recall_rows_of_pages(RtscanHeapCheck *check, const BlockNumber *blocks, uint64 wanted, RtscanPageRows *pages)
{
	uint64		kept = 0,
				recalled = 0;

	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);
		const uint64 *seen = rtscan_known_page(check, blocks[i]);

		if (seen == NULL)
			continue;
		kept |= rest & -rest;
		pages[i].all_settled = true;
		memcpy(pages[i].seen, seen, sizeof(pages[i].seen));
	}
	if (check->memory)
		recalled = rtscan_recall_pages(check->memory, blocks, wanted & ~kept, pages);
	for (uint64 rest = recalled; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		check->work.remembered++;
		if (pages[i].all_settled)
			rtscan_keep_page(check->kept, blocks[i], pages[i].seen);
	}
	return kept | recalled;
}

/*
 * Look into a page for all of its rows; returns false if they are not remembered.  The buffer is pinned and
 * share-locked.
 */
static bool
look_into_page(RtscanHeapCheck *check, Buffer buffer, RtscanPageRows *rows)
{
	TransactionId newest;

	rtscan_look_into_page(check->heap, buffer, check->snapshot, rows, &newest);
	rtscan_keep_page(check->kept, BufferGetBlockNumber(buffer), rows->seen);
	check->work.looked_into++;
	return check->memory && rtscan_remember_page(check->memory, buffer, rows, newest);
}

/* Fetch a page into the processor's caches: a look reads all of it, and a lock ends what the processor reads ahead. */
static void
prefetch_page(Buffer buffer)
{
	const char *page = BufferGetPage(buffer);

	for (int i = 0; i < BLCKSZ; i += CACHE_LINE)
		__builtin_prefetch(page + i);
}

/* Return a stream's next buffer, and begin to fetch the page of the one after it, whose buffer becomes "following". */
static Buffer
next_buffer(ReadStream *stream, Buffer *following)
{
	Buffer		buffer = BufferIsValid(*following) ? *following : read_stream_next_buffer(stream, NULL);

	*following = read_stream_next_buffer(stream, NULL);
	if (BufferIsValid(*following))
		prefetch_page(*following);
	return buffer;
}

/*
 * Is a page pruned before it is checked?  What is remembered of a page makes up for the dead rows that stay in its HOT
 * chains, and pruning is logged: the first query after many updates would take several times as long.
 */
static bool
prunes(const RtscanHeapCheck *check)
{
	return check->memory == NULL || RTSCAN_COMPAT_PRUNING_SETS_MAP;
}

/* Share-lock a page that is looked into, or whose rows are. */
static void
lock_page(const RtscanHeapCheck *check, Buffer buffer)
{
	if (prunes(check))
		rtscan_compat_prune(check->heap, buffer, check->reads_only);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

bool
rtscan_looks_into_page(const RtscanHeapCheck *check, uint32 n)
{
	return !check->checks_conflicts && (check->memory || n >= MANY_ROWS);
}

/* Pages that a read stream reads. */
typedef struct PageList
{
	const RtscanAskedPage *pages;
	uint32		n;				/* number of pages */
	uint32		next;			/* next page to request */
} PageList;

/* ReadStreamBlockNumberCB */
static BlockNumber
next_listed_block(ReadStream *stream, void *arg, void *unused)
{
	PageList   *list = (PageList *) arg;

	return list->next < list->n ? list->pages[list->next++].block : InvalidBlockNumber;
}

/* Look into a page for some of its rows.  The buffer is pinned, and is released. */
static void
look_for_rows(RtscanHeapCheck *check, Buffer buffer, uint32 asked)
{
	RtscanPageRows rows;

	lock_page(check, buffer);
	if (!look_into_page(check, buffer, &rows))
		check->work.unremembered += asked;
	check->work.fetches += asked;
	UnlockReleaseBuffer(buffer);
}

void
rtscan_look_into_pages(RtscanHeapCheck *check, const RtscanAskedPage *pages, uint32 n)
{
	PageList	list = {.pages = pages, .n = n};
	ReadStream *stream = NULL;
	Buffer		following = InvalidBuffer;

	if (n > FEW_PAGES)
		stream = read_stream_begin_relation(READ_STREAM_DEFAULT, NULL, check->heap, MAIN_FORKNUM, next_listed_block,
											&list, 0);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		look_for_rows(check, stream ? next_buffer(stream, &following) : ReadBuffer(check->heap, pages[i].block),
					  pages[i].rows);
	}
	if (stream)
		read_stream_end(stream);
}

static inline bool
has_bit(const uint64 *words, OffsetNumber offset)
{
	return words[(offset - 1) / 64] >> ((offset - 1) % 64) & 1;
}

/* ---------------------------------------------------------------- rows */

/*
 * Rows that are checked in the heap, a page at a time.  A read stream reads their pages ahead, unless the rows are
 * few.
 */
typedef struct CheckedRows
{
	RtscanHeapCheck *check;
	const ItemPointerData *tids;	/* TIDs of the rows, ascending */
	uint32		n;				/* number of rows */
	RtscanRowState *states;		/* by row; only unknown ones are checked */
	uint32		next;			/* next row to check */
	ReadStream *stream;			/* stream of the rows' blocks; NULL if the rows are few */
	Buffer		following;		/* buffer of the page after the current one, from the stream; or InvalidBuffer */
	uint32		ahead;			/* next row whose block the stream requests */
	BlockNumber block_ahead;	/* last block that the stream has requested */
} CheckedRows;

/* ReadStreamBlockNumberCB: return the block of the next row that is checked. */
static BlockNumber
next_block_ahead(ReadStream *stream, void *arg, void *unused)
{
	CheckedRows *rows = (CheckedRows *) arg;

	for (; rows->ahead < rows->n; rows->ahead++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&rows->tids[rows->ahead]);

		if (rows->states[rows->ahead] == RTSCAN_ROW_UNKNOWN && block != rows->block_ahead)
			return rows->block_ahead = block;
	}
	return InvalidBlockNumber;
}

/*
 * Do hint bits alone say that a tuple is visible?  They do if the transaction that inserted it committed before all
 * transactions that the snapshot considers running, and no transaction has locked or deleted it.  Most tuples are
 * like that.  heap_hot_search_buffer() would find the same tuple, at the start of its chain.  It is no conflict for
 * SSI, and the predicate lock on the table covers it.
 */
static bool
is_plainly_visible(const RtscanHeapCheck *check, Page contents, OffsetNumber offset)
{
	ItemId		item;
	HeapTupleHeader tuple;

	if (!OffsetNumberIsValid(offset) || offset > PageGetMaxOffsetNumber(contents))
		return false;
	item = PageGetItemId(contents, offset);
	if (!ItemIdIsNormal(item))
		return false;
	tuple = (HeapTupleHeader) PageGetItem(contents, item);
	if ((tuple->t_infomask & HEAP_XMAX_INVALID) == 0 || HeapTupleHeaderIsHeapOnly(tuple))
		return false;
	return HeapTupleHeaderXminFrozen(tuple) ||
		(HeapTupleHeaderXminCommitted(tuple) &&
		 TransactionIdPrecedes(HeapTupleHeaderGetRawXmin(tuple), check->snapshot->xmin));
}

/* Is a member of the HOT chain at a TID visible?  The buffer of its page is pinned and share-locked. */
static bool
tid_is_visible(const RtscanHeapCheck *check, Buffer buffer, const ItemPointerData *tid)
{
	ItemPointerData place = *tid;
	HeapTupleData tuple;

	return is_plainly_visible(check, BufferGetPage(buffer), ItemPointerGetOffsetNumber(tid)) ||
		heap_hot_search_buffer(&place, check->heap, buffer, check->snapshot, &tuple, NULL, true);
}

/* Return the end of the rows that are in the same block as "first". */
static uint32
end_of_page(const CheckedRows *rows, uint32 first)
{
	BlockNumber block = ItemPointerGetBlockNumber(&rows->tids[first]);
	uint32		end = first + 1;

	while (end < rows->n && ItemPointerGetBlockNumber(&rows->tids[end]) == block)
		end++;
	return end;
}

/* Check the next rows, up to "end", which are in one page; its buffer is pinned and share-locked. */
static void
check_page(CheckedRows *rows, Buffer buffer, uint32 end)
{
	RtscanHeapCheck *check = rows->check;
	bool		looks = rtscan_looks_into_page(check, end - rows->next);
	RtscanPageRows page;
	bool		remembered = looks && look_into_page(check, buffer, &page);

	for (; rows->next < end; rows->next++)
	{
		const ItemPointerData *tid = &rows->tids[rows->next];
		OffsetNumber offset = ItemPointerGetOffsetNumber(tid);
		bool		seen;

		if (rows->states[rows->next] != RTSCAN_ROW_UNKNOWN)
			continue;
		seen = looks && offset <= RTSCAN_REMEMBERED_ROWS ? has_bit(page.seen, offset)
			: tid_is_visible(check, buffer, tid);
		rows->states[rows->next] = seen ? RTSCAN_ROW_SEEN : RTSCAN_ROW_UNSEEN;
		check->work.fetches++;
		check->work.unremembered += !remembered;
	}
}

/* Read and lock the page of the next row, and check all of its rows. */
static void
open_page(CheckedRows *rows)
{
	RtscanHeapCheck *check = rows->check;
	BlockNumber block = ItemPointerGetBlockNumber(&rows->tids[rows->next]);
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	buffer = rows->stream ? next_buffer(rows->stream, &rows->following) : ReadBuffer(check->heap, block);
	Assert(BufferGetBlockNumber(buffer) == block);
	lock_page(check, buffer);
	check_page(rows, buffer, end_of_page(rows, rows->next));
	UnlockReleaseBuffer(buffer);
}

uint32
rtscan_rule_out_rows(RtscanHeapCheck *check, const ItemPointerData *tids, uint32 n, RtscanRowState *states)
{
	uint32		unknown = 0;

	for (uint32 i = 0; i < n; i++)
	{
		if (states[i] == RTSCAN_ROW_UNKNOWN && ItemPointerGetBlockNumber(&tids[i]) >= check->blocks)
			states[i] = RTSCAN_ROW_UNSEEN;
		unknown += states[i] == RTSCAN_ROW_UNKNOWN;
	}
	return unknown;
}

/*
 * List the blocks of unknown rows, from the row "first" on, until they are RTSCAN_RECALLED_PAGES; returns the row
 * behind the last one.
 */
static uint32
list_blocks(const ItemPointerData *tids, uint32 first, uint32 n, const RtscanRowState *states, BlockNumber *blocks,
			uint32 *nblocks)
{
	*nblocks = 0;
	for (uint32 i = first; i < n; i++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&tids[i]);

		if (states[i] != RTSCAN_ROW_UNKNOWN || (*nblocks > 0 && block == blocks[*nblocks - 1]))
			continue;
		if (*nblocks == RTSCAN_RECALLED_PAGES)
			return i;
		blocks[(*nblocks)++] = block;
	}
	return n;
}

/* Return the state of a row of a page whose rows are known. */
static inline RtscanRowState
state_in_page(const RtscanPageRows *page, OffsetNumber offset)
{
	if (offset > RTSCAN_REMEMBERED_ROWS || (!page->all_settled && has_bit(page->unsettled, offset)))
		return RTSCAN_ROW_UNKNOWN;
	return has_bit(page->seen, offset) ? RTSCAN_ROW_SEEN : RTSCAN_ROW_UNSEEN;
}

/* Decide unknown rows by those of their pages that are known; returns how many were decided. */
static uint32
decide_rows(const ItemPointerData *tids, uint32 first, uint32 end, RtscanRowState *states, const BlockNumber *blocks,
			uint64 known, const RtscanPageRows *pages)
{
	uint32		page = 0,
				decided = 0;

	for (uint32 i = first; i < end; i++)
	{
		if (states[i] != RTSCAN_ROW_UNKNOWN)
			continue;
		while (blocks[page] != ItemPointerGetBlockNumber(&tids[i]))
			page++;
		if (known >> page & 1)
			states[i] = state_in_page(&pages[page], ItemPointerGetOffsetNumber(&tids[i]));
		decided += states[i] != RTSCAN_ROW_UNKNOWN;
	}
	return decided;
}

uint32
rtscan_recall_rows(RtscanHeapCheck *check, const ItemPointerData *tids, uint32 n, RtscanRowState *states)
{
	uint32		unknown = rtscan_rule_out_rows(check, tids, n, states);
	BlockNumber blocks[RTSCAN_RECALLED_PAGES];
	RtscanPageRows pages[RTSCAN_RECALLED_PAGES];
	uint32		end;

	for (uint32 first = 0; first < n && unknown > 0; first = end)
	{
		uint32		nblocks;
		uint64		known;

		end = list_blocks(tids, first, n, states, blocks, &nblocks);
		known = rtscan_recall_rows_of_pages(check, blocks, rtscan_mask_word(~UINT64_C(0), 0, 0, nblocks), pages);
		unknown -= decide_rows(tids, first, end, states, blocks, known, pages);
	}
	return unknown;
}

void
rtscan_check_rows(RtscanHeapCheck *check, const ItemPointerData *tids, uint32 n, RtscanRowState *states, uint32 unknown)
{
	CheckedRows rows = {
		.check = check,
		.tids = tids,
		.states = states,
		.n = n,
		.block_ahead = InvalidBlockNumber,
	};

	if (unknown > FEW_ROWS)
		rows.stream = read_stream_begin_relation(READ_STREAM_DEFAULT, NULL, check->heap, MAIN_FORKNUM,
												 next_block_ahead, &rows, 0);
	while (rows.next < n)
	{
		if (states[rows.next] == RTSCAN_ROW_UNKNOWN)
			open_page(&rows);
		else
			rows.next++;
	}
	if (rows.stream)
		read_stream_end(rows.stream);
}
