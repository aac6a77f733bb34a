/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_look.c
 *		Look into a heap page once for all of its line pointers: at which of them does a snapshot see a row?
 */
#include "search/visible/page_look.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

/* The state of a tuple, as far as it is known. */
typedef enum TupleState
{
	TUPLE_UNSETTLED,			/* not known, or the snapshot does not see a transaction as ended */
	TUPLE_LIVE,					/* inserted, and not deleted */
	TUPLE_DELETED,				/* inserted and deleted, or the inserting transaction has aborted */
} TupleState;

/* A page that is looked into. */
typedef struct Look
{
	Relation	heap;
	Buffer		buffer;
	Page		page;
	OffsetNumber last;			/* last line pointer of the page */
	Snapshot	snapshot;
	bool		asks_log;		/* is the commit log asked where hint bits do not tell? */
	TransactionId newest;		/* newest transaction that answers depend on so far */
	TransactionId last_committed;	/* the last one that had_committed() has found so; most tuples of a page have it */
} Look;

/*
 * Had a transaction committed when the snapshot was taken?  If so answers depend on it from now on.  "hint" tells
 * whether hint bits say that it has committed by now.
 *
 * Hint bits cannot be set for a transaction that has committed asynchronously before its commit record is on disk.  If
 * that gets lost, the server has crashed, and nothing is remembered.
 */
static inline bool
had_committed(Look *look, TransactionId xid, bool hint)
{
	if (TransactionIdIsValid(xid) && xid == look->last_committed)
		return true;
	if (!hint && !look->asks_log)
		return false;
	if (!TransactionIdPrecedes(xid, look->snapshot->xmin) && XidInMVCCSnapshot(xid, look->snapshot))
		return false;
	if (!hint && !TransactionIdDidCommit(xid))
		return false;
	if (!TransactionIdIsValid(look->newest) || TransactionIdPrecedes(look->newest, xid))
		look->newest = xid;
	look->last_committed = xid;
	return true;
}

/* A tuple that VACUUM FULL moved before PostgreSQL 9.0 depends on that transaction, too. */
static TupleState
inserted_state(Look *look, HeapTupleHeader tuple)
{
	bool		hint = HeapTupleHeaderXminCommitted(tuple);

	if (HeapTupleHeaderXminFrozen(tuple))
		return TUPLE_LIVE;
	if (HeapTupleHeaderXminInvalid(tuple))
		return TUPLE_DELETED;
	if ((!hint && (tuple->t_infomask & HEAP_MOVED)) || !had_committed(look, HeapTupleHeaderGetRawXmin(tuple), hint))
		return TUPLE_UNSETTLED;
	return TUPLE_LIVE;
}

/* A row that is only locked is live.  SERIALIZABLE transactions do not look. */
static TupleState
deleted_state(Look *look, HeapTupleHeader tuple)
{
	if ((tuple->t_infomask & HEAP_XMAX_INVALID) || HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask))
		return TUPLE_LIVE;
	if ((tuple->t_infomask & HEAP_XMAX_IS_MULTI) ||
		!had_committed(look, HeapTupleHeaderGetRawXmax(tuple), tuple->t_infomask & HEAP_XMAX_COMMITTED))
		return TUPLE_UNSETTLED;
	return TUPLE_DELETED;
}

static inline TupleState
tuple_state(Look *look, HeapTupleHeader tuple)
{
	TupleState	inserted = inserted_state(look, tuple);

	return inserted == TUPLE_LIVE ? deleted_state(look, tuple) : inserted;
}

/* Return a tuple's successor in its HOT chain, or NULL if the chain ends with it. */
static HeapTupleHeader
next_in_chain(const Look *look, HeapTupleHeader tuple)
{
	OffsetNumber next = ItemPointerGetOffsetNumberNoCheck(&tuple->t_ctid);
	HeapTupleHeader successor;

	if (!HeapTupleHeaderIsHotUpdated(tuple) || next < FirstOffsetNumber || next > look->last ||
		!ItemIdIsNormal(PageGetItemId(look->page, next)))
		return NULL;
	successor = (HeapTupleHeader) PageGetItem(look->page, PageGetItemId(look->page, next));
	if (!HeapTupleHeaderIsHeapOnly(successor) ||
		!TransactionIdEquals(HeapTupleHeaderGetXmin(successor), HeapTupleHeaderGetUpdateXid(tuple)))
		return NULL;
	return successor;
}

/* Is a member of a HOT chain live?  A live member is the last one that the snapshot can see. */
static inline TupleState
chain_state(Look *look, HeapTupleHeader tuple)
{
	for (; tuple; tuple = next_in_chain(look, tuple))
	{
		TupleState	state = tuple_state(look, tuple);

		if (state != TUPLE_DELETED)
			return state;
	}
	return TUPLE_DELETED;
}

static TupleState
line_pointer_state(Look *look, OffsetNumber offset)
{
	ItemId		item = PageGetItemId(look->page, offset);
	HeapTupleHeader tuple;

	if (ItemIdIsRedirected(item))
	{
		OffsetNumber first = ItemIdGetRedirect(item);

		if (first < FirstOffsetNumber || first > look->last)
			return TUPLE_UNSETTLED;
		item = PageGetItemId(look->page, first);
		if (!ItemIdIsNormal(item))
			return TUPLE_UNSETTLED;
		return chain_state(look, (HeapTupleHeader) PageGetItem(look->page, item));
	}
	if (!ItemIdIsNormal(item))
		return TUPLE_DELETED;
	tuple = (HeapTupleHeader) PageGetItem(look->page, item);
	return HeapTupleHeaderIsHeapOnly(tuple) ? TUPLE_DELETED : chain_state(look, tuple);
}

/* Have PostgreSQL look a line pointer up for the snapshot, which sets hint bits where it can. */
static bool
is_seen(const Look *look, OffsetNumber offset)
{
	ItemPointerData tid;
	HeapTupleData tuple;

	ItemPointerSet(&tid, BufferGetBlockNumber(look->buffer), offset);
	return heap_hot_search_buffer(&tid, look->heap, look->buffer, look->snapshot, &tuple, NULL, true);
}

/* Find the answer for a line pointer, and set its bits. */
static void
look_at(Look *look, OffsetNumber offset, RtscanPageRows *rows)
{
	TupleState	state = line_pointer_state(look, offset);
	uint64		bit = UINT64_C(1) << ((offset - 1) % 64);
	bool		seen = state == TUPLE_LIVE;

	if (state == TUPLE_UNSETTLED)
	{
		seen = is_seen(look, offset);
		look->asks_log = true;
		state = line_pointer_state(look, offset);
		look->asks_log = false;
		if (state == TUPLE_UNSETTLED)
		{
			rows->unsettled[(offset - 1) / 64] |= bit;
			rows->all_settled = false;
		}
	}
	if (seen)
		rows->seen[(offset - 1) / 64] |= bit;
}

void
rtscan_look_into_page(Relation heap, Buffer buffer, Snapshot snapshot, RtscanPageRows *rows, TransactionId *newest)
{
	Page		page = BufferGetPage(buffer);
	Look		look = {
		.heap = heap,
		.buffer = buffer,
		.page = page,
		.last = PageGetMaxOffsetNumber(page),
		.snapshot = snapshot,
		.newest = InvalidTransactionId,
		.last_committed = InvalidTransactionId,
	};

	*rows = (RtscanPageRows) {.all_settled = true};
	for (OffsetNumber offset = FirstOffsetNumber; offset <= Min(look.last, RTSCAN_REMEMBERED_ROWS); offset++)
		look_at(&look, offset, rows);
	*newest = look.newest;
}
