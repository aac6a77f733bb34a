/*
 * check_tids.c
 *		Each live row of an index has a TID of its own, at which its table has a tuple.
 *
 * Of a removed tuple the row is dead before its line pointer becomes unused.  But rows are
 * read before line pointers, and a vacuum may come in between.  So a row whose tuple is
 * missing is only suspected: who finds it live again, in a look at the index that began
 * after that, and its tuple missing again, has found a fault.  (Or a tuple took that place,
 * died, and was vacuumed away, again just in between.)
 */
#include "monitor/check.h"

#include "catalog/pg_am.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemid.h"

/* The line pointers of a block of the table, and which block that is. */
typedef struct LinePointers
{
	Relation	heap;
	BufferAccessStrategy strategy;
	BlockNumber nblocks;
	BlockNumber block;
	bool		used[MaxOffsetNumber + 1];
} LinePointers;

static void
read_line_pointers(LinePointers *at, BlockNumber block)
{
	Buffer		buffer = ReadBufferExtended(at->heap, MAIN_FORKNUM, block, RBM_NORMAL, at->strategy);
	Page		page = BufferGetPage(buffer);
	OffsetNumber last;

	memset(at->used, 0, sizeof(at->used));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	last = Min(PageGetMaxOffsetNumber(page), MaxOffsetNumber);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
		at->used[offset] = ItemIdIsUsed(PageGetItemId(page, offset));
	UnlockReleaseBuffer(buffer);
	at->block = block;
}

static bool
tuple_exists(LinePointers *at, int64 tid)
{
	BlockNumber block = (BlockNumber) (tid >> 16);
	uint32		offset = tid & 0xFFFF;

	if (block >= at->nblocks)
		return false;
	if (block != at->block)
		read_line_pointers(at, block);
	return offset <= MaxOffsetNumber && at->used[offset];
}

static void
fail(Relation index, const char *message, int64 tid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg(message, RelationGetRelationName(index), (BlockNumber) (tid >> 16), (unsigned) (tid & 0xFFFF)),
			 errhint("Please REINDEX it.")));
}

static void
suspect(Relation index, const RtscanSuspects *before, RtscanSuspects *now, int64 tid)
{
	for (int i = 0; before && i < before->n; i++)
		if (before->tids[i] == tid)
			fail(index, "index \"%s\" has a live row for tuple (%u,%u), which does not exist", tid);
	if (now->n < RTSCAN_SUSPECTS)
		now->tids[now->n++] = tid;
}

void
rtscan_check_tids(Relation index, Relation heap, RtscanLiveRows *live, const RtscanSuspects *before,
				  RtscanSuspects *now)
{
	bool		is_heap = heap->rd_rel->relam == HEAP_TABLE_AM_OID;
	LinePointers at = {
		.heap = heap,
		.strategy = GetAccessStrategy(BAS_BULKREAD),
		.nblocks = RelationGetNumberOfBlocks(heap),
		.block = InvalidBlockNumber,
	};
	int64		previous = -1;
	Datum		value,
				abbreviated;
	bool		isnull;

	tuplesort_performsort(live->tids);
	while (tuplesort_getdatum(live->tids, true, false, &value, &isnull, &abbreviated))
	{
		int64		tid = DatumGetInt64(value);

		CHECK_FOR_INTERRUPTS();
		if (tid == previous)
			fail(index, "index \"%s\" has two live rows for tuple (%u,%u)", tid);
		if (is_heap && !tuple_exists(&at, tid))
			suspect(index, before, now, tid);
		previous = tid;
	}
	FreeAccessStrategy(at.strategy);
}
