/*
 * pending.h
 *		The pending list: rows that are not yet in a segment.
 *
 * A list page, and a chain of pending pages; the payload of each of these is a run of index tuples,
 * MAXALIGNed, in the order in which they came.  Appending one is the hot path of every INSERT: it
 * writes a generic WAL record by hand, the new bytes and pd_lower.
 *
 *	payload	│ IndexTuple │ IndexTuple │ IndexTuple │ ... free ... │
 *
 * Several pages are appended to at the same time, so that inserters do not wait for each other; the list
 * page names these insertion pages, and a backend keeps to the one at the place that its number
 * gives it.  The list page is only touched when a page is full.  Then its follower comes into the chain
 * right behind the list page: no third page changes.
 *
 *	list page ──► page 5 ──► page 4 ──► page 3 ──► page 2 ──► page 1
 *		│			▲						▲
 *		└ insertion ┴───────────────────────┘		1, 2 and 4 are full: sealed
 *
 * A reader who goes along the chain misses pages that come into it meanwhile; their rows are of transactions that
 * its snapshot, taken before, does not see.
 *
 * A list that has been sealed never changes again; there may be several, each an entry of the directory, until their
 * segments are written.  Sealing a list marks its list page, in one step with the metapage, and its insertion pages, all under their
 * locks.  An inserter appends only after it has seen, under the page's lock, that the page belongs to
 * the list that it means and is not sealed.
 */
#ifndef RTSCAN_PENDING_H
#define RTSCAN_PENDING_H

#include "rtscan.h"

#include "access/itup.h"
#include "nodes/pg_list.h"
#include "row/schema.h"
#include "storage/metapage.h"

/* The payload of a list page. */
typedef struct RtscanPendingList
{
	uint32		pages;			/* in the chain: page n has the ordinal n */
	BlockNumber insertion[RTSCAN_INSERTION_PAGES];	/* InvalidBlockNumber: none so far */
} RtscanPendingList;

/* The first content of a list page. */
extern void rtscan_init_list_page(Page page, uint64 id);

/*
 * Append a row to the open list.  If it is the first of a page, returns the weight that the list has by now, what is compared
 * to rtscan.pending_list_limit: the kB of its full pages, halved for each attempt to flush a list that has failed since the
 * last that succeeded, or is under way.  So whoever has failed tries again when the list is twice as long.  Of a row that a page
 * has had room for, 0: it makes the list no longer, and has nothing to ask for.
 */
extern int64 rtscan_pending_append(Relation index, IndexTuple tuple);

/* After so many attempts in a row the limit does not grow any more. */
#define RTSCAN_MAX_DOUBLINGS	6

/* The weight of the open list of the current image.  Needs the flush lock. */
extern int64 rtscan_pending_weight(Relation index);

/*
 * Seal the open list, unless it is empty or has fewer kB: it becomes an entry of the directory, and the metapage names
 * a new one.  Needs the flush lock.
 */
extern void rtscan_pending_seal(Relation index, int64 kilobytes);

/*
 * The rows of a list, one by one: between two of them anything may happen.  A tuple is good until the next one is asked for;
 * NULL: there are no more.
 */
typedef struct RtscanPendingReader
{
	Relation	index;
	RtscanListRef list;
	uint32		pages;			/* that have not yet been read, */
	BlockNumber next;			/* the first of them */
	BlockNumber block;			/* the page at hand, */
	Size		offset;			/* read up to here, */
	Size		used;			/* of so many bytes */
	PGAlignedBlock copy;
} RtscanPendingReader;

extern void rtscan_pending_open(RtscanPendingReader *reader, Relation index, const RtscanListRef *list);
extern IndexTuple rtscan_pending_next(RtscanPendingReader *reader);

/* Or call a function for each row; it may do anything but keep the tuple. */
typedef void (*RtscanPendingVisitor) (IndexTuple tuple, void *arg);
extern void rtscan_pending_visit(Relation index, const RtscanListRef *list,
								 RtscanPendingVisitor visitor, void *arg);

/*
 * Take apart a row of a pending list; raises ERRCODE_INDEX_CORRUPTED where it has no TID, or a
 * value that reaches beyond it.  Or only look at its TID.
 */
extern void rtscan_deform_pending(Relation index, const RtscanSchema *schema, IndexTuple tuple,
								  Datum *values, bool *isnull);
extern void rtscan_check_pending_tid(Relation index, IndexTuple tuple);

/*
 * Does what the list page says of its insertion pages hold, and is it sealed if it must be?  Raises ERRCODE_INDEX_CORRUPTED
 * if not.
 */
extern void rtscan_check_list_page(Relation index, const RtscanListRef *list, bool must_be_sealed);

/* The blocks of a list, the list page first; ends where a page is not of the list, as rtscan_chain_blocks(). */
extern List *rtscan_pending_blocks(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_PENDING_H */
