/*
 * core_states.h
 *		PostgreSQL's own transition states: its functions of them, and numbers as it serializes them.
 *
 * What is not counted, added or chosen here is left to PostgreSQL's functions; so are results of what is, where digits or
 * NULLs are a matter of theirs: then its state is made of ours first.
 */
#ifndef RTSCAN_CORE_STATES_H
#define RTSCAN_CORE_STATES_H

#include "rtscan.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "run/aggregate/transition.h"

/* So many arguments at most have its functions: the state, and an aggregate's. */
#define RTSCAN_CORE_ARGUMENTS	(RTSCAN_MAX_ARGUMENTS + 1)

/* Call a function for an aggregation in a memory context, where it keeps its state. */
extern Datum rtscan_call_core(PGFunction function, const NullableDatum *args, int nargs, MemoryContext context, bool *isnull);

/* Of a state, NULL or not, and a value or another state that are not; neither is the result. */
extern Datum rtscan_call_transition(PGFunction function, Datum state, bool isnull, Datum value, MemoryContext context);

/*
 * Combine a state, NULL or not, with another one that is not.  To no state PostgreSQL copies the digits of the other, even if that
 * has none, as of special values alone: memcpy(.., NULL, 0).  So an empty one is made first, as of a NULL that is added.
 */
extern Datum rtscan_combine_core(PGFunction transition, PGFunction combine, Datum state, bool isnull, Datum other,
								 MemoryContext context);

/* Of a state: the result, what it is serialized to, or made of that; in the current memory context. */
extern Datum rtscan_call_final(PGFunction function, Datum state, bool *isnull);
extern Datum rtscan_convert_state(PGFunction function, Datum state);

/* An array of floats, as some states are. */
extern Datum rtscan_float_array(const float8 *elements, int n);

/* (whole * 2^64 + part), and whole / 10^scale, showing so many digits. */
extern Numeric rtscan_shift_in(Numeric whole, uint64 part);
extern Numeric rtscan_shift_point(Numeric whole, int scale);

extern Numeric rtscan_sum_as_numeric(const RtscanSum *sum);

/* A numeric that is finite, or an integer, to be serialized. */
extern void rtscan_append_numeric(StringInfo message, Numeric numeric);
extern void rtscan_append_integer(StringInfo message, int64 upper, uint64 lower);

#endif							/* RTSCAN_CORE_STATES_H */
