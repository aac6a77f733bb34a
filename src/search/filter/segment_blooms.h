/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_blooms.h
 *		Bloom filters, built on demand, that let a nested loop skip segments without the key.
 *
 * A nested loop looks up one value after another in all segments.  If values mostly differ, only one segment has the
 * value, and the lookups in all other segments are in vain.  When the lookups in vain in a segment have taken as long
 * as making a Bloom filter of the column's keys takes, the segment gets the filter.  Later lookups skip the segment for
 * most values that it lacks.  So, if pages are in memory, a loop takes at worst about twice as long as without filters,
 * however soon it ends.
 */
#ifndef RTSCAN_SEGMENT_BLOOMS_H
#define RTSCAN_SEGMENT_BLOOMS_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "segment/segment.h"

/*
 * The lookups in vain that a node has counted in all of its rescans, and the Bloom filters that it has made.  Both are
 * kept until the query ends.  No filter is made that would exceed hash_mem.
 */
typedef struct RtscanSegmentBlooms RtscanSegmentBlooms;

/* Create an RtscanSegmentBlooms in a memory context.  Its filters are in a child of that context. */
extern RtscanSegmentBlooms *rtscan_create_segment_blooms(MemoryContext parent);

/*
 * Let a condition use the filters of earlier conditions, and count its own lookups in vain.  Does nothing unless the
 * condition tests a key column for equality with one value, and the value has a key.
 */
extern void rtscan_use_segment_blooms(RtscanCondition *condition, RtscanSegmentBlooms *blooms);

/* Does a segment, given by its ID, certainly lack the value of a condition that uses Bloom filters? */
extern bool rtscan_segment_bloom_lacks(const RtscanCondition *condition, uint64 segment);

/*
 * Count a lookup in vain of the value of a condition that uses Bloom filters, in the reader's segment.  Makes the
 * filter of the segment's column when the lookups in vain have taken as long as making the filter takes.
 */
extern void rtscan_note_lookup_miss(const RtscanCondition *condition, RtscanReader *reader);

#endif							/* RTSCAN_SEGMENT_BLOOMS_H */
