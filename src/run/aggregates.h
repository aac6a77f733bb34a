/*
 * aggregates.h
 *		The aggregates that are computed of rows, and their transition states: what some rows come to.
 *
 * Sums of integers and numerics are exact; sums of floats are added in the order of the rows.
 */
#ifndef RTSCAN_AGGREGATES_H
#define RTSCAN_AGGREGATES_H

#include "rtscan.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "row/exact.h"
#include "storage/buffile.h"

/* A sum in two parts, (upper * 2^64 + lower) / 10^scale. */
typedef struct RtscanSum
{
	int64		upper;
	uint64		lower;
	int			scale;
} RtscanSum;

typedef struct RtscanState
{
	int64		count;			/* rows that are not NULL */
	union
	{
		RtscanSum	sum;
		int64		exact;		/* of a choice whose transition is about exact integers: the value as one (row/exact.h) */
	};
	float8		real;			/* sum of floats */
	float8		squares;		/* of what they differ by from their mean: overflows as core's does */
	bool		has_value;
	Datum		value;			/* the choice; or PostgreSQL's transition state of other numerics */
} RtscanState;

struct RtscanAggregate;

/* An aggregate of values of a type. */
typedef struct RtscanTransition
{
	const struct RtscanAggregate *aggregate;
	Oid			type;			/* the argument's */
	int16		typlen;
	bool		typbyval;
	FmgrInfo   *choose;			/* the smaller or the larger of two values; */
	RtscanExactKind exact;		/* of exact integers of this kind, */
	int			direction;		/* where these decide: -1 or 1 */
	Oid			collation;
} RtscanTransition;

/* A line of the table in aggregates.c: all that there is about an aggregate whose argument's values are added row by row. */
typedef struct RtscanAggregate
{
	Oid			function;		/* PostgreSQL's; InvalidOid: all that choose one of two values by a function, as min() and max() */
	bool		decimals;		/* values are integers, divided by a power of ten: arithmetic.h adds many at once */
	bool		chooses;		/* the state's value is one of the argument's, */
	bool		counts;			/* and no rows have a result, */
	bool		counts_in_part; /* or a partial result */

	/* Add a value that is not NULL; what a state keeps by reference is in the given context. */
	void		(*add) (const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context);

	/* Add what another state has, which has rows; but not how many. */
	void		(*combine) (const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
							MemoryContext context);

	/* The result, in the current memory context; and what PostgreSQL's partial aggregate hands on, NULL: the same. */
	Datum		(*finish) (const RtscanTransition *transition, const RtscanState *state);
	Datum		(*finish_partial) (const RtscanTransition *transition, const RtscanState *state);
} RtscanAggregate;

/* The line of PostgreSQL's aggregate, or of those that choose; -1: there is none. */
extern int	rtscan_find_aggregate(Oid function);

/*
 * The transition of an aggregate: its line, its argument's type (InvalidOid: it has none), and a
 * choice's function and collation.
 */
extern void rtscan_init_transition(RtscanTransition *transition, int line, Oid type, Oid function, Oid collation);

/* Can it add integers, as they are in a vector (arithmetic.h)? */
static inline bool
rtscan_takes_integers(const RtscanTransition *transition)
{
	return transition->aggregate->decimals || transition->aggregate->counts || transition->direction != 0;
}

/* Or doubles? */
static inline bool
rtscan_takes_doubles(const RtscanTransition *transition)
{
	return transition->type == FLOAT4OID || transition->type == FLOAT8OID;
}

static inline void
rtscan_add_datum(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	transition->aggregate->add(transition, state, value, context);
}

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

/* Add an integer of a sum's scale, or another sum. */
static inline void
rtscan_sum_add(RtscanSum *sum, int64 upper, uint64 lower)
{
	sum->lower += lower;
	sum->upper += upper + (sum->lower < lower);
}

static inline void
rtscan_add_digits(RtscanState *state, int64 digits)
{
	state->count++;
	rtscan_sum_add(&state->sum, digits >> 63, (uint64) digits);
}

/* Make a value the choice, which is a value by itself, if it is beyond the one so far: an exact integer. */
static inline void
rtscan_choose_exact(const RtscanTransition *transition, RtscanState *state, int64 exact)
{
	state->count++;
	if (likely(state->has_value) && (transition->direction < 0 ? exact >= state->exact : exact <= state->exact))
		return;
	state->has_value = true;
	state->exact = exact;
	rtscan_exact_decode(transition->exact, &exact, 1, &state->value);
}

#endif							/* RTSCAN_AGGREGATES_H */
