/* SPDX-License-Identifier: PostgreSQL */
/*
 * sorted.h
 *		The elements that are sorted for a column, and the memory that sorting needs.
 */
#ifndef RTSCAN_SORTED_H
#define RTSCAN_SORTED_H

#include "rtscan.h"

/* A value and its row.  The value is a key if the column has keys, else a Datum. */
typedef struct RtscanSorted
{
	uint64		value;
	uint32		row;
} RtscanSorted;

/*
 * Bytes of memory for each row at the peak of a sort.  A sort by keys needs two arrays of elements.  A sort by
 * comparison also needs, if all values differ, a hash table of images, the images, their abbreviated keys and their
 * numbers.
 */
#define RTSCAN_KEY_SORT_BYTES	(2 * sizeof(RtscanSorted) + 1)
#define RTSCAN_COMPARISON_SORT_BYTES	(RTSCAN_KEY_SORT_BYTES + 80)

#endif							/* RTSCAN_SORTED_H */
