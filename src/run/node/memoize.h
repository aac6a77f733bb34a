/* SPDX-License-Identifier: PostgreSQL */
/*
 * memoize.h
 *		Memoizes results of an RtscanAggregate that returns one row, by the parameters that they were computed for.
 *
 * A correlated subquery is executed for each row of the outer query, often with the same parameters.  Everything else
 * that a result depends on, such as the snapshot, stays the same while the query is executed.  Parameters that are
 * used only in expressions on the result, such as HAVING, do not matter.  If a parameter changes that is used neither
 * in expressions on the result nor in the node's own expressions, all results are forgotten, because they might
 * depend on this parameter.  (PostgreSQL's Memoize caches and forgets rows in the same way, below a nested loop.)
 */
#ifndef RTSCAN_MEMOIZE_H
#define RTSCAN_MEMOIZE_H

#include "rtscan.h"

#include "nodes/execnodes.h"

typedef struct RtscanMemoize RtscanMemoize;

/*
 * May a node's results be memoized?  The planner and the node both call this function.  The node must return one
 * result: it has no keys of GROUP BY, and at most one grouping set.  The result must not be partial, and the node
 * must not share its work with other processes.  The node must not execute subqueries or dimensions either: they may
 * call volatile functions, which have to be called each time.
 */
static inline bool
rtscan_may_memoize(int nkeys, int nsets, bool partial, bool shared, bool executes_plans)
{
	return nkeys == 0 && nsets <= 1 && !partial && !shared && !executes_plans;
}

/*
 * Create a cache in the current memory context.  "expressions" are evaluated by the node to compute its result,
 * "of_results" are evaluated on the result.  The cache is emptied when it takes more memory than a hash table may.
 */
extern RtscanMemoize *rtscan_create_memoize(const EState *estate, List *expressions, List *of_results,
											TupleDesc result);

/*
 * Prepare for a rescan after the parameters "changed" have changed.  If one of these parameters is in no expression
 * given to rtscan_create_memoize(), this forgets all results, because they might depend on the parameter.
 */
extern void rtscan_memoize_change_parameters(RtscanMemoize *memoize, const Bitmapset *changed);

/*
 * Get the memoized result for the current values of the parameters.  It is valid until the next call of
 * rtscan_memoize_store() or rtscan_memoize_change_parameters().  Return false if no result is memoized for these
 * values, or if a parameter is the result of a subquery that is not executed yet.
 */
extern bool rtscan_memoize_lookup(RtscanMemoize *memoize, Datum *values, bool *isnull);

/* Memoize the result for the current values of the parameters; do nothing if one is of a subquery not executed yet. */
extern void rtscan_memoize_store(RtscanMemoize *memoize, const Datum *values, const bool *isnull);

/* Return how many results have been found in the cache. */
extern uint64 rtscan_memoize_hits(const RtscanMemoize *memoize);

#endif							/* RTSCAN_MEMOIZE_H */
