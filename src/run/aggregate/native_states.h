/* SPDX-License-Identifier: PostgreSQL */
/*
 * native_states.h
 *		Call PostgreSQL's functions on its own transition states, and serialize numbers as it does.
 *
 * Values that our own states cannot represent are added to a transition state of PostgreSQL's.  PostgreSQL's functions
 * also compute results where the number of digits, or whether the result is NULL, depends on them: our state is first
 * turned into one of PostgreSQL's.
 */
#ifndef RTSCAN_NATIVE_STATES_H
#define RTSCAN_NATIVE_STATES_H

#include "rtscan.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "run/aggregate/transition.h"

/* The most arguments of such a function: a state and an aggregate's arguments. */
#define RTSCAN_NATIVE_ARGUMENTS	(RTSCAN_MAX_ARGUMENTS + 1)

/* Call a function as a part of an aggregation.  It allocates its state in the given memory context. */
extern Datum rtscan_call_native(PGFunction function, const NullableDatum *args, int nargs, MemoryContext context,
								bool *isnull);

/*
 * Call a function on a state, which may be NULL, and on a value or another state, which may not.  It must not return
 * NULL.
 */
extern Datum rtscan_call_transition(PGFunction function, Datum state, bool isnull, Datum value, MemoryContext context);

/*
 * Combine a state, which may be NULL, with another, which may not.
 *
 * If the first state is NULL, PostgreSQL copies the digits of the other, even if it has none, because it has only
 * special values: memcpy(.., NULL, 0).  To avoid that, a NULL is first replaced by an empty state, the one that
 * results from adding a NULL value.
 */
extern Datum rtscan_combine_native(PGFunction transition, PGFunction combine, Datum state, bool isnull, Datum other,
								   MemoryContext context);

/* Call a final function: return the result of a state, allocated in the current memory context. */
extern Datum rtscan_call_final(PGFunction function, Datum state, bool *isnull);

/* Call a function that serializes a state, or one that deserializes it, in the current memory context. */
extern Datum rtscan_convert_state(PGFunction function, Datum state);

/* Return an array of n floats, which some states of PostgreSQL's are. */
extern Datum rtscan_float_array(const float8 *elements, int n);

/* Return whole * 2^64 + part. */
extern Numeric rtscan_shift_in(Numeric whole, uint64 part);

/* Return whole / 10^scale, with "scale" decimal places. */
extern Numeric rtscan_shift_point(Numeric whole, int scale);

/* Return an exact sum as a numeric. */
extern Numeric rtscan_sum_as_numeric(const RtscanSum *sum);

/* Append a finite numeric to a serialized state. */
extern void rtscan_append_numeric(StringInfo message, Numeric numeric);

/* Append the integer upper * 2^64 + lower to a serialized state of integers. */
extern void rtscan_append_integer(StringInfo message, int64 upper, uint64 lower);

#endif							/* RTSCAN_NATIVE_STATES_H */
