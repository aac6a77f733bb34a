/*
 * list_page.h
 *		The first page of a pending list (pending.h).
 */
#ifndef RTSCAN_LIST_PAGE_H
#define RTSCAN_LIST_PAGE_H

#include "rtscan.h"

#include "storage/page.h"

/* As many inserters do not wait for each other; pending.h. */
#define RTSCAN_INSERTION_PAGES	8

/* The payload of a list page. */
typedef struct RtscanPendingList
{
	uint32		pages;			/* in the chain: page n has the ordinal n */
	BlockNumber insertion[RTSCAN_INSERTION_PAGES];	/* InvalidBlockNumber: none so far */
} RtscanPendingList;

/* The first content of a list page. */
extern void rtscan_init_list_page(Page page, uint64 id);

#endif							/* RTSCAN_LIST_PAGE_H */
