/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds.c
 *		Sets of numbers, and interval arithmetic forwards.
 */
#include "row/bounds_parts.h"

#include <float.h>
#include <math.h>

#include "datatype/timestamp.h"

/* The largest exponent of RTSCAN_OPERATION_POWER. */
#define MOST_EXPONENT	16

/* The least positive float4 and float8. */
#define FLOAT4_GRID		0x1p-149
#define FLOAT8_GRID		0x1p-1074

/* 2^63, which is one more than the greatest int8.  The least int8 is -INT64_END. */
#define INT64_END		0x1p63

/* ---------------------------------------------------------------- sets of numbers */

RtscanBounds
rtscan_no_bounds(void)
{
	return (RtscanBounds) {.low = INFINITY, .high = -INFINITY, .grid = 1};
}

/* Return the flag of an infinity or NaN; 0 for a finite number. */
static int
special_of(double number)
{
	if (isnan(number))
		return RTSCAN_NOT_A_NUMBER;
	return !isinf(number) ? 0 : number > 0 ? RTSCAN_PLUS_INFINITY : RTSCAN_MINUS_INFINITY;
}

/* Return the largest power of two that divides a number; 1 for zero. */
static double
grid_of_number(double number)
{
	int			exponent;
	int64		digits = (int64) ldexp(frexp(fabs(number), &exponent), DBL_MANT_DIG);

	return digits == 0 ? 1 : Max(ldexp((double) (digits & -digits), exponent - DBL_MANT_DIG), FLOAT8_GRID);
}

RtscanBounds
rtscan_bounds_of(double number)
{
	RtscanBounds bounds = rtscan_no_bounds();

	bounds.special = special_of(number);
	if (bounds.special == 0)
		bounds = (RtscanBounds) {.low = number, .high = number, .grid = grid_of_number(number)};
	return bounds;
}

RtscanBounds
rtscan_bounds_of_kind(RtscanNumberKind kind)
{
	switch (kind)
	{
		case RTSCAN_NUMBER_INT16:
			return (RtscanBounds) {PG_INT16_MIN, PG_INT16_MAX, 0, 1};
		case RTSCAN_NUMBER_INT32:
			return (RtscanBounds) {PG_INT32_MIN, PG_INT32_MAX, 0, 1};
		case RTSCAN_NUMBER_INT64:
			return (RtscanBounds) {-INT64_END, INT64_END, 0, 1};
		case RTSCAN_NUMBER_DATE:
			return (RtscanBounds) {DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
				DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1,
				RTSCAN_MINUS_INFINITY | RTSCAN_PLUS_INFINITY, 1};
		case RTSCAN_NUMBER_FLOAT4:
			return (RtscanBounds) {-FLT_MAX, FLT_MAX, RTSCAN_ANY_SPECIAL, FLOAT4_GRID};
		case RTSCAN_NUMBER_FLOAT8:
			return (RtscanBounds) {-DBL_MAX, DBL_MAX, RTSCAN_ANY_SPECIAL, FLOAT8_GRID};
		default:
			return (RtscanBounds) {-INFINITY, INFINITY, RTSCAN_ANY_SPECIAL, 0};
	}
}

double
rtscan_grid_of(RtscanNumberKind kind, double least)
{
	int			digits = kind == RTSCAN_NUMBER_FLOAT4 ? FLT_MANT_DIG : DBL_MANT_DIG;
	int			exponent;

	if (least <= 0 || isinf(least))
		return least > 0 ? 1 : 0;
	(void) frexp(least, &exponent);
	return Max(ldexp(1, exponent - digits), kind == RTSCAN_NUMBER_FLOAT4 ? FLOAT4_GRID : FLOAT8_GRID);
}

double
rtscan_just_below(double number)
{
	return nextafter(number, -INFINITY);
}

double
rtscan_just_above(double number)
{
	return nextafter(number, INFINITY);
}

