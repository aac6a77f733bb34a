/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_compare.c
 *		Compare vectors.  The results are truth values, the integers 0 and 1.
 */
#include "run/vector/arithmetic_parts.h"

#include "access/stratnum.h"
#include "bits/multiversion.h"
#include "common/int.h"

/* Compare doubles as PostgreSQL does: NaNs are equal, and greater than all numbers. */
#define IS_LESS(a, b)	(((a) < (b)) | (((a) == (a)) & ((b) != (b))))
#define IS_EQUAL(a, b)	(((a) == (b)) | (((a) != (a)) & ((b) != (b))))

/* Set result[i] to an expression, for each row i.  Each kind of comparison has a loop of its own. */
#define EACH(expression) \
	do { \
		for (uint32 i = 0; i < n; i++) \
			result[i] = (expression); \
	} while (0)

#define EACH_COMPARISON(comparison, is_less, is_equal, a, b) \
	switch (comparison) \
	{ \
		case BTLessStrategyNumber: \
			EACH(is_less(a, b)); \
			break; \
		case BTLessEqualStrategyNumber: \
			EACH(!(is_less(b, a))); \
			break; \
		case BTEqualStrategyNumber: \
			EACH(is_equal(a, b)); \
			break; \
		case BTGreaterEqualStrategyNumber: \
			EACH(!(is_less(a, b))); \
			break; \
		case BTGreaterStrategyNumber: \
			EACH(is_less(b, a)); \
			break; \
		default: \
			EACH(!(is_equal(a, b))); \
	}

/* ---------------------------------------------------------------- integers */

#define IS_LESS_INTEGER(a, b)	((a) < (b))
#define IS_EQUAL_INTEGER(a, b)	((a) == (b))

RTSCAN_MULTIVERSION static void
compare_integers(int comparison, const int64 *left, const int64 *right, uint32 n, int64 *result)
{
	EACH_COMPARISON(comparison, IS_LESS_INTEGER, IS_EQUAL_INTEGER, left[i], right[i])
}

RTSCAN_MULTIVERSION static void
compare_with_integer(int comparison, const int64 *left, int64 right, uint32 n, int64 *result)
{
	EACH_COMPARISON(comparison, IS_LESS_INTEGER, IS_EQUAL_INTEGER, left[i], right)
}

RTSCAN_MULTIVERSION static void
scale_up(const int64 *digits, int64 power, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = digits[i] * power;
}

/*
 * Return a vector's digits at a scale.  If they have to be multiplied, the products are stored in "room".  Returns
 * NULL if they may not fit.
 */
static const int64 *
digits_at(const RtscanVector *vector, int scale, uint32 n, int64 *room)
{
	int64		power = rtscan_power_to_scale(vector, scale);
	int64		bound;

	if (power == 1)
		return vector->digits;
	if (power == 0 || pg_mul_s64_overflow(vector->lowest, power, &bound) ||
		pg_mul_s64_overflow(vector->highest, power, &bound))
		return NULL;
	scale_up(vector->digits, power, n, room);
	return room;
}

bool
rtscan_compare_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	int			scale = Max(operands[0]->scale, operands[1]->scale);
	int64		room[RTSCAN_CURSOR_ROWS];	/* for the operand with the smaller scale */
	const int64 *left = digits_at(operands[0], scale, n, room);
	const int64 *right = digits_at(operands[1], scale, n, room);

	if (left == NULL || right == NULL)
		return false;
	if (n > 0 && rtscan_is_constant(operands[1]))
		compare_with_integer(step->parameter, left, right[0], n, result->digits);
	else
		compare_integers(step->parameter, left, right, n, result->digits);
	rtscan_set_truth(result);
	return true;
}

/* ---------------------------------------------------------------- doubles */

RTSCAN_MULTIVERSION static void
compare_doubles(int comparison, const double *left, const double *right, uint32 n, int64 *result)
{
	EACH_COMPARISON(comparison, IS_LESS, IS_EQUAL, left[i], right[i])
}

bool
rtscan_compare_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
					   RtscanVector *result)
{
	compare_doubles(step->parameter, operands[0]->doubles, operands[1]->doubles, n, result->digits);
	rtscan_set_truth(result);
	return true;
}

/* ---------------------------------------------------------------- GREATEST, LEAST */

/*
 * Take the operand's value in each row where the operand is not NULL, and the result so far is NULL or less than the
 * operand.  If "greater" is false (LEAST), the result so far must be NULL or greater than the operand.
 */
RTSCAN_MULTIVERSION static void
take_outer_integers(const RtscanVector *operand, bool greater, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
	{
		int64		one = operand->digits[i];
		int64		other = result->digits[i];
		bool		take = (!operand->isnull[i]) & (result->isnull[i] | (greater ? one > other : one < other));

		result->digits[i] = take ? one : other;
		result->isnull[i] &= operand->isnull[i];
	}
}

RTSCAN_MULTIVERSION static void
take_outer_doubles(const RtscanVector *operand, bool greater, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
	{
		double		one = operand->doubles[i];
		double		other = result->doubles[i];
		bool		take = (!operand->isnull[i]) &
			(result->isnull[i] | (greater ? IS_LESS(other, one) : IS_LESS(one, other)));

		result->doubles[i] = take ? one : other;
		result->isnull[i] &= operand->isnull[i];
	}
}

bool
rtscan_choose_outermost(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	rtscan_copy_vector(operands[0], n, result);
	for (int i = 1; i < step->noperands; i++)
	{
		if (!rtscan_unite(operands[i], result))
			return false;
		(step->kind == RTSCAN_VECTOR_DOUBLES ? take_outer_doubles : take_outer_integers)
			(operands[i], step->parameter > 0, n, result);
	}
	return true;
}
