/* SPDX-License-Identifier: PostgreSQL */
/*
 * sums.c
 *		Exact sums and averages of integers and numerics.
 *
 * A sum is an integer of the scale of the latest values.  When the scale changes, the sum so far is added to
 * PostgreSQL's own transition state.  Numerics that cannot be converted to 64-bit integers (row/decimal.h) are also
 * added to this state.
 */
#include "run/aggregate/families.h"

#include "bits/multiversion.h"
#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "row/decimal.h"
#include "run/aggregate/native_states.h"
#include "run/vector/masked.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"

/* ---------------------------------------------------------------- addition */

static void
add_numeric(RtscanState *state, Datum value, MemoryContext context)
{
	state->value = rtscan_call_transition(numeric_avg_accum, state->value, !state->has_value, value, context);
	state->has_value = true;
}

/* Prepare a state for adding integers of the scale "scale". */
static void
set_scale(RtscanState *state, int scale, MemoryContext context)
{
	if (state->sum.scale == scale)
		return;
	/* Even a sum of zero has a scale, which the result shows. */
	if (state->count > 0)
		add_numeric(state, NumericGetDatum(rtscan_sum_as_numeric(&state->sum)), context);
	state->sum = (RtscanSum) {.scale = scale};
}

static inline void
add_digits(RtscanState *state, int64 digits)
{
	state->count++;
	rtscan_sum_add(&state->sum, digits >> 63, (uint64) digits);
}

/* RtscanFamily.add */
static void
add_decimal(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	RtscanDecimal decimal;

	if (rtscan_decimal_from_datum(transition->type, values[0], &decimal))
	{
		set_scale(state, decimal.scale, context);
		add_digits(state, decimal.digits);
	}
	else
	{
		add_numeric(state, values[0], context);
		state->count++;
	}
}

/*
 * Add the values of some rows to one state.  The state's scale is that of the values.  The upper 32 bits and the lower
 * 32 bits of the values are added up separately; each of the two sums fits into 64 bits.
 */
RTSCAN_MULTIVERSION static void
add_to_one(RtscanState *state, const RtscanVector *vector, const uint16 *rows, uint32 n)
{
	int64		upper = 0;
	uint64		lower = 0;
	int64		count = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = rows[i];
		int64		digits = vector->isnull[row] ? 0 : vector->digits[row];

		count += !vector->isnull[row];
		upper += digits >> 32;
		lower += (uint32) digits;
	}
	state->count += count;
	rtscan_sum_add_halves(&state->sum, upper, lower);
}

/* RtscanFamily.add_integers */
static void
add_integers(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	if (chosen->only && chosen->only[chosen->number].sum.scale == vector->scale)
	{
		add_to_one(&chosen->only[chosen->number], vector, chosen->rows, chosen->n);
		return;
	}
	for (uint32 i = 0; i < chosen->n; i++)
	{
		uint32		row = chosen->rows[i];
		RtscanState *state = rtscan_state_of(chosen, i);

		if (vector->isnull[row])
			continue;
		if (unlikely(state->sum.scale != vector->scale))
			set_scale(state, vector->scale, chosen->context);
		add_digits(state, vector->digits[row]);
	}
}

/* RtscanFamily.add_masked */
static bool
add_masked(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
		   const RtscanMaskedRows *rows)
{
	if (vectors[0]->kind != RTSCAN_VECTOR_INTEGERS || state->sum.scale != vectors[0]->scale)
		return false;
	rtscan_sum_masked(vectors[0], rows->mask, rows->n, &state->sum);
	state->count += rows->count;
	return true;
}

/* RtscanFamily.total_kind */
static RtscanTotalKind
total_kind(const RtscanTransition *transition)
{
	return RTSCAN_TOTAL_SUM;
}

/* RtscanFamily.add_total */
static void
add_total(const RtscanTransition *transition, RtscanState *state, const RtscanTotal *total, int scale,
		  MemoryContext context)
{
	if (total->count == 0)
		return;
	set_scale(state, scale, context);
	rtscan_sum_add_halves(&state->sum, total->upper, total->lower);
	state->count += total->count;
}

/* RtscanFamily.add_times */
static void
add_times(const RtscanTransition *transition, RtscanState *state, Datum value, uint64 times, MemoryContext context)
{
	add_numeric(state, DirectFunctionCall2(numeric_mul, value, NumericGetDatum(int64_to_numeric(times))), context);
	state->count += times;
}

