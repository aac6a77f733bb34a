/*
 * filter.h
 *		Quals with AND and OR: predicates that are combined.
 *
 * A filter is a conjunction: of a predicate, and of disjunctions of filters.  The planner
 * pushes NOT down to the quals themselves, so there is none here.  Of three-valued logic
 * nothing is left: a row matches or not, and what is NULL does not.
 */
#ifndef RTSCAN_FILTER_H
#define RTSCAN_FILTER_H

#include "rtscan.h"

#include "search/predicate.h"

typedef struct RtscanFilter
{
	RtscanPredicate *predicate;
	int			ndisjunctions;
	struct RtscanDisjunction *disjunctions;
} RtscanFilter;

typedef struct RtscanDisjunction
{
	int			n;
	RtscanFilter *filters;
} RtscanDisjunction;

/* What a filter means for one segment; disjunctions that exclude no row are left out. */
typedef struct RtscanSegmentFilter
{
	RtscanRegion region;		/* empty if a disjunction is */
	int			ndisjunctions;
	struct RtscanSegmentDisjunction *disjunctions;
} RtscanSegmentFilter;

typedef struct RtscanSegmentDisjunction
{
	int			n;				/* 1 or more, none empty */
	RtscanSegmentFilter *filters;
} RtscanSegmentDisjunction;

/* Look a filter up in a segment's dictionaries; false only for a soft reader. */
extern bool rtscan_segment_filter(const RtscanFilter *filter, RtscanReader *reader,
								  RtscanSegmentFilter *result);

/* Do all rows of the segment match? */
static inline bool
rtscan_filter_has_all(const RtscanSegmentFilter *filter)
{
	return !filter->region.empty && filter->region.ncolumns == 0 && filter->ndisjunctions == 0;
}

/* Does a row match? */
extern bool rtscan_filter_matches(const RtscanFilter *filter, const Datum *values, const bool *isnull);

#endif							/* RTSCAN_FILTER_H */
