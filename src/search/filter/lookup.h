/*
 * lookup.h
 *		Look a condition's values up in a segment's dictionary; or leave them to those who test rows for them.
 */
#ifndef RTSCAN_LOOKUP_H
#define RTSCAN_LOOKUP_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "search/filter/interval.h"
#include "segment/segment.h"

/*
 * Look a condition up in a segment's dictionary: a normalized set.  What codes are found is noted where that is wanted, and known; else
 * it stays NULL.  False only for a soft reader.
 */
extern bool rtscan_condition_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set,
									   RtscanFoundCodes **found);

/* Note in its trace, if it has one, which values a segment has of a long one on codes. */
extern void rtscan_trace_values(const RtscanCondition *condition, RtscanReader *reader);

/*
 * What it takes to look a condition's values up, for all that they stand for, or to test a segment's rows for them, of which so many are
 * left: whichever is less.  Is it the latter?  (The planner, which has a soft reader, looks up what there is.)
 */
#define RTSCAN_LONG		16		/* of fewer values it is not */
extern double rtscan_list_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double rows);
extern bool rtscan_condition_is_long(const RtscanCondition *condition, const RtscanReader *reader, double rows);

/* Before that, in each of several segments step by step: bring what it needs into the processor's cache, if that can be foreseen. */
extern void rtscan_condition_approach(const RtscanCondition *condition, RtscanReader *reader, int step);

#endif							/* RTSCAN_LOOKUP_H */
