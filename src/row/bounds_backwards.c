/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds_backwards.c
 *		Interval arithmetic backwards, and comparisons.
 */
#include "row/bounds_parts.h"

#include <math.h>

#include "access/stratnum.h"

static void
narrow(RtscanBounds *bounds, double low, double high)
{
	bounds->low = Max(bounds->low, low);
	bounds->high = Min(bounds->high, high);
}

/* ---------------------------------------------------------------- backwards */

/*
 * Return bounds of the real numbers from which an operation on integers makes its result: for ROUND by rounding to
 * the nearest integer, for DIVIDE by truncating the quotient.  Other operations change nothing.
 */
static RtscanBounds
unrounded_integers(RtscanOperation operation, RtscanBounds result)
{
	if (operation == RTSCAN_OPERATION_ROUND)
		return (RtscanBounds) {.low = rtscan_just_below(result.low - 0.5),
			.high = rtscan_just_above(result.high + 0.5)};
	if (operation == RTSCAN_OPERATION_DIVIDE)
		return (RtscanBounds) {.low = result.low > 0 ? result.low : result.low - 1,
			.high = result.high < 0 ? result.high : result.high + 1};
	return result;
}

/* Return bounds of the real numbers that are rounded to a float between the bounds "result". */
static RtscanBounds
unrounded_floats(RtscanNumberKind kind, RtscanBounds result)
{
	if (kind == RTSCAN_NUMBER_FLOAT4)
		return (RtscanBounds) {
			.low = nextafterf(nextafterf((float) result.low, -INFINITY), -INFINITY),
			.high = nextafterf(nextafterf((float) result.high, INFINITY), INFINITY),
		};
	return (RtscanBounds) {.low = rtscan_just_below(result.low), .high = rtscan_just_above(result.high)};
}

/* Return bounds of the real results, before PostgreSQL rounds them, that are rounded to a number in *result. */
static RtscanBounds
unrounded(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *result)
{
	RtscanBounds bounds = *result;

	if (operation == RTSCAN_OPERATION_POWER || (operation == RTSCAN_OPERATION_DIVIDE && kind == RTSCAN_NUMBER_NUMERIC))
		rtscan_allow_rounding(&bounds);
	if (rtscan_number_is_whole(kind))
		return unrounded_integers(operation, bounds);
	return rtscan_number_is_float(kind) ? unrounded_floats(kind, bounds) : bounds;
}

/* Narrow *x to the numbers whose product with at least one number of *y can be in *product. */
static void
narrow_factor(RtscanBounds *x, const RtscanBounds *product, const RtscanBounds *y)
{
	RtscanBounds quotient;

	if (!rtscan_bounds_have_zero(y))
		quotient = rtscan_real_bounds(RTSCAN_OPERATION_DIVIDE, product, y);
	else if (rtscan_bounds_have_zero(product) || (y->low < 0 && y->high > 0))
		return;
	else
	{
		/*
		 * *y includes zero, but its other numbers have the same sign, and *product excludes zero.  The y that is
		 * farthest from zero gives the x that is nearest to zero.  In the direction away from zero, x has no bound.
		 */
		RtscanBounds end = rtscan_bounds_of(y->high > 0 ? y->high : y->low);

		quotient = rtscan_real_bounds(RTSCAN_OPERATION_DIVIDE, product, &end);
		if ((product->low > 0) == (end.low > 0))
			quotient.high = INFINITY;
		else
			quotient.low = -INFINITY;
		if (end.low == 0)
			quotient = rtscan_no_bounds();
	}
	narrow(x, quotient.low, quotient.high);
}

/* Narrow *operand to numbers whose absolute value is from "low" to "high". */
static void
narrow_magnitude(RtscanBounds *operand, double low, double high)
{
	narrow(operand, -high, high);
	if (operand->low > -low)
		operand->low = Max(operand->low, low);
	if (operand->high < low)
		operand->high = Min(operand->high, -low);
}

/*
 * Return a bound of the root of a number: a lower bound if "direction" is -1, an upper bound if it is 1.  The root of
 * a negative number is negative.
 */
static double
root_of(double number, double exponent, int direction)
{
	double		root = pow(fabs(number), 1 / exponent);

	if (number < 0)
		root = -root;
	root += direction * fabs(root) * RTSCAN_ROUNDING;
	return direction < 0 ? rtscan_just_below(root) : rtscan_just_above(root);
}

/* Narrow *operand, the base of a power, to numbers whose power is between the bounds *real. */
static void
narrow_base(RtscanBounds *operand, const RtscanBounds *real, double exponent)
{
	if (fmod(exponent, 2) == 0 && real->high < 0)
		narrow(operand, INFINITY, -INFINITY);
	else if (fmod(exponent, 2) == 0)
		narrow_magnitude(operand, real->low > 0 ? Max(root_of(real->low, exponent, -1), 0) : 0,
						 root_of(real->high, exponent, 1));
	else
		narrow(operand, root_of(real->low, exponent, -1), root_of(real->high, exponent, 1));
}

