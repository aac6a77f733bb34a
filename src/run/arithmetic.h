/*
 * arithmetic.h
 *		Sums, differences and products of integers and numerics, for many rows at once.
 *
 * Values are 64-bit integers, divided by a power of ten, or floats.  Where one does not fit, or is out of its
 * type's range, the rows have to be evaluated one by one, which gives the right value or error.
 */
#ifndef RTSCAN_ARITHMETIC_H
#define RTSCAN_ARITHMETIC_H

#include "rtscan.h"

#include "run/batch.h"

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
 * A row expression, or NULL if it is not arithmetic; in the current memory context.  What is in
 * the list, and equal to a part of it, is calculated once a batch; its parts are added to the list.
 */
extern RtscanArithmetic *rtscan_arithmetic(const Expr *row_expression, List **known);

/* Its values, good until the next batch; NULL if some have to be evaluated one by one. */
extern const RtscanVector *rtscan_calculate(RtscanArithmetic *arithmetic, RtscanBatch *batch);

#endif							/* RTSCAN_ARITHMETIC_H */
