/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_blooms.h
 *		Bloom filters, built on demand, that let a nested loop skip segments without the key.
 *
 * A nested loop looks up one value after another in all segments.  Where values mostly differ, one segment has the
 * value, and the lookups in the others are in vain.  After enough of these a segment gets a Bloom filter of the
 * column's keys, which lets later lookups skip it for most values that it lacks.  They are enough when skipping the
 * segment would have paid for making the filter.  So, if pages are in memory, a loop takes at worst about twice as
 * long as without filters, however soon it ends.
 */
#ifndef RTSCAN_SEGMENT_BLOOMS_H
#define RTSCAN_SEGMENT_BLOOMS_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "segment/segment.h"

/*
 * The lookups in vain that a node has counted, and the Bloom filters that it has made, while it is scanned again
 * and again.  They are kept until its query ends, within hash_mem.
 */
typedef struct RtscanSegmentBlooms RtscanSegmentBlooms;

/* Create an RtscanSegmentBlooms in a memory context.  Its filters are in a context of their own below that. */
extern RtscanSegmentBlooms *rtscan_create_segment_blooms(MemoryContext parent);

/*
 * Let a condition use what earlier ones have found out, and add to it.  That is possible if it tests equality with
 * one value of a key column that has keys; other conditions stay as they are.
 */
extern void rtscan_use_segment_blooms(RtscanCondition *condition, RtscanSegmentBlooms *blooms);

/* Does a segment, given by its number, certainly lack the value of a watched condition? */
extern bool rtscan_segment_bloom_lacks(const RtscanCondition *condition, uint64 segment);

/* Note that the value of a watched condition was looked up in vain in the reader's segment. */
extern void rtscan_note_lookup_miss(const RtscanCondition *condition, RtscanReader *reader);

#endif							/* RTSCAN_SEGMENT_BLOOMS_H */
