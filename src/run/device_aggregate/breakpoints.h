/* SPDX-License-Identifier: PostgreSQL */
/*
 * breakpoints.h
 *		Finds ranges of a column's integers within which conditions on rows have the same results.
 *
 * If conditions (FILTER, WHERE that the index does not look up, CASE in aggregates) only compare a column with
 * constants, they have the same result for all integers from one *breakpoint* to the next.  So the column becomes a
 * digit of device aggregates (search/exec/device_aggregate.h) that has few numbers, even if the column has many
 * values:
 *
 *		v < 10 OR v = 50		... 9 | 10 ... 49 | 50 | 51 ...
 *
 * Each comparison is false up to some integer and true from there on, or the other way round.  So bisection finds its
 * breakpoint, with about as many evaluations as the type has bits.  Bisection works for any operator, whichever side
 * the constant is on, and whatever type and scale the constant has.  The constant may also be an expression.
 */
#ifndef RTSCAN_BREAKPOINTS_H
#define RTSCAN_BREAKPOINTS_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "run/vector/batch.h"
#include "search/exec/device_aggregate.h"

typedef struct RtscanBreakpoints
{
	int			column;			/* column of the batch */
	Oid			type;			/* type of the column */
	int			scale;			/* scale of a numeric column */
	List	   *comparisons;	/* ExprState *, each with one breakpoint at most */
	bool		found;			/* the breakpoints have been found: map and values are set */
	RtscanDeviceAggMap map;		/* maps integers to the number of their range */
	Datum	   *values;			/* a value of each range */
} RtscanBreakpoints;

/*
 * Return the comparisons of a column in conditions, which are row expressions; each has one breakpoint at most.  NIL
 * if the conditions use the column outside of IS NULL and comparisons with constants, if a comparison has no
 * breakpoint or its constant may raise an error, or if there are too many comparisons.
 */
extern List *rtscan_find_comparisons(List *conditions, int column);

/*
 * Return an RtscanBreakpoints * for each column of conditions that has breakpoints.  The breakpoints have not been
 * found yet.
 */
extern List *rtscan_prepare_breakpoints(PlanState *parent, List *conditions);

/*
 * Find the breakpoints of a column, unless they have been found.  The map and the values are allocated in "context".
 * False if a comparison needs a subquery that has not been executed.
 */
extern bool rtscan_find_breakpoints(RtscanBreakpoints *breakpoints, RtscanBatch *batch, MemoryContext context);

#endif							/* RTSCAN_BREAKPOINTS_H */
