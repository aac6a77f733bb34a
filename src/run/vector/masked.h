/* SPDX-License-Identifier: PostgreSQL */
/*
 * masked.h
 *		Aggregate a vector over the rows selected by a bit mask.
 *
 * All rows are looked at, without a branch.  If many rows are selected, that is faster than taking one after
 * another.
 *
 * A mask has a bit for each of a batch's n rows; the rest of its last word is clear.  At first it has the rows that
 * are wanted.  Then those are cleared for which a condition is not true, or whose value is NULL.
 */
#ifndef RTSCAN_MASKED_H
#define RTSCAN_MASKED_H

#include "rtscan.h"

#include "run/vector/arithmetic.h"
#include "run/vector/sum.h"

#define RTSCAN_MASK_WORDS	(RTSCAN_CURSOR_ROWS / 64)

/* Rows of a batch that are added to aggregates' states. */
typedef struct RtscanMaskedRows
{
	uint32		n;				/* number of rows of the batch */
	uint32		count;			/* number of rows in the mask */
	const uint64 *mask;			/* the rows */
	MemoryContext context;		/* memory context of the states */
} RtscanMaskedRows;

/* Set a mask to the rows that are wanted; NULL: to all rows. */
extern void rtscan_mask_rows(const uint64 *wanted, uint32 n, uint64 *mask);

/* Clear the rows that are NULL in a vector. */
extern void rtscan_mask_nulls(const RtscanVector *vector, uint32 n, uint64 *mask);

/* Clear the rows for which a condition is not true. */
extern void rtscan_mask_true(const RtscanVector *condition, uint32 n, uint64 *mask);

/*
 * Copy the values of rows in a mask, integers or doubles, to their places, and "neutral" to the places of other
 * rows, up to the end of the last word.
 */
extern void rtscan_keep_masked(const int64 *values, const uint64 *mask, uint32 n, int64 neutral, int64 *kept);

/* Is no integer of a vector farther from 0 than "most"? */
static inline bool
rtscan_is_within(const RtscanVector *vector, int64 most)
{
	return vector->lowest >= -most && vector->highest <= most;
}

/* Return the sum of the integers of rows in a mask modulo 2^64, which is right if the sum fits. */
extern uint64 rtscan_sum_modulo(const int64 *values, const uint64 *mask, uint32 n);

/* Return the sum of the products of the integers of two vectors in the same way. */
extern uint64 rtscan_sum_products_modulo(const int64 *left, const int64 *right, const uint64 *mask, uint32 n);

/* Add the integers of rows in a mask to a sum of their scale. */
extern void rtscan_sum_masked(const RtscanVector *vector, const uint64 *mask, uint32 n, RtscanSum *sum);

/*
 * Can the sum of an expression's values over rows of a batch, whatever the mask, be made of the sums of its parts?
 * It cannot if a value may be NULL, an error may be raised, or the sum may not fit.
 */
extern bool rtscan_can_sum(RtscanArithmetic *arithmetic, RtscanBatch *batch);

/*
 * Return the sum of an expression over rows in a mask, after rtscan_can_sum() has returned true for the batch.  No
 * vector of its values is calculated.
 */
extern RtscanTotal rtscan_sum_expression(const RtscanArithmetic *arithmetic, const RtscanMaskedRows *rows, int *scale);

#endif							/* RTSCAN_MASKED_H */
