/*
 * key_sort.h
 *		Collections (collection.h) beyond what fits into memory: PostgreSQL's sort has their keys.
 *
 * Keys come to a sort until one asks for them; then they can be read, and again if the sort was begun as one that is read more
 * than once.
 */
#ifndef RTSCAN_KEY_SORT_H
#define RTSCAN_KEY_SORT_H

#include "rtscan.h"

#include "run/collection.h"

/* All of the array goes to a sort: to one there is, or to a new one. */
extern void rtscan_move_to_sort(RtscanCollecting *collecting, RtscanCollection *collection, MemoryContext context);

/* Begin to read all keys of a sort, and of the array; then the next one, ascending. */
extern void rtscan_read_sort(RtscanCollecting *collecting, RtscanCollection *collection);
extern bool rtscan_next_of_sort(RtscanCollection *collection, int64 *key);

/* Give the sort back, if there is one; or those of all collections. */
extern void rtscan_end_collection(RtscanCollecting *collecting, RtscanCollection *collection);
extern void rtscan_end_collecting(RtscanCollecting *collecting);

#endif							/* RTSCAN_KEY_SORT_H */
