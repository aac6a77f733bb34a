/*
 * build_scan.c
 *		The rows of a range of heap blocks, for a build.
 *
 * PostgreSQL's own scan for it (heapam_index_build_range_scan) locks a page twice for each row.  Of a page whose rows are all known to
 * be committed and not deleted, and none of which is in a HOT chain, they are listed here under one lock.  Other pages, as those of
 * rows that nobody has looked at since they were written, are left to PostgreSQL.
 */
#include "am/build.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "search/read_stream.h"
#include "search/visibility.h"

/* Pages are left to PostgreSQL so many at a time, at most: they are still in the ring of buffers that we read through. */
#define PAGES_LEFT		16

typedef struct BuildScan
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	const RtscanBuildCallbacks *callbacks;
	void	   *arg;
	EState	   *estate;
	ExprState  *predicate;
	TupleTableSlot *slot;
	BlockNumber ahead;			/* to be read next, */
	BlockNumber end;			/* up to here */
	double		rows;
} BuildScan;

/* ReadStreamBlockNumberCB */
static BlockNumber
next_block(ReadStream *stream, void *arg, void *unused)
{
	BuildScan  *scan = (BuildScan *) arg;

	return scan->ahead < scan->end ? scan->ahead++ : InvalidBlockNumber;
}

static void
begin_scan(BuildScan *scan)
{
	scan->estate = CreateExecutorState();
	scan->slot = table_slot_create(scan->heap, NULL);
	GetPerTupleExprContext(scan->estate)->ecxt_scantuple = scan->slot;
	scan->predicate = ExecPrepareQual(scan->info->ii_Predicate, scan->estate);
}

static void
end_scan(BuildScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	FreeExecutorState(scan->estate);
	/* what FormIndexDatum() has prepared is gone with it */
	scan->info->ii_ExpressionsState = NIL;
}

/* Whoever looks sees the row, at its own line pointer. */
static bool
is_settled(const HeapTupleHeaderData *row)
{
	return HeapTupleHeaderXminCommitted(row) && (row->t_infomask & HEAP_XMAX_INVALID) && !HeapTupleHeaderIsHeapOnly(row);
}

/* List the rows of a page; false if there are some that are not settled.  A pin keeps them where they are. */
static bool
list_settled(Buffer buffer, OffsetNumber *offsets, int *n)
{
	Page		page = BufferGetPage(buffer);
	bool		settled = true;
	OffsetNumber last;

	*n = 0;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	last = PageGetMaxOffsetNumber(page);
	for (OffsetNumber offset = FirstOffsetNumber; settled && offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);

		settled = ItemIdIsNormal(item) ? is_settled((HeapTupleHeader) PageGetItem(page, item)) : !ItemIdIsRedirected(item);
		if (ItemIdIsNormal(item))
			offsets[(*n)++] = offset;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return settled;
}

static void
add_row(BuildScan *scan, HeapTuple row, Buffer buffer)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	ResetPerTupleExprContext(scan->estate);
	ExecStoreBufferHeapTuple(row, scan->slot, buffer);
	if (!ExecQual(scan->predicate, GetPerTupleExprContext(scan->estate)))
		return;
	FormIndexDatum(scan->info, scan->slot, scan->estate, values, isnull);
	scan->callbacks->row(scan->index, &row->t_self, values, isnull, true, scan->arg);
}

static void
add_settled(BuildScan *scan, Buffer buffer, const OffsetNumber *offsets, int n)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);

	scan->callbacks->block(block, scan->arg);
	for (int i = 0; i < n; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);
		HeapTupleData row = {
			.t_len = ItemIdGetLength(item),
			.t_tableOid = RelationGetRelid(scan->heap),
			.t_data = (HeapTupleHeader) PageGetItem(page, item),
		};

		ItemPointerSet(&row.t_self, block, offsets[i]);
		add_row(scan, &row, buffer);
	}
	scan->rows += n;
}

/* Leave the pages from one up to another to PostgreSQL. */
static void
scan_others(BuildScan *scan, BlockNumber first, BlockNumber end)
{
	if (first == end)
		return;
	scan->rows += table_index_build_range_scan(scan->heap, scan->index, scan->info, false, false, false, first, end - first,
											   scan->callbacks->row, scan->arg, NULL);
	scan->callbacks->block(end, scan->arg);
}

static void
scan_pages(BuildScan *scan, BlockNumber first)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	ReadStream *stream = read_stream_begin_relation(READ_STREAM_SEQUENTIAL, strategy, scan->heap, MAIN_FORKNUM, next_block, scan, 0);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	BlockNumber left = first;	/* pages from here on are left, so far */

	for (BlockNumber block = first; block < scan->end; block++)
	{
		Buffer		buffer = read_stream_next_buffer(stream, NULL);
		int			n;

		CHECK_FOR_INTERRUPTS();
		if (list_settled(buffer, offsets, &n))
		{
			scan_others(scan, left, block);
			add_settled(scan, buffer, offsets, n);
			left = block + 1;
		}
		ReleaseBuffer(buffer);
		if (block + 1 - left == PAGES_LEFT)
		{
			scan_others(scan, left, block + 1);
			left = block + 1;
		}
	}
	scan_others(scan, left, scan->end);
	read_stream_end(stream);
	FreeAccessStrategy(strategy);
}

double
rtscan_build_scan(Relation heap, Relation index, IndexInfo *info, BlockNumber first, BlockNumber end,
				  const RtscanBuildCallbacks *callbacks, void *arg)
{
	BuildScan	scan = {
		.heap = heap,
		.index = index,
		.info = info,
		.callbacks = callbacks,
		.arg = arg,
		.ahead = first,
		.end = end,
	};

	/* A concurrent build sees what its snapshot does. */
	if (!rtscan_is_heap(heap) || info->ii_Concurrent)
	{
		scan_others(&scan, first, end);
		return scan.rows;
	}
	begin_scan(&scan);
	scan_pages(&scan, first);
	end_scan(&scan);
	return scan.rows;
}
