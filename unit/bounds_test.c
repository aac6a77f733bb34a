/* SPDX-License-Identifier: PostgreSQL */
/*
 * bounds_test.c
 *		Test interval arithmetic against operations on single numbers.
 *
 * Bounds are computed from some numbers, so that they are among the numbers: a bound that is one too narrow loses a
 * number.
 */
#include "unit.h"

#include "bounds.h"

#include <float.h>
#include <math.h>

#include "common/int.h"

#define NUMBERS		6
#define ROUNDS		40000

/* A sample of numbers, and their bounds. */
typedef struct Sample
{
	double		numbers[NUMBERS];
	RtscanBounds bounds;
} Sample;

static const RtscanNumberKind kinds[] = {
	RTSCAN_NUMBER_INT16, RTSCAN_NUMBER_INT32, RTSCAN_NUMBER_INT64, RTSCAN_NUMBER_FLOAT4, RTSCAN_NUMBER_FLOAT8,
	RTSCAN_NUMBER_NUMERIC
};

/* ---------------------------------------------------------------- numbers */

static double
random_integer(int bits)
{
	double		number = (double) (int64) (unit_bits(bits) >> (unit_one_in(3) ? unit_below(bits) : 0));

	return unit_one_in(2) ? -number : number;
}

static double
random_float(void)
{
	static const double rare[] = {0, -0.0, 1, -1, 0.5, 1e-320, -1e-160, 1e-160, 1e160, -1e300, DBL_MAX, -DBL_MAX,
		DBL_MIN};

	if (unit_one_in(12))
		return rare[unit_below(lengthof(rare))];
	return ldexp(random_integer(53), (int) unit_below(60) - 50);
}

static double
random_number(RtscanNumberKind kind)
{
	switch (kind)
	{
		case RTSCAN_NUMBER_INT16:
			return random_integer(15);
		case RTSCAN_NUMBER_INT32:
			return random_integer(31);
		case RTSCAN_NUMBER_INT64:
			return random_integer(53);
		case RTSCAN_NUMBER_FLOAT4:
			return (float) (unit_one_in(10) ? ldexp(random_integer(24), (int) unit_below(250) - 140) : random_float());
		case RTSCAN_NUMBER_FLOAT8:
			return random_float();
		default:
			return random_integer(20) / 8;
	}
}

static double
random_special(void)
{
	static const double special[] = {INFINITY, -INFINITY, NAN};

	return special[unit_below(lengthof(special))];
}

static void
add_bounds(RtscanBounds *bounds, RtscanBounds one)
{
	bounds->special |= one.special;
	bounds->low = Min(bounds->low, one.low);
	bounds->high = Max(bounds->high, one.high);
	bounds->grid = Min(bounds->grid, one.grid);
}

static void
add_number(RtscanBounds *bounds, double number)
{
	add_bounds(bounds, rtscan_bounds_of(number));
}

static Sample
random_sample(RtscanNumberKind kind)
{
	Sample		sample = {.bounds = rtscan_no_bounds()};
	bool		near = unit_one_in(2);
	bool		special = rtscan_number_is_float(kind) && unit_one_in(4);
	double		base = random_number(kind);

	sample.bounds.grid = INFINITY;
	for (int i = 0; i < NUMBERS; i++)
	{
		double		number = near ? base + (double) unit_below(9) - 4 : random_number(kind);

		if (fabs(number) > rtscan_bounds_of_kind(kind).high)
			number = 0;
		sample.numbers[i] = special && unit_one_in(3) ? random_special() :
			kind == RTSCAN_NUMBER_FLOAT4 ? (float) number : number;
		add_number(&sample.bounds, sample.numbers[i]);
	}
	if (isinf(sample.bounds.grid))
		sample.bounds.grid = 1;
	if (kind == RTSCAN_NUMBER_NUMERIC)
		sample.bounds.grid = 0;
	return sample;
}

