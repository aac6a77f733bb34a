/* SPDX-License-Identifier: PostgreSQL */
/*
 * vm_copy.h
 *		Copy the pages of a heap's visibility map that a query or VACUUM needs.
 *
 * Each page is copied once, at its first use; later changes of the map do not change the copy.  Blocks beyond the end
 * of the map, or beyond the end that the heap had when the copy was begun, are not all-visible.
 */
#ifndef RTSCAN_VM_COPY_H
#define RTSCAN_VM_COPY_H

#include "rtscan.h"

#include "access/visibilitymapdefs.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

/* Sizes of the map, as in visibilitymap.c: bytes of a page, and heap blocks of a byte and of a page. */
#define RTSCAN_VM_PAGE_BYTES	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define RTSCAN_VM_BYTE_BLOCKS	(BITS_PER_BYTE / BITS_PER_HEAPBLOCK)
#define RTSCAN_VM_PAGE_BLOCKS	(RTSCAN_VM_PAGE_BYTES * RTSCAN_VM_BYTE_BLOCKS)

typedef struct RtscanVmCopy RtscanVmCopy;

/* Make an empty copy, in the current memory context, of the map of a heap that has "blocks" blocks. */
extern RtscanVmCopy *rtscan_begin_vm_copy(Relation heap, BlockNumber blocks);

/*
 * Copy the map pages of the heap blocks from "first" to "last", both included, unless they have been copied before.
 * Returns whether any page has been copied.
 */
extern bool rtscan_copy_vm(RtscanVmCopy *copy, BlockNumber first, BlockNumber last);

/*
 * Are all heap blocks from "first" to "last", both included, all-visible?  Returns false if a page of their map has
 * not been copied.
 */
extern bool rtscan_blocks_are_visible(const RtscanVmCopy *copy, BlockNumber first, BlockNumber last);

/* Is a heap block all-visible?  Returns false if the page of its map has not been copied. */
extern bool rtscan_block_is_visible(const RtscanVmCopy *copy, BlockNumber block);

#endif							/* RTSCAN_VM_COPY_H */
