/* SPDX-License-Identifier: PostgreSQL */
/*
 * list_page.c
 *		The first page of a pending list.
 */
#include "storage/list_page.h"

void
rtscan_init_list_page(Page page, uint64 id)
{
	RtscanPendingList *list;

	rtscan_page_init(page, RTSCAN_PAGE_LIST, id, 0);
	list = (RtscanPendingList *) rtscan_page_payload(page);
	list->pages = 0;
	for (int i = 0; i < RTSCAN_INSERTION_PAGES; i++)
		list->insertion[i] = InvalidBlockNumber;
	rtscan_page_set_used(page, sizeof(RtscanPendingList));
}
