/* SPDX-License-Identifier: PostgreSQL */
/*
 * kept_pages.h
 *		Pages whose rows a query knows already.
 *
 * What a snapshot sees at a TID does not change: the snapshot keeps the rows that it sees, and a TID that gets another
 * row later gets one that the snapshot does not see.  So the answer for a page is kept for the rest of the query, and
 * need not be compared with the page again.  Several segments have rows of the same pages, so this is often.
 */
#ifndef RTSCAN_KEPT_PAGES_H
#define RTSCAN_KEPT_PAGES_H

#include "rtscan.h"

#include "search/visible/page_memory.h"
#include "storage/block.h"

typedef struct RtscanKeptPages RtscanKeptPages;

/* Begin without pages of a heap that has "blocks" blocks, in the current memory context. */
extern RtscanKeptPages *rtscan_begin_kept_pages(BlockNumber blocks);

/* Return the bits of the line pointers of a page at which the query sees a row, RTSCAN_PAGE_WORDS words; or NULL. */
extern const uint64 *rtscan_kept_page(const RtscanKeptPages *kept, BlockNumber block);

/* Keep these bits, unless the query has kept as much as work_mem allows. */
extern void rtscan_keep_page(RtscanKeptPages *kept, BlockNumber block, const uint64 *seen);

#endif							/* RTSCAN_KEPT_PAGES_H */
