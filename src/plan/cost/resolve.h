/*
 * resolve.h
 *		What quals find in an index's dictionaries, looked up once in a planning run.
 *
 * The planner prices many paths of the same quals: as bitmap, as rows, parameterized, for
 * aggregates.  What they find is remembered by index and quals until the planner is done.
 */
#ifndef RTSCAN_RESOLVE_H
#define RTSCAN_RESOLVE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "storage/directory.h"

/* What there is of a column, in all segments. */
typedef struct RtscanColumnSize
{
	double		value_pages;	/* of codes, or of values in row order */
	double		dictionary_pages;
	double		dictionary_values;
	double		distinct;		/* of a key column: values in the dictionary that has most */
	double		ranked_values;	/* of these, in segments where the column is in heap order */
	double		framed_rows;	/* of an INCLUDE column: rows that have integers in frames */
} RtscanColumnSize;

/* An index, as far as its segments can be read. */
typedef struct RtscanIndexSize
{
	double		segments;
	double		rows;
	double		largest;		/* rows of the largest segment */
	double		heap_blocks;	/* up to the last one with a row; 0: not known */
	int			ncolumns;		/* of the index */
	RtscanColumnSize columns[INDEX_MAX_KEYS];	/* only as many as that may be in memory */
} RtscanIndexSize;

/* A column of these, from 0.  The index stores nothing of those behind its own, which are dimensions' (star.h). */
static inline const RtscanColumnSize *
rtscan_column_size(const RtscanIndexSize *size, int column)
{
	static const RtscanColumnSize nothing;

	return column < size->ncolumns ? &size->columns[column] : &nothing;
}

/*
 * A conjunction of quals whose values are known, looked up.  In the order of the file, or at random,
 * pages are read as the CPU executor would read them.
 */
typedef struct RtscanResolved
{
	const RtscanIndexSize *size;
	List	   *quals;			/* RtscanQual * */
	int			narrowed;		/* how many columns that is about */
	double		segments;		/* that are searched: the others have no row that matches */
	double		matching;		/* rows that match */
	double		lookup_nanoseconds; /* of looking up, */
	double		nanoseconds;	/* and of evaluating, with all pages in memory */
	double		pages;			/* read in the order of the file */
	double		random_pages;
} RtscanResolved;

/*
 * Resolve quals (RtscanQual *), and others that are only implied.  The clauses of those quals whose values are not known yet, or are not
 * for this user to know, are left in others.  NULL if the index cannot be read, or has no segments.
 */
extern const RtscanResolved *rtscan_resolve(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied, List **others);

/* The same of an index alone, or NULL. */
extern const RtscanIndexSize *rtscan_index_size(PlannerInfo *root, IndexOptInfo *info);

/* So many different values a key column has at least; 0 if that is not known, or not for this user to know. */
extern double rtscan_least_distinct(PlannerInfo *root, IndexOptInfo *info, int column);

/*
 * The least and the greatest key of a column in the segments (row/keys.h); false if they are not known, or not for this user to know, or if
 * there are more rows that are not in segments.
 */
extern bool rtscan_index_bounds(PlannerInfo *root, IndexOptInfo *info, int column, RtscanKeyBounds *bounds);

#endif							/* RTSCAN_RESOLVE_H */
