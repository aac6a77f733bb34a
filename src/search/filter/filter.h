/*
 * filter.h
 *		What is asked of rows: conditions on columns, joined by AND and OR.
 *
 * The planner pushes NOT down to the conditions, each of which has a kind for its negation, so there is none here.  Of
 * three-valued logic nothing is left: a row matches or not, and what is NULL does not.
 */
#ifndef RTSCAN_FILTER_H
#define RTSCAN_FILTER_H

#include "rtscan.h"

#include "search/filter/predicate.h"

typedef enum RtscanFilterKind
{
	RTSCAN_FILTER_AND,			/* of none: every row matches */
	RTSCAN_FILTER_OR,			/* of none: no row does */
	RTSCAN_FILTER_CONDITION,
	RTSCAN_FILTER_IMPLIED		/* what a comparison implies that is asked of rows elsewhere (implied.h) */
} RtscanFilterKind;

typedef struct RtscanFilter
{
	RtscanFilterKind kind;
	int			n;
	struct RtscanFilter *parts; /* of AND and OR */
	RtscanCondition condition;
	const struct RtscanImplied *implied;
} RtscanFilter;

/* A filter of so many parts, which are put into it, and joined in the end: that may leave less of it. */
extern RtscanFilter rtscan_begin_filter(RtscanFilterKind kind, int n);
extern void rtscan_join_filter(RtscanFilter *filter);

/* One that is always or never true, or a condition, which has to be prepared. */
extern RtscanFilter rtscan_outcome_filter(RtscanOutcome outcome, const RtscanCondition *condition);

/* The conjunction of scan keys, which must stay where they are. */
extern RtscanFilter rtscan_key_filter(Relation index, const RtscanSchema *schema, ScanKey keys, int nkeys);

/* Does no row match, or every row, whatever there is? */
static inline bool
rtscan_filter_is_never(const RtscanFilter *filter)
{
	return filter->kind == RTSCAN_FILTER_OR && filter->n == 0;
}

static inline bool
rtscan_filter_is_always(const RtscanFilter *filter)
{
	return filter->kind == RTSCAN_FILTER_AND && filter->n == 0;
}

/* May any row match of a segment whose key columns have such bounds? */
extern bool rtscan_filter_may_match(const RtscanFilter *filter, const RtscanEntry *segment, const RtscanKeyBounds *bounds);

/* Are there conditions that may be left to who tests rows for them, in any segment: on INCLUDEd columns, or long ones? */
extern bool rtscan_filter_may_be_tested(const RtscanFilter *filter);

/* Does a row match? */
extern bool rtscan_filter_matches(const RtscanFilter *filter, const Datum *values, const bool *isnull);

#endif							/* RTSCAN_FILTER_H */