RtscanBounds
rtscan_bounds_intersect(const RtscanBounds *a, const RtscanBounds *b)
{
	return (RtscanBounds) {
		.low = Max(a->low, b->low),
		.high = Min(a->high, b->high),
		.special = a->special & b->special,
		.grid = Max(a->grid, b->grid),
	};
}

/* Return the least absolute value of the numbers between the bounds. */
static double
least_magnitude(const RtscanBounds *bounds)
{
	return rtscan_bounds_have_zero(bounds) ? 0 : Min(fabs(bounds->low), fabs(bounds->high));
}

/* Return the greatest absolute value of the numbers between the bounds. */
static double
greatest_magnitude(const RtscanBounds *bounds)
{
	return Max(fabs(bounds->low), fabs(bounds->high));
}

/* ---------------------------------------------------------------- real numbers */

/*
 * Return a lower bound of a result, of which "result" is the calculated double.  If it was rounded ("exact" is
 * false), the bound is the next double below; if it is NaN, -INFINITY.
 */
static double
downwards(double result, bool exact)
{
	if (isnan(result))
		return -INFINITY;
	return exact ? result : rtscan_just_below(result);
}

/*
 * Return an upper bound of a result, of which "result" is the calculated double.  If it was rounded ("exact" is
 * false), the bound is the next double above; if it is NaN, INFINITY.
 */
static double
upwards(double result, bool exact)
{
	if (isnan(result))
		return INFINITY;
	return exact ? result : rtscan_just_above(result);
}

/* Is "sum", calculated as x + y, exact?  This is Knuth's two-sum. */
static bool
sum_is_exact(double x, double y, double sum)
{
	volatile double part_of_y = sum - x;
	volatile double part_of_x = sum - part_of_y;

	return x - part_of_x == 0 && y - part_of_y == 0;
}

/*
 * Is a result so near to zero that it may have lost digits?  The remainder that fma() calculates may be rounded to
 * zero then, and would not show the loss.
 */
static bool
is_tiny(double result)
{
	return fabs(result) < 0x1p-900;
}

static bool
product_is_exact(double x, double y, double product)
{
	return x == 0 || y == 0 || (!is_tiny(product) && fma(x, y, -product) == 0);
}

static bool
quotient_is_exact(double x, double y, double quotient)
{
	return x == 0 || (!is_tiny(quotient) && !is_tiny(x) && fma(quotient, y, -x) == 0);
}

/* Calculate in doubles.  *exact tells whether the result has not been rounded. */
static double
calculate(RtscanOperation operation, double x, double y, bool *exact)
{
	double		result;

	switch (operation)
	{
		case RTSCAN_OPERATION_ADD:
			result = x + y;
			*exact = sum_is_exact(x, y, result);
			return result;
		case RTSCAN_OPERATION_SUBTRACT:
			result = x - y;
			*exact = sum_is_exact(x, -y, result);
			return result;
		case RTSCAN_OPERATION_MULTIPLY:
			result = x * y;
			*exact = product_is_exact(x, y, result);
			return result;
		default:
			result = x / y;
			*exact = quotient_is_exact(x, y, result);
			return result;
	}
}

/* Extend bounds to include the exact result of an operation on x and y. */
static void
include_real(RtscanBounds *bounds, RtscanOperation operation, double x, double y)
{
	bool		exact;
	double		result = calculate(operation, x, y, &exact);

	bounds->low = Min(bounds->low, downwards(result, exact));
	bounds->high = Max(bounds->high, upwards(result, exact));
}

RtscanBounds
rtscan_real_bounds(RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right)
{
	RtscanBounds result = rtscan_no_bounds();

	include_real(&result, operation, left->low, right->low);
	include_real(&result, operation, left->low, right->high);
	include_real(&result, operation, left->high, right->low);
	include_real(&result, operation, left->high, right->high);
	return result;
}

/* ---------------------------------------------------------------- forwards */

/*
 * Round a result to the nearest number of a type of floats, as PostgreSQL does.  Bounds may be rounded in the same
 * way, since rounding keeps the order of numbers.
 */
