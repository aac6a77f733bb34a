/*
 * row_condition.c
 *		Choose among the rows of a batch.
 */
#include "run/row_condition.h"

#include "run/masked.h"

RtscanRowCondition
rtscan_make_row_condition(const RtscanExpression *quals, List **known)
{
	return (RtscanRowCondition) {quals, quals->state ? rtscan_arithmetic(quals->row_expression, known) : NULL};
}

uint32
rtscan_choose_rows(const RtscanRowCondition *condition, RtscanBatch *batch, const uint16 *rows, uint32 n, uint16 *chosen)
{
	const RtscanVector *truth;
	uint32		count = 0;

	if (n == 0)
		return 0;
	truth = condition->arithmetic ? rtscan_calculate(condition->arithmetic, batch) : NULL;
	if (truth)
		return rtscan_choose_true(truth, rows, n, chosen);
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
rtscan_mask_rows_that_pass(const RtscanRowCondition *condition, RtscanBatch *batch, uint64 *mask)
{
	const RtscanVector *truth;

	if (condition->quals->state == NULL)
		return true;
	truth = condition->arithmetic ? rtscan_calculate(condition->arithmetic, batch) : NULL;
	if (truth == NULL)
		return false;
	rtscan_mask_true(truth, batch->n, mask);
	return true;
}
