/* SPDX-License-Identifier: PostgreSQL */
/*
 * arithmetic.h
 *		Calculate expressions for many rows at once.
 *
 * Values are doubles, or 64-bit integers divided by a power of ten; truth values are the integers 0 and 1.  An
 * expression is calculated for all rows of a batch, even for rows in which PostgreSQL would skip it because of a
 * condition, such as that of CASE.  No error is raised.  If PostgreSQL might raise an error, or if a value does not
 * fit, all rows of the batch have to be evaluated one by one, which gives the right values or the error.
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
	RTSCAN_VECTOR_DOUBLES		/* float8 values, or float4 values converted to float8 */
} RtscanVectorKind;

/* The values of a batch's rows.  Values calculated from NULL have no meaning, but are within the bounds. */
typedef struct RtscanVector
{
	RtscanVectorKind kind;		/* kind of the values */
	bool		has_nulls;		/* rows may be NULL */
	bool		all_null;		/* all rows are NULL because of constants or parameters; scale does not matter */
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
 * Compile a row expression, in the current memory context.  Returns NULL if it cannot be calculated.  A part that
 * equals an expression in *known is not compiled again: both share one step (arithmetic_parts.h), which is calculated
 * once for each batch.  All other parts are added to *known.
 */
extern RtscanArithmetic *rtscan_arithmetic(const Expr *row_expression, List **known);

/*
 * Can a row expression be calculated?  Sets *steps to the number of calculations that it takes, and *by_code to true if
 * parts of it are evaluated once for each code of a column.
 */
extern bool rtscan_count_steps(const Expr *row_expression, int *steps, bool *by_code);

/*
 * Return an upper limit of the number of distinct values, including NULL, that an expression can have, whatever its
 * columns contain.  Returns infinity if no limit is known.
 */
extern double rtscan_most_values(const Expr *row_expression);

/*
 * Calculate an expression for the rows of a batch.  The vector is valid until the next batch.  Returns NULL if rows
 * have to be evaluated one by one.
 */
extern const RtscanVector *rtscan_calculate(RtscanArithmetic *arithmetic, RtscanBatch *batch);

/*
 * Clear in a mask (masked.h) the bits of rows for which a condition is not true.  If the condition compares integers
 * with a constant, no vector of truth values is made.  Returns false, and leaves the mask unchanged, if rows have to
 * be evaluated one by one.
 */
extern bool rtscan_mask_condition(RtscanArithmetic *condition, RtscanBatch *batch, uint64 *mask);

/* Find the least and the greatest of a vector's n integers, which may be tighter than the vector's own bounds. */
extern void rtscan_find_bounds(const RtscanVector *vector, uint32 n, int64 *lowest, int64 *highest);

/* Are the values of an expression integers, not doubles? */
extern bool rtscan_gives_integers(const RtscanArithmetic *arithmetic);

#endif							/* RTSCAN_ARITHMETIC_H */
