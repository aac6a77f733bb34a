/* SPDX-License-Identifier: PostgreSQL */
/*
 * filter.h
 *		A filter: the conditions that rows must meet, joined by AND and OR.
 *
 * There is no NOT: the planner pushes it down to the conditions, each of which has a kind for its negation.
 * Three-valued logic is not needed either: a row matches or does not, and NULL counts as false.
 *
 * A condition's value takes these forms between a query and row bits.  Each is made from the one above it:
 *
 *	form				holds						owner, and how long it lives
 *	ScanKey				operator and value			a bitmap scan, until it is rescanned (a node has none)
 *	RtscanAsked			operator, without value		the plan of a node; a local variable for a ScanKey
 *	RtscanCondition		operator, values, keys		its RtscanFilter; values by reference stay the caller's
 *	RtscanFilter		conditions, AND, OR			a bitmap scan or, until its next pass, a node (run/node/node.h)
 *	RtscanSegmentFilter	the filter in one segment	RtscanSegmentScan, until the search ends
 *	RtscanRegion		intervals of key columns	RtscanSegmentFilter, likewise; executors evaluate it
 *	RtscanIntervals		accepted ranks of a column	RtscanRegionColumn, likewise
 *	RtscanPosition		code and rank				RtscanIntervals, likewise, as an end of an interval
 *	RtscanRowBits		a bit for each row			the search, until its next segment, or rtscan_bits_keep()
 */
#ifndef RTSCAN_FILTER_H
#define RTSCAN_FILTER_H

#include "rtscan.h"

#include "search/filter/predicate.h"

/* The kinds of filters. */
typedef enum RtscanFilterKind
{
	RTSCAN_FILTER_AND,			/* every part must match; without parts every row matches */
	RTSCAN_FILTER_OR,			/* at least one part must match; without parts no row matches */
	RTSCAN_FILTER_CONDITION,	/* a condition */
	RTSCAN_FILTER_IMPLIED,		/* ranges that a comparison implies; the caller itself evaluates the comparison on
								 * rows (implied.h) */
	RTSCAN_FILTER_GIVEN			/* in plans only: a boolean that has one value for all rows; in its place, a filter
								 * has an AND or OR without parts */
} RtscanFilterKind;

/* A tree of conditions. */
typedef struct RtscanFilter
{
	RtscanFilterKind kind;		/* kind of the filter */
	int			n;				/* number of parts of AND and OR */
	struct RtscanFilter *parts; /* parts of AND and OR */
	RtscanCondition condition;	/* the condition, if the kind is CONDITION */
	const struct RtscanImplied *implied;	/* the comparison, if the kind is IMPLIED */
} RtscanFilter;

/* Begin an AND or OR of n parts, which the caller puts into "parts" before it calls rtscan_join_filter(). */
extern RtscanFilter rtscan_begin_filter(RtscanFilterKind kind, int n);

/* Simplify a filter whose parts are complete.  The filter may become one of its parts. */
extern void rtscan_join_filter(RtscanFilter *filter);

/*
 * Return the filter that a prepared condition becomes.  According to the condition's outcome, it is a filter that every
 * row matches, a filter that no row matches, or the condition itself.
 */
extern RtscanFilter rtscan_outcome_filter(RtscanOutcome outcome, const RtscanCondition *condition);

/* Return the conjunction of scan keys.  The keys must stay where they are. */
extern RtscanFilter rtscan_key_filter(Relation index, const RtscanSchema *schema, ScanKey keys, int nkeys);

/* Is it known that no row matches, in any segment? */
static inline bool
rtscan_filter_is_never(const RtscanFilter *filter)
{
	return filter->kind == RTSCAN_FILTER_OR && filter->n == 0;
}

/* Is it known that every row matches, in any segment? */
static inline bool
rtscan_filter_is_always(const RtscanFilter *filter)
{
	return filter->kind == RTSCAN_FILTER_AND && filter->n == 0;
}

/* May rows of a segment match, given the bounds of its key columns? */
extern bool rtscan_filter_may_match(const RtscanFilter *filter, const RtscanEntry *segment,
									const RtscanKeyBounds *bounds);

/*
 * May rows of a segment be tested for conditions of a filter instead of a lookup?  This is possible for conditions on
 * INCLUDE columns, conditions with at least RTSCAN_LONG values, and ranges that a comparison implies.
 */
extern bool rtscan_filter_may_be_tested(const RtscanFilter *filter);

/* Does a row match, given the values of all its columns?  An implied filter counts as true. */
extern bool rtscan_filter_matches(const RtscanFilter *filter, const Datum *values, const bool *isnull);

#endif							/* RTSCAN_FILTER_H */
