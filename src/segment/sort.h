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

/* A value and its row; the value is a key if the column has them, else a Datum. */
typedef struct RtscanSorted
{
	uint64		value;
	uint32		row;
} RtscanSorted;

typedef struct RtscanSortedColumn
{
	uint32		rows;
	uint32		nonnull;
	uint32		distinct;
	bool		heap_order;		/* rank = row */
	bool		identical;		/* equal values are identical */
	RtscanColumnRows *images;	/* else, unless some are lost, those of values that sorted has not; of other rows NULL */
	RtscanSorted *sorted;		/* by rank, in the sort's room; NULLs, in row order, from nonnull on; of equal values one stands for all */
	RtscanSorted *spare;		/* the other half of the room: for whoever works on the column */
	uint64	   *starts;			/* a bit a rank: a value differs from the one before */
} RtscanSortedColumn;

/*
 * Bytes that sorting takes at its peak, a row: by keys the elements and as many again; by
 * comparison, if all values differ, also a hash table of images, the images, their
 * abbreviated keys and numbers.
 */
#define RTSCAN_KEY_SORT_BYTES	(2 * sizeof(RtscanSorted) + 1)
#define RTSCAN_COMPARISON_SORT_BYTES	(RTSCAN_KEY_SORT_BYTES + 80)

static inline bool
rtscan_starts_value(const RtscanSortedColumn *column, uint32 rank)
{
	return rtscan_bit_is_set(column->starts, rank);
}

/* Room for sorting each of the columns of some rows, in the current memory context: fresh memory for each would cost a tenth of it. */
extern RtscanSorted *rtscan_sort_room(const RtscanRows *rows);

/* Sort a column, in the current memory context, and the room: what is there is lost when the next one is sorted. */
extern RtscanSortedColumn *rtscan_sort_column(Relation index, const RtscanSchema *schema,
											  const RtscanRows *rows, int column, RtscanSorted *room);

#endif							/* RTSCAN_SORT_H */
