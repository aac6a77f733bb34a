/* SPDX-License-Identifier: PostgreSQL */
/*
 * transition.h
 *		Transition states of aggregates, and the methods by which a family of aggregates updates them.
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

/* The most arguments of an aggregate. */
#define RTSCAN_MAX_ARGUMENTS	2

/* Count, sum, and sum of squares of some integers of one scale. */
typedef struct RtscanMoments
{
	RtscanSum	sum;			/* the sum, and the scale of the integers */
	uint64		squares[3];		/* the sum of squares, times 10^(2 * scale), as words of 64 bits, the lowest first */
	int64		count;			/* number of integers */
} RtscanMoments;

/* Sums of some floats. */
typedef struct RtscanReals
{
	float8		sum;			/* sum of the values */
	float8		squares;		/* sum of squared differences from the mean; overflows where PostgreSQL's does */
} RtscanReals;

/*
 * The result so far of a simple fold (RtscanSimpleFold) of those numerics that are 64-bit integers divided by 10^scale,
 * for the current scale.  RtscanState.value has the result of all other numerics.
 */
typedef struct RtscanFoldedDecimal
{
	int64		digits;			/* the result, times 10^scale */
	int			scale;
	bool		known;			/* has any integer been folded? */
} RtscanFoldedDecimal;

/* The transition state of an aggregate in a group.  All zeros is the state without rows. */
typedef struct RtscanState
{
	int64		count;			/* number of rows whose arguments are not NULL */
	union
	{
		RtscanSum	sum;
		RtscanMoments moments;
		RtscanReals reals;
		int64		exact;		/* result so far of a simple fold of integers (row/exact.h) */
		float8		real;		/* result so far of a simple fold of floats */
		RtscanFoldedDecimal decimal;	/* result so far of a simple fold of numerics */
	};
	bool		has_value;		/* is "value" set, or in a simple fold "exact" or "real"? */

	/*
	 * The result so far of a fold; or PostgreSQL's transition state of the values that the union cannot represent;
	 * or a collection.
	 */
	Datum		value;
} RtscanState;

struct RtscanFamily;
struct RtscanAggregate;
struct RtscanCollecting;

/* The operation by which a simple fold combines two exact integers or floats. */
typedef enum RtscanSimpleFold
{
	RTSCAN_FOLD_BY_FUNCTION,	/* not a simple fold: calls a function */
	RTSCAN_FOLD_SMALLER,
	RTSCAN_FOLD_LARGER,
	RTSCAN_FOLD_AND,
	RTSCAN_FOLD_OR,
	RTSCAN_FOLD_XOR
} RtscanSimpleFold;

/* The description of an aggregate, with the type of its first argument, by which states are updated. */
typedef struct RtscanTransition
{
	const struct RtscanAggregate *aggregate;
	const struct RtscanFamily *family;
	Oid			type;			/* type of the first argument; InvalidOid if there is none */
	int16		typlen;
	bool		typbyval;
	FmgrInfo   *fold;			/* function of a fold; NULL in simple folds, except of numerics */
	RtscanSimpleFold simple_fold;	/* the operation of a simple fold */
	RtscanExactKind exact;		/* simple fold: the kind of exact integers or floats that it combines */
	Oid			collation;		/* passed to the function of a fold */
	struct RtscanCollecting *collecting;	/* how its values are collected (collection.h); NULL if they are not */
} RtscanTransition;

/* Rows of a batch whose values are to be added to the states of an aggregate. */
typedef struct RtscanChosenRows
{
	uint32		n;				/* number of rows */
	const uint16 *rows;			/* places of the rows in the batch */
	RtscanState *only;			/* the states of the group that all rows are in; NULL if there are several groups */
	RtscanState **group_of;		/* if "only" is NULL: for each row, the states of its group */
	int			number;			/* place of the aggregate's state among the states of a group */
	MemoryContext context;		/* memory context of what states keep by reference */
} RtscanChosenRows;

/* Return the state to which the i-th of the rows is to be added. */
static inline RtscanState *
rtscan_state_of(const RtscanChosenRows *chosen, uint32 i)
{
	return &(chosen->only ? chosen->only : chosen->group_of[i])[chosen->number];
}

/*
 * A family: aggregates with the same kind of state, and the methods of this kind.  All families have add() and
 * combine().  All other methods are optional, and NULL if the family does not have them.
 */
