/* SPDX-License-Identifier: PostgreSQL */
/*
 * aggregates.h
 *		The table of the aggregates that are computed from rows, and functions on their transition states.
 *
 * Sums and variances of integers and numerics are exact.  Those of floats use PostgreSQL's operations, but many rows
 * may be added in another order (real_sums.h).
 */
#ifndef RTSCAN_AGGREGATES_H
#define RTSCAN_AGGREGATES_H

#include "rtscan.h"

#include "run/aggregate/transition.h"

/* Return the number of the row that has this RtscanAggregate.function, which may be InvalidOid; -1 if there is none. */
extern int	rtscan_find_aggregate(Oid function);

/* Is the aggregate of this row a fold, which needs a function that makes one value of two? */
extern bool rtscan_is_fold(int line);

/*
 * Set up the transition of an aggregate: "line" is its row in the table, "type" the type of its first argument
 * (InvalidOid if it has none), "function" and "collation" those of a fold.
 */
extern void rtscan_init_transition(RtscanTransition *transition, int line, Oid type, Oid function, Oid collation);

/* Add the state "other" to another, which allocates what it keeps by reference in the given context. */
extern void rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
						   MemoryContext context);

/* Write a state to a temporary file. */
extern void rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file);

/* Read a state from a temporary file.  What it refers to is allocated in the current memory context. */
extern void rtscan_read_state(const RtscanTransition *transition, RtscanState *state, BufFile *file);

/* Return the result of an aggregate, allocated in the current memory context. */
extern Datum rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* Return what PostgreSQL's partial aggregate would return, for its final aggregate to combine. */
extern Datum rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

#endif							/* RTSCAN_AGGREGATES_H */
