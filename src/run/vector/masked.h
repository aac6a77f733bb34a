/* SPDX-License-Identifier: PostgreSQL */
/*
 * masked.h
 *		Aggregate a vector over the rows selected by a bit mask.
 *
 * The loops read all rows, and have no branch.  If many rows are selected, that is faster than reading the selected
 * rows one after another.
 *
 * A mask has a bit for each of a batch's n rows; further bits of its last word are clear.  At first the bits of the
 * rows that are wanted are set.  Then the bits of rows for which a condition is not true, or whose value is NULL, are
 * cleared.
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

/*
 * Set the bits of the rows that are wanted, or of all n rows if "wanted" is NULL.  Clear all other bits up to the end
 * of the last row's word.
 */
extern void rtscan_mask_rows(const uint64 *wanted, uint32 n, uint64 *mask);

/* Clear the bits of rows that are NULL in a vector. */
extern void rtscan_mask_nulls(const RtscanVector *vector, uint32 n, uint64 *mask);

/* Clear the bits of rows for which a condition is not true. */
extern void rtscan_mask_true(const RtscanVector *condition, uint32 n, uint64 *mask);

/*
 * Copy the values (integers, or doubles as integers of the same bits) of the rows in a mask to the same places in
 * kept[].  The places of all other rows, up to the end of the last word, become "neutral".
 */
extern void rtscan_keep_masked(const int64 *values, const uint64 *mask, uint32 n, int64 neutral, int64 *kept);

/* Are all integers of a vector from -most to most? */
static inline bool
rtscan_is_within(const RtscanVector *vector, int64 most)
{
	return vector->lowest >= -most && vector->highest <= most;
}

/*
 * Return the sum, modulo 2^64, of the integers of the rows in a mask.  If the sum fits into 64 bits, the result is the
 * sum itself.
 */
extern uint64 rtscan_sum_modulo(const int64 *values, const uint64 *mask, uint32 n);

/* Return the sum of the products of two vectors' integers in the rows of a mask, modulo 2^64. */
extern uint64 rtscan_sum_products_modulo(const int64 *left, const int64 *right, const uint64 *mask, uint32 n);

/* Add the integers of rows in a mask to "sum", which has the vector's scale. */
extern void rtscan_sum_masked(const RtscanVector *vector, const uint64 *mask, uint32 n, RtscanSum *sum);

/*
 * Can the sum of an expression over rows of a batch, for any mask, be computed from the sums of its parts?  It cannot
 * if a value may be NULL, an error may be raised, or the sum may not fit into 64 bits.
 */
extern bool rtscan_can_sum(RtscanArithmetic *arithmetic, RtscanBatch *batch);

/*
 * Return the sum of an expression over the rows in a mask, without calculating a vector of its values.
 * rtscan_can_sum() must have returned true for the batch.
 */
extern RtscanTotal rtscan_sum_expression(const RtscanArithmetic *arithmetic, const RtscanMaskedRows *rows, int *scale);

#endif							/* RTSCAN_MASKED_H */
