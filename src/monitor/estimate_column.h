/*
 * estimate_column.h
 *		What a column will take in an index, as the table's statistics have it.
 *
 * Sizes follow from how segments are written: of the ways to store a column the one that takes the fewest bytes is taken
 * (segment/plain.c, include_write.c), so all of them are estimated.  The statistics say how many values there are, between
 * which bounds, how dense, and how nearly they come in the order of rows.
 */
#ifndef RTSCAN_ESTIMATE_COLUMN_H
#define RTSCAN_ESTIMATE_COLUMN_H

#include "rtscan.h"

#include "row/schema.h"

/* So many bounds there may be of statistics; and one more. */
#define RTSCAN_MOST_BOUNDS	10001

typedef struct RtscanColumnStatistics
{
	RtscanColumn type;
	double		rows;			/* of the table */
	double		distinct;
	double		nulls;			/* a fraction of the rows */
	double		width;			/* bytes of a value */
	double		order;			/* how nearly values ascend or descend with rows: 0 .. 1 */
	bool		ascends;		/* wholly, without NULLs */
	int			nbounds;		/* keys between which there are about as many values each; 0: not known */
	double	   *bounds;
	bool		integers;		/* values are exact integers, */
	bool		has_range;		/* and these are known to be from one to another */
	double		range;
} RtscanColumnStatistics;

extern void rtscan_read_statistics(Relation table, AttrNumber attno, double rows, RtscanColumnStatistics *statistics);

/* How an index is built. */
typedef struct RtscanBuildPlan
{
	double		segments;
	double		rows;			/* of a segment */
	int			bins;
	int			components;
} RtscanBuildPlan;

/* Bytes of a key column in one segment: sieve, order, codes or values, dictionary; and of an INCLUDE column. */
extern double rtscan_key_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan);
extern double rtscan_include_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan);

#endif							/* RTSCAN_ESTIMATE_COLUMN_H */
