/*
 * sorted.h
 *		The elements that a column's sort moves, and what it takes.
 */
#ifndef RTSCAN_SORTED_H
#define RTSCAN_SORTED_H

#include "rtscan.h"

/* A value and its row; the value is a key if the column has them, else a Datum. */
typedef struct RtscanSorted
{
	uint64		value;
	uint32		row;
} RtscanSorted;

/*
 * Bytes that sorting takes at its peak, a row: by keys the elements and as many again; by
 * comparison, if all values differ, also a hash table of images, the images, their
 * abbreviated keys and numbers.
 */
#define RTSCAN_KEY_SORT_BYTES	(2 * sizeof(RtscanSorted) + 1)
#define RTSCAN_COMPARISON_SORT_BYTES	(RTSCAN_KEY_SORT_BYTES + 80)

#endif							/* RTSCAN_SORTED_H */
