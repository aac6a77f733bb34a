/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds.h
 *		Interval arithmetic: bounds of the result of an operation, and bounds of the operands that give a wanted result.
 *
 * Forwards, bounds of the result are calculated from bounds of the operands, as PostgreSQL's types calculate.
 * Backwards, bounds of an operand follow from the bounds that the result must have: x + y < 5 and y >= 3 leave
 * x < 2.  Bounds may be too wide, but are never too narrow:
 *
 *	- Bounds are doubles.  For integers and numerics, whose arithmetic is exact, a bound that is not a double is moved
 *	  outwards.  Floats are rounded to the nearest float, and rounding keeps the order of numbers.  So forwards, the
 *	  bounds of a float result are rounded, too.  Backwards, a bound is moved outwards to the next float, since all
 *	  numbers that are rounded to a float lie between its two neighbors.
 *	- Operands are assumed to be independent of each other.  If a number occurs twice in an expression, as in x - x,
 *	  the bounds are wider than necessary.  Therefore squares are an operation of their own.
 *	- Infinities and NaN do not lie between the bounds: flags represent them.  Operations treat them as C does.
 *
 * If PostgreSQL might raise an error (overflow, underflow of floats, division by zero), an expression has no bounds,
 * and nothing is concluded from it in either direction.  PostgreSQL then evaluates it for each row, and raises the
 * error if there is one.
 */
#ifndef RTSCAN_BOUNDS_H
#define RTSCAN_BOUNDS_H

#include "postgres.h"

/* The types of numbers.  They differ in rounding, range and errors. */
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
	double		high;			/* no finite number of the set is greater; if low > high, the set has none */
	int			special;		/* flags of the infinities and NaN that the set may include */
	double		grid;			/* a power of two that divides all finite numbers of the set; 0: not known */
} RtscanBounds;

/* The operations that expressions consist of. */
typedef enum RtscanOperation
{
	RTSCAN_OPERATION_SAME,		/* a cast that keeps the number, except that a cast to a float type rounds it */
	RTSCAN_OPERATION_ROUND,		/* a cast to an integer type, which rounds to the nearest integer */
	RTSCAN_OPERATION_NEGATE,	/* minus the operand */
	RTSCAN_OPERATION_ABSOLUTE,	/* the absolute value */
	RTSCAN_OPERATION_ROOT,		/* the square root */
	RTSCAN_OPERATION_SQUARE,	/* a number multiplied by itself */
	RTSCAN_OPERATION_POWER,		/* a power of a float; the second operand is one integer from 1 to 16 */
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

/* Does the set have a finite number? */
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

/* Return the set that consists of one number, which may be infinite or NaN. */
extern RtscanBounds rtscan_bounds_of(double number);

/* Return the set of all numbers of a type. */
extern RtscanBounds rtscan_bounds_of_kind(RtscanNumberKind kind);

/* Return the grid (RtscanBounds) of floats of a kind, each of which is zero or at least "least" away from zero. */
extern double rtscan_grid_of(RtscanNumberKind kind, double least);

/* Return the greatest double that is less than "number". */
extern double rtscan_just_below(double number);

/* Return the least double that is greater than "number". */
extern double rtscan_just_above(double number);

/* Return the intersection of two sets. */
extern RtscanBounds rtscan_bounds_intersect(const RtscanBounds *a, const RtscanBounds *b);

/*
 * Calculate bounds of the result of an operation from bounds of its operands.  "kind" is the type of the result;
 * "right" is ignored if the operation has one operand.  Returns false if PostgreSQL might raise an error, if the finite
 * numbers of an operand or of the result have no bounds, or if the exponent of a power is not supported.
 */
extern bool rtscan_bounds_forwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left,
								   const RtscanBounds *right, RtscanBounds *result);

/*
 * Narrow *left and *right to the operands that can have a result in *result.  "right" is ignored if the operation has
 * one operand.  rtscan_bounds_forwards() must have returned true for the operation.
 */
extern void rtscan_bounds_backwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *result,
									RtscanBounds *left, RtscanBounds *right);

/*
 * Narrow both sides of a comparison to numbers that can satisfy it.  "strategy" is btree's number of the operator;
 * "whole" is true if both sides are integers.
 */
extern void rtscan_bounds_compare(int strategy, bool whole, RtscanBounds *left, RtscanBounds *right);

#endif							/* RTSCAN_BOUNDS_H */
