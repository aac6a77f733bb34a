/*
 * choices.h
 *		CASE as the argument of a sum from tallies (search/exec/tally.h): its conditions are a matter of entries (entries.h), its results sums
 *		that these have (tally_sums.h).
 *
 *		sum(CASE WHEN status = 'open' THEN amount ELSE 0 END)		amount may have any number of values
 */
#ifndef RTSCAN_CHOICES_H
#define RTSCAN_CHOICES_H

#include "rtscan.h"

#include "nodes/primnodes.h"

typedef struct RtscanChoice
{
	Expr	   *condition;		/* row expressions; NULL: none of the others is true */
	Expr	   *result;			/* NULL: it is NULL */
} RtscanChoice;

/*
 * The choices of an argument (RtscanChoice *), the last of which has no condition; NIL if it is no CASE, or its results are no such sums, or
 * all of them constants: then it is a value of entries.  So many columns are the index's own; those of dimensions, behind them, have no sums.
 */
extern List *rtscan_choices_of(const Expr *argument, int own_columns);

/* The conditions, and the results, of choices that have such. */
extern List *rtscan_conditions_of_choices(const List *choices);
extern List *rtscan_results_of_choices(const List *choices);

#endif							/* RTSCAN_CHOICES_H */
