/*
 * region.h
 *		What a filter means for one segment: regions, that is intervals of columns, joined by AND and OR.
 *
 * In a segment a condition on a key column is a set of intervals of ranks.  There AND intersects and OR unites those of one
 * column, so that "a < 5 OR a > 10" and "a <> 3" are one column of one region, as "a BETWEEN 5 AND 10" is; what does not fold in
 * this way stays a conjunction of a region and disjunctions of such conjunctions.
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

/* Narrow a region's column by a set, or add the column if it is not there; and by all columns of another region. */
extern void rtscan_narrow_region(RtscanRegion *region, const RtscanRegionColumn *by);
extern void rtscan_and_region(RtscanRegion *region, const RtscanRegion *other);

/* Drop columns that exclude nothing, put the narrowest first, see whether one excludes all. */
extern void rtscan_finish_region(RtscanRegion *region, uint32 rows);

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

#endif							/* RTSCAN_REGION_H */
