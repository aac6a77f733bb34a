/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_condition.h
 *		Choose the rows of a batch that pass quals: by a mask, or one by one if the quals cannot be calculated.
 */
#ifndef RTSCAN_ROW_CONDITION_H
#define RTSCAN_ROW_CONDITION_H

#include "rtscan.h"

#include "run/vector/arithmetic.h"
#include "run/vector/batch.h"
#include "run/vector/masked.h"

/* Quals, and the rows of a batch that pass them. */
typedef struct RtscanRowCondition
{
	const RtscanExpression *quals;	/* the quals */
	RtscanArithmetic *arithmetic;	/* the quals, to be calculated for many rows; NULL: that is not possible */
	uint64		batch;			/* number of the batch that "calculated" and mask[] are for */
	bool		calculated;		/* the quals could be calculated for all rows of the batch */
	uint64		mask[RTSCAN_MASK_WORDS];	/* the rows that pass, if the quals could be calculated */
} RtscanRowCondition;

/*
 * Prepare quals in the current memory context.  quals->state is NULL if there are none.  *known is the list of
 * expressions for rtscan_arithmetic().
 */
extern RtscanRowCondition rtscan_make_row_condition(const RtscanExpression *quals, List **known);

/*
 * Choose those of n rows that pass the quals.  rows[] has the places of the n rows in the batch, chosen[] gets the
 * places of the rows that pass, and may be the same array.  Returns how many pass.  There must be quals.
 */
extern uint32 rtscan_choose_rows(RtscanRowCondition *condition, RtscanBatch *batch, const uint16 *rows, uint32 n,
								 uint16 *chosen);

/* Can the quals be calculated for all rows of the batch?  True if there are no quals. */
extern bool rtscan_is_calculated(RtscanRowCondition *condition, RtscanBatch *batch);

/*
 * Clear in a mask (masked.h) the bits of rows that do not pass the quals, if there are any.  Returns false if the
 * quals cannot be calculated.
 */
extern bool rtscan_mask_rows_that_pass(RtscanRowCondition *condition, RtscanBatch *batch, uint64 *mask);

#endif							/* RTSCAN_ROW_CONDITION_H */
