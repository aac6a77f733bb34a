/* SPDX-License-Identifier: PostgreSQL */
/*
 * allocate.h
 *		Allocate pages, write them, and free them again.
 *
 * Changes of the free space map are not WAL-logged, so the map only proposes pages.  Whether a page is free is
 * decided by the page itself (RTSCAN_PAGE_FREE, or never initialised): the allocator checks it under the
 * exclusive lock under which the page then gets its new content.  To keep a crash from making the map forget
 * many pages, code that frees pages logs the changed pages of the map (RtscanFreed): a page of the map covers
 * 4,000 of the index, and has two above it.  Pages that the map forgets all the same, or that were lost in a
 * crash, are found by VACUUM (maintain/orphans.h).
 *
 * A caller that frees a page must know that no reader can see it any more: maintain/recycle.h,
 * storage/writing.h.
 */
#ifndef RTSCAN_ALLOCATE_H
#define RTSCAN_ALLOCATE_H

#include "rtscan.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "storage/page.h"

/* Return a page to write to, exclusively locked; its content is undefined. */
extern Buffer rtscan_allocate_page(Relation index);
extern void rtscan_return_page(Relation index, Buffer buffer);

/* Give back an allocated page that has not been written to; unlocks it. */

/* Fetch at most n free pages, exclusively locked, without extending the index.  Returns how many were found. */
extern int	rtscan_reuse_pages(Relation index, Buffer *buffers, int n);

/*
 * Extend the index page by page.  rtscan_begin_extension() returns the block number that the first new page
 * will have; rtscan_extend() returns a new page, exclusively locked; rtscan_end_extension() lets others extend
 * the index again.
 */
extern BlockNumber rtscan_begin_extension(Relation index);
extern Buffer rtscan_extend(Relation index);
extern void rtscan_end_extension(Relation index);

/* Extend an index that is being built by n pages; returns them in buffers, exclusively locked. */
extern void rtscan_extend_build(Relation index, Buffer *buffers, int n);

/* Can this page be allocated?  The caller has locked it. */
extern bool rtscan_page_is_free(Page page);

/*
 * Initialise an exclusively locked page and write its whole content: "used" bytes of content, or zeros if
 * content is NULL. Logs a full-page image.
 */
extern void rtscan_write_page(Relation index, Buffer buffer, RtscanPageKind kind, uint64 owner,
							  uint32 ordinal, const void *content, Size used, BlockNumber next);

/* Allocate a page and write it as rtscan_write_page() does; returns its block number. */
extern BlockNumber rtscan_write_new_page(Relation index, RtscanPageKind kind, uint64 owner,
										 uint32 ordinal, const void *content, Size used,
										 BlockNumber next);

/*
 * Return the blocks of a chain of pages, in order.  The list ends at the first page that is not of that kind
 * and owner, because a crash may have interrupted an earlier attempt to free the chain.
 */
extern List *rtscan_chain_blocks(Relation index, RtscanPageKind kind, uint64 owner,
								 BlockNumber first);

/* Collects what one operation has freed, for rtscan_save_freed(). */
typedef struct RtscanFreed
{
	Relation	index;
	Bitmapset  *leaves;			/* leaf pages of the free space map that have changed */
} RtscanFreed;

/* Record in the free space map that a block is free. */
extern void rtscan_record_free(RtscanFreed *freed, BlockNumber block);

/* Turn an exclusively locked page into a free one, and record it. */
extern void rtscan_free_page(RtscanFreed *freed, Buffer buffer);

/* Free a block if it belongs to this owner; record it if it is free already. */
extern void rtscan_free_block(RtscanFreed *freed, BlockNumber block, uint64 owner);

/*
 * Propagate the freed pages to the upper levels of the map, and log the map's changed pages, so that they
 * survive a crash.
 */
extern void rtscan_save_freed(RtscanFreed *freed);

#endif							/* RTSCAN_ALLOCATE_H */
