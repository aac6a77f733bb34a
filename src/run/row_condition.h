/*
 * row_condition.h
 *		Choose among the rows of a batch: by a vector of truth values, or row by row where there is none.
 */
#ifndef RTSCAN_ROW_CONDITION_H
#define RTSCAN_ROW_CONDITION_H

#include "rtscan.h"

#include "run/arithmetic.h"
#include "run/batch.h"

typedef struct RtscanRowCondition
{
	const RtscanExpression *quals;
	RtscanArithmetic *arithmetic;	/* NULL: they cannot be calculated */
} RtscanRowCondition;

/* Of quals that there are; in the current memory context.  The list is rtscan_arithmetic()'s. */
extern RtscanRowCondition rtscan_make_row_condition(const RtscanExpression *quals, List **known);

/* Of some places in the batch, those whose rows pass; in place, if the arrays are one. */
extern uint32 rtscan_choose_rows(const RtscanRowCondition *condition, RtscanBatch *batch, const uint16 *rows, uint32 n,
								 uint16 *chosen);

/* Clear in a mask (masked.h) those that do not pass, if there are quals; false if they cannot be calculated. */
extern bool rtscan_mask_rows_that_pass(const RtscanRowCondition *condition, RtscanBatch *batch, uint64 *mask);

#endif							/* RTSCAN_ROW_CONDITION_H */
