/* SPDX-License-Identifier: PostgreSQL */
/*
 * reals.c
 *		Sums, averages and variances of floats, and regressions.
 *
 * Values are added with PostgreSQL's operations in the order of the rows.  RTSCAN_MIN_REALS rows or more may be added
 * in lanes instead (real_sums.h), unless an overflow, an infinity or a NaN is possible.
 *
 * The states of regressions are PostgreSQL's own: arrays, which have more elements since version 19.
 */
#include "run/aggregate/families.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "run/aggregate/native_states.h"
#include "run/aggregate/real_sums.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"

/* Add the values of a vector in the order of the rows. */
static pg_attribute_always_inline void
add_each(const RtscanChosenRows *chosen, const RtscanVector *vector, void (*add) (RtscanState *state, float8 value))
{
	RtscanState only = {.has_value = false};

	if (chosen->only)
		only = chosen->only[chosen->number];
	for (uint32 i = 0; i < chosen->n; i++)
		if (!vector->isnull[chosen->rows[i]])
			add(chosen->only ? &only : rtscan_state_of(chosen, i), vector->doubles[chosen->rows[i]]);
	if (chosen->only)
		chosen->only[chosen->number] = only;
}

/* ---------------------------------------------------------------- sums */

static inline void
add_to_float4_sum(RtscanState *state, float8 value)
{
	state->reals.sum = state->count++ == 0 ? value : float4_pl((float4) state->reals.sum, (float4) value);
}

static inline void
add_to_float8_sum(RtscanState *state, float8 value)
{
	state->reals.sum = state->count++ == 0 ? value : float8_pl(state->reals.sum, value);
}

/* RtscanFamily.add, as are all functions below with the same arguments */
static void
add_float4(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	add_to_float4_sum(state, DatumGetFloat4(values[0]));
}

static void
add_float8(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	add_to_float8_sum(state, DatumGetFloat8(values[0]));
}

/* RtscanFamily.add_doubles, as are all functions below with the same arguments */
static void
add_float4s(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *const *vectors)
{
	add_each(chosen, vectors[0], add_to_float4_sum);
}

static void
add_float8s(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *const *vectors)
{
	add_each(chosen, vectors[0], add_to_float8_sum);
}

/* RtscanFamily.add_masked, as are all functions below with the same arguments */
static bool
add_masked_float8s(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
				   const RtscanMaskedRows *rows)
{
	float8		sum;

	if (rows->count < RTSCAN_MIN_REALS)
		return false;
	sum = rtscan_masked_real_sum(vectors[0], rows);
	if (!rtscan_is_far_from_overflow(sum) || !rtscan_is_far_from_overflow(state->reals.sum))
		return false;
	state->reals.sum = state->count == 0 ? sum : state->reals.sum + sum;
	state->count += rows->count;
	return true;
}

/* RtscanFamily.combine, as are all functions below with the same arguments */
static void
combine_float4_sums(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
					MemoryContext context)
{
	state->reals.sum = state->count == 0 ? other->reals.sum :
		float4_pl((float4) state->reals.sum, (float4) other->reals.sum);
}

static void
combine_float8_sums(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
					MemoryContext context)
{
	state->reals.sum = state->count == 0 ? other->reals.sum : float8_pl(state->reals.sum, other->reals.sum);
}

/* RtscanAggregate.finish, as are all rtscan_finish functions below */
Datum
rtscan_finish_float4_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return Float4GetDatum((float4) state->reals.sum);
}

Datum
rtscan_finish_float8_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return Float8GetDatum(state->reals.sum);
}

/* ---------------------------------------------------------------- averages and variances */

