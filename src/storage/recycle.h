/*
 * recycle.h
 *		Where pages come from, and where they go when nobody can see them any more.
 *
 * Changes of the free space map are not WAL-logged, so it only proposes: a page is free when it says
 * so itself (RTSCAN_PAGE_FREE, or never initialised), which the allocator checks under the
 * same exclusive lock under which the page gets its new content.  Lest a crash make it forget many
 * pages, who has freed some logs the pages of the map that say so (RtscanFreed): a page of the map is for 4,000 of the index, and has two
 * above it.  What it forgets all the same, and pages that were lost in a crash, VACUUM finds (maintain/sweep.h).
 *
 * A standby cancels queries that could read pages that are reused: one record says so for all that is recycled
 * together, and conflicts with snapshots older than the last of it was retired.  VACUUM and rtscan_merge() recycle whatever
 * nobody here can see, as VACUUM removes tuples; merges that only insertions have brought about had better
 * extend the file than cancel queries: where there is a standby they wait for some minutes.
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

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "storage/metapage.h"
#include "storage/page.h"

/* To try is to fail where this backend has the lock itself: the first asks for that. */
extern bool rtscan_merges_itself(Relation index);
extern void rtscan_lock_merge(Relation index);
extern bool rtscan_try_lock_merge(Relation index);
extern void rtscan_unlock_merge(Relation index);
extern void rtscan_lock_flush(Relation index);
extern bool rtscan_try_lock_flush(Relation index);
extern void rtscan_unlock_flush(Relation index);

/* A page to write to, exclusively locked; its content is undefined.  Or give it back, not written to. */
extern Buffer rtscan_allocate_page(Relation index);
extern void rtscan_return_page(Relation index, Buffer buffer);

/* At most n free pages, exclusively locked; how many there are. */
extern int	rtscan_reuse_pages(Relation index, Buffer *buffers, int n);

/* Extend the index by pages, each exclusively locked, between a begin, which says what the first will be, and an end. */
extern BlockNumber rtscan_begin_extension(Relation index);
extern Buffer rtscan_extend(Relation index);
extern void rtscan_end_extension(Relation index);

/* Is a page for anyone to take?  Under its lock. */
extern bool rtscan_page_is_free(Page page);

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
 * The blocks of a chain of pages, in order.  Ends where a page is not of that kind and
 * owner: a crash may have cut short an earlier attempt to free them.
 */
extern List *rtscan_chain_blocks(Relation index, RtscanPageKind kind, uint64 owner,
								 BlockNumber first);

/* What is freed in one go: which leaf pages of the free space map have changed. */
typedef struct RtscanFreed
{
	Relation	index;
	Bitmapset  *leaves;
} RtscanFreed;

/* Tell the map that a block is free.  Or free a page, exclusively locked; a block, if it belongs to an owner. */
extern void rtscan_record_free(RtscanFreed *freed, BlockNumber block);
extern void rtscan_free_page(RtscanFreed *freed, Buffer buffer);
extern void rtscan_free_block(RtscanFreed *freed, BlockNumber block, uint64 owner);

/* Then have the map propose it, also after a crash. */
extern void rtscan_save_freed(RtscanFreed *freed);

/* Is there a standby, or may there be one again, with queries to be cancelled? */
extern bool rtscan_has_standby(Relation index);

/*
 * Free the pages of retired entries that nobody can see, and take the entries out of the directory: all of them, or
 * only what queries on standbys hardly need.  Needs the merge lock.
 */
typedef enum RtscanRecycling
{
	RTSCAN_RECYCLE_ALL,
	RTSCAN_RECYCLE_GENTLY
} RtscanRecycling;

extern void rtscan_recycle(Relation index, RtscanRecycling which);

#endif							/* RTSCAN_RECYCLE_H */
