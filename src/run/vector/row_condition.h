/*
 * row_condition.h
 *		Choose among the rows of a batch: by a mask of those that pass, or row by row where there is none.
 */
#ifndef RTSCAN_ROW_CONDITION_H
#define RTSCAN_ROW_CONDITION_H

#include "rtscan.h"

#include "run/vector/arithmetic.h"
#include "run/vector/batch.h"
#include "run/vector/masked.h"

typedef struct RtscanRowCondition
{
	const RtscanExpression *quals;
	RtscanArithmetic *arithmetic;	/* NULL: they cannot be calculated */
	uint64		batch;			/* the number of the batch that this is about: */
	bool		calculated;		/* they have been, */
	uint64		mask[RTSCAN_MASK_WORDS];	/* and are true of these rows */
} RtscanRowCondition;

/* Of quals that there are; in the current memory context.  The list is rtscan_arithmetic()'s. */
extern RtscanRowCondition rtscan_make_row_condition(const RtscanExpression *quals, List **known);

/* Of some places in the batch, those whose rows pass; in place, if the arrays are one. */
extern uint32 rtscan_choose_rows(RtscanRowCondition *condition, RtscanBatch *batch, const uint16 *rows, uint32 n,
								 uint16 *chosen);

/* Can they be calculated of all rows of the batch, if there are any? */
extern bool rtscan_is_calculated(RtscanRowCondition *condition, RtscanBatch *batch);

/* Clear in a mask (masked.h) those that do not pass, if there are quals; false if they cannot be calculated. */
extern bool rtscan_mask_rows_that_pass(RtscanRowCondition *condition, RtscanBatch *batch, uint64 *mask);

#endif							/* RTSCAN_ROW_CONDITION_H */
