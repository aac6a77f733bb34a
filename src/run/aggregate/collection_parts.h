/* SPDX-License-Identifier: PostgreSQL */
/*
 * collection_parts.h
 *		Functions on collections that only the files of this module share.
 */
#ifndef RTSCAN_COLLECTION_PARTS_H
#define RTSCAN_COLLECTION_PARTS_H

#include "rtscan.h"

#include "run/aggregate/collection.h"

/* ---------------------------------------------------------------- values: collection_values.c */

/* Set the keys of 0 and of infinity in RtscanCollecting.  They have a meaning only if the values are floats. */
extern void rtscan_find_float_keys(RtscanCollecting *collecting);

/* Return the key of a value, which is not NULL. */
extern int64 rtscan_key_of(const RtscanCollecting *collecting, Datum value);

/* ---------------------------------------------------------------- the array: collection.c */

/* Sort the array.  For DISTINCT also drop duplicates. */
extern void rtscan_sort_array(const RtscanCollecting *collecting, RtscanCollection *collection);

/* Return scratch memory for n keys.  It is valid until it is given back or keys are added. */
extern int64 *rtscan_take_scratch(const RtscanCollection *collection, uint64 n);
extern void rtscan_give_scratch_back(const RtscanCollection *collection, int64 *scratch);

/* ---------------------------------------------------------------- sorts: collection_sort.c */

/*
 * Keys can be added to a sort until it is first read.  It can be read again if RtscanCollecting.sorts_twice was set
 * when the sort began.
 */

/* Move all keys of the array to the collection's sort, and create the sort in "context" if there is none yet. */
extern void rtscan_move_to_sort(RtscanCollecting *collecting, RtscanCollection *collection, MemoryContext context);

/* Move the array's keys to the sort, and begin to read the sort from its least key. */
extern void rtscan_read_sort(RtscanCollecting *collecting, RtscanCollection *collection);

/* Read the next key of the sort, in ascending order.  False at the end. */
extern bool rtscan_next_of_sort(RtscanCollection *collection, int64 *key);

#endif							/* RTSCAN_COLLECTION_PARTS_H */
