/*
 * expression_sums.c
 *		The sum of an expression's values, from those of its parts.
 *
 * What is added up is modulo 2^64, as is what sums are multiplied by: it is right if the sum of the whole fits, whatever its parts
 * come to.
 */
#include "run/arithmetic_parts.h"

#include "miscadmin.h"
#include "run/masked.h"

/* The rows of a batch that are wanted: NULL, none are added up. */
typedef struct WantedRows
{
	const uint64 *mask;
	uint32		count;
} WantedRows;

static const RtscanVector *sum_step(RtscanArithmetic *step, RtscanBatch *batch, const WantedRows *rows, uint64 *sum);

static inline bool
is_constant(const RtscanArithmetic *step)
{
	return step->step == RTSCAN_STEP_CONSTANT;
}

/* Is nothing NULL, or beyond the step's type? */
static bool
is_plain(const RtscanArithmetic *step, const RtscanVector *vector)
{
	return vector->kind == RTSCAN_VECTOR_INTEGERS && !vector->has_nulls && vector->lowest >= step->lowest && vector->highest <= step->highest;
}

static const RtscanVector *
sum_values(RtscanArithmetic *step, RtscanBatch *batch, const WantedRows *rows, uint64 *sum)
{
	const RtscanVector *vector = rtscan_calculate(step, batch);

	if (vector == NULL || rows->mask == NULL)
		return vector;
	*sum = rtscan_is_constant(vector) ? (uint64) vector->lowest * rows->count
		: rtscan_sum_small(vector->digits, rows->mask, batch->n);
	return vector;
}

static const RtscanVector *
sum_sum(RtscanArithmetic *step, RtscanBatch *batch, const WantedRows *rows, uint64 *sum)
{
	RtscanVector *result = rtscan_step_values(step);
	uint64		sums[2] = {0, 0};
	int64		multiples[2];

	for (int i = 0; i < 2; i++)
	{
		step->vectors[i] = sum_step(step->operands[i], batch, rows, &sums[i]);
		if (step->vectors[i] == NULL)
			return NULL;
	}
	if (!rtscan_bound_sum(step, step->vectors, multiples, result))
		return NULL;
	rtscan_clear_nulls(result);
	*sum = sums[0] * (uint64) multiples[0] + sums[1] * (uint64) multiples[1];
	return result;
}

/* Of a product by a constant the sum can be multiplied; else the operands have to be there. */
static const RtscanVector *
sum_product(RtscanArithmetic *step, RtscanBatch *batch, const WantedRows *rows, uint64 *sum)
{
	RtscanVector *result = rtscan_step_values(step);
	bool		by_constant = is_constant(step->operands[0]) || is_constant(step->operands[1]);
	uint64		sums[2] = {0, 0};

	for (int i = 0; i < 2; i++)
	{
		RtscanArithmetic *operand = step->operands[i];

		step->vectors[i] = by_constant && !is_constant(operand) ? sum_step(operand, batch, rows, &sums[i]) : rtscan_calculate(operand, batch);
		if (step->vectors[i] == NULL || !is_plain(operand, step->vectors[i]))
			return NULL;
	}
	if (!rtscan_bound_product(step->vectors, result))
		return NULL;
	rtscan_clear_nulls(result);
	if (by_constant)
		*sum = is_constant(step->operands[0]) ? (uint64) step->vectors[0]->lowest * sums[1] : (uint64) step->vectors[1]->lowest * sums[0];
	else if (rows->mask)
		*sum = rtscan_sum_products(step->vectors[0]->digits, step->vectors[1]->digits, rows->mask, batch->n);
	return result;
}

/* Can the step's operands do without its values?  What has been calculated for another expression is taken from there. */
static bool
is_divided(const RtscanArithmetic *step, const RtscanBatch *batch)
{
	return (step->calculate == rtscan_add_integers || step->calculate == rtscan_multiply_integers) && !step->in_utc &&
		!(step->batch == batch->number && step->found);
}

/* The sum of a step's values; returns a vector of which scale and bounds are theirs, and maybe nothing else; or NULL. */
static const RtscanVector *
sum_step(RtscanArithmetic *step, RtscanBatch *batch, const WantedRows *rows, uint64 *sum)
{
	const RtscanVector *vector;

	check_stack_depth();
	if (step->step == RTSCAN_STEP_SAME)
		vector = sum_step(step->operands[0], batch, rows, sum);
	else if (!is_divided(step, batch))
		vector = sum_values(step, batch, rows, sum);
	else if (step->calculate == rtscan_add_integers)
		vector = sum_sum(step, batch, rows, sum);
	else
		vector = sum_product(step, batch, rows, sum);
	return vector && is_plain(step, vector) ? vector : NULL;
}

bool
rtscan_sum_expression(RtscanArithmetic *arithmetic, RtscanBatch *batch, const uint64 *mask, uint32 count, int64 *sum, int *scale)
{
	WantedRows	rows = {mask, count};
	uint64		total = 0;
	const RtscanVector *vector = sum_step(arithmetic, batch, &rows, &total);

	if (vector == NULL || !rtscan_is_within(vector, PG_INT64_MAX / RTSCAN_CURSOR_ROWS))
		return false;
	*sum = (int64) total;
	*scale = vector->scale;
	return true;
}
