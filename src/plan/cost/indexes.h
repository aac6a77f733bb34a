/*
 * indexes.h
 *		The indexes of a table that are ours.
 */
#ifndef RTSCAN_INDEXES_H
#define RTSCAN_INDEXES_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* A table's indexes of ours that can be used.  Is a relation a table with all rows in a heap, and such an index? */
extern List *rtscan_usable_indexes(const RelOptInfo *table);
extern bool rtscan_can_answer(PlannerInfo *root, RelOptInfo *rel);

#endif							/* RTSCAN_INDEXES_H */