static double
round_float(RtscanNumberKind kind, double number)
{
	return kind == RTSCAN_NUMBER_FLOAT4 ? (float) number : number;
}

/* Extend bounds to include the rounded result of an operation on the floats x and y. */
static void
include_float(RtscanBounds *bounds, RtscanNumberKind kind, RtscanOperation operation, double x, double y)
{
	bool		exact;
	double		result = round_float(kind, calculate(operation, x, y, &exact));

	bounds->low = Min(bounds->low, result);
	bounds->high = Max(bounds->high, result);
}

static RtscanBounds
float_bounds(RtscanNumberKind kind, RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right)
{
	RtscanBounds result = rtscan_no_bounds();

	include_float(&result, kind, operation, left->low, right->low);
	include_float(&result, kind, operation, left->low, right->high);
	include_float(&result, kind, operation, left->high, right->low);
	include_float(&result, kind, operation, left->high, right->high);
	return result;
}

void
rtscan_allow_rounding(RtscanBounds *bounds)
{
	bounds->low = rtscan_just_below(bounds->low - fabs(bounds->low) * RTSCAN_ROUNDING);
	bounds->high = rtscan_just_above(bounds->high + fabs(bounds->high) * RTSCAN_ROUNDING);
}

/* Return the bounds of a sum, difference, product or quotient of finite operands. */
static RtscanBounds
calculate_bounds(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left, const RtscanBounds *right)
{
	RtscanBounds result = rtscan_number_is_float(kind) ? float_bounds(kind, operation, left, right)
		: rtscan_real_bounds(operation, left, right);

	if (operation == RTSCAN_OPERATION_DIVIDE && rtscan_number_is_whole(kind))
	{
		result.low = trunc(result.low);
		result.high = trunc(result.high);
	}
	if (operation == RTSCAN_OPERATION_DIVIDE && kind == RTSCAN_NUMBER_NUMERIC)
		rtscan_allow_rounding(&result);
	return result;
}

/* Return the bounds of the squares of the operand's numbers. */
static RtscanBounds
square_bounds(RtscanNumberKind kind, const RtscanBounds *operand)
{
	RtscanBounds magnitude = {.low = least_magnitude(operand), .high = greatest_magnitude(operand)};
	RtscanBounds low = magnitude,
				high = magnitude;

	low.high = magnitude.low;
	high.low = magnitude.high;
	low = calculate_bounds(RTSCAN_OPERATION_MULTIPLY, kind, &low, &low);
	high = calculate_bounds(RTSCAN_OPERATION_MULTIPLY, kind, &high, &high);
	return (RtscanBounds) {.low = low.low, .high = high.high};
}

static RtscanBounds
power_bounds(const RtscanBounds *operand, double exponent)
{
	RtscanBounds result = {.low = pow(operand->low, exponent), .high = pow(operand->high, exponent)};

	if (fmod(exponent, 2) == 0)
		result = (RtscanBounds) {.low = pow(least_magnitude(operand), exponent),
			.high = pow(greatest_magnitude(operand), exponent)};
	rtscan_allow_rounding(&result);
	return result;
}

/* Return the bounds of numbers rounded to the nearest integers, in whichever direction halves are rounded. */
static RtscanBounds
rounded_bounds(const RtscanBounds *operand)
{
	return (RtscanBounds) {.low = ceil(rtscan_just_below(operand->low - 0.5)),
		.high = floor(rtscan_just_above(operand->high + 0.5))};
}

/* Return the bounds of the results of an operation on finite operands. */
static RtscanBounds
finite_bounds(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left, const RtscanBounds *right)
{
	switch (operation)
	{
		case RTSCAN_OPERATION_SAME:
			return (RtscanBounds) {.low = round_float(kind, left->low), .high = round_float(kind, left->high)};
		case RTSCAN_OPERATION_ROUND:
			return rounded_bounds(left);
		case RTSCAN_OPERATION_NEGATE:
			return (RtscanBounds) {.low = -left->high, .high = -left->low};
		case RTSCAN_OPERATION_ABSOLUTE:
			return (RtscanBounds) {.low = least_magnitude(left), .high = greatest_magnitude(left)};
		case RTSCAN_OPERATION_ROOT:
			return (RtscanBounds) {.low = sqrt(left->low), .high = sqrt(left->high)};
		case RTSCAN_OPERATION_SQUARE:
			return square_bounds(kind, left);
		case RTSCAN_OPERATION_POWER:
			return power_bounds(left, right->low);
		default:
			return calculate_bounds(operation, kind, left, right);
	}
}

