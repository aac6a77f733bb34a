/*
 * predicate.h
 *		Conditions on one column, a key or an INCLUDEd one: what they mean for a segment, and for a single row.
 *
 * The operators of an rtscan operator class compare as its comparison function does, so
 * each qual is a set of intervals of a column's sorted values.  One family is not that
 * simple: a timestamp or date compared with a timestamptz passes through the session's time
 * zone, and around a clock change the order of local times is not that of instants.  There
 * the values within two days of the edge are compared one by one.
 */
#ifndef RTSCAN_PREDICATE_H
#define RTSCAN_PREDICATE_H

#include "rtscan.h"

#include "access/skey.h"
#include "search/filter/condition.h"
#include "storage/metapage.h"

/*
 * Prepare a condition.  Values that are passed by reference are not copied.  Raises an error
 * where the operator family lacks a comparison function that btree would need as well.
 */
extern RtscanOutcome rtscan_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked,
									  Datum value, bool isnull, RtscanCondition *condition);

/* The same of any of some values that are sorted, and of their keys or NULL, which are not copied; DISTINCT: from all of them. */
extern RtscanOutcome rtscan_values_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked,
											 Datum *values, const uint64 *keys, int nvalues,
											 RtscanCondition *condition);

/* The same of a scan key, which must stay where it is. */
extern RtscanOutcome rtscan_key_condition(Relation index, const RtscanSchema *schema, ScanKey key, RtscanCondition *condition);

/*
 * May it be true of a row of a segment whose key column has such bounds?  Only what compares by keys, and accepts no NULL, can be told; or
 * else what was looked up there before.
 */
extern bool rtscan_condition_may_match(const RtscanCondition *condition, const RtscanEntry *segment, const RtscanKeyBounds *bounds);

/* Does a row match? */
extern bool rtscan_condition_matches(const RtscanCondition *condition, Datum value, bool isnull);

/* Do its comparisons pass through the session's time zone? */
extern bool rtscan_depends_on_clock(const RtscanCondition *condition);

#endif							/* RTSCAN_PREDICATE_H */
