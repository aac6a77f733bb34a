/*
 * states.h
 *		Aggregates' transition states: what some rows come to, added row by row.
 *
 * Sums of integers and numerics are exact; sums of floats are added in the order of the rows.
 */
#ifndef RTSCAN_STATES_H
#define RTSCAN_STATES_H

#include "rtscan.h"

#include "fmgr.h"
#include "storage/buffile.h"

typedef enum RtscanAggregateKind
{
	RTSCAN_COUNT,
	RTSCAN_SUM_INT8,			/* of int2 or int4: the sum is an int8 */
	RTSCAN_SUM_NUMERIC,			/* of int8 or numeric */
	RTSCAN_SUM_FLOAT4,
	RTSCAN_SUM_FLOAT8,
	RTSCAN_AVERAGE,				/* of int2, int4, int8 or numeric: a numeric */
	RTSCAN_AVERAGE_FLOAT8,		/* of float4 or float8 */
	RTSCAN_CHOICE,				/* of all values one, the smallest or the largest, by a function of two */
	RTSCAN_MINIMUM,				/* these from bits only: accumulate.h */
	RTSCAN_MAXIMUM
} RtscanAggregateKind;

/* A sum in two parts, (upper * 2^32 + lower) / 10^scale; its digits stay below 2^95. */
typedef struct RtscanSum
{
	int64		upper;
	uint64		lower;			/* below 2^32 after rtscan_carry() */
	int			scale;
} RtscanSum;

typedef struct RtscanState
{
	int64		count;			/* rows that are not NULL */
	RtscanSum	sum;
	float8		real;			/* sum of floats */
	float8		squares;		/* of what they differ by from their mean: overflows as core's does */
	bool		has_value;
	Datum		value;			/* the choice; or PostgreSQL's transition state of other numerics */
} RtscanState;

/* How to add a kind of values. */
typedef struct RtscanTransition
{
	RtscanAggregateKind kind;
	Oid			type;			/* the argument's */
	int16		typlen;
	bool		typbyval;
	FmgrInfo   *choose;			/* the smaller or the larger of two values */
	Oid			collation;
} RtscanTransition;

/*
 * The transition of an aggregate: its kind, its argument's type (InvalidOid: it has none), and a
 * choice's function and collation.
 */
extern void rtscan_init_transition(RtscanTransition *transition, RtscanAggregateKind kind, Oid type,
								   Oid function, Oid collation);

/* Does it add integers, divided by a power of ten? */
extern bool rtscan_adds_decimals(const RtscanTransition *transition);

/* Add a value that is not NULL; what a state keeps by reference is in the given context. */
extern void rtscan_add_datum(const RtscanTransition *transition, RtscanState *state, Datum value,
							 MemoryContext context);

/* Make a state ready for integers of a scale. */
extern void rtscan_set_scale(RtscanState *state, int scale, MemoryContext context);

/* Add what a state has to another one, which keeps what it points to in the given context. */
extern void rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
						   MemoryContext context);

/* To a temporary file, and back; what a state read points to is in the current memory context. */
extern void rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file);
extern void rtscan_read_state(const RtscanTransition *transition, RtscanState *state, BufFile *file);

/* Bytes of a temporary file that must be there. */
extern void rtscan_read_exactly(BufFile *file, void *place, Size size);

/* The aggregate's result, in the current memory context. */
extern Datum rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* The transition state as PostgreSQL's partial aggregate would hand it on, for its other half to combine. */
extern Datum rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

static inline void
rtscan_carry(RtscanSum *sum)
{
	sum->upper += sum->lower >> 32;
	sum->lower = (uint32) sum->lower;
}

/* Add an integer of the state's scale. */
static inline void
rtscan_add_digits(RtscanState *state, int64 digits)
{
	state->count++;
	state->sum.upper += digits >> 32;
	state->sum.lower += (uint32) digits;
	if (unlikely(state->sum.lower >> 62))
		rtscan_carry(&state->sum);
}

#endif							/* RTSCAN_STATES_H */