typedef struct RtscanFamily
{
	bool		folds;			/* its aggregates are folds: the state's value has the type of the argument */
	bool		counts;			/* the result is the number of rows whose arguments are not NULL; 0 without rows */
	bool		counts_in_part; /* its partial result for no rows is not NULL */

	/*
	 * Add a row by its arguments' values, none of which is NULL.  Memory that the state keeps by reference is
	 * allocated in the memory context "context".
	 */
	void		(*add) (const RtscanTransition *transition, RtscanState *state, const Datum *values,
						MemoryContext context);

	/* Add many rows whose only argument is a vector of integers (arithmetic.h).  Ignore rows whose value is NULL. */
	void		(*add_integers) (const RtscanTransition *transition, const RtscanChosenRows *chosen,
								 const RtscanVector *vector);

	/* Add many rows whose arguments are vectors of doubles.  Ignore rows that have a NULL argument. */
	void		(*add_doubles) (const RtscanTransition *transition, const RtscanChosenRows *chosen,
								const RtscanVector *const *vectors);

	/*
	 * Add the rows of a mask (masked.h), whose arguments are not NULL, to one state.  Returns false, and adds
	 * nothing, if these rows cannot be added together.
	 */
	bool		(*add_masked) (const RtscanTransition *transition, RtscanState *state,
							   const RtscanVector *const *vectors, const RtscanMaskedRows *rows);

	/* Return the kind of total that add_total() needs; RTSCAN_NO_TOTAL if this aggregate cannot add totals. */
	RtscanTotalKind (*total_kind) (const RtscanTransition *transition);

	/* Add the total of some rows, such as those of a chunk (totals.h).  "scale" is the scale of numerics. */
	void		(*add_total) (const RtscanTransition *transition, RtscanState *state, const RtscanTotal *total,
							  int scale, MemoryContext context);

	/* Add the numeric "value" as often as "times" says.  Families of sums that can add totals have this method. */
	void		(*add_times) (const RtscanTransition *transition, RtscanState *state, Datum value, uint64 times,
							  MemoryContext context);

	/*
	 * Can no integer of the given scale from "least" to "greatest" change the state's value?  Families of minima and
	 * maxima that can add totals have this method.
	 */
	bool		(*is_beyond) (const RtscanTransition *transition, const RtscanState *state, int64 least, int64 greatest,
							  int scale);

	/* Add the state "other", whose count is not 0.  The caller adds this count to that of "state". */
	void		(*combine) (const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
							MemoryContext context);

	/*
	 * Return what PostgreSQL's partial aggregate returns, allocated in the current memory context.  If this method
	 * is NULL, the partial result is the result.
	 */
	Datum		(*partial) (const RtscanTransition *transition, const RtscanState *state, bool *isnull);

	/*
	 * PostgreSQL's function that turns the transition state in a state's value into a bytea; NULL if the value is a
	 * plain datum.
	 */
	PGFunction	serialize;

	/* PostgreSQL's function that turns the bytea of "serialize" back into a transition state. */
	PGFunction	deserialize;
} RtscanFamily;

/* A row of the table in aggregates.c: an aggregate to whose states the values of rows are added. */
typedef struct RtscanAggregate
{
	/*
	 * OID of PostgreSQL's aggregate.  InvalidOid: the row is for PostgreSQL's own minima and maxima that have no row
	 * of their own, such as min() and max() of all types.
	 */
	Oid			function;
	const RtscanFamily *family;

	/* Return the result, allocated in the current memory context.  *isnull is false before the call. */
	Datum		(*finish) (const RtscanTransition *transition, const RtscanState *state, bool *isnull);

	/* PostgreSQL's final function, if finish() converts the state to a state of PostgreSQL's; else NULL. */
	PGFunction	final;
} RtscanAggregate;

/* Can the aggregate add values from vectors? */
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

/* Return the kind of total that the aggregate can add, or RTSCAN_NO_TOTAL. */
static inline RtscanTotalKind
rtscan_total_kind(const RtscanTransition *transition)
{
	return transition->family->add_total ? transition->family->total_kind(transition) : RTSCAN_NO_TOTAL;
}

/* Read "size" bytes from a temporary file.  Raises an error if the file is too short. */
extern void rtscan_read_exactly(BufFile *file, void *place, Size size);

#endif							/* RTSCAN_TRANSITION_H */
