/* SPDX-License-Identifier: PostgreSQL */
/*
 * kept_pages.h
 *		Pages whose rows a query knows already.
 *
 * A query keeps the answer for a page until it ends, and does not compare it with the page again: several segments
 * often have rows of the same page.  The answer stays right.  The rows that the snapshot sees cannot be removed before
 * the query ends, and the snapshot does not see a row that takes a freed TID meanwhile.
 */
#ifndef RTSCAN_KEPT_PAGES_H
#define RTSCAN_KEPT_PAGES_H

#include "rtscan.h"

#include "search/visible/page_memory.h"
#include "storage/block.h"

/* Consecutive blocks whose answers are allocated together: those of a group of the page memory. */
#define RTSCAN_LOT_PAGES		RTSCAN_GROUP_PAGES

typedef struct RtscanKeptLot
{
	uint32		is_kept;		/* by page, a bit: is it kept? */
	bool		is_recalled;	/* have the pages of the group that are remembered been kept? */
	uint32		unused;			/* by page, a bit: it was kept with others, and has not been asked yet */
	/* by page: bits of line pointers at which a row is seen */
	uint64		seen[RTSCAN_LOT_PAGES][RTSCAN_PAGE_WORDS];
} RtscanKeptLot;

typedef struct RtscanKeptPages
{
	MemoryContext context;		/* memory context of all of this */
	uint32		lots_left;		/* number of lots that work_mem has room for */
	BlockNumber blocks;			/* number of the heap's blocks */
	RtscanKeptLot **lots;		/* by number of the first block / RTSCAN_LOT_PAGES: the lot, or NULL; NULL: there are
								 * none yet */
} RtscanKeptPages;

/* Begin without pages of a heap that has "blocks" blocks, in the current memory context. */
extern RtscanKeptPages *rtscan_begin_kept_pages(BlockNumber blocks);

/* Return the lot that has the block, or NULL if there is none yet. */
static inline RtscanKeptLot *
rtscan_find_kept_lot(const RtscanKeptPages *kept, BlockNumber block)
{
	return kept->lots && block < kept->blocks ? kept->lots[block / RTSCAN_LOT_PAGES] : NULL;
}

/* Return the lot of a block, to keep pages in it; NULL if it would be too much. */
extern RtscanKeptLot *rtscan_kept_lot(RtscanKeptPages *kept, BlockNumber block);

/* Is there room for a page? */
extern bool rtscan_can_keep_page(const RtscanKeptPages *kept, BlockNumber block);

/* Keep these bits, unless the query has kept as much as work_mem allows. */
extern void rtscan_keep_page(RtscanKeptPages *kept, BlockNumber block, const uint64 *seen);

#endif							/* RTSCAN_KEPT_PAGES_H */
