/* SPDX-License-Identifier: PostgreSQL */
/*
 * pending.h
 *		The pending list: rows that are not yet in a segment.
 *
 * A pending list is a list page and a chain of pending pages.  The payload of a pending page is a run of index
 * tuples, MAXALIGNed, in the order of their insertion.  Appending a tuple is the hot path of every INSERT: it
 * writes a generic WAL record by hand, with the new bytes and pd_lower.
 *
 *	payload	│ IndexTuple │ IndexTuple │ IndexTuple │ ... free ... │
 *
 * Rows are appended to several pages at the same time, so that inserters do not wait for each other.  The list page
 * names these insertion pages; a backend uses the page at the place that its process number determines.
 * Insertions change the list page only if there is no page at this place, or a full one.  A new page is then put into
 * the chain directly after the list page, so that no other page needs a new link, and the full page is sealed.
 *
 *	list page ──► page 5 ──► page 4 ──► page 3 ──► page 2 ──► page 1
 *		│			▲						▲
 *		└ insertion ┴───────────────────────┘		1, 2 and 4 are full: sealed
 *
 * A reader that follows the chain misses pages that are added meanwhile.  This does no harm: the reader took its
 * snapshot earlier, and the snapshot does not see the transactions that inserted the rows on these pages.
 *
 * A sealed list never changes again.  There may be several sealed lists; each is an entry of the directory until its
 * segments are written.  Sealing a list marks its list page, in one step with the metapage, and its insertion pages,
 * all under their locks.  An inserter appends only after it has checked, under the page's lock, that the page belongs
 * to its list and is not sealed.
 */
#ifndef RTSCAN_PENDING_H
#define RTSCAN_PENDING_H

#include "rtscan.h"

#include "access/itup.h"
#include "nodes/pg_list.h"
#include "row/schema.h"
#include "storage/metapage.h"

/*
 * Append a row to the open list.  Returns the list's weight if the row is the first row of a page.  Otherwise returns
 * 0, since the number of full pages is the same and the caller has nothing to do.
 *
 * The weight is compared with rtscan.pending_list_limit.  It is the size in kB of the list's full pages, halved for
 * each attempt to flush any list since the last successful attempt.  Therefore, after a failure, the next attempt is
 * made when the list is twice as long.
 */
extern int64 rtscan_pending_append(Relation index, IndexTuple tuple);

/* Number of failed attempts after which the weight is not halved any more. */
#define RTSCAN_MAX_DOUBLINGS	6

/* Return the weight of the current image's open list.  Needs the flush lock. */
extern int64 rtscan_pending_weight(Relation index);

/*
 * Seal the open list, unless it is empty or has less than "kilobytes" kB of full pages: the list becomes an entry of
 * the directory, and the metapage names a new open list.  Needs the flush lock.
 */
extern void rtscan_pending_seal(Relation index, int64 kilobytes);

/* Reads the rows of a list one by one.  It holds no lock between two rows. */
typedef struct RtscanPendingReader
{
	Relation	index;
	RtscanListRef list;
	uint32		pages;			/* number of pages not yet read */
	BlockNumber next;			/* block of the first page not yet read */
	BlockNumber block;			/* block of the current page */
	Size		offset;			/* offset of the next tuple in the payload */
	Size		used;			/* number of used bytes in the payload */
	PGAlignedBlock copy;		/* copy of the current page */
} RtscanPendingReader;

/* Begin to read a list. */
extern void rtscan_pending_open(RtscanPendingReader *reader, Relation index, const RtscanListRef *list);

/* Return the next row, or NULL if there are no more.  The tuple is valid until the next call. */
extern IndexTuple rtscan_pending_next(RtscanPendingReader *reader);

/* Function called for a row of a list.  The tuple is valid only during the call. */
typedef void (*RtscanPendingVisitor) (IndexTuple tuple, void *arg);

/* Call a function for each row of a list. */
extern void rtscan_pending_visit(Relation index, const RtscanListRef *list,
								 RtscanPendingVisitor visitor, void *arg);

/*
 * Deform a row of a pending list.  Raises ERRCODE_INDEX_CORRUPTED if the row has no valid TID, or a value that
 * extends beyond the tuple.
 */
extern void rtscan_deform_pending(Relation index, const RtscanSchema *schema, IndexTuple tuple,
								  Datum *values, bool *isnull);

/* Raise ERRCODE_INDEX_CORRUPTED if a row of a pending list has no valid TID. */
extern void rtscan_check_pending_tid(Relation index, IndexTuple tuple);

/*
 * Check a list page.  It must have the right size, and must be sealed if "must_be_sealed" is true.  If it is not
 * sealed, its insertion pages must be in its chain and must not be sealed, and all other pages of the list must be
 * sealed.  Raises ERRCODE_INDEX_CORRUPTED if the check fails.
 */
extern void rtscan_check_list_page(Relation index, const RtscanListRef *list, bool must_be_sealed);

/*
 * Return the blocks of a list, the list page first.  The result ends at the first page that does not belong to the
 * list, as in rtscan_chain_blocks().
 */
extern List *rtscan_pending_blocks(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_PENDING_H */
