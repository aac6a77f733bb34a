/*
 * heap_rows.c
 *		The table's rows at TIDs that an index has found, a heap block at a time.
 */
#include "search/heap_rows.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/spccache.h"

void
rtscan_begin_heap_rows(RtscanHeapRows *rows, Relation heap, Snapshot snapshot)
{
	memset(rows, 0, offsetof(RtscanHeapRows, rows));
	rows->heap = heap;
	rows->snapshot = snapshot;
	rows->blocks = RelationGetNumberOfBlocks(heap);
	rows->prefetch_distance = get_tablespace_io_concurrency(heap->rd_rel->reltablespace);
	rows->last_prefetched = InvalidBlockNumber;
	rows->buffer = InvalidBuffer;
}

void
rtscan_set_heap_tids(RtscanHeapRows *rows, const ItemPointerData *tids, uint32 n)
{
	rows->tids = tids;
	rows->ntids = n;
	rows->next_tid = rows->prefetched = 0;
	rows->n = rows->next = 0;
}

void
rtscan_end_heap_rows(RtscanHeapRows *rows)
{
	rtscan_set_heap_tids(rows, NULL, 0);
	if (BufferIsValid(rows->buffer))
		ReleaseBuffer(rows->buffer);
	rows->buffer = InvalidBuffer;
}

/* Ask for the blocks of some TIDs ahead of the next one: about as many as the tablespace can read at the same time. */
static void
prefetch(RtscanHeapRows *rows)
{
	uint32		end = Min(rows->next_tid + rows->prefetch_distance, rows->ntids);

	for (rows->prefetched = Max(rows->prefetched, rows->next_tid); rows->prefetched < end; rows->prefetched++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&rows->tids[rows->prefetched]);

		if (block != rows->last_prefetched && block < rows->blocks)
			PrefetchBuffer(rows->heap, MAIN_FORKNUM, block);
		rows->last_prefetched = block;
	}
}

/* Take the row at a TID, or the one in its HOT chain that the snapshot sees. */
static void
take_row(RtscanHeapRows *rows, const ItemPointerData *tid)
{
	ItemPointerData place = *tid;

	if (heap_hot_search_buffer(&place, rows->heap, rows->buffer, rows->snapshot, &rows->rows[rows->n], NULL, true))
		rows->n++;
}

/* Look up all TIDs of the next one's block: a pin is enough to keep what is visible there. */
static void
enter_block(RtscanHeapRows *rows)
{
	BlockNumber block = ItemPointerGetBlockNumber(&rows->tids[rows->next_tid]);
	uint32		first = rows->next_tid;

	rows->n = rows->next = 0;
	while (rows->next_tid < rows->ntids && rows->next_tid - first < MaxHeapTuplesPerPage &&
		   ItemPointerGetBlockNumber(&rows->tids[rows->next_tid]) == block)
		rows->next_tid++;
	if (block >= rows->blocks)
		return;
	CHECK_FOR_INTERRUPTS();
	rows->buffer = ReleaseAndReadBuffer(rows->buffer, rows->heap, block);
	rtscan_compat_prune(rows->heap, rows->buffer);
	LockBuffer(rows->buffer, BUFFER_LOCK_SHARE);
	for (uint32 i = first; i < rows->next_tid; i++)
		take_row(rows, &rows->tids[i]);
	LockBuffer(rows->buffer, BUFFER_LOCK_UNLOCK);
}

bool
rtscan_next_heap_row(RtscanHeapRows *rows, TupleTableSlot *slot)
{
	while (rows->next == rows->n)
	{
		if (rows->next_tid == rows->ntids)
			return false;
		if (rows->prefetch_distance > 0)
			prefetch(rows);
		enter_block(rows);
	}
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
