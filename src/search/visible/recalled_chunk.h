/* SPDX-License-Identifier: PostgreSQL */
/*
 * recalled_chunk.h
 *		Apply what is remembered of heap pages to the rows of a chunk.
 */
#ifndef RTSCAN_RECALLED_CHUNK_H
#define RTSCAN_RECALLED_CHUNK_H

#include "rtscan.h"

#include "search/visible/heap_check.h"
#include "search/visible/vm_copy.h"
#include "segment/segment.h"

/*
 * Clear the bits in "words" of those rows of a chunk that the snapshot is known not to see.  "unknown" becomes the bits
 * of those that have to be checked in the heap.  Rows in blocks that are all-visible in a copy of the map are seen;
 * the map can be NULL.
 */
extern void rtscan_recall_chunk(RtscanHeapCheck *check, const RtscanVmCopy *map, RtscanReader *reader, uint32 chunk,
								uint64 *words, uint64 *unknown);

/*
 * Look into the pages of the rows of a chunk that are unknown, if that is worth while, and clear the bits in "words" of
 * those that the snapshot does not see.  "unknown" becomes the bits of those that are still to be checked in the heap.
 */
extern void rtscan_look_into_chunk(RtscanHeapCheck *check, RtscanReader *reader, uint32 chunk, uint64 *words,
								   uint64 *unknown);

#endif							/* RTSCAN_RECALLED_CHUNK_H */
