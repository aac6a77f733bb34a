/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_sums.c
 *		Computes sums of expressions from device aggregates.
 *
 * The value of a row and its intermediate results have 64 bits.  Bounds and sums have 128 bits, because they are
 * multiplied by powers of ten and by numbers of rows.
 */
#include "run/device_aggregate/device_sums.h"

#include "miscadmin.h"
#include "run/vector/arithmetic_parts.h"
#include "segment/typed.h"

#ifdef HAVE_INT128

#define MAX_SCALE	(2 * RTSCAN_MAX_SCALE)

/* ---------------------------------------------------------------- steps */

static bool
is_sum(const RtscanArithmetic *step)
{
	return step->calculate == rtscan_add_integers;
}

static bool
is_product(const RtscanArithmetic *step)
{
	return step->calculate == rtscan_multiply_integers;
}

static bool
is_negation(const RtscanArithmetic *step)
{
	return step->calculate == rtscan_negate_integers;
}

/* Is a parameter's value an integer?  True if "batch" is NULL: an integer is assumed while the value is not known. */
static bool
is_known(const RtscanArithmetic *step, const struct RtscanBatch *batch)
{
	RtscanDecimal decimal;

	return batch == NULL ||
		(rtscan_read_parameter(step, batch) && !step->constant->constisnull &&
		 rtscan_constant_as_integer(step->constant, &decimal));
}

bool
rtscan_is_device_agg_sum(const RtscanArithmetic *step, const struct RtscanBatch *batch)
{
	bool		is = step->kind == RTSCAN_VECTOR_INTEGERS;

	check_stack_depth();
	switch (step->step)
	{
		case RTSCAN_STEP_COLUMN:
			return is;
		case RTSCAN_STEP_CONSTANT:
			return is && !step->constant->constisnull;
		case RTSCAN_STEP_PARAMETER:
			return is && is_known(step, batch);
		case RTSCAN_STEP_SAME:
			break;
		case RTSCAN_STEP_STRICT:
			is = is && (is_sum(step) || is_product(step) || is_negation(step));
			break;
		default:
			return false;
	}
	for (int i = 0; i < step->noperands && is; i++)
		is = rtscan_is_device_agg_sum(step->operands[i], batch);
	return is;
}

