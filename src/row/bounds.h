/*
 * bounds.h
 *		Interval arithmetic: what numbers an expression may have, and what numbers it may come from.
 *
 * Forwards, from bounds of the operands follow bounds of the result, as PostgreSQL's types calculate it.  Backwards, from bounds of the
 * result that are wanted follow bounds of an operand: x + y < 5 and y >= 3 leave x < 2.  Both may be too wide, and are never too
 * narrow:
 *
 *	- Numbers are doubles.  Where integers and numerics are calculated exactly, each bound that a double does not have is moved
 *	  outwards.  Floats are rounded to the nearest, which keeps their order, so that bounds are rounded likewise; backwards, what is
 *	  rounded to a bound lies between the floats beside it.
 *	- A number may be anywhere between its bounds, whatever others are: where one stands twice in an expression, as in x - x,
 *	  bounds are wider than they need be.  That is why squares are an operation of their own.
 *	- Infinite numbers and NaN are not between the bounds, but told by flags; what becomes of them is what C makes of them.
 *
 * What PostgreSQL might raise an error for (overflow, underflow of floats, division by zero) has no bounds: nothing follows from
 * such an expression, in whatever direction, so that its rows are evaluated, and errors raised.
 */
#ifndef RTSCAN_BOUNDS_H
#define RTSCAN_BOUNDS_H

#include "postgres.h"

/* How a type calculates. */
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

#define RTSCAN_MINUS_INFINITY	(1 << 0)
#define RTSCAN_PLUS_INFINITY	(1 << 1)
#define RTSCAN_NOT_A_NUMBER		(1 << 2)
#define RTSCAN_ANY_SPECIAL		(RTSCAN_MINUS_INFINITY | RTSCAN_PLUS_INFINITY | RTSCAN_NOT_A_NUMBER)

/* A set of numbers.  Infinite bounds are none: all finite numbers in that direction. */
typedef struct RtscanBounds
{
	double		low;			/* finite ones are not less, */
	double		high;			/* nor more; low > high: there are none */
	int			special;		/* others that may be there, as flags */
	double		grid;			/* a power of two of which finite ones are multiples; 0: that is not known */
} RtscanBounds;

typedef enum RtscanOperation
{
	RTSCAN_OPERATION_SAME,		/* a cast: rounded as the type is */
	RTSCAN_OPERATION_ROUND,		/* one to integers, the nearest */
	RTSCAN_OPERATION_NEGATE,
	RTSCAN_OPERATION_ABSOLUTE,
	RTSCAN_OPERATION_ROOT,		/* square root */
	RTSCAN_OPERATION_SQUARE,	/* a product of equal factors */
	RTSCAN_OPERATION_POWER,		/* a float's, the second operand being a small positive integer */
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

static inline bool
rtscan_bounds_have_finite(const RtscanBounds *bounds)
{
	return bounds->low <= bounds->high;
}

static inline bool
rtscan_bounds_are_empty(const RtscanBounds *bounds)
{
	return !rtscan_bounds_have_finite(bounds) && bounds->special == 0;
}

/* The empty set; that of one number, which may be special; all numbers of a type. */
extern RtscanBounds rtscan_no_bounds(void);
extern RtscanBounds rtscan_bounds_of(double number);
extern RtscanBounds rtscan_bounds_of_kind(RtscanNumberKind kind);

/* The grid of floats of a kind none of which is nearer to zero than one that is given, but for zero. */
extern double rtscan_grid_of(RtscanNumberKind kind, double least);

/* The next doubles. */
extern double rtscan_just_below(double number);
extern double rtscan_just_above(double number);

/* What is in both sets. */
extern RtscanBounds rtscan_bounds_intersect(const RtscanBounds *a, const RtscanBounds *b);

/* The result's numbers, in its type; false where there may be an error.  The second operand is ignored where there is none. */
extern bool rtscan_bounds_forwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left,
								   const RtscanBounds *right, RtscanBounds *result);

/* Narrow an operand, or both, to what may have the result's numbers, after the former has been found to raise no error. */
extern void rtscan_bounds_backwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *result,
									RtscanBounds *left, RtscanBounds *right);

/* Narrow both sides of a comparison, as a btree's strategy, to what may pass it; whole: they are integers. */
extern void rtscan_bounds_compare(int strategy, bool whole, RtscanBounds *left, RtscanBounds *right);

#endif							/* RTSCAN_BOUNDS_H */
