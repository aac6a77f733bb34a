/* SPDX-License-Identifier: PostgreSQL */
/*
 * heap_rows.c
 *		Fetch the table's rows at TIDs that an index has found, a heap block at a time.
 */
#include "search/visible/heap_rows.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

/* Bytes of a cache line. */
#define CACHE_LINE		64

void
rtscan_begin_heap_rows(RtscanHeapRows *rows, Relation heap, Snapshot snapshot, bool reads_only)
{
	BlockNumber blocks = rows->heap ? rows->blocks : RelationGetNumberOfBlocks(heap);

	memset(rows, 0, offsetof(RtscanHeapRows, rows));
	rows->heap = heap;
	rows->snapshot = snapshot;
	rows->checks_conflicts = CheckForSerializableConflictOutNeeded(heap, snapshot);
	rows->reads_only = reads_only;
	rows->blocks = blocks;
	rows->context = CurrentMemoryContext;
	rows->buffer = InvalidBuffer;
}

void
rtscan_set_heap_tids(RtscanHeapRows *rows, const ItemPointerData *tids, uint32 n)
{
	if (rows->stream)
		read_stream_reset(rows->stream);
	rows->tids = tids;
	rows->ntids = n;
	rows->next_tid = rows->ahead_tid = 0;
	rows->n = rows->next = 0;
}

static void
leave_block(RtscanHeapRows *rows)
{
	rows->n = rows->next = 0;
	if (BufferIsValid(rows->buffer))
		ReleaseBuffer(rows->buffer);
	rows->buffer = InvalidBuffer;
}

void
rtscan_end_heap_rows(RtscanHeapRows *rows)
{
	leave_block(rows);
	if (rows->stream)
		read_stream_end(rows->stream);
	rows->stream = NULL;
	rows->ntids = rows->next_tid = 0;
}

/* ---------------------------------------------------------------- blocks */

/*
 * Return the number of the first TID, from "tid" on, whose block the table had when the scan began; rows->ntids if
 * there is none.
 */
static uint32
skip_beyond(const RtscanHeapRows *rows, uint32 tid)
{
	while (tid < rows->ntids && ItemPointerGetBlockNumber(&rows->tids[tid]) >= rows->blocks)
		tid++;
	return tid;
}

/*
 * Return the end of the TIDs, from "first" on, that are in the same block as the first one.  Returns an earlier end if
 * there would be more TIDs than rows->rows has room for.
 */
static uint32
end_of_block(const RtscanHeapRows *rows, uint32 first)
{
	BlockNumber block = ItemPointerGetBlockNumber(&rows->tids[first]);
	uint32		limit = Min(rows->ntids, first + MaxHeapTuplesPerPage);
	uint32		end = first + 1;

	while (end < limit && ItemPointerGetBlockNumber(&rows->tids[end]) == block)
		end++;
	return end;
}

/* ReadStreamBlockNumberCB: return the block of the next TIDs to read ahead. */
static BlockNumber
next_block_ahead(ReadStream *stream, void *callback_private_data, void *per_buffer_data)
{
	RtscanHeapRows *rows = (RtscanHeapRows *) callback_private_data;
	uint32		first = skip_beyond(rows, rows->ahead_tid);

	rows->ahead_tid = first < rows->ntids ? end_of_block(rows, first) : first;
	return first < rows->ntids ? ItemPointerGetBlockNumber(&rows->tids[first]) : InvalidBlockNumber;
}

