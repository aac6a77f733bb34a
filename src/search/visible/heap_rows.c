/*
 * heap_rows.c
 *		The table's rows at TIDs that an index has found, a heap block at a time.
 */
#include "search/visible/heap_rows.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

/* A cache line, as memory is fetched. */
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

/* Leave out TIDs beyond the table's end, which it had when the scan began. */
static uint32
skip_beyond(const RtscanHeapRows *rows, uint32 tid)
{
	while (tid < rows->ntids && ItemPointerGetBlockNumber(&rows->tids[tid]) >= rows->blocks)
		tid++;
	return tid;
}

/* The end of the TIDs that are in one block, and fit into our rows. */
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

/* ReadStreamBlockNumberCB: the block of the TIDs that are looked up next, or later. */
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

	rows->stream = read_stream_begin_relation(READ_STREAM_DEFAULT, NULL, rows->heap, MAIN_FORKNUM, next_block_ahead, rows, 0);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- rows */

/*
 * Does the snapshot see all that is on a page?  Then a row is where its line pointer says, which may be found out without
 * looking at the row.  (On a standby the page's bit does not say so for all snapshots; and for SERIALIZABLE each row has to be noted.)
 */
static bool
sees_all_of_page(const RtscanHeapRows *rows, Page page)
{
	return PageIsAllVisible(page) && !rows->snapshot->takenDuringRecovery && !rows->checks_conflicts;
}

/* Rows are looked at soon, and memory takes its time: ask for the cache lines of a row's beginning. */
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

/* The row that a line pointer leads to, without looking at it; false if it leads elsewhere. */
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

/* Take the rows at TIDs of one page; or those in their HOT chains that the snapshot sees. */
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

/* Look up all TIDs of the next block: a pin is enough to keep what is visible there.  False if there is none. */
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
