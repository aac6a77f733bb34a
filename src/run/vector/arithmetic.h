/*
 * arithmetic.h
 *		Expressions, calculated for many rows at once.
 *
 * Values are 64-bit integers, divided by a power of ten, or doubles; truth values are the integers 0 and 1.  All rows of a batch
 * are calculated, also those that a condition keeps from an expression.  No error is raised: where PostgreSQL might raise one, or a
 * value does not fit, all of the batch's rows have to be evaluated one by one, which gives the right values or error.
 */
#ifndef RTSCAN_ARITHMETIC_H
#define RTSCAN_ARITHMETIC_H

#include "rtscan.h"

#include "run/vector/batch.h"

typedef struct RtscanArithmetic RtscanArithmetic;

typedef enum RtscanVectorKind
{
	RTSCAN_VECTOR_INTEGERS,		/* divided by a power of ten */
	RTSCAN_VECTOR_DOUBLES		/* float8, and float4, whose values these have */
} RtscanVectorKind;

/* Values of a batch's rows; those calculated from NULL are of no meaning, but within the bounds. */
typedef struct RtscanVector
{
	RtscanVectorKind kind;
	bool		has_nulls;		/* else no row is NULL */
	bool		all_null;		/* a constant: its scale is any */
	int			scale;			/* of integers, */
	int64		lowest;			/* of which none are less, */
	int64		highest;		/* or more */
	union
	{
		int64		digits[RTSCAN_CURSOR_ROWS];
		double		doubles[RTSCAN_CURSOR_ROWS];
	};
	bool		isnull[RTSCAN_CURSOR_ROWS]; /* also where there are no NULLs */
} RtscanVector;

/*
 * A row expression, or NULL if it cannot be calculated; in the current memory context.  What is in
 * the list, and equal to a part of it, is calculated once a batch; its parts are added to the list.
 */
extern RtscanArithmetic *rtscan_arithmetic(const Expr *row_expression, List **known);

/* Can an expression be calculated, and in how many steps? */
extern bool rtscan_count_steps(const Expr *row_expression, int *steps);

/* How many values an expression has at most, with NULL, whatever its columns have; infinity if that is not known. */
extern double rtscan_most_values(const Expr *row_expression);

/* Its values, good until the next batch; NULL if rows have to be evaluated one by one. */
extern const RtscanVector *rtscan_calculate(RtscanArithmetic *arithmetic, RtscanBatch *batch);

/*
 * Clear in a mask (masked.h) the rows of which a condition is not true, without a vector of truth values if it compares integers with
 * constants.  False, and the mask is as it was, if rows have to be evaluated one by one.
 */
extern bool rtscan_mask_condition(RtscanArithmetic *condition, RtscanBatch *batch, uint64 *mask);

/* What a vector's integers really are bound by. */
extern void rtscan_find_bounds(const RtscanVector *vector, uint32 n, int64 *lowest, int64 *highest);

/* Are its values integers? */
extern bool rtscan_gives_integers(const RtscanArithmetic *arithmetic);

#endif							/* RTSCAN_ARITHMETIC_H */
