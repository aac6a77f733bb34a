/*
 * dead.h
 *		Dead bits: rows of a segment whose heap tuple vacuum has removed.
 *
 * A segment's dead map names a page of bits for each chunk, and says how many of all bits are set:
 *
 *	│ BlockNumber[chunks] │ uint32 dead rows │		(format 3 had no such count)
 *
 * Map and bits are allocated when the first row dies, which makes a new version of the directory: a reader whose image
 * names no dead map has none to look at, for its snapshot is older than any tuple that has taken a
 * removed one's place.  Bits are only ever set, under the exclusive locks of their page and then of the map, and read
 * under their page's lock.
 */
#ifndef RTSCAN_DEAD_H
#define RTSCAN_DEAD_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "storage/metapage.h"
#include "utils/snapshot.h"

/* Allocate dead bits for a segment, all clear; returns its entry's new dead map.  Needs the merge lock. */
extern BlockNumber rtscan_dead_allocate(Relation index, const RtscanEntry *entry);

/* Where the dead bits of each chunk are: chunks blocks, in the current memory context. */
extern BlockNumber *rtscan_dead_map(Relation index, const RtscanEntry *entry);

/* Set bits of a chunk. */
extern void rtscan_dead_set(Relation index, const RtscanEntry *entry, const BlockNumber *map,
							uint32 chunk, const uint64 *words);

/* Copy the bits of a chunk. */
extern void rtscan_dead_get(Relation index, const RtscanEntry *entry, const BlockNumber *map,
							uint32 chunk, uint64 *words);

/* Clear the bits of dead rows in a chunk's words.  The snapshot is for "snapshot too old", or NULL. */
extern void rtscan_dead_remove(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
							   Snapshot snapshot, uint64 *words);

/* Likewise, of rows of a chunk: leave dead ones out; returns how many are left. */
extern uint32 rtscan_dead_leave_out(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
									Snapshot snapshot, uint32 *rows, uint32 n);

/* Dead rows of a segment: as its dead map says; and that have their bits set, where it has a dead map. */
extern uint64 rtscan_dead_count(Relation index, const RtscanEntry *entry);
extern uint64 rtscan_dead_count_bits(Relation index, const RtscanEntry *entry);

/* The blocks of a segment's dead map and dead bits. */
extern List *rtscan_dead_blocks(Relation index, const RtscanEntry *entry);

#endif							/* RTSCAN_DEAD_H */
