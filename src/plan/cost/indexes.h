/* SPDX-License-Identifier: PostgreSQL */
/*
 * indexes.h
 *		Finds the rtscan indexes of a table.
 */
#ifndef RTSCAN_INDEXES_H
#define RTSCAN_INDEXES_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Return a table's rtscan indexes that the query can use. */
extern List *rtscan_usable_indexes(const RelOptInfo *table);

/* Is a relation a table with a usable rtscan index, and are all its rows in one heap? */
extern bool rtscan_can_answer(PlannerInfo *root, RelOptInfo *rel);

#endif							/* RTSCAN_INDEXES_H */
