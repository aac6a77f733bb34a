/* SPDX-License-Identifier: PostgreSQL */
/*
 * ranges.h
 *		Sorts rows of a dimension that take more memory than a hash table may, and returns them in ranges of keys.
 *
 * The ranges do not overlap, and together they cover all possible keys.  So each fact row belongs to one range by its
 * key, whatever the join type.  Fact rows whose key is NULL belong to the first range.  The fact is searched once for
 * each range, for rows whose keys are in it, which is an ordinary condition for the index.
 *
 * If the key has several columns, only the first one counts here.  Rows that are equal in it are in the same range,
 * however many they are.
 */
#ifndef RTSCAN_RANGES_H
#define RTSCAN_RANGES_H

#include "rtscan.h"

#include "executor/tuptable.h"
#include "row/schema.h"
#include "run/plan/node_plan.h"

typedef struct RtscanRanges RtscanRanges;

/* Has a type the operators to sort keys and to compare a column with a range's ends?  If not, there is no star. */
extern bool rtscan_can_have_ranges(Oid family, Oid lefttype, Oid subtype);

/* Create ranges for rows that have keys, then attributes, in a new child of the memory context. */
extern RtscanRanges *rtscan_create_ranges(const RtscanPlanDimension *plan, TupleDesc rows, MemoryContext context);
extern void rtscan_end_ranges(RtscanRanges *ranges);

/* Add all rows, whose keys are not NULL, one at a time; then sort them. */
extern void rtscan_add_to_ranges(RtscanRanges *ranges, TupleTableSlot *slot);
extern void rtscan_sort_ranges(RtscanRanges *ranges);

/* Begin the first range, or the next one; false if there is none. */
extern void rtscan_begin_first_range(RtscanRanges *ranges);
extern bool rtscan_begin_next_range(RtscanRanges *ranges);

/*
 * Return the next row in ascending order of keys, or NULL at the end; one row of each key, unless all rows are needed.
 * It is valid until the next call.  A caller that has no room for it calls rtscan_end_range_before(), which is not
 * allowed for the first row of a range.
 */
extern TupleTableSlot *rtscan_next_of_ranges(RtscanRanges *ranges);

/* Has the row just returned the same (first) key column as the one before?  Then the range must not end before it. */
extern bool rtscan_has_last_key(const RtscanRanges *ranges);

/* End the current range before the row just returned, which becomes the first one of the next range. */
extern void rtscan_end_range_before(RtscanRanges *ranges, TupleTableSlot *slot);

/* Return the ends of the current range: low belongs to it, high does not.  NULL: the range has no such end. */
extern const Datum *rtscan_range_low(const RtscanRanges *ranges);
extern const Datum *rtscan_range_high(const RtscanRanges *ranges);

#endif							/* RTSCAN_RANGES_H */
