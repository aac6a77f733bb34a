/*
 * quals.h
 *		WHERE and FILTER: from the planner's clauses to a plan's filter.
 */
#ifndef RTSCAN_QUALS_H
#define RTSCAN_QUALS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/cost.h"
#include "run/node_plan.h"

/* Clauses on an index's columns, as the planner has them. */
typedef struct RtscanQuals
{
	List	   *columns;		/* from 0 */
	List	   *clauses;		/* Expr: the index's column is on the left */
	List	   *disjunctions;	/* of Lists of RtscanQuals * */
} RtscanQuals;

/* The key column that an expression is, from 0, or -1. */
extern int	rtscan_find_column(IndexOptInfo *index, Node *expression);

/* What an index answers of a clause, alone; false if that is not all of it. */
extern bool rtscan_quals_add(RtscanQuals *quals, IndexOptInfo *index, Expr *clause);

/* Ask all that others ask. */
extern void rtscan_quals_join(RtscanQuals *quals, const RtscanQuals *others);

/* Leave out the rows that are NULL in a column. */
extern void rtscan_quals_add_not_null(RtscanQuals *quals, IndexOptInfo *index, int column);

/* Is nothing asked? */
static inline bool
rtscan_quals_are_none(const RtscanQuals *quals)
{
	return quals->clauses == NIL && quals->disjunctions == NIL;
}

/* What searching takes, in each of some loops, and how many rows there are. */
extern RtscanCost rtscan_quals_cost(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, double loops,
									double *rows);

/* For a plan: the filter; its arguments are appended to a list. */
extern RtscanPlanFilter *rtscan_quals_plan(const RtscanQuals *quals, IndexOptInfo *index, List **arguments);

#endif							/* RTSCAN_QUALS_H */
