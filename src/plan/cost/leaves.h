/*
 * leaves.h
 *		The tables that a table with partitions, or with children, consists of.
 */
#ifndef RTSCAN_LEAVES_H
#define RTSCAN_LEAVES_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Is a relation made of others? */
extern bool rtscan_has_leaves(PlannerInfo *root, RelOptInfo *rel);

/* Those tables (RelOptInfo *), but for what the planner has left out already. */
extern List *rtscan_leaves_of(PlannerInfo *root, const RelOptInfo *rel);

/*
 * Has it more of them than so many?  For each of many leaves that is asked without a list of them: of partitions those count that pruning has not
 * left out; of other children, which are few, those of all tables.
 */
extern bool rtscan_has_more_leaves(PlannerInfo *root, const RelOptInfo *rel, int most);

/* The table that a leaf is one of. */
extern RelOptInfo *rtscan_top_of(PlannerInfo *root, const RelOptInfo *leaf);

/*
 * The members of an equivalence class (Expr *) that a table has, a leaf or another.  (Up to 17, find_ec_member_matching_expr() goes through
 * those of all leaves, which takes long for each of many.)
 */
extern List *rtscan_members_of(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table);

/* Is an expression of a table one of them?  Relabelled or not: the collation is for the caller to compare. */
extern bool rtscan_is_member(PlannerInfo *root, const EquivalenceClass *class, const Expr *expression, RelOptInfo *table);

/*
 * What each process of a parallel plan takes to open a table that is one of many leaves: PostgreSQL has parallel_setup_cost for it, and
 * so would have a thousand leaves opened again by each worker for what the leader does in less time alone.  0 of tables that are not.
 */
extern Cost rtscan_opening_cost(PlannerInfo *root, const RelOptInfo *table);

/* The rows of paths for leaves, one after another, as a relation's; or by several processes, each of which takes one path after another. */
extern Path *rtscan_append_leaves(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, List *paths, bool parallel);

/* As many workers as PostgreSQL has for so many paths. */
extern int	rtscan_workers_for_leaves(const List *paths);

#endif							/* RTSCAN_LEAVES_H */
