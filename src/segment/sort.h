/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.h
 *		Sort one column of a segment: from values in row order to ranks.
 */
#ifndef RTSCAN_SORT_H
#define RTSCAN_SORT_H

#include "rtscan.h"

#include "segment/sorted.h"

/*
 * Sort a column, in the current memory context.  If it is sorted by comparison, the values in "rows" are replaced by
 * numbers of images.
 */
extern RtscanSortedColumn *rtscan_sort_column(Relation index, RtscanRows *rows, int column);

/*
 * Replace the values of the rows by the images that the dictionary does not have: those that differ from the image of
 * the first row with an equal value.  All other rows become NULL.  The column's values are not available afterwards.
 */
extern RtscanColumnRows *rtscan_take_images(RtscanSortedColumn *column);

/* Put the rows into order[] in row order, NULLs behind the others, and clear starts[]: the state before a sort. */
extern void rtscan_reset_order(RtscanSortedColumn *column);

#endif							/* RTSCAN_SORT_H */
