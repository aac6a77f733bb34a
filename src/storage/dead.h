/* SPDX-License-Identifier: PostgreSQL */
/*
 * dead.h
 *		Dead bits: they mark rows of a segment whose heap tuples VACUUM has removed.
 *
 * A segment's dead map names a page of bits for each chunk, and has the number of bits set in all of them:
 *
 *	│ BlockNumber[chunks] │ uint32 dead rows │		(format 3 has no count)
 *
 * Map and bits are allocated when the first row of the segment dies, by a switch to a new image.  A reader whose image
 * has no dead map for the segment may return the TID of a removed tuple.  This does no harm: a tuple stored at this
 * TID since is newer than the reader's snapshot, which does not see it.  Dead bits are set and never cleared.  They
 * are set under the exclusive locks of their page and then of the map, and read under the lock of their page.
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

/*
 * Set the dead bits of a chunk's rows whose bits are set in "words", and add the number of newly set bits to the count
 * in the dead map.
 */
extern void rtscan_dead_set(Relation index, const RtscanEntry *entry, const BlockNumber *map,
							uint32 chunk, const uint64 *words);

/* Copy the dead bits of a chunk to "words". */
extern void rtscan_dead_get(Relation index, const RtscanEntry *entry, const BlockNumber *map,
							uint32 chunk, uint64 *words);

/*
 * Clear the bits of dead rows in "words", the bits of a chunk.  Scans pass their snapshot, to check for "snapshot too
 * old"; other callers pass NULL.
 */
extern void rtscan_dead_remove(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
							   Snapshot snapshot, uint64 *words);

/*
 * Remove dead rows from an array of n rows of a chunk; returns the number of rows that remain.  "snapshot" is as for
 * rtscan_dead_remove().
 */
extern uint32 rtscan_dead_leave_out(Relation index, const RtscanEntry *entry, const BlockNumber *map, uint32 chunk,
									Snapshot snapshot, uint32 *rows, uint32 n);

/*
 * Return the number of dead rows of a segment: the count in its dead map or, if the map has no count, the number of
 * dead bits that are set.  Returns 0 if the segment has no dead map.
 */
extern uint64 rtscan_dead_count(Relation index, const RtscanEntry *entry);

/* Count the dead bits of a segment that has a dead map. */
extern uint64 rtscan_dead_count_bits(Relation index, const RtscanEntry *entry);

/*
 * Return the blocks of a segment's dead map and dead bits; an empty list if the segment has no dead map, or if the page
 * of the dead map does not belong to the segment any more.
 */
extern List *rtscan_dead_blocks(Relation index, const RtscanEntry *entry);

#endif							/* RTSCAN_DEAD_H */
