/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_look.h
 *		Look into a heap page once for all of its line pointers: at which of them does a snapshot see a row?
 *
 * For a line pointer that an index entry may have, this is what heap_hot_search_buffer() finds: whether a member of
 * the HOT chain that begins there is visible.  A line pointer is settled if hint bits say how all transactions have
 * ended that its chain depends on, and the snapshot sees them as ended.  Then the answer is the same for later
 * snapshots, until the page changes.  Other line pointers are unsettled.
 */
#ifndef RTSCAN_PAGE_LOOK_H
#define RTSCAN_PAGE_LOOK_H

#include "rtscan.h"

#include "search/visible/page_memory.h"
#include "storage/bufpage.h"

/*
 * Find the rows of a page that the snapshot sees; its buffer must be pinned and share-locked.  *newest becomes the
 * newest transaction that settled line pointers depend on, or InvalidTransactionId.  SERIALIZABLE transactions must
 * not call it, because it does not look for their conflicts.
 */
extern void rtscan_look_into_page(Relation heap, Buffer buffer, Snapshot snapshot, RtscanPageRows *rows,
								  TransactionId *newest);

#endif							/* RTSCAN_PAGE_LOOK_H */
