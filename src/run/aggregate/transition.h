/*
 * transition.h
 *		Transition states, and how values are added to them: what families of aggregates offer.
 */
#ifndef RTSCAN_TRANSITION_H
#define RTSCAN_TRANSITION_H

#include "rtscan.h"

#include "fmgr.h"
#include "row/exact.h"
#include "run/vector/arithmetic.h"
#include "run/vector/masked.h"
#include "run/vector/sum.h"
#include "segment/totals.h"
#include "storage/buffile.h"

#define RTSCAN_MAX_ARGUMENTS	2

/* Of integers, with their squares: (squares[2] * 2^128 + squares[1] * 2^64 + squares[0]) / 10^(2 * scale). */
typedef struct RtscanMoments
{
	RtscanSum	sum;
	uint64		squares[3];
	int64		count;			/* of them */
} RtscanMoments;

typedef struct RtscanReals
{
	float8		sum;
	float8		squares;		/* of what floats differ by from their mean: overflows as core's does */
} RtscanReals;

/* A fold's value so far, of numerics that are integers of one scale; what others come to is the state's value. */
typedef struct RtscanFoldedDecimal
{
	int64		digits;
	int			scale;
	bool		known;
} RtscanFoldedDecimal;

typedef struct RtscanState
{
	int64		count;			/* rows that are not NULL */
	union
	{
		RtscanSum	sum;
		RtscanMoments moments;
		RtscanReals reals;
		int64		exact;		/* of a simple fold of integers: the value (row/exact.h); */
		float8		real;		/* of floats; */
		RtscanFoldedDecimal decimal;	/* of numerics */
	};
	bool		has_value;
	Datum		value;			/* the fold's; PostgreSQL's transition state of what is not in ours; or a collection */
} RtscanState;

struct RtscanFamily;
struct RtscanAggregate;
struct RtscanCollecting;

/* What a simple fold makes of two exact integers or floats. */
typedef enum RtscanSimpleFold
{
	RTSCAN_FOLD_BY_FUNCTION,
	RTSCAN_FOLD_SMALLER,
	RTSCAN_FOLD_LARGER,
	RTSCAN_FOLD_AND,
	RTSCAN_FOLD_OR,
	RTSCAN_FOLD_XOR
} RtscanSimpleFold;

/* An aggregate of values of a type. */
typedef struct RtscanTransition
{
	const struct RtscanAggregate *aggregate;
	const struct RtscanFamily *family;
	Oid			type;			/* the first argument's */
	int16		typlen;
	bool		typbyval;
	FmgrInfo   *fold;			/* a fold's function; NULL if it is simple, but of numerics: */
	RtscanSimpleFold simple_fold;	/* then it is this, */
	RtscanExactKind exact;		/* of exact integers of this kind, or floats */
	Oid			collation;
	struct RtscanCollecting *collecting;	/* it collects its values (collection.h), or NULL */
} RtscanTransition;

/* Some rows, by their places in a batch, to be added to an aggregate's states. */
typedef struct RtscanChosenRows
{
	uint32		n;
	const uint16 *rows;
	RtscanState *only;			/* all are in this group; or NULL */
	RtscanState **group_of;		/* their groups */
	int			number;			/* the aggregate's state in a group */
	MemoryContext context;		/* of what states keep by reference */
} RtscanChosenRows;

static inline RtscanState *
rtscan_state_of(const RtscanChosenRows *chosen, uint32 i)
{
	return &(chosen->only ? chosen->only : chosen->group_of[i])[chosen->number];
}

/* Aggregates with states of one kind. */
typedef struct RtscanFamily
{
	bool		folds;			/* the state's value is of the argument's type, */
	bool		counts;			/* no more is asked of values than whether they are NULL; no rows have a result, */
	bool		counts_in_part; /* or a partial result */

	/* Add values that are not NULL; what a state keeps by reference is in the given context. */
	void		(*add) (const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context);

	/* Add the only argument's integers, or all arguments' doubles, of many rows (arithmetic.h); NULL: it cannot. */
	void		(*add_integers) (const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector);
	void		(*add_doubles) (const RtscanTransition *transition, const RtscanChosenRows *chosen,
								const RtscanVector *const *vectors);

	/* Add those of rows that a mask has (masked.h), none of them NULL, to one state; false if that cannot be done. */
	bool		(*add_masked) (const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
							   const RtscanMaskedRows *rows);

	/* Add a chunk's total (totals.h), of the kind that is wanted; or NULL.  Even then there may be no such kind: RTSCAN_NO_TOTAL. */
	RtscanTotalKind (*total_kind) (const RtscanTransition *transition);
	void		(*add_total) (const RtscanTransition *transition, RtscanState *state, const RtscanTotal *total, int scale,
							  MemoryContext context);

	/* Of sums, which have totals: add a value so many times. */
	void		(*add_times) (const RtscanTransition *transition, RtscanState *state, Datum value, uint64 times, MemoryContext context);

	/* Of minima and maxima, which have totals: is the state's value beyond all integers of a scale from one to another? */
	bool		(*is_beyond) (const RtscanTransition *transition, const RtscanState *state, int64 least, int64 greatest, int scale);

	/* Add what another state has, which has rows; but not how many. */
	void		(*combine) (const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
							MemoryContext context);

	/* What PostgreSQL's partial aggregate hands on, in the current memory context; NULL: the result. */
	Datum		(*partial) (const RtscanTransition *transition, const RtscanState *state, bool *isnull);

	/* PostgreSQL's functions for what a state's value is, if that is no datum: to a bytea and back. */
	PGFunction	serialize;
	PGFunction	deserialize;
} RtscanFamily;

/* A line of the table in aggregates.c: all that there is about an aggregate whose arguments' values are added row by row. */
typedef struct RtscanAggregate
{
	Oid			function;		/* PostgreSQL's; InvalidOid: all that choose one of two values by a function, as min() and max() */
	const RtscanFamily *family;

	/* The result, in the current memory context; *isnull is false. */
	Datum		(*finish) (const RtscanTransition *transition, const RtscanState *state, bool *isnull);
	PGFunction	final;			/* PostgreSQL's function that has the result, where its state is made of ours */
} RtscanAggregate;

/* Can it add values as they are in vectors? */
static inline bool
rtscan_takes_vectors(const RtscanTransition *transition)
{
	return transition->family->counts || transition->family->add_integers || transition->family->add_doubles;
}

static inline void
rtscan_add_datums(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	transition->family->add(transition, state, values, context);
}

/* What it adds up of columns' totals. */
static inline RtscanTotalKind
rtscan_total_kind(const RtscanTransition *transition)
{
	return transition->family->add_total ? transition->family->total_kind(transition) : RTSCAN_NO_TOTAL;
}

/* Bytes of a temporary file that must be there. */
extern void rtscan_read_exactly(BufFile *file, void *place, Size size);

#endif							/* RTSCAN_TRANSITION_H */
