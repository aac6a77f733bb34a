/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds.h
 *		Interval arithmetic: the numbers that an expression can have, and those that its operands must have for a
 *		result.
 *
 * Forwards, bounds of the result follow from bounds of the operands, calculated as PostgreSQL's types do.
 * Backwards, bounds of an operand follow from the bounds that the result must have: x + y < 5 and y >= 3 leave
 * x < 2.  Bounds may be too wide, but are never too narrow:
 *
 *	- Numbers are doubles.  Integers and numerics are calculated exactly, so that a bound that is not a double is
 *	  moved outwards.  Floats are rounded to the nearest one, which keeps their order, so forwards their bounds are
 *	  rounded in the same way; backwards, all numbers that are rounded to a bound lie between the floats beside it.
 *	- Operands are independent of each other.  If a number occurs twice in an expression, as in x - x, the bounds
 *	  are wider than necessary.  That is why squares are an operation of their own.
 *	- Infinity and NaN are not between the bounds, but represented by flags.  Operations treat them as C does.
 *
 * If PostgreSQL might raise an error (overflow, underflow of floats, division by zero), there are no bounds:
 * nothing follows from such an expression in either direction, so that its rows are evaluated and errors are
 * raised.
 */
#ifndef RTSCAN_BOUNDS_H
#define RTSCAN_BOUNDS_H

#include "postgres.h"

/* The types of numbers, which calculate differently. */
typedef enum RtscanNumberKind
{
	RTSCAN_NUMBER_INT16,
	RTSCAN_NUMBER_INT32,
	RTSCAN_NUMBER_INT64,
	RTSCAN_NUMBER_DATE,
	RTSCAN_NUMBER_FLOAT4,
	RTSCAN_NUMBER_FLOAT8,
	RTSCAN_NUMBER_NUMERIC
} RtscanNumberKind;

/* Flags of the numbers in RtscanBounds that are not finite. */
#define RTSCAN_MINUS_INFINITY	(1 << 0)
#define RTSCAN_PLUS_INFINITY	(1 << 1)
#define RTSCAN_NOT_A_NUMBER		(1 << 2)
#define RTSCAN_ANY_SPECIAL		(RTSCAN_MINUS_INFINITY | RTSCAN_PLUS_INFINITY | RTSCAN_NOT_A_NUMBER)

/* A set of numbers.  An infinite bound means that the finite numbers are not bounded in that direction. */
typedef struct RtscanBounds
{
	double		low;			/* no finite number of the set is less */
	double		high;			/* no finite number of the set is greater; low > high: there are no finite numbers */
	int			special;		/* flags of the infinities and NaN that the set may include */
	double		grid;			/* a power of two of which all finite numbers are multiples; 0: not known */
} RtscanBounds;

/* The operations that expressions consist of. */
typedef enum RtscanOperation
{
	RTSCAN_OPERATION_SAME,		/* a cast, which rounds as its type does */
	RTSCAN_OPERATION_ROUND,		/* a cast to an integer type, which rounds to the nearest integer */
	RTSCAN_OPERATION_NEGATE,	/* minus the operand */
	RTSCAN_OPERATION_ABSOLUTE,	/* the absolute value */
	RTSCAN_OPERATION_ROOT,		/* the square root */
	RTSCAN_OPERATION_SQUARE,	/* the product of two equal factors */
	RTSCAN_OPERATION_POWER,		/* a power of a float; the second operand is a small positive integer */
	RTSCAN_OPERATION_ADD,
	RTSCAN_OPERATION_SUBTRACT,
	RTSCAN_OPERATION_MULTIPLY,
	RTSCAN_OPERATION_DIVIDE
} RtscanOperation;

static inline bool
rtscan_has_two_operands(RtscanOperation operation)
{
	return operation >= RTSCAN_OPERATION_POWER;
}

static inline bool
rtscan_number_is_whole(RtscanNumberKind kind)
{
	return kind <= RTSCAN_NUMBER_DATE;
}

static inline bool
rtscan_number_is_float(RtscanNumberKind kind)
{
	return kind == RTSCAN_NUMBER_FLOAT4 || kind == RTSCAN_NUMBER_FLOAT8;
}

/* Are there finite numbers in the set? */
static inline bool
rtscan_bounds_have_finite(const RtscanBounds *bounds)
{
	return bounds->low <= bounds->high;
}

/* Is the set empty? */
static inline bool
rtscan_bounds_are_empty(const RtscanBounds *bounds)
{
	return !rtscan_bounds_have_finite(bounds) && bounds->special == 0;
}

/* Return the empty set. */
extern RtscanBounds rtscan_no_bounds(void);

/* Return the set of one number, which may be infinite or NaN. */
extern RtscanBounds rtscan_bounds_of(double number);

/* Return the set of all numbers of a type. */
extern RtscanBounds rtscan_bounds_of_kind(RtscanNumberKind kind);

/* Return the grid of the floats of a kind that are zero, or whose distance from zero is at least "least". */
extern double rtscan_grid_of(RtscanNumberKind kind, double least);

/* Return the next double below. */
extern double rtscan_just_below(double number);

/* Return the next double above. */
extern double rtscan_just_above(double number);

/* Return the intersection of two sets. */
extern RtscanBounds rtscan_bounds_intersect(const RtscanBounds *a, const RtscanBounds *b);

/*
 * Calculate the numbers that the result can have, in its type.  Returns false if PostgreSQL might raise an error.
 * "right" is ignored if the operation has one operand.
 */
extern bool rtscan_bounds_forwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left,
								   const RtscanBounds *right, RtscanBounds *result);

/*
 * Narrow one operand, or both, to numbers that can have the wanted results.  rtscan_bounds_forwards() must have
 * returned true for the operation.
 */
extern void rtscan_bounds_backwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *result,
									RtscanBounds *left, RtscanBounds *right);

/*
 * Narrow both sides of a comparison to numbers that can satisfy it.  strategy is btree's; whole: both sides are
 * integers.
 */
extern void rtscan_bounds_compare(int strategy, bool whole, RtscanBounds *left, RtscanBounds *right);

#endif							/* RTSCAN_BOUNDS_H */