/* Add a value as float8_accum() does. */
static inline void
add_to_moments(RtscanState *state, float8 value)
{
	RtscanReals *reals = &state->reals;
	float8		before = reals->sum;
	float8		count = ++state->count;
	float8		difference;

	reals->sum += value;
	if (state->count == 1)
	{
		if (isnan(value) || isinf(value))
			reals->squares = get_float8_nan();
		return;
	}
	difference = value * count - reals->sum;
	reals->squares += difference * difference / (count * (count - 1.0));
	if (unlikely(isinf(reals->sum) || isinf(reals->squares)))
	{
		if (!isinf(before) && !isinf(value))
			float_overflow_error();
		reals->squares = get_float8_nan();
	}
}

static void
add_real(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	add_to_moments(state, transition->type == FLOAT4OID ? DatumGetFloat4(values[0]) : DatumGetFloat8(values[0]));
}

static void
add_reals(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *const *vectors)
{
	add_each(chosen, vectors[0], add_to_moments);
}

/* Combine two states as float8_combine() does. */
static void
combine_moments(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	RtscanReals *reals = &state->reals;
	float8		count = state->count;
	float8		others = other->count;
	float8		difference;

	if (state->count == 0)
	{
		*reals = other->reals;
		return;
	}
	difference = reals->sum / count - other->reals.sum / others;
	reals->sum = float8_pl(reals->sum, other->reals.sum);
	reals->squares = reals->squares + other->reals.squares +
		count * others * difference * difference / (count + others);
	if (isinf(reals->squares))
		float_overflow_error();
}

static bool
are_far_from_overflow(const RtscanReals *reals)
{
	return rtscan_is_far_from_overflow(reals->sum) && rtscan_is_far_from_overflow(reals->squares);
}

static bool
add_masked_reals(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
				 const RtscanMaskedRows *rows)
{
	double		room[RTSCAN_CURSOR_ROWS];
	RtscanRealSums sums;
	RtscanState other = {.count = rows->count};

	if (rows->count < RTSCAN_MIN_REALS)
		return false;
	sums = rtscan_masked_reals(vectors[0], rows, room);
	other.reals = (RtscanReals) {sums.sum, sums.squares};
	if (!are_far_from_overflow(&other.reals) || !are_far_from_overflow(&state->reals))
		return false;
	combine_moments(transition, state, &other, rows->context);
	state->count += rows->count;
	return true;
}

/* RtscanFamily.partial: return the array that float8_accum() keeps */
static Datum
moments_as_array(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	const float8 elements[] = {state->count, state->reals.sum, state->reals.squares};

	return rtscan_float_array(elements, lengthof(elements));
}

Datum
rtscan_finish_real_moments(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return rtscan_call_final(transition->aggregate->final, moments_as_array(transition, state, isnull), isnull);
}

/* ---------------------------------------------------------------- regressions */

/* Return PostgreSQL's state of a regression without rows. */
static Datum
no_rows(void)
{
	static const float8 zeros[RTSCAN_COMPAT_REGRESSION_FLOATS];

	return rtscan_float_array(zeros, lengthof(zeros));
}

/* If a state has no value yet, set its value to no_rows(), allocated in "context". */
static void
begin_regression(RtscanState *state, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	if (!state->has_value)
		state->value = no_rows();
	state->has_value = true;
	MemoryContextSwitchTo(old);
}

static void
add_to_regression(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	NullableDatum args[] = {{(Datum) 0, false}, {values[0], false}, {values[1], false}};
	bool		isnull;

	begin_regression(state, context);
	args[0].value = state->value;
	state->count++;
	state->value = rtscan_call_native(float8_regr_accum, args, lengthof(args), context, &isnull);
}

static void
add_pairs(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *const *vectors)
{
	for (uint32 i = 0; i < chosen->n; i++)
	{
		uint32		row = chosen->rows[i];
		Datum		values[] = {Float8GetDatum(vectors[0]->doubles[row]), Float8GetDatum(vectors[1]->doubles[row])};

		if (!vectors[0]->isnull[row] && !vectors[1]->isnull[row])
			add_to_regression(transition, rtscan_state_of(chosen, i), values, chosen->context);
	}
}

