/* SPDX-License-Identifier: PostgreSQL */
/*
 * expression_sums.c
 *		Compute the sum of an expression's values from the sums of its parts.
 *
 * First, bounds must show that no row's value is NULL, raises an error or is outside the range of its type, and that
 * the sum over all rows fits into 64 bits.  Then the sums of parts, and their factors, are calculated modulo 2^64.
 * The result is right even if the sum of a part overflows.
 */
#include "run/vector/arithmetic_parts.h"

#include "miscadmin.h"
#include "run/vector/masked.h"

/* ---------------------------------------------------------------- steps */

static inline bool
is_constant(const RtscanArithmetic *step)
{
	return step->step == RTSCAN_STEP_CONSTANT;
}

/*
 * Can the sum of a step be computed from its operands' sums, without the step's values?  False if several
 * expressions share the step, because its values are then calculated once for all of them, or if its values have
 * already been calculated for this batch.
 */
static bool
can_be_divided(const RtscanArithmetic *step, const RtscanBatch *batch)
{
	return (step->calculate == rtscan_add_integers || step->calculate == rtscan_multiply_integers) && step->uses == 1 &&
		step->batch != batch->number;
}

/* Return which operand of a product is a constant: 0 or 1, or -1 if neither is. */
static int
constant_operand(const RtscanArithmetic *product)
{
	return is_constant(product->operands[0]) ? 0 : is_constant(product->operands[1]) ? 1 : -1;
}

/* ---------------------------------------------------------------- bounds */

static const RtscanVector *bound_step(RtscanArithmetic *step, RtscanBatch *batch);

/* Is a vector made of integers in the range of the step's type, none of them NULL? */
static bool
is_plain(const RtscanArithmetic *step, const RtscanVector *vector)
{
	return vector->kind == RTSCAN_VECTOR_INTEGERS && !vector->has_nulls &&
		vector->lowest >= step->lowest && vector->highest <= step->highest;
}

static bool
bound_operands(RtscanArithmetic *step, RtscanBatch *batch, bool divided)
{
	for (int i = 0; i < 2; i++)
	{
		RtscanArithmetic *operand = step->operands[i];
		const RtscanVector *vector = divided ? bound_step(operand, batch) : rtscan_calculate(operand, batch);

		if (vector == NULL || !is_plain(operand, vector))
			return false;
		step->vectors[i] = vector;
	}
	return true;
}

/*
 * Find bounds of a step whose sum is computed from its operands' sums.  A product of two operands that are not
 * constants needs the values of both.
 */
static bool
bound_divided(RtscanArithmetic *step, RtscanBatch *batch)
{
	RtscanVector *result = rtscan_step_values(step);

	rtscan_clear_nulls(result);
	if (step->calculate == rtscan_add_integers)
		return bound_operands(step, batch, true) && rtscan_bound_sum(step, step->vectors, step->multiples, result);
	return bound_operands(step, batch, constant_operand(step) >= 0) && rtscan_bound_product(step->vectors, result);
}

/*
 * Return a vector that has scale and bounds of a step's values, but may not have the values.  NULL if the sum of the
 * values cannot be computed from parts.
 */
static const RtscanVector *
bound_step(RtscanArithmetic *step, RtscanBatch *batch)
{
	const RtscanVector *vector;

	check_stack_depth();
	step->divided = can_be_divided(step, batch);
	if (step->step == RTSCAN_STEP_SAME)
		vector = bound_step(step->operands[0], batch);
	else if (step->divided)
		vector = bound_divided(step, batch) ? step->values : NULL;
	else
		vector = rtscan_calculate(step, batch);
	return vector && is_plain(step, vector) ? vector : NULL;
}

bool
rtscan_can_sum(RtscanArithmetic *arithmetic, RtscanBatch *batch)
{
	const RtscanVector *vector = bound_step(arithmetic, batch);

	return vector && rtscan_is_within(vector, PG_INT64_MAX / RTSCAN_CURSOR_ROWS);
}

/* ---------------------------------------------------------------- sums */

static uint64 add_up_masked(const RtscanArithmetic *step, const RtscanMaskedRows *rows);

static uint64
add_up_masked_product(const RtscanArithmetic *product, const RtscanMaskedRows *rows)
{
	int			constant = constant_operand(product);

	if (constant < 0)
		return rtscan_sum_products_modulo(product->vectors[0]->digits, product->vectors[1]->digits,
										  rows->mask, rows->n);
	return (uint64) product->vectors[constant]->lowest * add_up_masked(product->operands[1 - constant], rows);
}

static uint64
add_up_masked(const RtscanArithmetic *step, const RtscanMaskedRows *rows)
{
	if (step->step == RTSCAN_STEP_SAME)
		return add_up_masked(step->operands[0], rows);
	if (is_constant(step))
		return (uint64) step->found->lowest * rows->count;
	if (!step->divided)
		return rtscan_sum_modulo(step->found->digits, rows->mask, rows->n);
	if (step->calculate == rtscan_multiply_integers)
		return add_up_masked_product(step, rows);
	return (uint64) step->multiples[0] * add_up_masked(step->operands[0], rows) +
		(uint64) step->multiples[1] * add_up_masked(step->operands[1], rows);
}

RtscanTotal
rtscan_sum_expression(const RtscanArithmetic *arithmetic, const RtscanMaskedRows *rows, int *scale)
{
	int64		sum = (int64) add_up_masked(arithmetic, rows);

	while (arithmetic->step == RTSCAN_STEP_SAME)
		arithmetic = arithmetic->operands[0];
	*scale = arithmetic->values->scale;
	return (RtscanTotal) {.count = rows->count, .upper = sum >> 32, .lower = (uint32) sum};
}
