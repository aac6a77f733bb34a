/* SPDX-License-Identifier: PostgreSQL */
/*
 * aggregates.h
 *		The table of the aggregates that are computed from rows, and functions on their transition states.
 *
 * Sums and variances of integers and numerics are exact.  Sums and variances of floats use PostgreSQL's operations,
 * but may add rows in another order (real_sums.h).
 */
#ifndef RTSCAN_AGGREGATES_H
#define RTSCAN_AGGREGATES_H

#include "rtscan.h"

#include "run/aggregate/transition.h"

/*
 * Return the number of the table's row whose RtscanAggregate.function is "function", which may be InvalidOid.  Return
 * -1 if there is no such row.
 */
extern int	rtscan_find_aggregate(Oid function);

/* Is the aggregate in row "line" of the table a fold, which needs a function that combines two values into one? */
extern bool rtscan_is_fold(int line);

/*
 * Set up the transition of an aggregate.  "line" is its row in the table, "type" the type of its first argument
 * (InvalidOid if it has none).  A fold also needs "function" and "collation", the function that combines two values
 * and its collation.
 */
extern void rtscan_init_transition(RtscanTransition *transition, int line, Oid type, Oid function, Oid collation);

/* Add the state "other" to "state".  What "state" keeps by reference is allocated in "context". */
extern void rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
						   MemoryContext context);

/* Write a state to a temporary file. */
extern void rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file);

/* Read a state from a temporary file.  Memory that the state refers to is allocated in the current memory context. */
extern void rtscan_read_state(const RtscanTransition *transition, RtscanState *state, BufFile *file);

/* May the result of the aggregate in row "line" of the table be a number, as rtscan_result_as_number() returns it? */
extern bool rtscan_result_is_number(int line);

/*
 * Set *number and *scale so that an aggregate's result is *number / 10^*scale, without computing it.  Returns false if
 * the result is NULL, or has parts that the state does not have as integers.
 */
extern bool rtscan_result_as_number(const RtscanTransition *transition, const RtscanState *state, int128 *number,
									int *scale);

/* Return the result of an aggregate, allocated in the current memory context. */
extern Datum rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* Return what PostgreSQL's partial aggregate would return, for its final aggregate to combine. */
extern Datum rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

#endif							/* RTSCAN_AGGREGATES_H */
