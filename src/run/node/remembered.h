/*
 * remembered.h
 *		The only result of an RtscanAggregate, remembered for the parameters that it was for.
 *
 * A correlated subquery is executed again for each row of the query around it, and the same parameters often come again.  What an answer
 * depends on else, as the snapshot, stays the same as long as a query is executed.  Parameters of what is evaluated on a result, as of
 * HAVING, do not matter.  Where others change that are not those of the node's own expressions, all is forgotten.  (PostgreSQL's Memoize
 * does the same below a nested loop.)
 */
#ifndef RTSCAN_REMEMBERED_H
#define RTSCAN_REMEMBERED_H

#include "rtscan.h"

#include "nodes/execnodes.h"

typedef struct RtscanRemembered RtscanRemembered;

/*
 * May a node's results be remembered?  The planner and the node both call this.  Results are not remembered if others are combined with them, or if
 * the node executes subqueries or dimensions: these may call volatile functions, which have to be called each time.
 */
static inline bool
rtscan_may_remember(bool one_result, bool partial, bool shared, bool executes_plans)
{
	return one_result && !partial && !shared && !executes_plans;
}

/*
 * For rows of results, of a node with such expressions, and such that are evaluated on results; in the current memory context, where it
 * takes as much as a hash may, about.
 */
extern RtscanRemembered *rtscan_create_remembered(const EState *estate, List *expressions, List *of_results, TupleDesc result);

/* The node is going to be scanned again, with other values of these parameters. */
extern void rtscan_change_parameters(RtscanRemembered *remembered, const Bitmapset *changed);

/*
 * The result for the parameters' values, good until the next one is remembered; false: it is not known.  Then the result may be remembered
 * once it is, before parameters change.
 */
extern bool rtscan_recall(RtscanRemembered *remembered, Datum *values, bool *isnull);
extern void rtscan_remember(RtscanRemembered *remembered, const Datum *values, const bool *isnull);

/* How many results have been recalled. */
extern uint64 rtscan_recalled(const RtscanRemembered *remembered);

#endif							/* RTSCAN_REMEMBERED_H */
