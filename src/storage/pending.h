/*
 * pending.h
 *		The pending list: rows that are not yet in a segment.
 *
 * A chain of pages; the payload of each is a run of index tuples, MAXALIGNed, in the order
 * in which they came.  Appending one is the hot path of every INSERT: it writes a generic
 * WAL record by hand, the new bytes and pd_lower, for GenericXLog would copy and compare
 * the whole page.
 *
 *	payload	│ IndexTuple │ IndexTuple │ IndexTuple │ ... free ... │
 *
 * The first page remembers about where the list ends (its tail, brought up to date
 * whenever a page is added), so that nobody walks the whole chain to append.
 *
 * Sealing marks the last page, under its lock and in one step with the metapage; an inserter
 * appends only after it has seen, under the same lock, that the page belongs to the list that
 * it means and is not sealed.
 */
#ifndef RTSCAN_PENDING_H
#define RTSCAN_PENDING_H

#include "rtscan.h"

#include "access/itup.h"
#include "storage/metapage.h"
#include "storage/schema.h"

/*
 * The largest index tuple.  A pending page would take a little more; but each of its values
 * must fit a page of its own in a segment as well, with that page's header.
 */
#define RTSCAN_MAX_TUPLE_SIZE	(RTSCAN_CHUNK_BYTES - 64)

/*
 * Append a row to the open list.  Returns whether the list has outgrown
 * rtscan.pending_list_limit, so that the caller may flush it.
 */
extern bool rtscan_pending_append(Relation index, IndexTuple tuple);

/*
 * Seal the open list, unless it is empty: the metapage names a new one, and the sealed one
 * never changes again.  Needs the flush lock, and that there is no sealed list.
 */
extern void rtscan_pending_seal(Relation index);

/* Call a function for each row of a list; it may do anything but keep the tuple. */
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

/* Pages in a list, without reading all of it; as good as the tail hint is. */
extern uint32 rtscan_pending_pages(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_PENDING_H */