/*
 * Return PostgreSQL's state of a regression of "count" pairs (X, Y).  "x" and "y" are the sums of X and of Y;
 * "products" is the sum of the products (X - mean of X) * (Y - mean of Y).
 */
static Datum
make_regression(uint32 count, const RtscanRealSums *x, const RtscanRealSums *y, float8 products)
{
	const float8 elements[] = {
		count, x->sum, x->squares, y->sum, y->squares, products,
		/* the value of X in all pairs, then that of Y; NaN if there are different values */
		x->differ ? get_float8_nan() : x->mean, y->differ ? get_float8_nan() : y->mean
	};

	StaticAssertDecl(lengthof(elements) >= RTSCAN_COMPAT_REGRESSION_FLOATS, "a regression's state has more");
	return rtscan_float_array(elements, RTSCAN_COMPAT_REGRESSION_FLOATS);
}

/* Are the sums in a regression's state far from overflow?  Only the first six elements are sums. */
static bool
is_far_from_overflow(Datum regression)
{
	const float8 *elements = (const float8 *) ((const char *) DatumGetPointer(regression) + ARR_OVERHEAD_NONULLS(1));

	for (int i = 0; i < 6; i++)
		if (!rtscan_is_far_from_overflow(elements[i]))
			return false;
	return true;
}

static bool
add_masked_pairs(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
				 const RtscanMaskedRows *rows)
{
	double		xs[RTSCAN_CURSOR_ROWS];
	double		ys[RTSCAN_CURSOR_ROWS];
	RtscanRealSums x,
				y;
	float8		products;
	Datum		others;

	if (rows->count < RTSCAN_MIN_REALS)
		return false;
	y = rtscan_masked_reals(vectors[0], rows, ys);
	x = rtscan_masked_reals(vectors[1], rows, xs);
	products = x.differ && y.differ ? rtscan_masked_products(xs, x.mean, ys, y.mean, rows->n) : 0;
	others = make_regression(rows->count, &x, &y, products);
	if (!is_far_from_overflow(others) || (state->has_value && !is_far_from_overflow(state->value)))
		return false;
	begin_regression(state, rows->context);
	state->value = rtscan_call_transition(float8_regr_combine, state->value, false, others, rows->context);
	state->count += rows->count;
	return true;
}

static void
combine_regressions(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
					MemoryContext context)
{
	MemoryContext old;

	if (state->has_value)
	{
		state->value = rtscan_call_transition(float8_regr_combine, state->value, false, other->value, context);
		return;
	}
	old = MemoryContextSwitchTo(context);
	state->value = datumCopy(other->value, false, -1);
	state->has_value = true;
	MemoryContextSwitchTo(old);
}

/* RtscanFamily.partial */
static Datum
copy_regression(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return state->has_value ? datumCopy(state->value, false, -1) : no_rows();
}

Datum
rtscan_finish_regression(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return rtscan_call_final(transition->aggregate->final, state->value, isnull);
}

/* ---------------------------------------------------------------- families */

const RtscanFamily rtscan_float4_sums = {.add = add_float4, .add_doubles = add_float4s, .combine = combine_float4_sums};
const RtscanFamily rtscan_float8_sums = {
	.add = add_float8,
	.add_doubles = add_float8s,
	.add_masked = add_masked_float8s,
	.combine = combine_float8_sums,
};

const RtscanFamily rtscan_real_moments = {
	.counts_in_part = true,
	.add = add_real,
	.add_doubles = add_reals,
	.add_masked = add_masked_reals,
	.combine = combine_moments,
	.partial = moments_as_array,
};

const RtscanFamily rtscan_regressions = {
	.counts_in_part = true,
	.add = add_to_regression,
	.add_doubles = add_pairs,
	.add_masked = add_masked_pairs,
	.combine = combine_regressions,
	.partial = copy_regression,
};