/*
 * Return the grid of the finite results of an operation; 0: not known.  The grid of a product of floats may be finer
 * than the floats themselves: then may_underflow() returns true, unless the result's bounds exclude zero.
 */
static double
grid_of_result(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left, const RtscanBounds *right)
{
	if (rtscan_number_is_whole(kind))
		return 1;
	switch (operation)
	{
		case RTSCAN_OPERATION_ROOT:
			return rtscan_grid_of(kind, sqrt(left->grid));
		case RTSCAN_OPERATION_SQUARE:
			return left->grid * left->grid;
		case RTSCAN_OPERATION_POWER:
			return pow(left->grid, right->low);
		case RTSCAN_OPERATION_ADD:
		case RTSCAN_OPERATION_SUBTRACT:

			/*
			 * A sum is a multiple of the smaller of the two grids.  If the absolute value of an operand is at least
			 * m, the sum is also a multiple of the last digit of floats near m / 2, since either the sum or both
			 * operands are at least m / 2 away from zero.  Nothing is known for numerics.
			 */
			if (kind == RTSCAN_NUMBER_NUMERIC)
				return 0;
			return Max(Min(left->grid, right->grid),
					   rtscan_grid_of(kind, Max(least_magnitude(left), least_magnitude(right)) / 2));
		case RTSCAN_OPERATION_MULTIPLY:
			return left->grid * right->grid;
		case RTSCAN_OPERATION_DIVIDE:
			if (kind == RTSCAN_NUMBER_NUMERIC)
				return 0;
			return rtscan_grid_of(kind, left->grid / greatest_magnitude(right) / 2);
		default:
			return left->grid;
	}
}

/*
 * Can the result of an operation on floats be so near to zero that it is rounded to zero?  PostgreSQL raises an error
 * for that.  Increases result->grid if the result's bounds exclude zero.
 */
static bool
may_underflow(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left, const RtscanBounds *right,
			  RtscanBounds *result)
{
	double		nearest = kind == RTSCAN_NUMBER_FLOAT4 ? FLOAT4_GRID : FLOAT8_GRID;
	double		least = least_magnitude(result);

	if (least > 0)
		result->grid = Max(result->grid, rtscan_grid_of(kind, least));
	if (least == 0 && operation == RTSCAN_OPERATION_DIVIDE && left->grid / greatest_magnitude(right) < nearest)
		return true;
	return result->grid < nearest;
}

static bool
is_in_range(RtscanNumberKind kind, const RtscanBounds *bounds)
{
	RtscanBounds range = rtscan_bounds_of_kind(kind);

	if (kind == RTSCAN_NUMBER_INT64)
		return bounds->low >= -INT64_END && bounds->high < INT64_END;
	if (kind == RTSCAN_NUMBER_NUMERIC)
		return isfinite(bounds->low) && isfinite(bounds->high);
	return bounds->low >= range.low && bounds->high <= range.high;
}

/*
 * May an operation on finite numbers fail, even if its result is in range?  Returns true also for powers that are not
 * supported: the exponent must be one integer from 1 to MOST_EXPONENT.
 */
static bool
may_fail(RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right)
{
	switch (operation)
	{
		case RTSCAN_OPERATION_DIVIDE:
			return rtscan_bounds_have_zero(right);
		case RTSCAN_OPERATION_ROOT:
			return left->low < 0 || (left->special & RTSCAN_MINUS_INFINITY) != 0;
		case RTSCAN_OPERATION_POWER:
			return right->special != 0 || right->low != right->high || right->low < 1 || right->low > MOST_EXPONENT ||
				right->low != floor(right->low);
		default:
			return false;
	}
}

