/*
 * recycle.h
 *		Where pages come from, and where they go when nobody can see them any more.
 *
 * Changes of the free space map are not WAL-logged, so it only proposes: a page is free when it says
 * so itself (RTSCAN_PAGE_FREE, or never initialised), which the allocator checks under the
 * same exclusive lock under which the page gets its new content.  Lest a crash make it forget
 * pages for good, who has freed some logs the whole map, a byte a page of the index; until then
 * the metapage says that there are free pages to be looked for (recycling).
 *
 * The two heavyweight locks of an index (page locks, on blocks 0 and 1 as tags):
 *
 *	merge lock	held by who replaces segments or sets dead bits
 *	flush lock	held by who makes a pending list into a segment
 *
 * Who needs both takes the merge lock first, and who holds the flush lock never waits for
 * the merge lock.  Inserters and workers only try them, and rtscan_merge() tries the merge lock again and again: somebody
 * who waited for either would cancel an autovacuum that has it.  Readers take neither.
 */
#ifndef RTSCAN_RECYCLE_H
#define RTSCAN_RECYCLE_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "storage/metapage.h"
#include "storage/page.h"

extern void rtscan_lock_merge(Relation index);
extern bool rtscan_try_lock_merge(Relation index);
extern void rtscan_unlock_merge(Relation index);
extern void rtscan_lock_flush(Relation index);
extern bool rtscan_try_lock_flush(Relation index);
extern void rtscan_unlock_flush(Relation index);

/* A page to write to, exclusively locked; its content is undefined.  Or give it back, not written to. */
extern Buffer rtscan_allocate_page(Relation index);
extern void rtscan_return_page(Relation index, Buffer buffer);

/*
 * Give a page, exclusively locked, its whole content: so many bytes, zeros if content is
 * NULL.  Logs its image.
 */
extern void rtscan_write_page(Relation index, Buffer buffer, RtscanPageKind kind, uint64 owner,
							  uint32 ordinal, const void *content, Size used, BlockNumber next);

/* The same to a newly allocated page; returns its block. */
extern BlockNumber rtscan_write_new_page(Relation index, RtscanPageKind kind, uint64 owner,
										 uint32 ordinal, const void *content, Size used,
										 BlockNumber next);

/*
 * Can no snapshot see what this retired entry names any more?  The index's table, which the caller has some lock on,
 * says whose snapshots matter: not those of other databases.
 */
extern bool rtscan_entry_is_removable(Relation table, const RtscanEntry *entry);
extern Relation rtscan_table_of(Relation index);

/*
 * The pages of a removable entry are going to be reused: have standbys wait for queries that
 * may still read them, or cancel those, before they replay that.
 */
extern void rtscan_log_reuse(Relation index, const RtscanEntry *entry);

/*
 * The blocks of a chain of pages, in order.  Ends where a page is not of that kind and
 * owner: a crash may have cut short an earlier attempt to free them.
 */
extern List *rtscan_chain_blocks(Relation index, RtscanPageKind kind, uint64 owner,
								 BlockNumber first);

/*
 * Free the pages of all retired entries that nobody can see, and take the entries out of
 * the directory.  Needs the merge lock.
 */
extern void rtscan_recycle(Relation index);

/*
 * Free the pages of segments whose writing was cut short, and find those that were free when
 * recycling was.  Called by vacuum, holding both locks; does nothing unless the metapage says that
 * there was one or the other.
 */
extern void rtscan_reclaim_leaks(Relation index);

#endif							/* RTSCAN_RECYCLE_H */
