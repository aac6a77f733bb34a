/* SPDX-License-Identifier: PostgreSQL */
/*
 * allocate.h
 *		Allocate pages, write them, and free them again.
 *
 * PostgreSQL does not WAL-log changes of the free space map, so the map only proposes pages.  A proposed page is free
 * only if its content says so: its kind is RTSCAN_PAGE_FREE, or it was never initialised.  The allocator checks the
 * content under the exclusive lock, which is held until the page has its new content.  After a crash the map could
 * lack many free pages.  Therefore code that frees pages logs the changed pages of the map (RtscanFreed).  Few pages
 * are logged, since a page of the map covers 4,000 pages of the index, and has only two pages above it.  VACUUM finds
 * the free pages that the map still lacks, and pages that were lost in a crash (maintain/orphans.h).
 *
 * A page may be freed only if no reader can see it any more: see maintain/recycle.h and storage/writing.h.
 */
#ifndef RTSCAN_ALLOCATE_H
#define RTSCAN_ALLOCATE_H

#include "rtscan.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "storage/page.h"

/* Return a page to write to, exclusively locked; its content is undefined. */
extern Buffer rtscan_allocate_page(Relation index);

/* Give back an allocated page that has not been written to; unlocks it. */
extern void rtscan_return_page(Relation index, Buffer buffer);

/* Fetch at most n free pages, exclusively locked, without extending the index.  Returns how many were found. */
extern int	rtscan_reuse_pages(Relation index, Buffer *buffers, int n);

/*
 * Extend the index page by page.  rtscan_begin_extension() returns the block number that the first new page will
 * have; rtscan_extend() returns a new page, exclusively locked; rtscan_end_extension() lets other processes extend
 * the index again.
 */
extern BlockNumber rtscan_begin_extension(Relation index);
extern Buffer rtscan_extend(Relation index);
extern void rtscan_end_extension(Relation index);

/* During a build, extend the index by n pages.  Returns the new pages in "buffers", exclusively locked. */
extern void rtscan_extend_build(Relation index, Buffer *buffers, int n);

/* Is a page free, so that it can be allocated?  The caller has locked the page. */
extern bool rtscan_page_is_free(Page page);

/*
 * Initialise an exclusively locked page and write its payload: "used" bytes of "content", or zeros if "content" is
 * NULL.  Logs a full-page image.
 */
extern void rtscan_write_page(Relation index, Buffer buffer, RtscanPageKind kind, uint64 owner,
							  uint32 ordinal, const void *content, Size used, BlockNumber next);

/* Allocate a page and write it as rtscan_write_page() does; returns its block number. */
extern BlockNumber rtscan_write_new_page(Relation index, RtscanPageKind kind, uint64 owner,
										 uint32 ordinal, const void *content, Size used,
										 BlockNumber next);

/*
 * Return the blocks of a chain of pages, in order.  The list ends before the first page that does not have the kind,
 * the owner and the next ordinal, because a crash may have interrupted an earlier attempt to free the chain.
 */
extern List *rtscan_chain_blocks(Relation index, RtscanPageKind kind, uint64 owner,
								 BlockNumber first);

/* The pages of the free space map that one operation has changed, to be logged by rtscan_save_freed(). */
typedef struct RtscanFreed
{
	Relation	index;
	Bitmapset  *leaves;			/* leaf pages of the free space map that have changed */
} RtscanFreed;

/* Record in the free space map that a block is free. */
extern void rtscan_record_free(RtscanFreed *freed, BlockNumber block);

/* Turn an exclusively locked page into a free page, and record it in the free space map. */
extern void rtscan_free_page(RtscanFreed *freed, Buffer buffer);

/*
 * Free a block if its page belongs to "owner"; the metapage and taken pages are never freed.  If the page is free
 * already, only record it in the free space map.  In all other cases, and beyond the end of the index, do nothing.
 */
extern void rtscan_free_block(RtscanFreed *freed, BlockNumber block, uint64 owner);

/*
 * Propagate the freed pages to the upper levels of the free space map, and log the map's changed pages, so that a
 * crash does not lose the changes.
 */
extern void rtscan_save_freed(RtscanFreed *freed);

#endif							/* RTSCAN_ALLOCATE_H */
