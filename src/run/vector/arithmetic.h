/* SPDX-License-Identifier: PostgreSQL */
/*
 * arithmetic.h
 *		Calculate expressions for many rows at once.
 *
 * Values are 64-bit integers, divided by a power of ten, or doubles; truth values are the integers 0 and 1.  An
 * expression is calculated for all rows of a batch, even those for which a condition, such as that of CASE, would
 * skip it.  No error is raised: if PostgreSQL might raise one, or a value does not fit, all rows of the batch have
 * to be evaluated one by one, which gives the right values or the error.
 */
#ifndef RTSCAN_ARITHMETIC_H
#define RTSCAN_ARITHMETIC_H

#include "rtscan.h"

#include "run/vector/batch.h"

typedef struct RtscanArithmetic RtscanArithmetic;

/* The kinds of vectors. */
typedef enum RtscanVectorKind
{
	RTSCAN_VECTOR_INTEGERS,		/* integers, divided by a power of ten */
	RTSCAN_VECTOR_DOUBLES		/* float8, or float4 converted to it */
} RtscanVectorKind;

/* The values of a batch's rows.  Values calculated from NULL have no meaning, but are within the bounds. */
typedef struct RtscanVector
{
	RtscanVectorKind kind;		/* kind of the values */
	bool		has_nulls;		/* rows may be NULL */
	bool		all_null;		/* all rows are NULL, since this is a constant; its scale does not matter */
	int			scale;			/* integers: exponent of the power of ten by which they are divided */
	int64		lowest;			/* integers: no value is less */
	int64		highest;		/* integers: no value is greater */
	union
	{
		int64		digits[RTSCAN_CURSOR_ROWS]; /* by row: its integer */
		double		doubles[RTSCAN_CURSOR_ROWS];	/* by row: its double */
	};
	bool		isnull[RTSCAN_CURSOR_ROWS]; /* by row: it is NULL; valid even if has_nulls is false */
} RtscanVector;

/*
 * Compile a row expression, in the current memory context.  Returns NULL if it cannot be calculated.  A part of it
 * that is equal to an expression in *known is calculated only once for each batch; all other parts are added to
 * that list.
 */
extern RtscanArithmetic *rtscan_arithmetic(const Expr *row_expression, List **known);

/* Can a row expression be calculated?  Sets *steps to the number of calculations that it takes. */
extern bool rtscan_count_steps(const Expr *row_expression, int *steps);

/*
 * Return the most distinct values, including NULL, that an expression can have, whatever its columns have; infinity
 * if that is not known.
 */
extern double rtscan_most_values(const Expr *row_expression);

/*
 * Calculate an expression for the rows of a batch.  The vector is valid until the next batch.  Returns NULL if rows
 * have to be evaluated one by one.
 */
extern const RtscanVector *rtscan_calculate(RtscanArithmetic *arithmetic, RtscanBatch *batch);

/*
 * Clear in a mask (masked.h) the rows for which a condition is not true.  If it compares integers with a constant,
 * no vector of truth values is made.  Returns false, and leaves the mask as it was, if rows have to be evaluated
 * one by one.
 */
extern bool rtscan_mask_condition(RtscanArithmetic *condition, RtscanBatch *batch, uint64 *mask);

/* Find the least and the greatest of a vector's n integers, which may be narrower than its bounds. */
extern void rtscan_find_bounds(const RtscanVector *vector, uint32 n, int64 *lowest, int64 *highest);

/* Does an expression have vectors of integers? */
extern bool rtscan_gives_integers(const RtscanArithmetic *arithmetic);

#endif							/* RTSCAN_ARITHMETIC_H */