static void
begin_stream(RtscanHeapRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->stream = read_stream_begin_relation(READ_STREAM_DEFAULT, NULL, rows->heap, MAIN_FORKNUM, next_block_ahead,
											  rows, 0);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- rows */

/*
 * Is it known that the snapshot sees all rows of a page?  Then the line pointer alone tells where a row is, and the row
 * need not be read.  Returns false on a standby, where the page's all-visible bit does not hold for every snapshot, and
 * in a SERIALIZABLE transaction, where each row has to be checked for conflicts.
 */
static bool
sees_all_of_page(const RtscanHeapRows *rows, Page page)
{
	return PageIsAllVisible(page) && !rows->snapshot->takenDuringRecovery && !rows->checks_conflicts;
}

/* Prefetch the first two cache lines of a row, which is read soon. */
static void
prefetch_row(Page page, OffsetNumber offset)
{
	const char *row;

	if (offset > PageGetMaxOffsetNumber(page) || !ItemIdIsNormal(PageGetItemId(page, offset)))
		return;
	row = (const char *) PageGetItem(page, PageGetItemId(page, offset));
	__builtin_prefetch(row);
	__builtin_prefetch(row + CACHE_LINE);
}

/*
 * Take the row that a line pointer leads to, without reading the row; returns false if the line pointer is not a
 * normal one.
 */
static bool
take_plain_row(RtscanHeapRows *rows, Page page, const ItemPointerData *tid)
{
	OffsetNumber offset = ItemPointerGetOffsetNumber(tid);
	HeapTuple	row = &rows->rows[rows->n];
	ItemId		item;

	if (offset > PageGetMaxOffsetNumber(page))
		return false;
	item = PageGetItemId(page, offset);
	if (!ItemIdIsNormal(item))
		return false;
	row->t_len = ItemIdGetLength(item);
	row->t_self = *tid;
	row->t_tableOid = RelationGetRelid(rows->heap);
	row->t_data = (HeapTupleHeader) PageGetItem(page, item);
	return true;
}

/* Take the rows at TIDs of one page, or the members of their HOT chains that the snapshot sees. */
static void
take_rows(RtscanHeapRows *rows, Page page, const ItemPointerData *tids, uint32 n)
{
	bool		sees_all = sees_all_of_page(rows, page);

	for (uint32 i = 0; i < n; i++)
		prefetch_row(page, ItemPointerGetOffsetNumber(&tids[i]));
	for (uint32 i = 0; i < n; i++)
	{
		ItemPointerData place = tids[i];

		if ((sees_all && take_plain_row(rows, page, &place)) ||
			heap_hot_search_buffer(&place, rows->heap, rows->buffer, rows->snapshot, &rows->rows[rows->n], NULL, true))
			rows->n++;
	}
}

/*
 * Read the rows at all TIDs of the next block; returns false if there is no further block.  The rows stay valid without
 * the lock, since a pin is enough to keep visible rows in place.
 */
static bool
enter_block(RtscanHeapRows *rows)
{
	uint32		first = skip_beyond(rows, rows->next_tid);

	leave_block(rows);
	rows->next_tid = first;
	if (first == rows->ntids)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (rows->stream == NULL)
		begin_stream(rows);
	rows->next_tid = end_of_block(rows, first);
	rows->buffer = read_stream_next_buffer(rows->stream, NULL);
	Assert(BufferGetBlockNumber(rows->buffer) == ItemPointerGetBlockNumber(&rows->tids[first]));
	rtscan_compat_prune(rows->heap, rows->buffer, rows->reads_only);
	LockBuffer(rows->buffer, BUFFER_LOCK_SHARE);
	take_rows(rows, BufferGetPage(rows->buffer), rows->tids + first, rows->next_tid - first);
	LockBuffer(rows->buffer, BUFFER_LOCK_UNLOCK);
	return true;
}

bool
rtscan_next_heap_row(RtscanHeapRows *rows, TupleTableSlot *slot)
{
	while (rows->next == rows->n)
		if (!enter_block(rows))
			return false;
	pgstat_count_heap_fetch(rows->heap);
	ExecStoreBufferHeapTuple(&rows->rows[rows->next++], slot, rows->buffer);
	return true;
}

void
rtscan_find_seen(Relation heap, Snapshot snapshot, ItemPointer tid, Buffer *buffer)
{
	HeapTupleData tuple;

	*buffer = ReleaseAndReadBuffer(*buffer, heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(*buffer, BUFFER_LOCK_SHARE);
	(void) heap_hot_search_buffer(tid, heap, *buffer, snapshot, &tuple, NULL, true);
	LockBuffer(*buffer, BUFFER_LOCK_UNLOCK);
}
