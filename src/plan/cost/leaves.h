/* SPDX-License-Identifier: PostgreSQL */
/*
 * leaves.h
 *		Lists the leaf tables of a partitioned table or an inheritance parent, and appends their paths.
 */
#ifndef RTSCAN_LEAVES_H
#define RTSCAN_LEAVES_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Is a relation a table with partitions or children? */
extern bool rtscan_has_leaves(PlannerInfo *root, RelOptInfo *rel);

/* Return the leaf tables of a table (RelOptInfo *), without those that the planner has already excluded. */
extern List *rtscan_leaves_of(PlannerInfo *root, const RelOptInfo *rel);

/*
 * Does a relation have more than "most" leaves?  This function is called for each leaf, so it makes no list.  Pruned
 * partitions do not count.  Children that are no partitions are counted for all tables of the query together, since
 * they are few.
 */
extern bool rtscan_has_more_leaves(PlannerInfo *root, const RelOptInfo *rel, int most);

/* Return the topmost parent of a leaf. */
extern RelOptInfo *rtscan_top_of(PlannerInfo *root, const RelOptInfo *leaf);

/*
 * Return the members of an equivalence class (Expr *) that belong to a table, which may be a leaf.  (Before PostgreSQL
 * 18, find_ec_member_matching_expr() goes through the members of all leaves.  That is slow if it is called for each of
 * many leaves.)
 */
extern List *rtscan_members_of(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table);

/*
 * Is an expression of a table a member of an equivalence class, apart from RelabelTypes?  The caller has to compare
 * collations.
 */
extern bool rtscan_is_member(PlannerInfo *root, const EquivalenceClass *class, const Expr *expression,
							 RelOptInfo *table);

/*
 * Return the cost of opening a table in each process of a parallel plan, if the table is one of many leaves; 0 for
 * other tables.  PostgreSQL would assume that parallel_setup_cost includes this cost, and let each worker open a
 * thousand leaves for work that the leader alone does in less time.
 */
extern Cost rtscan_opening_cost(PlannerInfo *root, const RelOptInfo *table);

/*
 * Append paths of leaves, as a path of their parent "rel".  With "parallel", it is a Parallel Append: each of several
 * processes takes one path after another.
 */
extern Path *rtscan_append_leaves(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, List *paths, bool parallel);

/* Return the number of workers that PostgreSQL uses for an Append of these paths. */
extern int	rtscan_workers_for_leaves(const List *paths);

#endif							/* RTSCAN_LEAVES_H */
