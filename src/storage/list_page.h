/* SPDX-License-Identifier: PostgreSQL */
/*
 * list_page.h
 *		The first page of a pending list (pending.h).
 */
#ifndef RTSCAN_LIST_PAGE_H
#define RTSCAN_LIST_PAGE_H

#include "rtscan.h"

#include "storage/page.h"

/*
 * Number of pages of the open list to which rows are appended at the same time, so that inserters need not wait for
 * each other; storage/pending.h.
 */
#define RTSCAN_INSERTION_PAGES	8

/* The payload of a list page. */
typedef struct RtscanPendingList
{
	uint32		pages;			/* number of pages in the chain; the n-th page added has ordinal n */
	BlockNumber insertion[RTSCAN_INSERTION_PAGES];	/* pages to which rows are appended, by place (pending.h);
													 * InvalidBlockNumber: no page at this place so far */
} RtscanPendingList;

/* Write the content of a new, empty list page. */
extern void rtscan_init_list_page(Page page, uint64 id);

#endif							/* RTSCAN_LIST_PAGE_H */
