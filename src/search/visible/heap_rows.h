/*
 * heap_rows.h
 *		The table's rows at TIDs that an index has found, a heap block at a time.
 *
 * TIDs ascend within a segment, so a block's rows come together: it is pinned, pruned and locked once, as a bitmap heap
 * scan does it, and blocks ahead are read by a stream.  The snapshot decides which rows there are.  A TID that vacuum has
 * freed since leads to no row, or to one that is too young for the snapshot, so that its page is not all-visible; what is on
 * an all-visible page is not asked of the snapshot.
 */
#ifndef RTSCAN_HEAP_ROWS_H
#define RTSCAN_HEAP_ROWS_H

#include "rtscan.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "search/visible/read_stream.h"
#include "utils/snapshot.h"

typedef struct RtscanHeapRows
{
	Relation	heap;
	Snapshot	snapshot;
	bool		checks_conflicts;	/* of SERIALIZABLE */
	bool		reads_only;		/* the query does not change the table */
	BlockNumber blocks;			/* when the scan began: beyond them are no rows for the snapshot */
	const ItemPointerData *tids;	/* the caller's, */
	uint32		ntids;
	uint32		next_tid;		/* from here on their block has not been looked into, */
	uint32		ahead_tid;		/* nor asked for */
	MemoryContext context;
	ReadStream *stream;			/* of their blocks, or NULL: none has been asked for yet */
	Buffer		buffer;			/* pinned, or invalid: */
	uint32		n;				/* rows of its page that the snapshot sees, */
	uint32		next;			/* and the next of them */
	HeapTupleData rows[MaxHeapTuplesPerPage];
} RtscanHeapRows;

/*
 * Begin, in the current memory context, with a snapshot that has been taken, and with the index locked for SERIALIZABLE; with
 * zeros, or with what a scan with the same snapshot has ended with, which knows the table's end.
 */
extern void rtscan_begin_heap_rows(RtscanHeapRows *rows, Relation heap, Snapshot snapshot, bool reads_only);

/* Go on with other TIDs, those before being done with; they must stay where they are. */
extern void rtscan_set_heap_tids(RtscanHeapRows *rows, const ItemPointerData *tids, uint32 n);

/* Store the next row into a slot for the heap's tuples in buffers; false if the TIDs have no more. */
extern bool rtscan_next_heap_row(RtscanHeapRows *rows, TupleTableSlot *slot);

/* Forget the TIDs, and the page. */
extern void rtscan_end_heap_rows(RtscanHeapRows *rows);

/*
 * From a TID of the index to that of the version that the snapshot sees, which a HOT update may have put elsewhere.  *buffer, pinned
 * or invalid, becomes its pinned block.
 */
extern void rtscan_find_seen(Relation heap, Snapshot snapshot, ItemPointer tid, Buffer *buffer);

#endif							/* RTSCAN_HEAP_ROWS_H */
