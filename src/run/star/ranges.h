/*
 * ranges.h
 *		The rows of a dimension that take more memory than a hash may: on disk, sorted by key, they come in ranges.
 *
 * Each range has keys that no other has: together they are all keys that there can be.  So a row of the fact belongs to one range, by its
 * key, whatever the join; those whose key is NULL belong to the first.  The fact is searched once for each range, for rows whose keys
 * are in it: that is a condition of the index like any other.
 *
 * Of several keys it is the first that counts: rows that have the same are in one range, however many these are.
 */
#ifndef RTSCAN_RANGES_H
#define RTSCAN_RANGES_H

#include "rtscan.h"

#include "executor/tuptable.h"
#include "row/schema.h"
#include "run/plan/node_plan.h"

typedef struct RtscanRanges RtscanRanges;

/* Can keys of a type be sorted, and a column's values be compared with the ends of a range of them?  Else there is no star. */
extern bool rtscan_can_have_ranges(Oid family, Oid lefttype, Oid subtype);

/* For rows of a key, then attributes; in a memory context of their own, below another one. */
extern RtscanRanges *rtscan_create_ranges(const RtscanPlanDimension *plan, TupleDesc rows, MemoryContext context);
extern void rtscan_end_ranges(RtscanRanges *ranges);

/* Add all rows, which have keys, one at a time; then sort them. */
extern void rtscan_add_to_ranges(RtscanRanges *ranges, TupleTableSlot *slot);
extern void rtscan_sort_ranges(RtscanRanges *ranges);

/* Begin with the first range; with the next one, false if there is none. */
extern void rtscan_begin_first_range(RtscanRanges *ranges);
extern bool rtscan_begin_next_range(RtscanRanges *ranges);

/*
 * The next row, or NULL: ascending, of those with equal keys one, unless all matter.  It is good until the next one is asked for; who has no
 * room for it says that the range at hand ends before it, which must not be its first.
 */
extern TupleTableSlot *rtscan_next_of_ranges(RtscanRanges *ranges);

/* Has it the key, of several the first one, of the row before?  Then no range ends here. */
extern bool rtscan_has_last_key(const RtscanRanges *ranges);
extern void rtscan_end_range_before(RtscanRanges *ranges, TupleTableSlot *slot);

/* The ends of the range at hand: keys from low on, up to high but without it; NULL: there is none. */
extern const Datum *rtscan_range_low(const RtscanRanges *ranges);
extern const Datum *rtscan_range_high(const RtscanRanges *ranges);

#endif							/* RTSCAN_RANGES_H */
