/* SPDX-License-Identifier: PostgreSQL */
/*
 * breakpoints.h
 *		Finds ranges of a column's integers that conditions on rows do not tell apart.
 *
 * If conditions (FILTER, WHERE that the index does not look up, CASE in aggregates) only compare a column with
 * constants, they have the same result for all integers from one *breakpoint* to the next.  So the column
 * becomes a digit of device aggregates (search/exec/device_aggregate.h) that has few numbers, even if the column has
 * many values:
 *
 *		v < 10 OR v = 50		... 9 | 10 ... 49 | 50 | 51 ...
 *
 * Each comparison is false up to some integer and true from there on, or the other way round.  So bisection finds its
 * breakpoint, with about as many evaluations as the type has bits.  This works for any operator, type, side and scale
 * of the constant, which may also be an expression.
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
 * if the conditions use the column in any other way, except IS NULL, or if the comparisons are too many.
 */
extern List *rtscan_find_comparisons(List *conditions, int column);

/*
 * Return an RtscanBreakpoints * for each column of conditions that has breakpoints.  The breakpoints have not been
 * found yet.
 */
extern List *rtscan_prepare_breakpoints(PlanState *parent, List *conditions);

/*
 * Find breakpoints, unless this has been done.  What is kept is allocated in the memory context.  False if a comparison
 * needs a subquery that has not been executed.
 */
extern bool rtscan_find_breakpoints(RtscanBreakpoints *breakpoints, RtscanBatch *batch, MemoryContext context);

#endif							/* RTSCAN_BREAKPOINTS_H */
