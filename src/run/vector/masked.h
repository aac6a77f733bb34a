/*
 * masked.h
 *		What the values of a vector come to, of the rows that bits say.
 *
 * All are looked at, without a branch: of many rows of a stretch that is faster than to take one after another.
 *
 * A mask has a bit for each of a batch's n rows, and clear ones in the rest of the last word: those of the rows that are wanted, of
 * which are cleared those that a condition is not true of, or whose value is NULL.
 */
#ifndef RTSCAN_MASKED_H
#define RTSCAN_MASKED_H

#include "rtscan.h"

#include "run/vector/arithmetic.h"
#include "run/vector/sum.h"

#define RTSCAN_MASK_WORDS	(RTSCAN_CURSOR_ROWS / 64)

/* Some rows of a batch of n, to be added to aggregates' states: a bit for each of count rows. */
typedef struct RtscanMaskedRows
{
	uint32		n;
	uint32		count;
	const uint64 *mask;
	MemoryContext context;
} RtscanMaskedRows;

/* A mask of the rows that are wanted: NULL, all. */
extern void rtscan_mask_rows(const uint64 *wanted, uint32 n, uint64 *mask);

/* Clear those that are NULL in a vector, or of which a condition is not true. */
extern void rtscan_mask_nulls(const RtscanVector *vector, uint32 n, uint64 *mask);
extern void rtscan_mask_true(const RtscanVector *condition, uint32 n, uint64 *mask);

/* Their values, or doubles, in their places; in the others' something neutral, up to the end of the last word. */
extern void rtscan_keep_masked(const int64 *values, const uint64 *mask, uint32 n, int64 neutral, int64 *kept);

/* Is no value of a vector farther from 0 than this? */
static inline bool
rtscan_is_within(const RtscanVector *vector, int64 most)
{
	return vector->lowest >= -most && vector->highest <= most;
}

/* The sum of these integers, and of the products of two vectors', modulo 2^64: right if it is known to fit. */
extern uint64 rtscan_sum_modulo(const int64 *values, const uint64 *mask, uint32 n);
extern uint64 rtscan_sum_products_modulo(const int64 *left, const int64 *right, const uint64 *mask, uint32 n);

/* The sum of these integers, which a sum of their scale is to have. */
extern void rtscan_sum_masked(const RtscanVector *vector, const uint64 *mask, uint32 n, RtscanSum *sum);

/*
 * Can an expression's sum over the rows of a batch, whatever the mask, be made of the sums of its parts?  It cannot be where a value may be
 * NULL, or an error be raised, or the sum not fit.  Then add it up, after that has been asked: no vector of its values is calculated.
 */
extern bool rtscan_can_sum(RtscanArithmetic *arithmetic, RtscanBatch *batch);
extern RtscanTotal rtscan_sum_expression(const RtscanArithmetic *arithmetic, const RtscanMaskedRows *rows, int *scale);

#endif							/* RTSCAN_MASKED_H */