/* RtscanFamily.combine */
static void
combine_sums(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	if (other->has_value)
		state->value = rtscan_combine_native(numeric_avg_accum, numeric_avg_combine, state->value, !state->has_value,
											 other->value, context);
	state->has_value |= other->has_value;
	if (state->count == 0)
		state->sum.scale = other->sum.scale;
	if (other->sum.scale != state->sum.scale)
		add_numeric(state, NumericGetDatum(rtscan_sum_as_numeric(&other->sum)), context);
	else
		rtscan_sum_add(&state->sum, other->sum.upper, other->sum.lower);
}

/* ---------------------------------------------------------------- results */

/* Return the sum of all values: the state's exact sum, plus the sum in PostgreSQL's own state if there is one. */
static Datum
total(const RtscanState *state)
{
	RtscanState all = {.has_value = false};

	if (!state->has_value)
		return NumericGetDatum(rtscan_sum_as_numeric(&state->sum));
	add_numeric(&all, NumericGetDatum(rtscan_sum_as_numeric(&state->sum)), CurrentMemoryContext);
	all.value = rtscan_call_transition(numeric_avg_combine, all.value, false, state->value, CurrentMemoryContext);
	return rtscan_convert_state(numeric_sum, all.value);
}

/* RtscanAggregate.finish, as are all rtscan_finish functions below */
Datum
rtscan_finish_small_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return Int64GetDatum((int64) state->sum.lower);
}

Datum
rtscan_finish_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return total(state);
}

Datum
rtscan_finish_average(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return DirectFunctionCall2(numeric_div, total(state), NumericGetDatum(int64_to_numeric(state->count)));
}

/* ---------------------------------------------------------------- partial results */

/*
 * Append the end of a serialized state: the largest scale, the number of values that have it, and the numbers of NaNs,
 * infinities and negative infinities.  The scale and its number are for moving aggregates only: both are 0 here.
 * Special values have not been counted: the number of NaNs, infinities or negative infinities is 1 if the sum is such a
 * value, else 0.
 */
static void
append_special(StringInfo message, Datum sum, bool special)
{
	bool		nan = numeric_is_nan(DatumGetNumeric(sum));
	bool		negative = special && !nan &&
		DatumGetBool(DirectFunctionCall2(numeric_lt, sum, NumericGetDatum(int64_to_numeric(0))));

	pq_sendint32(message, 0);
	pq_sendint64(message, 0);
	pq_sendint64(message, nan);
	pq_sendint64(message, special && !nan && !negative);
	pq_sendint64(message, negative);
}

/* Serialize a state as numeric_avg_serialize() does. */
static Datum
serialize_numerics(const RtscanState *state)
{
	Datum		sum = total(state);
	Numeric		numeric = DatumGetNumeric(sum);
	bool		special = numeric_is_nan(numeric) || numeric_is_inf(numeric);
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendint64(&message, state->count);
	rtscan_append_numeric(&message, special ? int64_to_numeric(0) : numeric);
	append_special(&message, sum, special);
	return PointerGetDatum(pq_endtypsend(&message));
}

/* Serialize a state of bigints as int8_avg_serialize() does.  All bigints are in state->sum, none in state->value. */
static Datum
serialize_integers(const RtscanState *state)
{
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendint64(&message, state->count);
	rtscan_append_integer(&message, state->sum.upper, state->sum.lower);
	return PointerGetDatum(pq_endtypsend(&message));
}

/* RtscanFamily.partial */
static Datum
partial_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return transition->type == INT8OID ? serialize_integers(state) : serialize_numerics(state);
}

/* RtscanFamily.partial: the array of count and sum that int4_avg_accum() keeps */
static Datum
partial_average(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	Datum		elements[] = {Int64GetDatum(state->count), Int64GetDatum((int64) state->sum.lower)};

	return PointerGetDatum(construct_array(elements, lengthof(elements), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* ---------------------------------------------------------------- families */

#define ADDITION \
	.add = add_decimal, .add_integers = add_integers, .add_masked = add_masked, \
	.total_kind = total_kind, .add_total = add_total, .add_times = add_times, .combine = combine_sums, \
	.serialize = numeric_avg_serialize, .deserialize = numeric_avg_deserialize

const RtscanFamily rtscan_small_sums = {ADDITION};
const RtscanFamily rtscan_sums = {ADDITION, .partial = partial_sum};
const RtscanFamily rtscan_small_averages = {ADDITION, .counts_in_part = true, .partial = partial_average};
