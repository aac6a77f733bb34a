/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_refresh.h
 *		Look into pages that have changed since they were looked into, before a query has to.
 */
#ifndef RTSCAN_PAGE_REFRESH_H
#define RTSCAN_PAGE_REFRESH_H

#include "rtscan.h"

#include "storage/block.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/*
 * Look into those of a heap's blocks from "first" to "end" - 1 that are neither all-visible nor remembered, and that
 * shared buffers have; at most "most" of them.  Returns how many that were; *next becomes the block to go on with.  If
 * the memory has no room for all of the heap, only pages that had been remembered are looked into.
 */
extern uint32 rtscan_refresh_pages(Relation heap, Snapshot snapshot, BlockNumber first, BlockNumber end, uint32 most,
								   BlockNumber *next);

#endif							/* RTSCAN_PAGE_REFRESH_H */
