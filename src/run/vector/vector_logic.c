/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_logic.c
 *		Calculate three-valued logic, and the expressions that depend on it (CASE, COALESCE, NULLIF), on vectors.
 *
 * The digits of a truth value are 0 or 1 even if it is NULL.
 */
#include "run/vector/arithmetic_parts.h"

#include "bits/multiversion.h"

/* ---------------------------------------------------------------- AND, OR, NOT */

/*
 * AND the result with an operand.  Until all operands have been processed, digits tell whether no operand so far is
 * false, and isnull whether any is NULL.
 */
RTSCAN_MULTIVERSION static void
and_with(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
	{
		result->digits[i] &= operand->digits[i] | operand->isnull[i];
		result->isnull[i] |= operand->isnull[i];
	}
}

/*
 * OR the result with an operand.  Until all operands have been processed, digits tell whether any operand so far is
 * true, and isnull whether any is NULL.
 */
RTSCAN_MULTIVERSION static void
or_with(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
	{
		result->digits[i] |= operand->digits[i] & !operand->isnull[i];
		result->isnull[i] |= operand->isnull[i];
	}
}

/*
 * Clear isnull of the rows whose result one operand decides: for AND an operand that is false ("decision" is 0), for
 * OR an operand that is true ("decision" is 1).
 */
RTSCAN_MULTIVERSION static void
forget_decided_nulls(int64 decision, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->isnull[i] &= result->digits[i] != decision;
}

static void
set_all(RtscanVector *result, int64 truth, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = truth;
	memset(result->isnull, false, n);
	result->has_nulls = false;
	rtscan_set_truth(result);
}

bool
rtscan_calculate_and(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	set_all(result, 1, n);
	for (int i = 0; i < step->noperands; i++)
	{
		and_with(operands[i], n, result);
		result->has_nulls |= operands[i]->has_nulls;
	}
	if (result->has_nulls)
		forget_decided_nulls(0, n, result);
	return true;
}

bool
rtscan_calculate_or(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	set_all(result, 0, n);
	for (int i = 0; i < step->noperands; i++)
	{
		or_with(operands[i], n, result);
		result->has_nulls |= operands[i]->has_nulls;
	}
	if (result->has_nulls)
		forget_decided_nulls(1, n, result);
	return true;
}

bool
rtscan_calculate_not(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = !operands[0]->digits[i];
	rtscan_set_truth(result);
	return true;
}

/* ---------------------------------------------------------------- tests, which are never NULL */

bool
rtscan_calculate_null_test(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	bool		if_null = step->parameter == RTSCAN_TRUTH_NULL;

	set_all(result, 0, n);
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = operands[0]->isnull[i] == if_null;
	return true;
}

bool
rtscan_calculate_truth_test(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
							RtscanVector *result)
{
	set_all(result, 0, n);
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = (step->parameter & (operands[0]->isnull[i] ? RTSCAN_TRUTH_NULL :
												operands[0]->digits[i] ? RTSCAN_TRUTH_TRUE : RTSCAN_TRUTH_FALSE)) != 0;
	return true;
}

/*
 * IS DISTINCT FROM: the first operand tells whether the second and the third are equal; it is NULL if one of them is.
 */
bool
rtscan_calculate_distinct(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						  RtscanVector *result)
{
	const RtscanVector *equal = operands[0];

	set_all(result, 0, n);
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = equal->isnull[i] ? operands[1]->isnull[i] != operands[2]->isnull[i] : !equal->digits[i];
	return true;
}

/* ---------------------------------------------------------------- choices */

void
rtscan_copy_vector(const RtscanVector *vector, uint32 n, RtscanVector *result)
{
	result->has_nulls = vector->has_nulls;
	result->all_null = vector->all_null;
	result->scale = vector->scale;
	result->lowest = vector->lowest;
	result->highest = vector->highest;
	memcpy(result->digits, vector->digits, n * sizeof(int64));
	memcpy(result->isnull, vector->isnull, n);
}

bool
rtscan_unite(const RtscanVector *other, RtscanVector *result)
{
	if (result->all_null)
		result->scale = other->scale;
	else if (!other->all_null && other->scale != result->scale)
		return false;
	result->all_null &= other->all_null;
	result->has_nulls |= other->has_nulls;
	result->lowest = Min(result->lowest, other->lowest);
	result->highest = Max(result->highest, other->highest);
	return true;
}

/* Take another vector's values where a condition is true.  Doubles are copied as integers of the same bits. */
RTSCAN_MULTIVERSION static void
take_if_true(const RtscanVector *condition, const RtscanVector *other, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
	{
		bool		take = condition->digits[i] & !condition->isnull[i];

		result->digits[i] = take ? other->digits[i] : result->digits[i];
		result->isnull[i] = take ? other->isnull[i] : result->isnull[i];
	}
}

bool
rtscan_calculate_case(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	rtscan_copy_vector(operands[step->noperands - 1], n, result);
	for (int i = step->noperands - 3; i >= 0; i -= 2)
	{
		if (!rtscan_unite(operands[i + 1], result))
			return false;
		take_if_true(operands[i], operands[i + 1], n, result);
	}
	return true;
}

RTSCAN_MULTIVERSION static void
take_if_null(const RtscanVector *other, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
	{
		result->digits[i] = result->isnull[i] ? other->digits[i] : result->digits[i];
		result->isnull[i] &= other->isnull[i];
	}
}

bool
rtscan_calculate_coalesce(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						  RtscanVector *result)
{
	rtscan_copy_vector(operands[0], n, result);
	for (int i = 1; i < step->noperands; i++)
	{
		if (!rtscan_unite(operands[i], result))
			return false;
		take_if_null(operands[i], n, result);
	}
	return true;
}

/* NULLIF: the second operand, but NULL where the first operand is true. */
bool
rtscan_calculate_nullif(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	const RtscanVector *equal = operands[0];

	rtscan_copy_vector(operands[1], n, result);
	for (uint32 i = 0; i < n; i++)
		result->isnull[i] |= equal->digits[i] & !equal->isnull[i];
	result->has_nulls = true;
	return true;
}
