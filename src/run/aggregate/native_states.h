/* SPDX-License-Identifier: PostgreSQL */
/*
 * native_states.h
 *		Call PostgreSQL's functions on its own transition states, and serialize numbers as it does.
 *
 * Values that our own states cannot represent are added to a transition state of PostgreSQL's.  PostgreSQL's final
 * functions also compute results, so that the number of digits, and whether the result is NULL, are as in PostgreSQL.
 * Before a final function is called, our state is converted to a state of PostgreSQL's.
 */
#ifndef RTSCAN_NATIVE_STATES_H
#define RTSCAN_NATIVE_STATES_H

#include "rtscan.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "run/aggregate/transition.h"

/* The most arguments of a function that is called on a state: the state and an aggregate's arguments. */
#define RTSCAN_NATIVE_ARGUMENTS	(RTSCAN_MAX_ARGUMENTS + 1)

/* Call a function as a part of an aggregation.  It allocates its state in the memory context "context". */
extern Datum rtscan_call_native(PGFunction function, const NullableDatum *args, int nargs, MemoryContext context,
								bool *isnull);

/*
 * Call a function on two arguments: a state, which may be NULL, and a value or another state, which may not be NULL.
 * The function must not return NULL.
 */
extern Datum rtscan_call_transition(PGFunction function, Datum state, bool isnull, Datum value, MemoryContext context);

/*
 * Combine a state, which is NULL if "isnull" is true, with the state "other", which is not NULL.
 *
 * If "state" is NULL, it is first replaced by an empty state, which "transition" makes from a NULL value.  Otherwise
 * "combine" would copy the digits of "other".  If "other" has only special values (NaN, infinities), it has no digits,
 * and the copy would be memcpy(.., NULL, 0), which is undefined.
 */
extern Datum rtscan_combine_native(PGFunction transition, PGFunction combine, Datum state, bool isnull, Datum other,
								   MemoryContext context);

/* Call a final function: return the result of a state, allocated in the current memory context. */
extern Datum rtscan_call_final(PGFunction function, Datum state, bool *isnull);

/* Call a function that serializes or deserializes a state, in the current memory context. */
extern Datum rtscan_convert_state(PGFunction function, Datum state);

/* Return n floats as an array, which is the type of some of PostgreSQL's states. */
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
