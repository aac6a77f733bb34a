/* SPDX-License-Identifier: PostgreSQL */
/*
 * column_bounds.h
 *		Find the least and the greatest number in a segment's column, and the places of numbers in a key column.
 */
#ifndef RTSCAN_COLUMN_BOUNDS_H
#define RTSCAN_COLUMN_BOUNDS_H

#include "rtscan.h"

#include "row/bounds.h"
#include "search/filter/region.h"

/* The numbers of a column in a segment. */
typedef struct RtscanColumnBounds
{
	int			column;			/* number of the column, from 0 */
	RtscanNumberKind number;	/* type of the numbers */
	RtscanBounds bounds;		/* bounds of the numbers */
	const RtscanColumn *type;	/* the column's type */
	RtscanPosition first;		/* key column: place of the first finite number */
	RtscanPosition end;			/* key column: place behind the last finite number */
	RtscanPosition infinite_end;	/* key column: place behind plus infinity */
	RtscanPosition values_end;	/* key column: place behind the last value, and so behind NaN */
} RtscanColumnBounds;

/*
 * Find the bounds of a column's numbers.  The bounds may be too wide.  For a key column, only rows in the region
 * "within" are considered.  Returns false only if a soft reader (RtscanReader.soft) cannot read a page.
 */
extern bool rtscan_find_column_bounds(RtscanReader *reader, const RtscanSchema *schema, int column,
									  RtscanNumberKind number, const RtscanRegion *within, RtscanColumnBounds *result);

/*
 * Find the least and the greatest integer in a segment's frames, which have exact integers or codes.  Returns false if
 * all rows are NULL.
 */
extern bool rtscan_find_frame_bounds(const RtscanFrames *frames, const RtscanSegment *segment,
									 int64 *least, int64 *greatest);

/*
 * Find the intervals of a key column's numbers that are within "bounds", which must be a part of the column's bounds.
 * Returns false only if a soft reader (RtscanReader.soft) cannot read a page.
 */
extern bool rtscan_column_intervals(RtscanReader *reader, const RtscanColumnBounds *column, const RtscanBounds *bounds,
									RtscanIntervals *intervals);

#endif							/* RTSCAN_COLUMN_BOUNDS_H */
