/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_tids.c
 *		Check that each live row of an index has a TID of its own, at which its table has a tuple.
 *
 * When VACUUM removes a tuple, it marks the tuple's row in the index dead before it makes the line pointer unused.
 * Only after both steps can another tuple be stored at the same TID.  But VACUUM may take both steps after the check
 * has read the row as live, and before it reads the line pointer.  Therefore a TID that two live rows have, or that
 * has no tuple, is only a suspect.  If a second pass over the index, begun after the first pass has ended, finds the
 * same suspect again, an error is raised.  (In theory, the error could be false: another tuple could have been stored
 * at this TID and vacuumed away during the second pass.)
 */
#include "monitor/check.h"

#include "catalog/pg_am.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemid.h"

/* The line pointers of a block of the table. */
typedef struct LinePointers
{
	Relation	heap;
	BufferAccessStrategy strategy;	/* ring of buffers for reading pages */
	BlockNumber nblocks;		/* number of blocks of the table */
	BlockNumber block;			/* the block; InvalidBlockNumber: none yet */
	bool		used[MaxOffsetNumber + 1];	/* by offset: is the line pointer in use? */
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

/* Add a TID to the suspects in "now"; raises an error if it is also among the suspects in "before". */
static void
suspect(Relation index, const RtscanSuspects *before, RtscanSuspects *now, int64 tid, bool twice)
{
	BlockNumber block = (BlockNumber) (tid >> 16);
	unsigned	offset = tid & 0xFFFF;

	for (int i = 0; before && i < before->n; i++)
		if (before->tids[i] == tid)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 twice ? errmsg("index \"%s\" has two live rows for tuple (%u,%u)",
									RelationGetRelationName(index), block, offset) :
					 errmsg("index \"%s\" has a live row for tuple (%u,%u), which does not exist",
							RelationGetRelationName(index), block, offset),
					 errhint("Please REINDEX it.")));
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
		if (tid == previous || (is_heap && !tuple_exists(&at, tid)))
			suspect(index, before, now, tid, tid == previous);
		previous = tid;
	}
	FreeAccessStrategy(at.strategy);
}
