/*
 * aggregates.h
 *		The aggregates that are computed of rows, and their transition states: what some rows come to.
 *
 * Sums and variances of integers and numerics are exact; those of floats are added with PostgreSQL's operations, but
 * of many rows not in their order (real_sums.h).
 */
#ifndef RTSCAN_AGGREGATES_H
#define RTSCAN_AGGREGATES_H

#include "rtscan.h"

#include "run/aggregate/transition.h"

/* The line of PostgreSQL's aggregate, or of those that choose; -1: there is none. */
extern int	rtscan_find_aggregate(Oid function);

/* Has it to know the function that makes one value of two? */
extern bool rtscan_is_fold(int line);

/*
 * The transition of an aggregate: its line, its first argument's type (InvalidOid: it has none), and a
 * fold's function and collation.
 */
extern void rtscan_init_transition(RtscanTransition *transition, int line, Oid type, Oid function, Oid collation);

/* Add what a state has to another one, which keeps what it points to in the given context. */
extern void rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
						   MemoryContext context);

/* To a temporary file, and back; what a state read points to is in the current memory context. */
extern void rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file);
extern void rtscan_read_state(const RtscanTransition *transition, RtscanState *state, BufFile *file);

/* The aggregate's result, in the current memory context. */
extern Datum rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* The transition state as PostgreSQL's partial aggregate would hand it on, for its other half to combine. */
extern Datum rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

#endif							/* RTSCAN_AGGREGATES_H */
