/* SPDX-License-Identifier: PostgreSQL */
/*
 * build_scan.c
 *		Scan the rows of a range of heap blocks, for a build.
 *
 * PostgreSQL's own scan for builds (heapam_index_build_range_scan) locks a page twice for each row.  This scan
 * lists the rows of a page under one lock, if they are settled: all committed and not deleted, and none in a
 * HOT chain.  Other pages are left to PostgreSQL's scan.
 */
#include "am/build.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "search/visible/read_stream.h"
#include "search/visible/visibility.h"
#include "storage/procarray.h"

/*
 * Minimum number of pages that are left to PostgreSQL's scan at a time, even if some of them are settled: each scan
 * takes time to start, and is counted in pg_stat_user_tables.
 */
#define LEAST_PAGES_LEFT	32
/*
 * Maximum number of pages that are left to PostgreSQL's scan at a time, so that they are still cached when it reads
 * them again.
 */
#define MOST_PAGES_LEFT		1024

/* The state of a scan. */
typedef struct BuildScan
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;			/* describes the index */
	const RtscanBuildCallbacks *callbacks;	/* called for rows and blocks */
	void	   *arg;
	EState	   *estate;			/* evaluates expressions and predicate */
	ExprState  *predicate;
	TupleTableSlot *slot;		/* holds a row */
	TransactionId oldest_xmin;	/* rows deleted by transactions before this xid are dead to all snapshots */
	BlockNumber ahead;			/* next block to read ahead */
	BlockNumber end;			/* end of the range */
	double		rows;			/* number of rows so far */
} BuildScan;

/* ReadStreamBlockNumberCB: return the next block to read ahead. */
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
	scan->oldest_xmin = GetOldestNonRemovableTransactionId(scan->heap);
}

static void
end_scan(BuildScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	FreeExecutorState(scan->estate);
	/* FormIndexDatum() has prepared the expressions in the executor state that has just been freed */
	scan->info->ii_ExpressionsState = NIL;
}

static HeapTupleData
row_at(const BuildScan *scan, Buffer buffer, OffsetNumber offset)
{
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, offset);
	HeapTupleData row = {
		.t_len = ItemIdGetLength(item),
		.t_tableOid = RelationGetRelid(scan->heap),
		.t_data = (HeapTupleHeader) PageGetItem(page, item),
	};

	ItemPointerSet(&row.t_self, BufferGetBlockNumber(buffer), offset);
	return row;
}

/* Is the row visible to all transactions, and is its own line pointer the one to be indexed? */
static bool
is_settled(const BuildScan *scan, Buffer buffer, OffsetNumber offset)
{
	HeapTupleData row = row_at(scan, buffer, offset);

	if (HeapTupleHeaderIsHeapOnly(row.t_data))
		return false;
	return (HeapTupleHeaderXminCommitted(row.t_data) && (row.t_data->t_infomask & HEAP_XMAX_INVALID)) ||
		HeapTupleSatisfiesVacuum(&row, scan->oldest_xmin, buffer) == HEAPTUPLE_LIVE;
}

/*
 * List the rows of a page.  Returns false if a row is not settled.  The pin keeps the rows in place after the page is
 * unlocked.
 */
static bool
list_settled(const BuildScan *scan, Buffer buffer, OffsetNumber *offsets, int *n)
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

		settled = ItemIdIsNormal(item) ? is_settled(scan, buffer, offset) : !ItemIdIsRedirected(item);
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
	scan->callbacks->block(BufferGetBlockNumber(buffer), scan->arg);
	for (int i = 0; i < n; i++)
	{
		HeapTupleData row = row_at(scan, buffer, offsets[i]);

		add_row(scan, &row, buffer);
	}
	scan->rows += n;
}

/*
 * Let PostgreSQL scan the pages first .. end - 1.  Its scan resets info->ii_ExpressionsState, so the expressions
 * prepared by this scan are saved and restored.
 */
static void
scan_others(BuildScan *scan, BlockNumber first, BlockNumber end)
{
	List	   *prepared = scan->info->ii_ExpressionsState;

	if (first == end)
		return;
	scan->info->ii_ExpressionsState = NIL;
	scan->rows += table_index_build_range_scan(scan->heap, scan->index, scan->info, false, false, false,
											   first, end - first,
											   scan->callbacks->row, scan->arg, NULL);
	scan->info->ii_ExpressionsState = prepared;
	scan->callbacks->block(end, scan->arg);
}

/*
 * Choose the ring of buffers that sequential scans use for a table larger than a quarter of shared buffers; NULL for
 * a smaller table, which may stay in shared buffers, and for a temporary table.
 */
static BufferAccessStrategy
choose_strategy(Relation heap)
{
	return !RelationUsesLocalBuffers(heap) && RelationGetNumberOfBlocks(heap) > (BlockNumber) NBuffers / 4
		? GetAccessStrategy(BAS_BULKREAD) : NULL;
}

static void
scan_pages(BuildScan *scan, BlockNumber first)
{
	BufferAccessStrategy strategy = choose_strategy(scan->heap);
	ReadStream *stream = read_stream_begin_relation(READ_STREAM_SEQUENTIAL, strategy, scan->heap,
													MAIN_FORKNUM, next_block, scan, 0);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	BlockNumber left = first;	/* first of the pages to be left to PostgreSQL */

	for (BlockNumber block = first; block < scan->end; block++)
	{
		Buffer		buffer = read_stream_next_buffer(stream, NULL);
		bool		may_be_settled = left == block || block - left >= LEAST_PAGES_LEFT;
		int			n;

		CHECK_FOR_INTERRUPTS();
		if (may_be_settled && list_settled(scan, buffer, offsets, &n))
		{
			scan_others(scan, left, block);
			add_settled(scan, buffer, offsets, n);
			left = block + 1;
		}
		ReleaseBuffer(buffer);
		if (block + 1 - left == MOST_PAGES_LEFT)
		{
			scan_others(scan, left, block + 1);
			left = block + 1;
		}
	}
	scan_others(scan, left, scan->end);
	read_stream_end(stream);
	if (strategy)
		FreeAccessStrategy(strategy);
}

double
rtscan_build_scan(Relation heap, Relation index, IndexInfo *info, BlockNumber first, BlockNumber end, bool progress,
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

	/* a concurrent build needs the rows that its snapshot sees, and scan_pages() does not use a snapshot */
	if (!rtscan_is_heap(heap) || info->ii_Concurrent)
		return table_index_build_range_scan(heap, index, info, false, false, progress, first, end - first,
											callbacks->row, arg, NULL);
	begin_scan(&scan);
	scan_pages(&scan, first);
	end_scan(&scan);
	return scan.rows;
}
