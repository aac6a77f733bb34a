/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_doubles.c
 *		Calculate with vectors of doubles.
 *
 * PostgreSQL raises an error if a result overflows to infinity, or underflows to zero.  The tests here are cheap, and
 * do not distinguish these results from valid ones: any result that is not finite is left to PostgreSQL, and so is
 * any product or quotient that may have underflowed.
 */
#include "run/vector/arithmetic_parts.h"

#include <float.h>
#include <math.h>

#include "bits/multiversion.h"

/* Integers up to this are exact as doubles, so that their quotients by powers of ten are rounded only once. */
#define MAX_EXACT	(INT64CONST(1) << 53)

#define IS_FINITE(value)	(fabs(value) <= DBL_MAX)

/* ---------------------------------------------------------------- operators */

RTSCAN_MULTIVERSION static bool
add_doubles(const double *left, const double *right, double sign, uint32 n, double *result)
{
	int			fits = true;

	for (uint32 i = 0; i < n; i++)
	{
		result[i] = left[i] + sign * right[i];
		fits &= IS_FINITE(result[i]);
	}
	return fits;
}

bool
rtscan_add_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	return add_doubles(operands[0]->doubles, operands[1]->doubles, step->parameter, n, result->doubles);
}

RTSCAN_MULTIVERSION static bool
multiply_doubles(const double *left, const double *right, uint32 n, double *result)
{
	int			fits = true;

	for (uint32 i = 0; i < n; i++)
	{
		result[i] = left[i] * right[i];
		fits &= IS_FINITE(result[i]) & ((result[i] != 0) | (left[i] == 0) | (right[i] == 0));
	}
	return fits;
}

bool
rtscan_multiply_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	return multiply_doubles(operands[0]->doubles, operands[1]->doubles, n, result->doubles);
}

/* Divide doubles.  A divisor that is NULL is replaced by 1, because its value has no meaning and may be 0. */
RTSCAN_MULTIVERSION static bool
divide(const double *left, const RtscanVector *right, uint32 n, double *result)
{
	int			fits = true;

	for (uint32 i = 0; i < n; i++)
	{
		double		divisor = right->isnull[i] ? 1 : right->doubles[i];

		result[i] = left[i] / divisor;
		fits &= IS_FINITE(result[i]) & IS_FINITE(divisor) & ((result[i] != 0) | (left[i] == 0));
	}
	return fits;
}

bool
rtscan_divide_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	return divide(operands[0]->doubles, operands[1], n, result->doubles);
}

/* ---------------------------------------------------------------- functions */

bool
rtscan_negate_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->doubles[i] = -operands[0]->doubles[i];
	return true;
}

bool
rtscan_absolute_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->doubles[i] = fabs(operands[0]->doubles[i]);
	return true;
}

bool
rtscan_root_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	int			fits = true;

	for (uint32 i = 0; i < n; i++)
		fits &= operands[0]->doubles[i] >= 0 && IS_FINITE(operands[0]->doubles[i]);
	for (uint32 i = 0; fits && i < n; i++)
		result->doubles[i] = sqrt(operands[0]->doubles[i]);
	return fits;
}

/* ---------------------------------------------------------------- casts */

RTSCAN_MULTIVERSION static void
convert(const int64 *integers, double divisor, uint32 n, double *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = (double) integers[i] / divisor;
}

/*
 * Convert integers or numerics.  PostgreSQL converts a numeric to the nearest double, because it parses the numeric's
 * text.  If dividend and divisor are exact as doubles, their quotient is the nearest double, too.
 */
bool
rtscan_integers_to_doubles(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	const RtscanVector *operand = operands[0];
	RtscanVector whole = {.scale = 0};
	int64		power = rtscan_power_to_scale(&whole, operand->scale);

	if (power == 0 || (power > 1 && (operand->lowest < -MAX_EXACT || operand->highest > MAX_EXACT)))
		return false;
	convert(operand->digits, power, n, result->doubles);
	return true;
}

/* Round to the nearest integer, and halves to the even one.  The range of the result's type is checked afterwards. */
bool
rtscan_doubles_to_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	const double *doubles = operands[0]->doubles;
	int			fits = true;

	for (uint32 i = 0; i < n; i++)
		fits &= fabs(doubles[i]) < (double) MAX_EXACT;
	for (uint32 i = 0; fits && i < n; i++)
		result->digits[i] = (int64) rint(doubles[i]);
	result->scale = 0;
	if (fits)
		rtscan_find_bounds(result, n, &result->lowest, &result->highest);
	return fits;
}