/* Does the set have finite numbers, but not a finite bound in each direction? */
static bool
are_unknown(const RtscanBounds *bounds)
{
	return rtscan_bounds_have_finite(bounds) && (isinf(bounds->low) || isinf(bounds->high));
}

/*
 * List up to 6 numbers of a set: its bounds, zero, the infinities and NaN, as far as the set has them.  They
 * represent the set in operations whose other operand is infinite or NaN.  Returns how many there are.
 */
static int
representatives(const RtscanBounds *bounds, double *numbers)
{
	int			n = 0;

	if (rtscan_bounds_have_finite(bounds))
	{
		numbers[n++] = bounds->low;
		numbers[n++] = bounds->high;
		if (rtscan_bounds_have_zero(bounds))
			numbers[n++] = 0;
	}
	if (bounds->special & RTSCAN_MINUS_INFINITY)
		numbers[n++] = -INFINITY;
	if (bounds->special & RTSCAN_PLUS_INFINITY)
		numbers[n++] = INFINITY;
	if (bounds->special & RTSCAN_NOT_A_NUMBER)
		numbers[n++] = NAN;
	return n;
}

static double
calculate_special(RtscanOperation operation, double x, double y)
{
	bool		exact;

	switch (operation)
	{
		case RTSCAN_OPERATION_SAME:
		case RTSCAN_OPERATION_ROUND:
		case RTSCAN_OPERATION_ROOT:
			return x;
		case RTSCAN_OPERATION_NEGATE:
			return -x;
		case RTSCAN_OPERATION_ABSOLUTE:
			return fabs(x);
		case RTSCAN_OPERATION_SQUARE:
			return x * x;
		case RTSCAN_OPERATION_POWER:
			return pow(x, y);
		default:
			return calculate(operation, x, y, &exact);
	}
}

/* Extend the set *result by all results of operations of which an operand is infinite or NaN. */
static void
add_special(RtscanOperation operation, const RtscanBounds *left, const RtscanBounds *right, RtscanBounds *result)
{
	double		xs[6],
				ys[6];
	int			nx = representatives(left, xs);
	int			ny = rtscan_has_two_operands(operation) ? representatives(right, ys) : 1;

	if (!rtscan_has_two_operands(operation))
		ys[0] = 0;
	for (int i = 0; i < nx; i++)
		for (int j = 0; j < ny; j++)
		{
			double		number = calculate_special(operation, xs[i], ys[j]);

			if (isfinite(xs[i]) && isfinite(ys[j]))
				continue;
			result->special |= special_of(number);
			if (isfinite(number))
			{
				result->low = Min(result->low, number);
				result->high = Max(result->high, number);
			}
		}
}

bool
rtscan_bounds_forwards(RtscanOperation operation, RtscanNumberKind kind, const RtscanBounds *left,
					   const RtscanBounds *right, RtscanBounds *result)
{
	bool		binary = rtscan_has_two_operands(operation);
	int			special = left->special | (binary ? right->special : 0);

	*result = rtscan_no_bounds();
	if (are_unknown(left) || (binary && are_unknown(right)) || may_fail(operation, left, right))
		return false;
	/* Integers are never infinite or NaN, dates never NaN; the difference of infinite dates is an error. */
	if (special != 0 && rtscan_number_is_whole(kind) && (kind != RTSCAN_NUMBER_DATE || (special & RTSCAN_NOT_A_NUMBER)))
		return false;
	if (rtscan_bounds_have_finite(left) && (!binary || rtscan_bounds_have_finite(right)))
	{
		*result = finite_bounds(operation, kind, left, right);
		result->grid = grid_of_result(operation, kind, left, right);
		if (!is_in_range(kind, result) ||
			(rtscan_number_is_float(kind) && may_underflow(operation, kind, left, right, result)))
			return false;
	}
	if (special != 0)
		add_special(operation, left, right, result);
	return true;
}
