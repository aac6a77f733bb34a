/* SPDX-License-Identifier: PostgreSQL */
/*
 * lookup.h
 *		Look up a condition's values in a segment's dictionary, or decide to test rows for them.
 */
#ifndef RTSCAN_LOOKUP_H
#define RTSCAN_LOOKUP_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "search/filter/interval.h"
#include "segment/probe.h"
#include "segment/segment.h"

/*
 * Look up a condition in a segment's dictionary.  Sets *set to the accepted intervals, normalized.  Sets *found to the
 * codes of the values found, or to NULL if the condition's notes_codes is false, the column has no codes, or the values
 * are looked up one by one.  Returns false only if a soft reader (RtscanReader.soft) cannot read a page.
 */
extern bool rtscan_condition_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set,
									   RtscanFoundCodes **found);

/*
 * For EXPLAIN: record in a long condition's trace which of the condition's values the segment has.  The condition must
 * be on a column with codes.  Does nothing if the condition has no trace.
 */
extern void rtscan_trace_values(const RtscanCondition *condition, RtscanReader *reader);

/*
 * A condition is long if it takes longer to look up its values than to test the remaining rows for them.  A condition
 * with fewer than RTSCAN_LONG values is never long.
 */
#define RTSCAN_LONG		16

/*
 * Return the nanoseconds to look up a condition's values, or to test the "rows" remaining rows for them, whichever is
 * less.  If the values are a sample, all values that the sample represents are included.  For an INCLUDE column,
 * returns the time to test rows.
 */
extern double rtscan_list_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double rows);

/* Is a condition long if "rows" rows remain?  Never for a soft reader, since the planner looks up all values. */
extern bool rtscan_condition_is_long(const RtscanCondition *condition, const RtscanReader *reader, double rows);

/*
 * Prefetch what a lookup of the condition will read, as far as that can be foreseen.  To look the condition up in
 * several segments, take each step for all segments before the next step.
 */
extern void rtscan_condition_approach(const RtscanCondition *condition, RtscanReader *reader,
									  RtscanApproachStep step);

#endif							/* RTSCAN_LOOKUP_H */
