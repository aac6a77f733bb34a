/* SPDX-License-Identifier: PostgreSQL */
/*
 * sorted.h
 *		The elements of a column's sort, and the memory that it needs.
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
 * Bytes a row that sorting takes at its peak.  By keys: the elements, and as many again.  By comparison, if all
 * values differ, also: a hash table of images, the images, their abbreviated keys and their numbers.
 */
#define RTSCAN_KEY_SORT_BYTES	(2 * sizeof(RtscanSorted) + 1)
#define RTSCAN_COMPARISON_SORT_BYTES	(RTSCAN_KEY_SORT_BYTES + 80)

#endif							/* RTSCAN_SORTED_H */