static bool
has_number(const RtscanBounds *bounds, double number)
{
	RtscanBounds one = rtscan_bounds_of(number);

	return one.special != 0 ? (bounds->special & one.special) != 0 : number >= bounds->low && number <= bounds->high;
}

/* ---------------------------------------------------------------- operations as in PostgreSQL */

/* Calculate with integers.  Returns false for an error. */
static bool
calculate_integers(RtscanOperation operation, RtscanNumberKind kind, int64 x, int64 y, int64 *result)
{
	RtscanBounds range = rtscan_bounds_of_kind(kind);
	bool		overflow = false;

	switch (operation)
	{
		case RTSCAN_OPERATION_ADD:
			overflow = pg_add_s64_overflow(x, y, result);
			break;
		case RTSCAN_OPERATION_SUBTRACT:
			overflow = pg_sub_s64_overflow(x, y, result);
			break;
		case RTSCAN_OPERATION_SQUARE:
		case RTSCAN_OPERATION_MULTIPLY:
			overflow = pg_mul_s64_overflow(x, y, result);
			break;
		case RTSCAN_OPERATION_DIVIDE:
			if (y == 0)
				return false;
			*result = x / y;
			break;
		case RTSCAN_OPERATION_NEGATE:
			*result = -x;
			break;
		case RTSCAN_OPERATION_ABSOLUTE:
			*result = x < 0 ? -x : x;
			break;
		default:
			*result = x;
	}
	return !overflow && (kind == RTSCAN_NUMBER_INT64 || (*result >= range.low && *result <= range.high));
}

/* Calculate with floats, in their own precision. */
static double
calculate_floats(RtscanOperation operation, RtscanNumberKind kind, double x, double y)
{
	bool		single = kind == RTSCAN_NUMBER_FLOAT4;

	switch (operation)
	{
		case RTSCAN_OPERATION_ADD:
			return single ? (float) x + (float) y : x + y;
		case RTSCAN_OPERATION_SUBTRACT:
			return single ? (float) x - (float) y : x - y;
		case RTSCAN_OPERATION_SQUARE:
		case RTSCAN_OPERATION_MULTIPLY:
			return single ? (float) x * (float) y : x * y;
		case RTSCAN_OPERATION_DIVIDE:
			return single ? (float) x / (float) y : x / y;
		case RTSCAN_OPERATION_POWER:
			return pow(x, y);
		case RTSCAN_OPERATION_ROOT:
			return sqrt(x);
		case RTSCAN_OPERATION_NEGATE:
			return -x;
		case RTSCAN_OPERATION_ABSOLUTE:
			return fabs(x);
		default:
			return single ? (float) x : x;
	}
}

/*
 * Return true if PostgreSQL raises an error: for division by zero, roots, or if finite numbers have an infinite
 * result, or zero.
 */
static bool
float_fails(RtscanOperation operation, double x, double y, double result)
{
	bool		binary = rtscan_has_two_operands(operation);

	if (operation == RTSCAN_OPERATION_DIVIDE && y == 0)
		return true;
	if (operation == RTSCAN_OPERATION_ROOT && x < 0)
		return true;
	if (isinf(result) && isfinite(x) && (!binary || isfinite(y)))
		return true;
	if (operation == RTSCAN_OPERATION_ADD || operation == RTSCAN_OPERATION_SUBTRACT)
		return false;
	return result == 0 && x != 0 && !(binary && operation == RTSCAN_OPERATION_MULTIPLY && y == 0) &&
		!(operation == RTSCAN_OPERATION_DIVIDE && isinf(y));
}

