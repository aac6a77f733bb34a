/* SPDX-License-Identifier: PostgreSQL */
/*
 * condition_masks.c
 *		Evaluate conditions on a batch.  The result is a mask of the rows for which a condition is true.
 */
#include "run/vector/arithmetic_parts.h"

#include "access/stratnum.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "run/vector/masked.h"

/*
 * Find the range of integers, both ends included, for which a comparison with a constant is true.  Returns false if
 * no integers are accepted, or if those accepted are no range.
 */
static bool
find_range(int comparison, int64 constant, int64 *low, int64 *high)
{
	*low = PG_INT64_MIN;
	*high = PG_INT64_MAX;
	switch (comparison)
	{
		case BTLessStrategyNumber:
			*high = constant - 1;
			return constant > PG_INT64_MIN;
		case BTLessEqualStrategyNumber:
			*high = constant;
			return true;
		case BTEqualStrategyNumber:
			*low = *high = constant;
			return true;
		case BTGreaterEqualStrategyNumber:
			*low = constant;
			return true;
		case BTGreaterStrategyNumber:
			*low = constant + 1;
			return constant < PG_INT64_MAX;
		default:
			return false;
	}
}

/*
 * Evaluate a comparison with a constant or parameter that is not NULL and has the scale of the other operand.  Returns
 * false for other comparisons, and if the integers that are accepted are no range, or none.
 */
static bool
mask_range(const RtscanArithmetic *comparison, const RtscanVector *left, const RtscanVector *right, uint32 n,
		   uint64 *mask)
{
	int64		low,
				high;

	if (!rtscan_has_one_value(comparison->operands[1]) || right->has_nulls || left->scale != right->scale ||
		!find_range(comparison->parameter, right->lowest, &low, &high))
		return false;
	rtscan_and_value_range(mask, left->digits, n, low, (uint64) high - (uint64) low);
	rtscan_mask_nulls(left, n, mask);
	return true;
}

static bool
mask_comparison(const RtscanArithmetic *comparison, RtscanBatch *batch, uint64 *mask)
{
	const RtscanVector *left = rtscan_calculate(comparison->operands[0], batch);
	const RtscanVector *right = left ? rtscan_calculate(comparison->operands[1], batch) : NULL;

	return right && mask_range(comparison, left, right, batch->n, mask);
}

/* Evaluate a conjunction.  Each condition is calculated for all rows, even if an earlier one is false. */
static bool
mask_conjunction(const RtscanArithmetic *conjunction, RtscanBatch *batch, uint64 *mask)
{
	uint64		left[RTSCAN_MASK_WORDS];

	memcpy(left, mask, sizeof(left));
	for (int i = 0; i < conjunction->noperands; i++)
		if (!rtscan_mask_condition(conjunction->operands[i], batch, left))
			return false;
	memcpy(mask, left, sizeof(left));
	return true;
}

bool
rtscan_mask_condition(RtscanArithmetic *condition, RtscanBatch *batch, uint64 *mask)
{
	const RtscanVector *truth;

	check_stack_depth();
	if (condition->calculate == rtscan_calculate_and)
		return mask_conjunction(condition, batch, mask);
	if (condition->calculate == rtscan_compare_integers && mask_comparison(condition, batch, mask))
		return true;
	truth = rtscan_calculate(condition, batch);
	if (truth == NULL)
		return false;
	rtscan_mask_true(truth, batch->n, mask);
	return true;
}
