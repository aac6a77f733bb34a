/* SPDX-License-Identifier: PostgreSQL */
/*
 * expression_sums.c
 *		Compute the sum of an expression's values from the sums of its parts.
 *
 * Before that, bounds show that no row's value is NULL, raises an error or is outside the range of its type, and
 * that the sum of all fits.  Then sums, and their factors, are calculated modulo 2^64, which is right for the whole
 * even if a part overflows.
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
 * Can the sum of a step be made of its operands' sums, without its own values?  A part that occurs several times
 * had better be calculated once, and values that have been calculated for this batch are used.
 */
static bool
can_be_divided(const RtscanArithmetic *step, const RtscanBatch *batch)
{
	return (step->calculate == rtscan_add_integers || step->calculate == rtscan_multiply_integers) && step->uses == 1 &&
		!step->in_utc && step->batch != batch->number;
}

/* Return the number of the operand of a product that is a constant, or -1. */
static int
constant_operand(const RtscanArithmetic *product)
{
	return is_constant(product->operands[0]) ? 0 : is_constant(product->operands[1]) ? 1 : -1;
}

/* ---------------------------------------------------------------- bounds */

static const RtscanVector *bound_step(RtscanArithmetic *step, RtscanBatch *batch);

/* Is no value NULL, or outside the range of the step's type? */
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

/* Bound a step whose sum is made of parts.  A product needs the values of both operands, unless one is a constant. */
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
 * Return a vector with scale and bounds of a step's values, and perhaps nothing else; NULL if their sum cannot be
 * made of parts.
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
