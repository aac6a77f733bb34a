/*
 * column_bounds.h
 *		The numbers that a segment's column has, and where numbers are among them.
 */
#ifndef RTSCAN_COLUMN_BOUNDS_H
#define RTSCAN_COLUMN_BOUNDS_H

#include "rtscan.h"

#include "row/bounds.h"
#include "search/filter/region.h"

typedef struct RtscanColumnBounds
{
	int			column;			/* from 0 */
	RtscanNumberKind number;
	RtscanBounds bounds;
	const RtscanColumn *type;	/* of a key column: */
	RtscanPosition first;		/* finite numbers, from the first one, */
	RtscanPosition end;			/* up to this place; likewise */
	RtscanPosition infinite_end;	/* behind plus infinity, */
	RtscanPosition values_end;	/* and NaN: there are no more values */
} RtscanColumnBounds;

/* Find them, of a key column, of rows in a region; they may be too wide.  False only for a soft reader. */
extern bool rtscan_find_column_bounds(RtscanReader *reader, const RtscanSchema *schema, int column, RtscanNumberKind number,
									  const RtscanRegion *within, RtscanColumnBounds *result);

/* The intervals of a key column's numbers that are in some bounds, a part of the column's; likewise. */
extern bool rtscan_column_intervals(RtscanReader *reader, const RtscanColumnBounds *column, const RtscanBounds *bounds,
									RtscanIntervals *intervals);

#endif							/* RTSCAN_COLUMN_BOUNDS_H */
