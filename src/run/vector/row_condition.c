/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_condition.c
 *		Choose the rows of a batch that pass quals.
 */
#include "run/vector/row_condition.h"

RtscanRowCondition
rtscan_make_row_condition(const RtscanExpression *quals, List **known)
{
	return (RtscanRowCondition) {
		.quals = quals,
		.arithmetic = quals->state ? rtscan_arithmetic(quals->row_expression, known) : NULL,
	};
}

bool
rtscan_is_calculated(RtscanRowCondition *condition, RtscanBatch *batch)
{
	if (condition->quals->state == NULL)
		return true;
	if (condition->batch == batch->number)
		return condition->calculated;
	condition->batch = batch->number;
	rtscan_mask_rows(NULL, batch->n, condition->mask);
	condition->calculated = condition->arithmetic &&
		rtscan_mask_condition(condition->arithmetic, batch, condition->mask);
	return condition->calculated;
}

/* Choose those of n rows whose bits are set in a mask.  Returns how many there are. */
static uint32
choose_masked(const uint64 *mask, const uint16 *rows, uint32 n, uint16 *chosen)
{
	uint32		count = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint16		row = rows[i];

		chosen[count] = row;
		count += mask[row / 64] >> row % 64 & 1;
	}
	return count;
}

uint32
rtscan_choose_rows(RtscanRowCondition *condition, RtscanBatch *batch, const uint16 *rows, uint32 n, uint16 *chosen)
{
	uint32		count = 0;

	if (n == 0)
		return 0;
	if (rtscan_is_calculated(condition, batch))
		return choose_masked(condition->mask, rows, n, chosen);
	batch->single_rows += n;
	for (uint32 i = 0; i < n; i++)
	{
		rtscan_enter_row(batch, condition->quals->columns, rows[i]);
		if (ExecQual(condition->quals->state, batch->context))
			chosen[count++] = rows[i];
	}
	return count;
}

bool
rtscan_mask_rows_that_pass(RtscanRowCondition *condition, RtscanBatch *batch, uint64 *mask)
{
	if (!rtscan_is_calculated(condition, batch))
		return false;
	for (uint32 i = 0; condition->quals->state && i * 64 < batch->n; i++)
		mask[i] &= condition->mask[i];
	return true;
}
