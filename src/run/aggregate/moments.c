/* SPDX-License-Identifier: PostgreSQL */
/*
 * moments.c
 *		Variances and standard deviations of integers and numerics, from an exact count, sum and sum of squares.
 *
 * The sums are those of integers of one scale, the largest so far.  When a larger scale occurs, the sums so far are
 * moved to PostgreSQL's own transition state.  Two kinds of values are added directly to PostgreSQL's state: integers
 * that do not fit into 64 bits at the present scale, and numerics that cannot be converted to 64-bit integers
 * (row/decimal.h).  At the end all sums are combined in one state of PostgreSQL's, from which PostgreSQL's final
 * function computes the result.
 */
#include "run/aggregate/families.h"

#include "bits/multiversion.h"
#include "common/int.h"
#include "libpq/pqformat.h"
#include "row/decimal.h"
#include "run/aggregate/native_states.h"
#include "run/vector/masked.h"
#include "utils/fmgrprotos.h"

/* ---------------------------------------------------------------- integers */

/* Add middle * 2^64 + lower to a sum of squares. */
static inline void
add_squares(uint64 *squares, uint64 middle, uint64 lower)
{
	uint64		carry;

	squares[0] += lower;
	carry = squares[0] < lower;
	squares[1] += carry;
	squares[2] += squares[1] < carry;
	squares[1] += middle;
	squares[2] += squares[1] < middle;
}

static inline void
add_square(uint64 *squares, int64 digits)
{
	uint64		value = digits < 0 ? -(uint64) digits : (uint64) digits;
	uint64		upper = value >> 32;
	uint64		lower = (uint32) value;
	uint64		cross = upper * lower;	/* the square is upper^2 * 2^64 + 2 * cross * 2^32 + lower^2 */
	uint64		low = lower * lower + (cross << 33);

	add_squares(squares, upper * upper + (cross >> 31) + (low < (cross << 33)), low);
}

static inline void
add_digits(RtscanMoments *moments, int64 digits)
{
	moments->count++;
	rtscan_sum_add(&moments->sum, digits >> 63, (uint64) digits);
	add_square(moments->squares, digits);
}

/* ---------------------------------------------------------------- PostgreSQL's state */

static Numeric
squares_as_numeric(const RtscanMoments *moments)
{
	Numeric		whole = rtscan_shift_in(int64_to_numeric(0), moments->squares[2]);

	whole = rtscan_shift_in(rtscan_shift_in(whole, moments->squares[1]), moments->squares[0]);
	return rtscan_shift_point(whole, 2 * moments->sum.scale);
}

/* Serialize moments as numeric_serialize() does. */
static Datum
serialize(const RtscanMoments *moments)
{
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendint64(&message, moments->count);
	rtscan_append_numeric(&message, rtscan_sum_as_numeric(&moments->sum));
	rtscan_append_numeric(&message, squares_as_numeric(moments));
	pq_sendint32(&message, moments->sum.scale); /* largest scale, for moving aggregates only */
	pq_sendint64(&message, moments->count); /* number of values of that scale, for moving aggregates only */
	for (int i = 0; i < 3; i++)
		pq_sendint64(&message, 0);	/* numbers of NaNs and infinities */
	return PointerGetDatum(pq_endtypsend(&message));
}

/* Convert moments to PostgreSQL's transition state, allocated in the current memory context. */
static Datum
as_native_state(const RtscanMoments *moments)
{
	return rtscan_convert_state(numeric_deserialize, serialize(moments));
}

static void
combine_with_native(RtscanState *state, Datum native, MemoryContext context)
{
	state->value = rtscan_combine_native(numeric_accum, numeric_combine, state->value, !state->has_value, native,
										 context);
	state->has_value = true;
}

static void
add_numeric(RtscanState *state, Datum value, MemoryContext context)
{
	state->value = rtscan_call_transition(numeric_accum, state->value, !state->has_value, value, context);
	state->has_value = true;
}

/* ---------------------------------------------------------------- addition */

/* Multiply digits by 10^by, to convert them to a larger scale.  False if the result does not fit into 64 bits. */
static bool
rescale(int64 digits, int by, int64 *rescaled)
{
	int64		power = 1;

	if (by > RTSCAN_MAX_SCALE)
		return false;
	for (int i = 0; i < by; i++)
		power *= 10;
	return !pg_mul_s64_overflow(digits, power, rescaled);
}

/* Add digits / 10^scale, and count the row. */
static inline void
add_scaled(RtscanState *state, int64 digits, int scale, MemoryContext context)
{
	RtscanMoments *moments = &state->moments;
	int64		rescaled;

	state->count++;
	if (unlikely(scale > moments->sum.scale))
	{
		if (moments->count > 0)
			combine_with_native(state, as_native_state(moments), context);
		*moments = (RtscanMoments) {.sum.scale = scale};
	}
	if (likely(scale == moments->sum.scale))
		add_digits(moments, digits);
	else if (rescale(digits, moments->sum.scale - scale, &rescaled))
		add_digits(moments, rescaled);
	else
		add_numeric(state, NumericGetDatum(int64_div_fast_to_numeric(digits, scale)), context);
}

/* RtscanFamily.add */
static void
add(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	RtscanDecimal decimal;

	if (rtscan_decimal_from_datum(transition->type, values[0], &decimal))
	{
		add_scaled(state, decimal.digits, decimal.scale, context);
		return;
	}
	add_numeric(state, values[0], context);
	state->count++;
}

