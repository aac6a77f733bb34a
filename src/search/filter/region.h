/* SPDX-License-Identifier: PostgreSQL */
/*
 * region.h
 *		The meaning of a filter in one segment: regions, which are intervals of columns, joined by AND and OR.
 *
 * In a segment, a condition on a key column accepts a set of intervals of ranks.  For conditions on the same column,
 * AND intersects the sets, and OR unites them.  So each of "a < 5 OR a > 10", "a <> 3" and "a BETWEEN 5 AND 10" is one
 * column of one region.  A filter that cannot be folded into one region stays a conjunction of a region and of
 * disjunctions.  Each alternative of a disjunction is a conjunction of the same form.
 */
#ifndef RTSCAN_REGION_H
#define RTSCAN_REGION_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "search/filter/condition.h"
#include "search/filter/interval.h"
#include "search/filter/row_bits.h"

/* A column of a region, and the intervals that its rows must be in. */
typedef struct RtscanRegionColumn
{
	int			column;			/* number of the column, from 0 */
	uint32		rows;			/* number of rows in the intervals */
	double		stands_for;		/* factor by which "rows" is to be multiplied if the intervals are of a sample of
								 * values (RtscanCondition); else 1 */
	List	   *traces;			/* RtscanTrace * of the conditions that the intervals come from */
	RtscanIntervals intervals;	/* the intervals, normalized when the region is finished */
} RtscanRegionColumn;

/*
 * A conjunction of intervals of columns in one segment (RTScan, section 3.2), which executors evaluate.  The column
 * with the fewest rows comes first, and columns that exclude no row are left out.
 */
typedef struct RtscanRegion
{
	bool		empty;			/* no row matches */
	int			ncolumns;		/* number of columns; 0: every row matches */
	RtscanRegionColumn *columns;	/* the columns */
	List	   *needless;		/* RtscanTrace * of the conditions on columns that are left out */
	List	   *found;			/* RtscanFoundCodes * of the region's conditions that have notes_codes set */
	List	   *members;		/* RtscanDeviceMembers * of the residual conditions of this part of the filter, if an
								 * executor that evaluates the region can test rows for them; else NIL */
	double		passing;		/* approximate fraction of the region's rows that pass the conditions in "members";
								 * undefined if "members" is NIL */
	struct RtscanRowBits *evaluated;	/* rows of the region, if an executor other than the CPU has evaluated it;
										 * else NULL */
} RtscanRegion;

/*
 * The meaning of a filter in one segment: a conjunction of a region, of residual conditions, for which rows are tested,
 * and of disjunctions.  A disjunction that all rows of the segment match is left out.
 */
typedef struct RtscanSegmentFilter
{
	RtscanRegion region;		/* the conditions that were looked up; empty if no row matches the whole filter */
	int			nresiduals;		/* number of conditions for which rows are tested */
	const RtscanCondition **residuals;	/* conditions for which rows are tested: those on INCLUDE columns, and long
										 * ones (rtscan_condition_is_long()) */
	int			ndisjunctions;	/* number of disjunctions */
	struct RtscanDisjunction *disjunctions; /* the disjunctions */
} RtscanSegmentFilter;

/* Alternatives, at least one of which a row must match. */
typedef struct RtscanDisjunction
{
	int			n;				/* number of alternatives, at least 2 */
	RtscanSegmentFilter *filters;	/* the alternatives, none of which is empty */
} RtscanDisjunction;

/*
 * Return the alternatives of a disjunction as a list of RtscanRegion *, without traces, in the current memory
 * context.  Alternatives that have disjunctions themselves are multiplied out: a AND (b OR c) becomes the regions
 * (a AND b) and (a AND c).  "rows" is the number of rows of the segment.
 */
extern List *rtscan_list_alternatives(const RtscanDisjunction *disjunction, uint32 rows);

/*
 * Return the number of regions that the disjunctions of a filter become when they are multiplied out.  If this number
 * is above "limit", any number above "limit" may be returned.
 */
extern int	rtscan_count_alternatives(const RtscanSegmentFilter *filter, int limit);

/*
 * Return the fraction of a segment's rows that are in a region, if columns are independent.  "rows" is the number
 * of rows of the segment.
 */
extern double rtscan_region_fraction(const RtscanRegion *region, uint32 rows);

/*
 * Return the fraction of a segment's rows that match a filter, if columns are independent.  Conditions for which rows
 * are tested are taken into account only if they are listed in region.members.
 */
extern double rtscan_filter_fraction(const RtscanSegmentFilter *filter, uint32 rows);

/* Intersect a region's column with another set of intervals, or add the column if the region does not have it. */
extern void rtscan_narrow_region(RtscanRegion *region, const RtscanRegionColumn *by);

/* Intersect a region with another one. */
extern void rtscan_and_region(RtscanRegion *region, const RtscanRegion *other);

/*
 * Finish a region whose columns have been narrowed: count the rows of each column, drop columns that exclude no row,
 * sort the others, and set region->empty if a column has no rows.  "rows" is the number of rows of the segment.
 */
extern void rtscan_finish_region(RtscanRegion *region, uint32 rows);

/* Sort the columns of a region, those with the fewest rows first. */
extern void rtscan_sort_region(RtscanRegion *region);

/* Do all rows of the segment match? */
static inline bool
rtscan_filter_has_all(const RtscanSegmentFilter *filter)
{
	return !filter->region.empty && filter->region.ncolumns == 0 && filter->nresiduals == 0 &&
		filter->ndisjunctions == 0;
}

/* Does a filter itself, apart from its disjunctions, have conditions for which only the CPU can test rows? */
static inline bool
rtscan_filter_asks_rows(const RtscanSegmentFilter *filter)
{
	return filter->nresiduals > 0 && filter->region.members == NIL;
}

/* Does any part of a filter have conditions on INCLUDE columns, other than implied ones? */
extern bool rtscan_filter_asks_included(const RtscanSegmentFilter *filter);

/*
 * Return the number of regions of a filter that have to be evaluated.  If "regions" is not NULL, store pointers to the
 * regions in this array.
 */
extern int	rtscan_filter_regions(RtscanSegmentFilter *filter, RtscanRegion **regions);

#endif							/* RTSCAN_REGION_H */