static int64
power_of_ten(int exponent)
{
	int64		power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

static RtscanDecimal
constant_of(const RtscanArithmetic *step)
{
	RtscanDecimal decimal = {0, 0};

	(void) rtscan_constant_as_integer(step->constant, &decimal);
	return decimal;
}

/* ---------------------------------------------------------------- bounds */

/* The bounds of a step's values. */
typedef struct Bounds
{
	int128		lowest;
	int128		highest;
	int			scale;
	bool		known;			/* all rows of a cell have the same value */
} Bounds;

/* The request of a sum: the columns of the expression become values of a device aggregate one after another. */
typedef struct Asking
{
	RtscanDeviceAgg *agg;
	RtscanReader *reader;
	const RtscanSchema *schema;
	int			nmeasured;		/* number of *measured* columns: they are no digits, and the device adds them up */
	bool		nulls;			/* a column that is measured is NULL in some rows */
} Asking;

static bool bound(Asking *asking, const RtscanArithmetic *step, bool as_digits, Bounds *bounds);

/* Find the bounds of the integers that the codes below "null" represent.  Without codes the bounds stay 0. */
static void
bound_codes(const RtscanDeviceAggValue *value, uint32 null, Bounds *bounds)
{
	for (uint32 i = 0; i < null; i++)
	{
		bounds->lowest = i == 0 ? value->integers[i] : Min(bounds->lowest, value->integers[i]);
		bounds->highest = i == 0 ? value->integers[i] : Max(bounds->highest, value->integers[i]);
	}
}

static bool
bound_column(Asking *asking, const RtscanArithmetic *step, bool as_digits, Bounds *bounds)
{
	RtscanDeviceAgg *agg = asking->agg;
	const RtscanDeviceAggValue *value = &agg->values[agg->nvalues];

	if (!(as_digits ? rtscan_add_device_agg_factor(agg, asking->reader, asking->schema, step->column) :
		  rtscan_add_device_agg_value(agg, asking->reader, asking->schema, step->column, RTSCAN_TOTAL_SUM)))
		return false;
	*bounds = (Bounds) {.scale = value->of.scale, .known = value->digit > 0};
	if (value->integers)
		bound_codes(value, rtscan_code_count(rtscan_open_values(asking->reader, asking->schema, step->column)) - 1,
					bounds);
	else
	{
		bounds->lowest = value->of.least;
		bounds->highest = (int128) value->of.least + value->of.largest;
	}
	asking->nmeasured += !bounds->known;
	asking->nulls |= !bounds->known && value->nulls;
	return true;
}

/*
 * Return how many combinations of values the measurable columns of an expression can have; 1 if none is measurable.  A
 * column is measurable if rtscan_count_measurable_values() is not 0.
 */
static double
count_measured(const Asking *asking, const RtscanArithmetic *step)
{
	double		combinations = 1;
	double		ways = step->step == RTSCAN_STEP_COLUMN ?
		rtscan_count_measurable_values(asking->reader, asking->schema, step->column) : 0;

	check_stack_depth();
	if (ways > 0)
		return ways;
	for (int i = 0; i < step->noperands; i++)
		combinations *= Max(count_measured(asking, step->operands[i]), 1);
	return combinations;
}

static void
multiply_bounds(const Bounds *left, const Bounds *right, Bounds *product)
{
	int128		a = left->lowest * right->lowest,
				b = left->lowest * right->highest,
				c = left->highest * right->lowest,
				d = left->highest * right->highest;

	product->lowest = Min(Min(a, b), Min(c, d));
	product->highest = Max(Max(a, b), Max(c, d));
}

static bool
bound_product(Asking *asking, const RtscanArithmetic *step, bool as_digits, Bounds *bounds)
{
	double		left = count_measured(asking, step->operands[0]);
	double		right = count_measured(asking, step->operands[1]);
	bool		both = left > 1 && right > 1;
	Bounds		of[2];

	if (!bound(asking, step->operands[0], as_digits || (both && left <= right), &of[0]) ||
		!bound(asking, step->operands[1], as_digits || (both && left > right), &of[1]))
		return false;
	multiply_bounds(&of[0], &of[1], bounds);
	bounds->scale = of[0].scale + of[1].scale;
	bounds->known = of[0].known && of[1].known;
	return of[0].known || of[1].known;
}

static bool
is_within(const Bounds *bounds, const RtscanArithmetic *step)
{
	return bounds->scale <= MAX_SCALE && bounds->lowest >= step->lowest && bounds->highest <= step->highest;
}

/* Find the bounds of a sum's operand, multiplied by its constant factor if it has one. */
static bool
bound_operand(Asking *asking, const RtscanArithmetic *step, int number, bool as_digits, Bounds *bounds)
{
	Bounds		factor = {step->factors[number], step->factors[number], 0, true};
	Bounds		of;

	if (!bound(asking, step->operands[number], as_digits, &of))
		return false;
	*bounds = of;
	if (step->products[number] == NULL)
		return true;
	multiply_bounds(&of, &factor, bounds);
	return is_within(bounds, step->products[number]);
}

/* Convert bounds to a larger scale. */
static void
scale_bounds(Bounds *bounds, int scale)
{
	int64		power = power_of_ten(scale - bounds->scale);

	bounds->lowest *= power;
	bounds->highest *= power;
}

static bool
bound_sum(Asking *asking, const RtscanArithmetic *step, bool as_digits, Bounds *bounds)
{
	Bounds		of[2];

	for (int i = 0; i < 2; i++)
		if (!bound_operand(asking, step, i, as_digits, &of[i]))
			return false;
	bounds->scale = Max(of[0].scale, of[1].scale);
	bounds->known = of[0].known && of[1].known;
	if (bounds->scale - Min(of[0].scale, of[1].scale) > RTSCAN_MAX_SCALE)
		return false;
	scale_bounds(&of[0], bounds->scale);
	scale_bounds(&of[1], bounds->scale);
	bounds->lowest = of[0].lowest + (step->parameter < 0 ? -of[1].highest : of[1].lowest);
	bounds->highest = of[0].highest + (step->parameter < 0 ? -of[1].lowest : of[1].highest);
	return true;
}

static bool
bound_negation(Asking *asking, const RtscanArithmetic *step, bool as_digits, Bounds *bounds)
{
	Bounds		of;

	if (!bound(asking, step->operands[0], as_digits, &of))
		return false;
	*bounds = (Bounds) {-of.highest, -of.lowest, of.scale, of.known};
	return true;
}

static bool
bound_constant(const RtscanArithmetic *step, Bounds *bounds)
{
	RtscanDecimal decimal = constant_of(step);

	*bounds = (Bounds) {decimal.digits, decimal.digits, decimal.scale, true};
	return true;
}

/*
 * Find the bounds of a step's values, and add its columns to the device aggregate, as digits if "as_digits" is true.
 * False if the device aggregate cannot have the columns, if both factors of a product have measured columns, or if the
 * bounds exceed those of the step's type.
 */
static bool
bound(Asking *asking, const RtscanArithmetic *step, bool as_digits, Bounds *bounds)
{
	bool		bounded;

	check_stack_depth();
	if (step->step == RTSCAN_STEP_COLUMN)
		bounded = bound_column(asking, step, as_digits, bounds);
	else if (step->step == RTSCAN_STEP_CONSTANT || step->step == RTSCAN_STEP_PARAMETER)
		bounded = bound_constant(step, bounds);
	else if (step->step == RTSCAN_STEP_SAME)
		bounded = bound(asking, step->operands[0], as_digits, bounds);
	else if (is_product(step))
		bounded = bound_product(asking, step, as_digits, bounds);
	else if (is_sum(step))
		bounded = bound_sum(asking, step, as_digits, bounds);
	else
		bounded = bound_negation(asking, step, as_digits, bounds);
	return bounded && is_within(bounds, step);
}

/* Are all columns of an expression the index's own?  A device has no values of dimensions' columns to add up. */
static bool
is_of_index(const RtscanArithmetic *step, const RtscanSchema *schema)
{
	bool		is = step->step != RTSCAN_STEP_COLUMN || step->column < schema->ncolumns;

	check_stack_depth();
	for (int i = 0; i < step->noperands && is; i++)
		is = is_of_index(step->operands[i], schema);
	return is;
}

/*
 * If several columns are measured, none of them may be NULL in any row.  Otherwise the columns' sums would be sums over
 * different rows.
 */
bool
rtscan_ask_for_sum(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
				   const RtscanArithmetic *argument)
{
	Asking		asking = {.agg = agg, .reader = reader, .schema = schema};
	Bounds		bounds;

	return is_of_index(argument, schema) && bound(&asking, argument, false, &bounds) &&
		(asking.nmeasured <= 1 || !asking.nulls);
}

/* ---------------------------------------------------------------- sums */

/* The result of a step in an entry. */
typedef struct Part
{
	int128		number;			/* if known, the value that all rows have; otherwise the sum of the rows' values */
	int			scale;
	bool		known;			/* all rows have the same value */
} Part;

typedef struct Summing
{
	const RtscanDeviceAgg *agg;
	uint32		entry;
	int			next;			/* number of the device aggregate's value for the next column */
	int64		count;			/* number of rows in which the expression is not NULL */
} Summing;

static Part add_up(Summing *summing, const RtscanArithmetic *step);

static Part
add_up_column(Summing *summing)
{
	const RtscanDeviceAggValue *value = &summing->agg->values[summing->next];
	RtscanTotal total = rtscan_device_agg_total(summing->agg, summing->next++, summing->entry);

	if (value->digit > 0)
		return (Part) {total.outermost, value->of.scale, true};
	return (Part) {(int128) total.upper * (INT64CONST(1) << 32) + total.lower, value->of.scale, false};
}

/* Return the sum of a step's values over all rows in which the expression is not NULL. */
static int128
sum_of(const Summing *summing, const Part *part)
{
	return part->known ? part->number * summing->count : part->number;
}

static Part
add_up_product(Summing *summing, const RtscanArithmetic *step)
{
	Part		left = add_up(summing, step->operands[0]);
	Part		right = add_up(summing, step->operands[1]);

	return (Part) {left.number * right.number, left.scale + right.scale, left.known && right.known};
}

static Part
add_up_operand(Summing *summing, const RtscanArithmetic *step, int number)
{
	Part		part = add_up(summing, step->operands[number]);

	if (step->products[number])
		part.number *= step->factors[number];
	if (number == 1 && step->parameter < 0)
		part.number = -part.number;
	return part;
}

static Part
add_up_sum(Summing *summing, const RtscanArithmetic *step)
{
	Part		left = add_up_operand(summing, step, 0);
	Part		right = add_up_operand(summing, step, 1);
	Part		sum = {.scale = Max(left.scale, right.scale), .known = left.known && right.known};

	left.number *= power_of_ten(sum.scale - left.scale);
	right.number *= power_of_ten(sum.scale - right.scale);
	sum.number = sum.known ? left.number + right.number : sum_of(summing, &left) + sum_of(summing, &right);
	return sum;
}

static Part
add_up_negation(Summing *summing, const RtscanArithmetic *step)
{
	Part		part = add_up(summing, step->operands[0]);

	part.number = -part.number;
	return part;
}

static Part
add_up(Summing *summing, const RtscanArithmetic *step)
{
	RtscanDecimal decimal;

	switch (step->step)
	{
		case RTSCAN_STEP_COLUMN:
			return add_up_column(summing);
		case RTSCAN_STEP_CONSTANT:
		case RTSCAN_STEP_PARAMETER:
			decimal = constant_of(step);
			return (Part) {decimal.digits, decimal.scale, true};
		case RTSCAN_STEP_SAME:
			return add_up(summing, step->operands[0]);
		default:
			return is_product(step) ? add_up_product(summing, step) :
				is_sum(step) ? add_up_sum(summing, step) : add_up_negation(summing, step);
	}
}

static int
count_step_columns(const RtscanArithmetic *step)
{
	int			columns = step->step == RTSCAN_STEP_COLUMN;

	for (int i = 0; i < step->noperands; i++)
		columns += count_step_columns(step->operands[i]);
	return columns;
}

/*
 * Count the rows of an entry in which no column of an expression is NULL.  This is the least count of all columns: at
 * most one column is NULL in some rows of the entry only, and any other column is NULL in all rows or in none.
 */
static int64
count_rows_without_null(const RtscanDeviceAgg *agg, int first, int end, uint32 entry)
{
	int64		count = (int64) rtscan_device_agg_rows(agg, entry);

	for (int i = first; i < end; i++)
		count = Min(count, (int64) rtscan_device_agg_total(agg, i, entry).count);
	return count;
}

RtscanTotal
rtscan_device_agg_sum(const RtscanDeviceAgg *agg, int *number, const RtscanArithmetic *argument, uint32 entry,
					  int *scale)
{
	int			end = *number + count_step_columns(argument);
	Summing		summing = {
		.agg = agg,
		.entry = entry,
		.next = *number,
		.count = count_rows_without_null(agg, *number, end, entry)
	};
	Part		part;
	int128		sum;

	*number = end;
	if (summing.count == 0)
		return (RtscanTotal) {0};
	part = add_up(&summing, argument);
	sum = sum_of(&summing, &part);
	*scale = part.scale;
	return (RtscanTotal) {.count = summing.count, .upper = (int64) (sum >> 32), .lower = (uint32) sum};
}

#else							/* without 128-bit integers rows are added one by one */

bool
rtscan_is_device_agg_sum(const RtscanArithmetic *argument, const struct RtscanBatch *batch)
{
	return false;
}

bool
rtscan_ask_for_sum(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
				   const RtscanArithmetic *argument)
{
	return false;
}

RtscanTotal
rtscan_device_agg_sum(const RtscanDeviceAgg *agg, int *number, const RtscanArithmetic *argument, uint32 entry,
					  int *scale)
{
	return (RtscanTotal) {0};
}

#endif

bool
rtscan_may_be_device_agg_sum(const Expr *row_expression)
{
	List	   *known = NIL;
	const RtscanArithmetic *step = rtscan_arithmetic(row_expression, &known);

	return step && rtscan_is_device_agg_sum(step, NULL);
}
