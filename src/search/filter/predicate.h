/* SPDX-License-Identifier: PostgreSQL */
/*
 * predicate.h
 *		Prepare conditions on key and INCLUDE columns, and evaluate them for single rows.
 *
 * The operators of an rtscan operator class compare as its comparison function does, so each condition accepts a set of
 * intervals of the column's sorted values.  There is one exception: the comparison of a timestamp or date with a
 * timestamptz depends on the session's time zone, and around a clock change the order of local times is not that of
 * instants.  If the clock changes near a condition's value, column values within two days of it are compared one by
 * one.
 */
#ifndef RTSCAN_PREDICATE_H
#define RTSCAN_PREDICATE_H

#include "rtscan.h"

#include "access/skey.h"
#include "search/filter/condition.h"
#include "storage/metapage.h"

/*
 * Prepare a condition.  Values that are passed by reference are not copied.  Raises an error if the operator family
 * lacks a comparison function, which btree would need as well.
 */
extern RtscanOutcome rtscan_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked,
									  Datum value, bool isnull, RtscanCondition *condition);

/*
 * Prepare a condition with nvalues sorted values, and their keys or NULL.  The arrays are not copied.  The condition is
 * true if the operator holds for any of the values.  If the kind is DISTINCT, it is true if the column is distinct from
 * all values.
 */
extern RtscanOutcome rtscan_values_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked,
											 Datum *values, const uint64 *keys, int nvalues,
											 RtscanCondition *condition);

/* Prepare the condition of a scan key, which must stay where it is. */
extern RtscanOutcome rtscan_key_condition(Relation index, const RtscanSchema *schema, ScanKey key,
										  RtscanCondition *condition);

/*
 * May a condition on a key column be true for a row of a segment?  "bounds" are the bounds of the column's keys in the
 * segment.  Returns false only if the bounds exclude all keys that the condition accepts, or if the segment's Bloom
 * filter shows that the segment lacks the value (segment_blooms.h).
 */
extern bool rtscan_condition_may_match(const RtscanCondition *condition, const RtscanEntry *segment,
									   const RtscanKeyBounds *bounds);

/* Is a condition true for a row, given the value of its column? */
extern bool rtscan_condition_matches(const RtscanCondition *condition, Datum value, bool isnull);

/* Do the comparisons of a condition depend on the session's time zone? */
extern bool rtscan_depends_on_clock(const RtscanCondition *condition);

#endif							/* RTSCAN_PREDICATE_H */
