/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_integers.c
 *		Calculate with vectors of integers, which are divided by powers of ten.
 *
 * The bounds of a result follow from those of the operands.  If they fit into 64 bits, no row has to be checked.
 */
#include "run/vector/arithmetic_parts.h"

#include "bits/multiversion.h"
#include "common/int.h"
#include "row/decimal.h"

RTSCAN_MULTIVERSION void
rtscan_find_bounds(const RtscanVector *vector, uint32 n, int64 *lowest, int64 *highest)
{
	int64		least = PG_INT64_MAX,
				greatest = PG_INT64_MIN;

	for (uint32 i = 0; i < n; i++)
	{
		least = Min(least, vector->digits[i]);
		greatest = Max(greatest, vector->digits[i]);
	}
	*lowest = least;
	*highest = greatest;
}

/* ---------------------------------------------------------------- products */

static bool
bound_integer_product(const RtscanVector *left, const RtscanVector *right, RtscanVector *result)
{
	int64		a,
				b,
				c,
				d;

	if (pg_mul_s64_overflow(left->lowest, right->lowest, &a) || pg_mul_s64_overflow(left->lowest, right->highest, &b) ||
		pg_mul_s64_overflow(left->highest, right->lowest, &c) || pg_mul_s64_overflow(left->highest, right->highest, &d))
		return false;
	result->lowest = Min(Min(a, b), Min(c, d));
	result->highest = Max(Max(a, b), Max(c, d));
	return true;
}

RTSCAN_MULTIVERSION static void
multiply_integers(const int64 *left, const int64 *right, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = left[i] * right[i];
}

RTSCAN_MULTIVERSION static void
multiply_by_constant(const int64 *digits, int64 factor, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = digits[i] * factor;
}

bool
rtscan_bound_product(const RtscanVector *const *operands, RtscanVector *result)
{
	result->scale = operands[0]->scale + operands[1]->scale;
	return result->scale <= 2 * RTSCAN_MAX_SCALE && bound_integer_product(operands[0], operands[1], result);
}

bool
rtscan_multiply_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						 RtscanVector *result)
{
	if (!rtscan_bound_product(operands, result))
		return false;
	if (rtscan_is_constant(operands[0]))
		multiply_by_constant(operands[1]->digits, operands[0]->lowest, n, result->digits);
	else if (rtscan_is_constant(operands[1]))
		multiply_by_constant(operands[0]->digits, operands[1]->lowest, n, result->digits);
	else
		multiply_integers(operands[0]->digits, operands[1]->digits, n, result->digits);
	return true;
}

/* ---------------------------------------------------------------- sums */

int64
rtscan_power_to_scale(const RtscanVector *vector, int scale)
{
	int64		power = 1;

	if (scale - vector->scale > RTSCAN_MAX_SCALE)
		return 0;
	for (int i = vector->scale; i < scale; i++)
		power *= 10;
	return power;
}

static bool
bound_integer_sum(const RtscanVector *left, int64 left_power, const RtscanVector *right, int64 right_power,
				  RtscanVector *result)
{
	int64		a,
				b,
				c,
				d;

	return !pg_mul_s64_overflow(left->lowest, left_power, &a) && !pg_mul_s64_overflow(left->highest, left_power, &b) &&
		!pg_mul_s64_overflow(right->lowest, right_power, &c) && !pg_mul_s64_overflow(right->highest, right_power, &d) &&
		!pg_add_s64_overflow(Min(a, b), Min(c, d), &result->lowest) &&
		!pg_add_s64_overflow(Max(a, b), Max(c, d), &result->highest);
}

RTSCAN_MULTIVERSION static void
add_integers(const int64 *left, const int64 *right, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = left[i] + right[i];
}

RTSCAN_MULTIVERSION static void
subtract(const int64 *left, const int64 *right, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = left[i] - right[i];
}

RTSCAN_MULTIVERSION static void
add_multiples(const int64 *left, int64 left_power, const int64 *right, int64 right_power, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = left[i] * left_power + right[i] * right_power;
}

RTSCAN_MULTIVERSION static void
add_constant(const int64 *digits, int64 power, int64 constant, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = digits[i] * power + constant;
}

/*
 * Return the factor of an operand of a sum: the power of ten that brings the operand to "scale".  If take_factor()
 * has replaced a product by its operand, the product's constant is multiplied in.  Returns 0 if the factor or the
 * product does not fit.
 */
static int64
find_multiple(const RtscanArithmetic *step, int number, const RtscanVector *operand, int scale)
{
	const RtscanArithmetic *product = step->products[number];
	int64		factor = product ? step->factors[number] : 1;
	int64		a,
				b,
				multiple;

	if (product && (pg_mul_s64_overflow(operand->lowest, factor, &a) ||
					pg_mul_s64_overflow(operand->highest, factor, &b) ||
					Min(a, b) < product->lowest || Max(a, b) > product->highest))
		return 0;
	return pg_mul_s64_overflow(rtscan_power_to_scale(operand, scale), factor, &multiple) ? 0 : multiple;
}

bool
rtscan_bound_sum(const RtscanArithmetic *step, const RtscanVector *const *operands, int64 *multiples,
				 RtscanVector *result)
{
	result->scale = Max(operands[0]->scale, operands[1]->scale);
	for (int i = 0; i < 2; i++)
		multiples[i] = find_multiple(step, i, operands[i], result->scale);
	return multiples[0] != 0 && multiples[1] != 0 &&
		!pg_mul_s64_overflow(multiples[1], step->parameter, &multiples[1]) &&
		bound_integer_sum(operands[0], multiples[0], operands[1], multiples[1], result);
}