/*
 * Add the values of some rows to one state.  The values have 32 bits and the state's scale.  Their sum fits into 64
 * bits, and so do the sum of the upper halves and the sum of the lower halves of their squares.
 */
RTSCAN_MULTIVERSION static void
add_small(RtscanState *state, const RtscanVector *vector, const uint16 *rows, uint32 n)
{
	int64		sum = 0;
	int64		count = 0;
	uint64		upper = 0;
	uint64		lower = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = rows[i];
		int64		digits = vector->isnull[row] ? 0 : vector->digits[row];
		uint64		square = digits * digits;

		count += !vector->isnull[row];
		sum += digits;
		upper += square >> 32;
		lower += (uint32) square;
	}
	state->count += count;
	state->moments.count += count;
	rtscan_sum_add(&state->moments.sum, sum >> 63, (uint64) sum);
	add_squares(state->moments.squares, upper >> 32, upper << 32);
	add_squares(state->moments.squares, 0, lower);
}

/* RtscanFamily.add_integers */
static void
add_integers(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	if (chosen->only && chosen->only[chosen->number].sum.scale == vector->scale &&
		vector->lowest >= PG_INT32_MIN && vector->highest <= PG_INT32_MAX)
	{
		add_small(&chosen->only[chosen->number], vector, chosen->rows, chosen->n);
		return;
	}
	for (uint32 i = 0; i < chosen->n; i++)
		if (!vector->isnull[chosen->rows[i]])
			add_scaled(rtscan_state_of(chosen, i), vector->digits[chosen->rows[i]], vector->scale, chosen->context);
}

/* If no value of a batch is farther from 0 than this, the sum and the sum of squares of its values fit into 64 bits. */
#define MAX_SMALL	(1 << 26)

RTSCAN_MULTIVERSION static void
sum_small(const int64 *values, const uint64 *mask, uint32 n, int64 *sum, uint64 *squares)
{
	int64		total = 0;
	uint64		total_of_squares = 0;

	for (uint32 first = 0; first < n; first += 64)
	{
		const int64 *from = values + first;
		uint64		word = mask[first / 64];

		for (uint64 i = 0; i < 64; i++)
		{
			int64		value = from[i] & -(int64) (word >> i & 1);

			total += value;
			total_of_squares += value * value;
		}
	}
	*sum = total;
	*squares = total_of_squares;
}

/* RtscanFamily.add_masked */
static bool
add_masked(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
		   const RtscanMaskedRows *rows)
{
	RtscanMoments *moments = &state->moments;
	int64		sum;
	uint64		squares;

	if (moments->sum.scale != vectors[0]->scale || !rtscan_is_within(vectors[0], MAX_SMALL))
		return false;
	sum_small(vectors[0]->digits, rows->mask, rows->n, &sum, &squares);
	state->count += rows->count;
	moments->count += rows->count;
	rtscan_sum_add(&moments->sum, sum >> 63, (uint64) sum);
	add_squares(moments->squares, 0, squares);
	return true;
}

/* RtscanFamily.combine */
static void
combine_integer_moments(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
						MemoryContext context)
{
	RtscanMoments *moments = &state->moments;

	if (other->has_value)
		combine_with_native(state, other->value, context);
	if (other->moments.count == 0)
		return;
	if (moments->count == 0)
		*moments = other->moments;
	else if (moments->sum.scale != other->moments.sum.scale)
		combine_with_native(state, as_native_state(&other->moments), context);
	else
	{
		moments->count += other->moments.count;
		rtscan_sum_add(&moments->sum, other->moments.sum.upper, other->moments.sum.lower);
		add_squares(moments->squares, other->moments.squares[1], other->moments.squares[0]);
		moments->squares[2] += other->moments.squares[2];
	}
}

/* ---------------------------------------------------------------- results */

/* Return PostgreSQL's transition state of all values: the moments are combined with state->value. */
static Datum
all_as_native_state(const RtscanState *state)
{
	Datum		native = as_native_state(&state->moments);

	return !state->has_value ? native :
		rtscan_call_transition(numeric_combine, native, false, state->value, CurrentMemoryContext);
}

/* RtscanAggregate.finish */
Datum
rtscan_finish_moments(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return rtscan_call_final(transition->aggregate->final, all_as_native_state(state), isnull);
}

/* RtscanFamily.partial */
static Datum
partial(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return rtscan_convert_state(numeric_serialize, all_as_native_state(state));
}

/* RtscanFamily.partial, as by numeric_poly_serialize(): sums of squares of int2 and int4 fit into 128 bits */
static Datum
partial_of_small(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	const RtscanMoments *moments = &state->moments;
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendint64(&message, moments->count);
	rtscan_append_integer(&message, moments->sum.upper, moments->sum.lower);
	rtscan_append_integer(&message, (int64) moments->squares[1], moments->squares[0]);
	return PointerGetDatum(pq_endtypsend(&message));
}

/* ---------------------------------------------------------------- families */

#define ADDITION \
	.add = add, .add_integers = add_integers, .add_masked = add_masked, .combine = combine_integer_moments, \
	.serialize = numeric_serialize, .deserialize = numeric_deserialize

const RtscanFamily rtscan_small_moments = {ADDITION, .partial = partial_of_small};
const RtscanFamily rtscan_moments = {ADDITION, .partial = partial};
