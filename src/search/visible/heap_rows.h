/* SPDX-License-Identifier: PostgreSQL */
/*
 * heap_rows.h
 *		Fetch the table's rows at TIDs that an index has found, a heap block at a time.
 *
 * TIDs ascend within a segment, so all rows of a block are fetched together.  The block is pinned, pruned and locked
 * once, as in a bitmap heap scan, and a read stream reads the next blocks ahead.
 *
 * Only rows that the snapshot sees are returned.  If VACUUM has freed a TID since the index was read, there is no row
 * at the TID, or a row that is too new for the snapshot.  The page of a row that is too new is not all-visible.  So
 * rows of an all-visible page need no visibility check.
 */
#ifndef RTSCAN_HEAP_ROWS_H
#define RTSCAN_HEAP_ROWS_H

#include "rtscan.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "search/visible/read_stream.h"
#include "utils/snapshot.h"

/* The state of a fetch. */
typedef struct RtscanHeapRows
{
	Relation	heap;
	Snapshot	snapshot;
	bool		checks_conflicts;	/* each row must be checked for conflicts of SERIALIZABLE transactions */
	bool		reads_only;		/* the query does not change the table */
	BlockNumber blocks;			/* number of the heap's blocks when the scan began; the snapshot sees no rows beyond
								 * them */
	const ItemPointerData *tids;	/* TIDs to fetch; belong to the caller */
	uint32		ntids;			/* number of TIDs */
	uint32		next_tid;		/* first TID whose block has not been read */
	uint32		ahead_tid;		/* first TID whose block the stream has not requested */
	MemoryContext context;		/* memory context of the stream */
	ReadStream *stream;			/* stream of the TIDs' blocks; NULL before the first block */
	Buffer		buffer;			/* pinned buffer of the current block, or invalid */
	uint32		n;				/* number of rows in "rows" */
	uint32		next;			/* position in "rows" of the next row to return */
	HeapTupleData rows[MaxHeapTuplesPerPage];	/* the current block's rows that the snapshot sees */
} RtscanHeapRows;

/*
 * Begin to fetch rows, in the current memory context.  The snapshot must have been taken and, for SERIALIZABLE, the
 * index locked.  *rows must be all zeros, or be left by rtscan_end_heap_rows() after a fetch with the same snapshot.
 * In the latter case, the number of the table's blocks is taken from the earlier fetch.
 */
extern void rtscan_begin_heap_rows(RtscanHeapRows *rows, Relation heap, Snapshot snapshot, bool reads_only);

/* Replace the TIDs to fetch by the n TIDs in "tids".  The array is not copied, and must stay where it is. */
extern void rtscan_set_heap_tids(RtscanHeapRows *rows, const ItemPointerData *tids, uint32 n);

/* Store the next row in a slot for buffer heap tuples; returns false if there are no more rows at the TIDs. */
extern bool rtscan_next_heap_row(RtscanHeapRows *rows, TupleTableSlot *slot);

/* Forget the TIDs, release the current block, and end the stream. */
extern void rtscan_end_heap_rows(RtscanHeapRows *rows);

/*
 * Replace a TID of the index by the TID of the member of its HOT chain that the snapshot sees; the two differ after a
 * HOT update.  *buffer must be pinned or invalid, and becomes the pinned buffer of the TID's block.
 */
extern void rtscan_find_seen(Relation heap, Snapshot snapshot, ItemPointer tid, Buffer *buffer);

#endif							/* RTSCAN_HEAP_ROWS_H */