bool
rtscan_add_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	const int64 *left = operands[0]->digits;
	const int64 *right = operands[1]->digits;
	int64		multiples[2];

	if (!rtscan_bound_sum(step, operands, multiples, result))
		return false;
	if (rtscan_is_constant(operands[1]))
		add_constant(left, multiples[0], operands[1]->lowest * multiples[1], n, result->digits);
	else if (rtscan_is_constant(operands[0]))
		add_constant(right, multiples[1], operands[0]->lowest * multiples[0], n, result->digits);
	else if (multiples[0] == 1 && multiples[1] == 1)
		add_integers(left, right, n, result->digits);
	else if (multiples[0] == 1 && multiples[1] == -1)
		subtract(left, right, n, result->digits);
	else
		add_multiples(left, multiples[0], right, multiples[1], n, result->digits);
	return true;
}

/* ---------------------------------------------------------------- signs */

RTSCAN_MULTIVERSION static void
negate(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = -operand->digits[i];
}

bool
rtscan_negate_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
					   RtscanVector *result)
{
	result->scale = operands[0]->scale;
	if (pg_sub_s64_overflow(0, operands[0]->lowest, &result->highest))
		return false;
	result->lowest = -operands[0]->highest;
	negate(operands[0], n, result);
	return true;
}

RTSCAN_MULTIVERSION static void
make_absolute(const RtscanVector *operand, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = operand->digits[i] < 0 ? -operand->digits[i] : operand->digits[i];
}

bool
rtscan_absolute_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						 RtscanVector *result)
{
	const RtscanVector *operand = operands[0];

	result->scale = operand->scale;
	if (operand->lowest == PG_INT64_MIN)
		return false;
	result->lowest = operand->lowest > 0 ? operand->lowest : operand->highest < 0 ? -operand->highest : 0;
	result->highest = Max(operand->highest, -operand->lowest);
	make_absolute(operand, n, result);
	return true;
}

/* ---------------------------------------------------------------- quotients */

/* Do all values fit into 32 bits? */
static bool
is_short(const RtscanVector *vector)
{
	return vector->lowest >= PG_INT32_MIN && vector->highest <= PG_INT32_MAX;
}

/*
 * Divide 32-bit integers as doubles, since processors divide many of these at once.  Truncated to integers, the
 * quotients are exact.
 */
RTSCAN_MULTIVERSION static void
divide_short(const RtscanVector *operand, int32 divisor, uint32 n, RtscanVector *result)
{
	double		real = divisor;

	for (uint32 i = 0; i < n; i++)
		result->digits[i] = (int32) ((double) (int32) operand->digits[i] / real);
}

static void
divide(const RtscanVector *operand, int64 divisor, uint32 n, RtscanVector *result)
{
	if (is_short(operand) && divisor == (int32) divisor)
		divide_short(operand, divisor, n, result);
	else
		for (uint32 i = 0; i < n; i++)
			result->digits[i] = operand->digits[i] / divisor;
}

/* Return the divisor if it is a constant by which any integer can be divided; else 0. */
static int64
find_divisor(const RtscanVector *vector)
{
	return rtscan_is_constant(vector) && vector->lowest != -1 ? vector->lowest : 0;
}

bool
rtscan_divide_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
					   RtscanVector *result)
{
	int64		divisor = find_divisor(operands[1]);

	if (divisor == 0)
		return false;
	divide(operands[0], divisor, n, result);
	result->scale = 0;
	result->lowest = Min(operands[0]->lowest / divisor, operands[0]->highest / divisor);
	result->highest = Max(operands[0]->lowest / divisor, operands[0]->highest / divisor);
	return true;
}

RTSCAN_MULTIVERSION static void
subtract_multiples(const RtscanVector *operand, int64 divisor, uint32 n, RtscanVector *result)
{
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = operand->digits[i] - result->digits[i] * divisor;
}

bool
rtscan_modulo_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
					   RtscanVector *result)
{
	int64		divisor = find_divisor(operands[1]);
	int64		largest;

	if (divisor == 0 || divisor == PG_INT64_MIN)
		return false;
	divide(operands[0], divisor, n, result);
	subtract_multiples(operands[0], divisor, n, result);
	largest = (divisor < 0 ? -divisor : divisor) - 1;
	result->scale = 0;
	result->lowest = operands[0]->lowest >= 0 ? 0 : -largest;
	result->highest = operands[0]->highest <= 0 ? 0 : largest;
	return true;
}

/* ---------------------------------------------------------------- rounding */

static int64
round_one(int64 digits, int64 power)
{
	int64		rest = digits % power;

	return digits / power + (rest >= power - power / 2) - (rest <= -(power - power / 2));
}

/* Round numerics to integers, and halves away from zero. */
bool
rtscan_round_to_integers(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						 RtscanVector *result)
{
	RtscanVector whole = {.scale = 0};
	int64		power = rtscan_power_to_scale(&whole, operands[0]->scale);

	if (power == 0)
		return false;
	result->scale = 0;
	result->lowest = power == 1 ? operands[0]->lowest : round_one(operands[0]->lowest, power);
	result->highest = power == 1 ? operands[0]->highest : round_one(operands[0]->highest, power);
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = power == 1 ? operands[0]->digits[i] : round_one(operands[0]->digits[i], power);
	return true;
}
