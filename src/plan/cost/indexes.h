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

/* Return the planner's data about the query in WITH that an entry refers to; NULL if it is recursive or inlined. */
extern PlannerInfo *rtscan_subroot_of_with(PlannerInfo *root, const RangeTblEntry *entry);

/*
 * Return the planner's data about the query of a subquery in FROM, or of a reference to WITH; NULL for any other entry,
 * and if that query has not been planned by itself.
 */
extern PlannerInfo *rtscan_subroot_of(PlannerInfo *root, const RelOptInfo *rel);

/* Does a query, or a query in its FROM or WITH, read a table with a usable rtscan index? */
extern bool rtscan_reads_index(PlannerInfo *root);

#endif							/* RTSCAN_INDEXES_H */
