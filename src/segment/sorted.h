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

/* Bytes of memory for each row at the peak of a sort by keys: two arrays of elements. */
#define RTSCAN_SORT_BYTES	(2 * sizeof(RtscanSorted) + 1)
/*
 * A sort by comparison takes bytes in addition: for each row, the number of its image; for each image, an entry of the
 * hash table of images, an element, an abbreviated key, a number and a value.
 */
#define RTSCAN_IMAGE_NUMBER_BYTES	sizeof(uint32)
#define RTSCAN_IMAGE_BYTES	80

#endif							/* RTSCAN_SORTED_H */
