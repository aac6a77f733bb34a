/*
 * map_copy.h
 *		A query's or VACUUM's copy of a heap's visibility map: of those of its pages that it has asked about.
 *
 * A page is copied once, and what a block was in the copy it stays.  Beyond the map's end, and the heap's as it was
 * when the copy was begun, no block is all-visible.
 */
#ifndef RTSCAN_MAP_COPY_H
#define RTSCAN_MAP_COPY_H

#include "rtscan.h"

#include "access/visibilitymapdefs.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

/* Blocks of the heap that a page of the map tells of: two bits each, as visibilitymap.c has them. */
#define RTSCAN_MAP_PAGE_BYTES	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define RTSCAN_MAP_BYTE_BLOCKS	(BITS_PER_BYTE / BITS_PER_HEAPBLOCK)
#define RTSCAN_MAP_PAGE_BLOCKS	(RTSCAN_MAP_PAGE_BYTES * RTSCAN_MAP_BYTE_BLOCKS)

typedef struct RtscanMapCopy RtscanMapCopy;

/* An empty copy, of the map of a heap that has so many blocks, in the current memory context. */
extern RtscanMapCopy *rtscan_begin_map_copy(Relation heap, BlockNumber blocks);

/* Copy what it lacks of the map of a range of blocks; returns whether that was anything. */
extern bool rtscan_copy_map(RtscanMapCopy *copy, BlockNumber first, BlockNumber last);

/* Are all blocks of a range all-visible?  What has not been copied is not. */
extern bool rtscan_blocks_are_visible(const RtscanMapCopy *copy, BlockNumber first, BlockNumber last);

#endif							/* RTSCAN_MAP_COPY_H */
