/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort_parts.h
 *		Functions that sort.c, sort_keys.c and sort_images.c share.  No other file includes this one.
 */
#ifndef RTSCAN_SORT_PARTS_H
#define RTSCAN_SORT_PARTS_H

#include "rtscan.h"

#include "segment/sort.h"

/* Sort the rows that are not NULL by their keys: order[] and starts[].  Before, order[] has them in row order. */
extern void rtscan_sort_keys(RtscanSortedColumn *column);

/*
 * Sort the rows that are not NULL by the comparison function of index column i: order[] and starts[].  Sets
 * image_values, replaces values by numbers of images, and clears "identical" if equal values have different images.
 */
extern void rtscan_sort_images(RtscanSortedColumn *column, Relation index, int i);

#endif							/* RTSCAN_SORT_PARTS_H */
