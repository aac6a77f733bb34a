/* SPDX-License-Identifier: PostgreSQL */
/*
 * estimate_column.h
 *		Estimate the size of a column in an index, from the table's statistics.
 *
 * The sizes follow from how segments are written.  A column is stored in the way that takes the fewest bytes
 * (segment/plain.c, include_write.c), so the size of each way is estimated.  The statistics tell the number of
 * distinct values, the bounds and the density of these values, and how close the order of the values is to the order
 * of the rows.
 */
#ifndef RTSCAN_ESTIMATE_COLUMN_H
#define RTSCAN_ESTIMATE_COLUMN_H

#include "rtscan.h"

#include "row/schema.h"

/* Maximal number of bounds of a histogram: one more than the largest statistics target. */
#define RTSCAN_MOST_BOUNDS	10001

/* The statistics of a column. */
typedef struct RtscanColumnStatistics
{
	RtscanColumn type;			/* the column, as an index would have it */
	double		rows;			/* number of rows of the table */
	double		distinct;		/* number of distinct values of the table */
	double		nulls;			/* fraction of rows with NULL */
	double		width;			/* average bytes of a value */
	double		order;			/* correlation of values and rows, without its sign: 0 .. 1 */
	bool		ascends;		/* do values ascend with the rows without exception, and without NULLs? */
	int			nbounds;		/* number of bounds; 0: not known */
	double	   *bounds;			/* keys that divide the values into parts with about the same number of rows */
	bool		integers;		/* are all values exact integers? */
	bool		has_range;		/* is range known? */
	double		range;			/* difference between the greatest and the least integer */
} RtscanColumnStatistics;

/* Read the statistics of a column of a table with "rows" rows. */
extern void rtscan_read_statistics(Relation table, AttrNumber attno, double rows, RtscanColumnStatistics *statistics);

/* Guess the statistics of an expression with values of a type, of which nothing is known. */
extern void rtscan_guess_statistics(Oid type, int32 typmod, double rows, RtscanColumnStatistics *statistics);

/* Estimate the number of distinct values among "rows" consecutive rows. */
extern double rtscan_distinct_among(const RtscanColumnStatistics *statistics, double rows);

/* The parameters of the planned build. */
typedef struct RtscanBuildPlan
{
	double		segments;		/* number of segments */
	double		rows;			/* number of rows of a segment */
	int			bins;			/* sieve_bins */
	int			components;		/* sieve_components */
} RtscanBuildPlan;

/* Estimate the bytes of a key column in one segment: sieve, order, codes or values, dictionary. */
extern double rtscan_key_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan);

/* Estimate the bytes of an INCLUDE column in one segment. */
extern double rtscan_include_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan);

#endif							/* RTSCAN_ESTIMATE_COLUMN_H */
