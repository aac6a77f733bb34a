/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.h
 *		Sort one column of a segment: from values in row order to ranks.
 */
#ifndef RTSCAN_SORT_H
#define RTSCAN_SORT_H

#include "rtscan.h"

#include "bits/bits.h"
#include "row/schema.h"
#include "segment/rows.h"
#include "segment/sorted.h"

/* A sorted column of a segment. */
typedef struct RtscanSortedColumn
{
	uint32		rows;			/* number of rows */
	uint32		nonnull;		/* number of rows that are not NULL */
	uint32		distinct;		/* number of distinct values */
	bool		heap_order;		/* the rank of each row is its row number */
	bool		identical;		/* equal values have the same image */
	RtscanColumnRows *images;	/* by row: images that differ from the image of the equal value in "sorted"; all
								 * other rows are NULL.  The pointer itself is NULL if "identical" is true, or if
								 * some images are lost */
	RtscanSorted *sorted;		/* by rank, in the work space; NULLs from "nonnull" on, in row order; equal values
								 * with different images are all replaced by one of them */
	RtscanSorted *spare;		/* the other half of the work space, free for work on the column */
	uint64	   *starts;			/* a bit for each rank: its value differs from the value at the rank before */
} RtscanSortedColumn;

/* Is a rank the first rank of a value? */
static inline bool
rtscan_starts_value(const RtscanSortedColumn *column, uint32 rank)
{
	return rtscan_bit_is_set(column->starts, rank);
}

/*
 * Allocate the work space for sorting the columns of some rows, one column after another, in the current memory
 * context.  Allocating new memory for each column would make sorting a tenth slower.
 */
extern RtscanSorted *rtscan_sort_room(const RtscanRows *rows);

/*
 * Sort a column.  The result is in the current memory context and in the work space "room", whose content is
 * overwritten when the next column is sorted.
 */
extern RtscanSortedColumn *rtscan_sort_column(Relation index, const RtscanSchema *schema,
											  const RtscanRows *rows, int column, RtscanSorted *room);

/* Hash the bytes of a value of a column that is sorted by comparison. */
extern uint32 rtscan_hash_image(const RtscanColumn *type, Datum value);

#endif							/* RTSCAN_SORT_H */
