/*
 * filter.h
 *		What is asked of rows: conditions on columns, joined by AND and OR.
 *
 * The planner pushes NOT down to the conditions, each of which has a kind for its negation, so there is none here.  Of
 * three-valued logic nothing is left: a row matches or not, and what is NULL does not.
 *
 * In a segment a condition on a key column is a set of intervals of ranks.  There AND intersects and OR unites those of one
 * column, so that "a < 5 OR a > 10" and "a <> 3" are one column of one region, as "a BETWEEN 5 AND 10" is; what does not fold in
 * this way stays a conjunction of a region and disjunctions of such conjunctions.
 */
#ifndef RTSCAN_FILTER_H
#define RTSCAN_FILTER_H

#include "rtscan.h"

#include "search/predicate.h"
#include "search/row_bits.h"

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

/* ---------------------------------------------------------------- in a segment */

/* A column of a region, and the intervals that its rows must be in. */
typedef struct RtscanRegionColumn
{
	int			column;
	uint32		rows;			/* in the intervals, */
	double		stands_for;		/* that stand for so many times as many (RtscanCondition) */
	List	   *traces;			/* RtscanTrace *, of conditions that it is made of */
	RtscanIntervals intervals;
} RtscanRegionColumn;

/*
 * A conjunction of columns' intervals in one segment (RTScan, section 3.2), the column with the fewest rows first: what
 * executors evaluate.  Columns that exclude no row are left out.
 */
typedef struct RtscanRegion
{
	bool		empty;			/* no row matches */
	int			ncolumns;		/* 0: every row matches */
	RtscanRegionColumn *columns;
	List	   *needless;		/* traces of those that are left out */
	List	   *found;			/* RtscanFoundCodes *, of conditions that it is made of, with those */
	List	   *members;		/* RtscanDeviceMembers *: who evaluates it can test rows for all other conditions of its part of the filter, too */
	double		passing;		/* the part of its rows that pass these tests, about; 0 if there are none */
	struct RtscanRowBits *evaluated;	/* its rows, by another executor than the CPU; or NULL */
} RtscanRegion;

/*
 * What a filter means for one segment: a conjunction of a region, of conditions on INCLUDEd columns, and long ones on plain columns, and of
 * disjunctions, none of which has all rows.
 */
typedef struct RtscanSegmentFilter
{
	RtscanRegion region;		/* empty if a disjunction is */
	int			nincluded;
	const RtscanCondition **included;
	int			ndisjunctions;
	struct RtscanDisjunction *disjunctions;
} RtscanSegmentFilter;

typedef struct RtscanDisjunction
{
	int			n;				/* 2 or more, none empty */
	RtscanSegmentFilter *filters;
} RtscanDisjunction;

/* Look a filter up in a segment's dictionaries; false only for a soft reader. */
extern bool rtscan_segment_filter(const RtscanFilter *filter, RtscanReader *reader,
								  RtscanSegmentFilter *result);

/*
 * The alternatives of a disjunction as regions: RtscanRegion *, made in the current memory context, without traces.  Those that have alternatives
 * themselves are multiplied out, a AND (b OR c) being a AND b, or a AND c.  And how many these are of all disjunctions of a filter together; or some
 * number above the limit.
 */
extern List *rtscan_list_alternatives(const RtscanDisjunction *disjunction, uint32 rows);
extern int	rtscan_count_alternatives(const RtscanSegmentFilter *filter, int limit);

/* The part of so many rows that a region leaves, or a filter, columns taken to be independent. */
extern double rtscan_region_fraction(const RtscanRegion *region, uint32 rows);
extern double rtscan_filter_fraction(const RtscanSegmentFilter *filter, uint32 rows);

/* Put the columns of a region with the fewest rows first. */
extern void rtscan_sort_region(RtscanRegion *region);

/* Do all rows of the segment match? */
static inline bool
rtscan_filter_has_all(const RtscanSegmentFilter *filter)
{
	return !filter->region.empty && filter->region.ncolumns == 0 && filter->nincluded == 0 && filter->ndisjunctions == 0;
}

/* Has this part of a filter conditions that are asked of rows, and nobody but the CPU can ask them? */
static inline bool
rtscan_filter_asks_rows(const RtscanSegmentFilter *filter)
{
	return filter->nincluded > 0 && filter->region.members == NIL;
}

/* Are INCLUDEd columns asked for, by any part of it, beyond what is implied? */
extern bool rtscan_filter_asks_included(const RtscanSegmentFilter *filter);

/* The regions that have to be evaluated: how many, and if there is an array, put into it. */
extern int	rtscan_filter_regions(RtscanSegmentFilter *filter, RtscanRegion **regions);

#endif							/* RTSCAN_FILTER_H */
