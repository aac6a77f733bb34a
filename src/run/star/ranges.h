/* SPDX-License-Identifier: PostgreSQL */
/*
 * ranges.h
 *		Sorts rows of a dimension that take more memory than a hash table may, and returns them in ranges of keys.
 *
 * The ranges do not overlap, and together they cover all possible keys.  So each fact row belongs to one range by its
 * key, for any type of join.  Fact rows whose key is NULL belong to the first range.  The fact is searched once for
 * each range.  The condition that a row's key is in the range is an ordinary condition for the index.
 *
 * If the key has several columns, the ranges are ranges of the first column.  All rows with the same value in this
 * column are in the same range, even if they exceed the memory.
 */
#ifndef RTSCAN_RANGES_H
#define RTSCAN_RANGES_H

#include "rtscan.h"

#include "executor/tuptable.h"
#include "row/schema.h"
#include "run/plan/node_plan.h"

typedef struct RtscanRanges RtscanRanges;

/*
 * Does an operator family have the operators to sort keys of type subtype, and to compare a column of type lefttype
 * with the ends of a range?  If not, the planner makes no star.
 */
extern bool rtscan_can_have_ranges(Oid family, Oid lefttype, Oid subtype);

/*
 * Create ranges for rows of the descriptor "rows" (key columns, then attributes), in a new child of the memory
 * context.
 */
extern RtscanRanges *rtscan_create_ranges(const RtscanPlanDimension *plan, TupleDesc rows, MemoryContext context);
extern void rtscan_end_ranges(RtscanRanges *ranges);

/* Add a row, whose keys are not NULL.  After all rows have been added, sort them. */
extern void rtscan_add_to_ranges(RtscanRanges *ranges, TupleTableSlot *slot);
extern void rtscan_sort_ranges(RtscanRanges *ranges);

/* Begin the first range, or the next range; false if there is no next range. */
extern void rtscan_begin_first_range(RtscanRanges *ranges);
extern bool rtscan_begin_next_range(RtscanRanges *ranges);

/*
 * Return the next row in ascending order of keys, or NULL at the end.  Unless the dimension needs all rows of a key,
 * only one of them is returned.  The row is valid until the next call.  A caller that has no room for the row calls
 * rtscan_end_range_before(), which is not allowed for the first row of a range.
 */
extern TupleTableSlot *rtscan_next_of_ranges(RtscanRanges *ranges);

/*
 * Is the first key column of the row just returned equal to that of the row before?  If so, the range must not end
 * between the two rows.
 */
extern bool rtscan_has_last_key(const RtscanRanges *ranges);

/* End the current range before the row just returned, which becomes the first one of the next range. */
extern void rtscan_end_range_before(RtscanRanges *ranges, TupleTableSlot *slot);

/*
 * Return the low or the high end of the current range; NULL if it has none.  The low end belongs to the range, the
 * high end does not.
 */
extern const Datum *rtscan_range_low(const RtscanRanges *ranges);
extern const Datum *rtscan_range_high(const RtscanRanges *ranges);

#endif							/* RTSCAN_RANGES_H */
