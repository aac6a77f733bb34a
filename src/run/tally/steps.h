/*
 * steps.h
 *		Ranges of a column's integers that conditions on rows do not tell apart.
 *
 * Where all that conditions (FILTER, WHERE that the index does not look up, CASE in aggregates) have of a column is compared with constants, they are the same
 * for all integers from one constant, a *step*, to the next.  So the column is a digit of tallies (search/exec/tally.h) that has few numbers, however
 * many values there are:
 *
 *		v < 10 OR v = 50		... 9 | 10 ... 49 | 50 | 51 ...
 *
 * Where the steps are the comparisons say themselves: one is false up to some integer, and true from there on, or the other way round.
 */
#ifndef RTSCAN_STEPS_H
#define RTSCAN_STEPS_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "run/vector/batch.h"
#include "search/exec/tally.h"

typedef struct RtscanSteps
{
	int			column;
	Oid			type;
	int			scale;			/* of numerics */
	List	   *comparisons;	/* ExprState *, each with one step, or none */
	bool		found;			/* the steps have been: */
	RtscanTallyMap map;			/* the number of an integer's range; */
	Datum	   *values;			/* a value of each */
} RtscanSteps;

/* Is that all that conditions, which are row expressions, have of a column?  Then the comparisons with one step; else, or if they are too many, NIL. */
extern List *rtscan_find_comparisons(List *conditions, int column);

/* The columns of conditions that have steps: RtscanSteps *, that are not found yet. */
extern List *rtscan_prepare_steps(PlanState *parent, List *conditions);

/*
 * Find steps, if they have not been: constants may be parameters.  What is kept is in the memory context.
 * False if they wait for a subquery.
 */
extern bool rtscan_find_steps(RtscanSteps *steps, RtscanBatch *batch, MemoryContext context);

#endif							/* RTSCAN_STEPS_H */