/* Narrow the only operand, or the first of two, to numbers for which the real result can be in *real. */
static void
narrow_left(RtscanOperation operation, const RtscanBounds *real, RtscanBounds *left, const RtscanBounds *right)
{
	RtscanBounds bounds;

	switch (operation)
	{
		case RTSCAN_OPERATION_SAME:
		case RTSCAN_OPERATION_ROUND:
			narrow(left, real->low, real->high);
			break;
		case RTSCAN_OPERATION_NEGATE:
			narrow(left, -real->high, -real->low);
			break;
		case RTSCAN_OPERATION_ABSOLUTE:
			narrow_magnitude(left, Max(real->low, 0), real->high);
			break;
		case RTSCAN_OPERATION_ROOT:
			bounds = (RtscanBounds) {.low = Max(real->low, 0), .high = Max(real->high, 0)};
			bounds = rtscan_real_bounds(RTSCAN_OPERATION_MULTIPLY, &bounds, &bounds);
			narrow(left, bounds.low, bounds.high);
			break;
		case RTSCAN_OPERATION_SQUARE:
			narrow_base(left, real, 2);
			break;
		case RTSCAN_OPERATION_POWER:
			narrow_base(left, real, right->low);
			break;
		case RTSCAN_OPERATION_ADD:
			bounds = rtscan_real_bounds(RTSCAN_OPERATION_SUBTRACT, real, right);
			narrow(left, bounds.low, bounds.high);
			break;
		case RTSCAN_OPERATION_SUBTRACT:
			bounds = rtscan_real_bounds(RTSCAN_OPERATION_ADD, real, right);
			narrow(left, bounds.low, bounds.high);
			break;
		case RTSCAN_OPERATION_MULTIPLY:
			narrow_factor(left, real, right);
			break;
		case RTSCAN_OPERATION_DIVIDE:
			bounds = rtscan_real_bounds(RTSCAN_OPERATION_MULTIPLY, real, right);
			narrow(left, bounds.low, bounds.high);
			break;
	}
}

/* Narrow the second operand to numbers for which the real result can be in *real. */
static void
narrow_right(RtscanOperation operation, const RtscanBounds *real, const RtscanBounds *left, RtscanBounds *right)
{
	RtscanBounds bounds;

	switch (operation)
	{
		case RTSCAN_OPERATION_ADD:
			narrow_left(operation, real, right, left);
			break;
		case RTSCAN_OPERATION_SUBTRACT:
			bounds = rtscan_real_bounds(RTSCAN_OPERATION_SUBTRACT, left, real);
			narrow(right, bounds.low, bounds.high);
			break;
		case RTSCAN_OPERATION_MULTIPLY:
			narrow_factor(right, real, left);
			break;
		case RTSCAN_OPERATION_DIVIDE:
			narrow_factor(right, left, real);
			break;
		default:
			break;
	}
}

/*
 * May the finite numbers of an operand be narrowed?  Not if "other", the other operand, may be infinite or NaN, and
 * *result has a number that an infinite or NaN operand can give: an infinity, NaN or, for a division, zero.  In that
 * case any finite number as this operand can have a result in *result.
 */
static bool
decides(RtscanOperation operation, const RtscanBounds *result, const RtscanBounds *other)
{
	if (other->special == 0)
		return true;
	return result->special == 0 && !(operation == RTSCAN_OPERATION_DIVIDE && rtscan_bounds_have_zero(result));
}

void
rtscan_bounds_backwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *result,
						RtscanBounds *left, RtscanBounds *right)
{
	bool		binary = rtscan_has_two_operands(operation);
	const RtscanBounds old_left = *left,
				old_right = binary ? *right : rtscan_no_bounds();
	RtscanBounds real;

	/*
	 * A finite result needs finite operands.  An exception is a divisor: it may be infinite, since the result is
	 * zero.
	 */
	if (result->special == 0)
	{
		left->special = 0;
		if (binary)
			right->special &= operation == RTSCAN_OPERATION_DIVIDE ? RTSCAN_MINUS_INFINITY | RTSCAN_PLUS_INFINITY : 0;
	}
	if (!rtscan_bounds_have_finite(result) || !rtscan_bounds_have_finite(&old_left) ||
		(binary && !rtscan_bounds_have_finite(&old_right)))
		return;
	real = unrounded(operation, kind, result);
	if (decides(operation, result, &old_right))
		narrow_left(operation, &real, left, &old_right);
	if (binary && decides(operation, result, &old_left))
		narrow_right(operation, &real, &old_left, right);
}

/* ---------------------------------------------------------------- comparisons */

/* Narrow both sides of the comparison less < more or, if "strict" is false, less <= more. */
static void
narrow_less(bool strict, bool whole, RtscanBounds *less, RtscanBounds *more)
{
	const RtscanBounds old = *less;
	const RtscanBounds gap = rtscan_bounds_of(strict && whole ? 1 : 0);
	const RtscanBounds below = rtscan_real_bounds(RTSCAN_OPERATION_SUBTRACT, more, &gap);
	const RtscanBounds above = rtscan_real_bounds(RTSCAN_OPERATION_ADD, less, &gap);

	if (!(more->special & (RTSCAN_PLUS_INFINITY | RTSCAN_NOT_A_NUMBER)))
	{
		less->high = rtscan_bounds_have_finite(more) ? Min(less->high, below.high) : -INFINITY;
		less->special &= ~RTSCAN_PLUS_INFINITY;
	}
	if (strict || !(more->special & RTSCAN_NOT_A_NUMBER))
		less->special &= ~RTSCAN_NOT_A_NUMBER;
	if (!(old.special & RTSCAN_MINUS_INFINITY))
	{
		more->low = rtscan_bounds_have_finite(&old) ? Max(more->low, above.low) : INFINITY;
		more->special &= ~RTSCAN_MINUS_INFINITY;
	}
}

void
rtscan_bounds_compare(int strategy, bool whole, RtscanBounds *left, RtscanBounds *right)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			narrow_less(strategy == BTLessStrategyNumber, whole, left, right);
			break;
		case BTEqualStrategyNumber:
			*left = *right = rtscan_bounds_intersect(left, right);
			break;
		default:
			narrow_less(strategy == BTGreaterStrategyNumber, whole, right, left);
	}
}