/* Calculate.  Returns false for an error. */
static bool
calculate(RtscanOperation operation, RtscanNumberKind kind, double x, double y, double *result)
{
	int64		integer;

	if (!rtscan_number_is_whole(kind))
	{
		*result = calculate_floats(operation, kind == RTSCAN_NUMBER_NUMERIC ? RTSCAN_NUMBER_FLOAT8 : kind, x, y);
		return kind == RTSCAN_NUMBER_NUMERIC || !float_fails(operation, x, y, *result);
	}
	if (operation == RTSCAN_OPERATION_ROUND)
	{
		*result = unit_one_in(2) ? rint(x) : round(x);
		return has_number(&(RtscanBounds) {.low = rtscan_bounds_of_kind(kind).low,
			.high = rtscan_bounds_of_kind(kind).high}, *result);
	}
	if (!calculate_integers(operation, kind, (int64) x, (int64) y, &integer))
		return false;
	*result = (double) integer;
	return true;
}

/* ---------------------------------------------------------------- tests */

typedef struct Case
{
	RtscanOperation operation;
	RtscanNumberKind kind;
	Sample		left;
	Sample		right;
} Case;

static Case
random_case(void)
{
	Case		one = {.operation = unit_below(RTSCAN_OPERATION_DIVIDE + 1),
		.kind = kinds[unit_below(lengthof(kinds))]};
	bool		to_float8 = one.operation == RTSCAN_OPERATION_POWER || one.operation == RTSCAN_OPERATION_ROOT;

	if (to_float8 || (one.operation == RTSCAN_OPERATION_DIVIDE && one.kind == RTSCAN_NUMBER_NUMERIC))
		one.kind = RTSCAN_NUMBER_FLOAT8;
	if (one.operation == RTSCAN_OPERATION_ROUND)
		one.kind = RTSCAN_NUMBER_INT32;
	one.left = random_sample(one.operation == RTSCAN_OPERATION_ROUND ||
							 (one.operation == RTSCAN_OPERATION_SAME && one.kind == RTSCAN_NUMBER_FLOAT4) ?
							 RTSCAN_NUMBER_FLOAT8 : one.kind);
	one.right = random_sample(one.kind);
	if (one.operation == RTSCAN_OPERATION_POWER)
	{
		double		exponent = 1 + unit_below(5);

		for (int i = 0; i < NUMBERS; i++)
			one.right.numbers[i] = exponent;
		one.right.bounds = rtscan_bounds_of(exponent);
	}
	return one;
}

/* Return the bounds of a result.  For large integers the double is only an approximation. */
static RtscanBounds
bounds_of_result(RtscanNumberKind kind, double result)
{
	RtscanBounds one = rtscan_bounds_of(result);

	if (rtscan_number_is_whole(kind) && fabs(result) >= ldexp(1, DBL_MANT_DIG))
	{
		one.low = rtscan_just_below(result);
		one.high = rtscan_just_above(result);
	}
	return one;
}

static bool
has_all(const RtscanBounds *bounds, const RtscanBounds *some)
{
	return some->special != 0 ? (bounds->special & some->special) != 0 :
		bounds->low <= some->low && some->high <= bounds->high;
}

/* Return narrower bounds of the results, those of some of them. */
static RtscanBounds
some_bounds(RtscanNumberKind kind, const RtscanBounds *all, double results[NUMBERS][NUMBERS])
{
	RtscanBounds some = rtscan_no_bounds();

	for (int i = 1 + unit_below(4); i > 0; i--)
		add_bounds(&some, bounds_of_result(kind, results[unit_below(NUMBERS)][unit_below(NUMBERS)]));
	some.grid = all->grid;
	return rtscan_bounds_intersect(all, &some);
}

static void
check_backwards(const Case *one, const RtscanBounds *all, double results[NUMBERS][NUMBERS])
{
	RtscanBounds wanted = some_bounds(one->kind, all, results),
				left = one->left.bounds,
				right = one->right.bounds;

	rtscan_bounds_backwards(one->operation, one->kind, &wanted, &left, &right);
	for (int i = 0; i < NUMBERS; i++)
		for (int j = 0; j < NUMBERS; j++)
		{
			RtscanBounds result = bounds_of_result(one->kind, results[i][j]);

			if (!has_all(&wanted, &result))
				continue;
			assert_true(has_number(&left, one->left.numbers[i]));
			assert_true(has_number(&right, one->right.numbers[j]));
		}
}

