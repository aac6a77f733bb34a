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
 * Look up a condition in a segment's dictionary.  *set is normalized.  *found is set to the codes of the values
 * that were found if the condition notes codes and they are known, else to NULL.  Returns false only for a soft
 * reader.
 */
extern bool rtscan_condition_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set,
									   RtscanFoundCodes **found);

/*
 * Note in the trace of a long condition on a column with codes, if it has a trace, which of its values the segment
 * has.
 */
extern void rtscan_trace_values(const RtscanCondition *condition, RtscanReader *reader);

/*
 * A condition is long if it takes longer to look up its values than to test the remaining rows for them.  A
 * condition with fewer values than this never is.
 */
#define RTSCAN_LONG		16

/*
 * Return the nanoseconds that it takes to look up a condition's values, including those that a sample stands for,
 * or to test the "rows" remaining rows, whichever is less.  For an INCLUDE column return that of testing.
 */
extern double rtscan_list_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double rows);

/* Is a condition long, if "rows" rows remain?  With a soft reader it never is: the planner looks up all values. */
extern bool rtscan_condition_is_long(const RtscanCondition *condition, const RtscanReader *reader, double rows);

/*
 * Prefetch what a lookup of the condition will need, as far as that can be foreseen.  A caller that looks it up in
 * several segments takes each step for all of them before the next step.
 */
extern void rtscan_condition_approach(const RtscanCondition *condition, RtscanReader *reader,
									  RtscanApproachStep step);

#endif							/* RTSCAN_LOOKUP_H */
