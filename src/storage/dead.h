/* SPDX-License-Identifier: PostgreSQL */
/*
 * dead.h
 *		Dead bits: they mark rows of a segment whose heap tuples VACUUM has removed.
 *
 * A segment's dead map names a page of bits for each chunk, and has the number of bits set in all of them:
 *
 *	│ BlockNumber[chunks] │ uint32 dead rows │		(format 3 had no such count)
 *
 * Map and bits are allocated when the first row dies, which makes a new version of the directory.  A reader
 * whose image names no dead map needs none: its snapshot is older than any tuple that has been stored in the
 * place of a removed one.  Bits are only ever set, under the exclusive locks of their page and then of the map,
 * and read under their page's lock.
 */
#ifndef RTSCAN_DEAD_H
#define RTSCAN_DEAD_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "storage/metapage.h"
#include "utils/snapshot.h"

/*
 * Allocate dead bits for a segment, all clear, and make them part of the index.  Returns the block of the
 * segment's new dead map.  Needs the merge lock.
 */
extern BlockNumber rtscan_dead_allocate(Relation index, const RtscanEntry *entry);

/* Return the blocks of a segment's dead bits, one for each chunk, in the current memory context. */
extern BlockNumber *rtscan_dead_map(Relation index, const RtscanEntry *entry);

/* Set the bits of a chunk that are set in words, and add their number to the map's count. */
extern void rtscan_dead_set(Relation index, const RtscanEntry *entry, const BlockNumber *map,
							uint32 chunk, const uint64 *words);

/* Copy the dead bits of a chunk to words. */
extern void rtscan_dead_get(Relation index, const RtscanEntry *entry, const BlockNumber *map,
							uint32 chunk, uint64 *words);

/* Clear the bits of dead rows in a chunk's words.  Scans pass their snapshot, for "snapshot too old"; others NULL. */
extern void rtscan_dead_remove(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
							   Snapshot snapshot, uint64 *words);

/*
 * Remove dead rows from an array of n rows of a chunk; returns the number of rows that remain.  snapshot: as
 * above.
 */
extern uint32 rtscan_dead_leave_out(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
									Snapshot snapshot, uint32 *rows, uint32 n);

/* Return the number of dead rows of a segment, from its dead map if that has the count; 0 if it has no dead map. */
extern uint64 rtscan_dead_count(Relation index, const RtscanEntry *entry);

/* Count the dead bits of a segment that has a dead map. */
extern uint64 rtscan_dead_count_bits(Relation index, const RtscanEntry *entry);

/* Return the blocks of a segment's dead map and dead bits; they end where the map is no longer the segment's. */
extern List *rtscan_dead_blocks(Relation index, const RtscanEntry *entry);

#endif							/* RTSCAN_DEAD_H */