static void
test_operations(void **state)
{
	uint32		narrowed = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		Case		one = random_case();
		bool		square = one.operation == RTSCAN_OPERATION_SQUARE;
		double		results[NUMBERS][NUMBERS];
		RtscanBounds all;

		if (!rtscan_bounds_forwards(one.operation, one.kind, &one.left.bounds, &one.right.bounds, &all))
			continue;
		narrowed++;
		for (int i = 0; i < NUMBERS; i++)
			for (int j = 0; j < NUMBERS; j++)
			{
				double		x = one.left.numbers[i];

				assert_true(calculate(one.operation, one.kind, x, square ? x : one.right.numbers[j], &results[i][j]));
				assert_true(has_number(&all, results[i][j]));
				if (isfinite(results[i][j]) && all.grid > 0 && one.kind != RTSCAN_NUMBER_NUMERIC)
					assert_true(fmod(results[i][j], all.grid) == 0);
			}
		check_backwards(&one, &all, results);
	}
	assert_true(narrowed > ROUNDS / 10);
}

/* Compare as PostgreSQL sorts floats: NaN is equal to itself, and greater than all others. */
static int
compare(double x, double y)
{
	if (isnan(x) || isnan(y))
		return (int) isnan(x) - (int) isnan(y);
	return x < y ? -1 : x > y;
}

static bool
passes(int strategy, double x, double y)
{
	int			order = compare(x, y);

	return strategy == 1 ? order < 0 : strategy == 2 ? order <= 0 : strategy == 3 ? order == 0 :
		strategy == 4 ? order >= 0 : order > 0;
}

static void
test_comparisons(void **state)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		RtscanNumberKind kind = kinds[unit_below(lengthof(kinds))];
		int			strategy = 1 + unit_below(5);
		Sample		x = random_sample(kind),
					y = unit_one_in(2) ? x : random_sample(kind);
		RtscanBounds left = x.bounds,
					right = y.bounds;

		rtscan_bounds_compare(strategy, rtscan_number_is_whole(kind), &left, &right);
		for (int i = 0; i < NUMBERS; i++)
			for (int j = 0; j < NUMBERS; j++)
				if (passes(strategy, x.numbers[i], y.numbers[j]))
				{
					assert_true(has_number(&left, x.numbers[i]));
					assert_true(has_number(&right, y.numbers[j]));
				}
	}
}

/* Test that bounds are as narrow as possible if doubles represent all numbers. */
static void
test_examples(void **state)
{
	RtscanBounds x = {.low = -100, .high = 100, .grid = 1},
				k = rtscan_bounds_of(10),
				product;

	assert_true(rtscan_bounds_forwards(RTSCAN_OPERATION_MULTIPLY, RTSCAN_NUMBER_INT32, &x, &k, &product));
	assert_true(product.low == -1000 && product.high == 1000);
	product.high = 70;
	rtscan_bounds_backwards(RTSCAN_OPERATION_MULTIPLY, RTSCAN_NUMBER_INT32, &product, &x, &k);
	assert_true(x.low == -100 && x.high == 7);
	x.high = PG_INT32_MAX;
	assert_false(rtscan_bounds_forwards(RTSCAN_OPERATION_ADD, RTSCAN_NUMBER_INT32, &x, &k, &product));
	assert_true(rtscan_bounds_forwards(RTSCAN_OPERATION_ADD, RTSCAN_NUMBER_INT64, &x, &k, &product));
	k = rtscan_bounds_of(1);
	assert_false(rtscan_bounds_forwards(RTSCAN_OPERATION_ADD, RTSCAN_NUMBER_INT32, &x, &k, &product));
	k.low = 0;
	assert_false(rtscan_bounds_forwards(RTSCAN_OPERATION_DIVIDE, RTSCAN_NUMBER_INT64, &x, &k, &product));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_examples),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
