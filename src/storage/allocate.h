/*
 * allocate.h
 *		Where pages come from, how they are written, and where they go.
 *
 * Changes of the free space map are not WAL-logged, so it only proposes: a page is free when it says
 * so itself (RTSCAN_PAGE_FREE, or never initialised), which the allocator checks under the
 * same exclusive lock under which the page gets its new content.  Lest a crash make it forget many
 * pages, who has freed some logs the pages of the map that say so (RtscanFreed): a page of the map is for 4,000 of the index, and has two
 * above it.  What it forgets all the same, and pages that were lost in a crash, VACUUM finds (maintain/sweep.h).
 *
 * Who frees pages knows that nobody can see them any more: maintain/recycle.h, storage/writing.h.
 */
#ifndef RTSCAN_ALLOCATE_H
#define RTSCAN_ALLOCATE_H

#include "rtscan.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "storage/page.h"

/* A page to write to, exclusively locked; its content is undefined.  Or give it back, not written to. */
extern Buffer rtscan_allocate_page(Relation index);
extern void rtscan_return_page(Relation index, Buffer buffer);

/* At most n free pages, exclusively locked; how many there are. */
extern int	rtscan_reuse_pages(Relation index, Buffer *buffers, int n);

/* Extend the index by pages, each exclusively locked, between a begin, which says what the first will be, and an end. */
extern BlockNumber rtscan_begin_extension(Relation index);
extern Buffer rtscan_extend(Relation index);
extern void rtscan_end_extension(Relation index);

/* Extend an index that is being built by pages, each exclusively locked then. */
extern void rtscan_extend_build(Relation index, Buffer *buffers, int n);

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

#endif							/* RTSCAN_ALLOCATE_H */
