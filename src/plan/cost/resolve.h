/* SPDX-License-Identifier: PostgreSQL */
/*
 * resolve.h
 *		Looks quals up in an index's dictionaries, once in a planning run.
 *
 * The planner prices many paths with the same quals: bitmap scans, scans of rows, parameterized scans, aggregates.  The
 * results of lookups are remembered by index and quals until planning ends.
 */
#ifndef RTSCAN_RESOLVE_H
#define RTSCAN_RESOLVE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/cost/index_size.h"
#include "storage/directory.h"

/*
 * The result of looking up a conjunction of quals with known values.  Pages are read in the order of the file or at
 * random, as the CPU executor would read them.
 */
typedef struct RtscanResolved
{
	const RtscanIndexSize *size;	/* sizes of the index */
	List	   *quals;			/* RtscanQual * */
	int			narrowed;		/* number of columns that the quals are about */
	double		segments;		/* segments that are searched; in all other segments no row can match */
	double		matching;		/* rows that match */
	double		lookup_nanoseconds; /* time of looking up */
	double		nanoseconds;	/* time of evaluating, with all pages in memory */
	double		pages;			/* pages read in the order of the file */
	double		random_pages;	/* pages read at random */
} RtscanResolved;

/*
 * Look up the quals "quals" and "implied" (RtscanQual *).  An element of "quals" is not looked up if its values are not
 * known yet, or if this user may not know the index's values; *others is set to the clauses of all such elements.
 * Returns NULL if the index cannot be read, or has no segments.
 */
extern const RtscanResolved *rtscan_resolve(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied,
											List **others);

/* Return the sizes of an index, or NULL if it cannot be read or has no segments. */
extern const RtscanIndexSize *rtscan_index_size(PlannerInfo *root, IndexOptInfo *info);

/*
 * Return the fraction of the heap's blocks, of those that are not all-visible, whose rows are remembered
 * (search/visible/page_memory.h).
 */
extern double rtscan_remembered_others(PlannerInfo *root, IndexOptInfo *info);

/*
 * Return a lower bound of the number of distinct values of a key column; 0 if none is known, or if this user may not
 * know it.
 */
extern double rtscan_least_distinct(PlannerInfo *root, IndexOptInfo *info, int column);

/*
 * Get the least and the greatest key of a column in the segments (row/keys.h).  False if the index cannot be read or
 * has no segments, if a segment's keys are not known, if this user may not know the keys, or if the segments have less
 * than half of the index's rows.
 */
extern bool rtscan_index_bounds(PlannerInfo *root, IndexOptInfo *info, int column, RtscanKeyBounds *bounds);

#endif							/* RTSCAN_RESOLVE_H */
