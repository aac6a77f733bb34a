/*
 * aggregates.c
 *		Aggregates' transition states, and the table of aggregates.
 */
#include "run/aggregates.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "nodes/execnodes.h"
#include "row/decimal.h"
#include "run/collection.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/* ---------------------------------------------------------------- sums */

/* The sum as a numeric: (upper * 2^64 + lower) / 10^scale, showing so many digits. */
static Datum
sum_as_numeric(const RtscanSum *sum)
{
	Numeric		shift = int64_to_numeric(INT64CONST(1) << 32);
	Numeric		whole = int64_to_numeric(sum->upper);

	whole = numeric_add_safe(numeric_mul_safe(whole, shift, NULL), int64_to_numeric(sum->lower >> 32), NULL);
	whole = numeric_add_safe(numeric_mul_safe(whole, shift, NULL), int64_to_numeric((uint32) sum->lower), NULL);
	if (sum->scale == 0)
		return NumericGetDatum(whole);
	return NumericGetDatum(numeric_mul_safe(whole, int64_div_fast_to_numeric(1, sum->scale), NULL));
}

/*
 * Numerics that are no integers of the state's scale are left to PostgreSQL's own transition state,
 * which its functions keep in a memory context that they ask an aggregation for: this one.
 */
static Datum
call_transition(PGFunction function, Datum first, bool first_isnull, Datum second, MemoryContext context)
{
	static AggState *aggregation;
	LOCAL_FCINFO(fcinfo, 2);

	if (aggregation == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		AggState   *made = makeNode(AggState);

		made->curaggcontext = makeNode(ExprContext);
		aggregation = made;
		MemoryContextSwitchTo(old);
	}
	aggregation->curaggcontext->ecxt_per_tuple_memory = context;
	InitFunctionCallInfoData(*fcinfo, NULL, 2, InvalidOid, (Node *) aggregation, NULL);
	fcinfo->args[0].value = first;
	fcinfo->args[0].isnull = first_isnull;
	fcinfo->args[1].value = second;
	fcinfo->args[1].isnull = false;
	return function(fcinfo);
}

static void
add_numeric(RtscanState *state, Datum value, MemoryContext context)
{
	state->value = call_transition(numeric_avg_accum, state->value, !state->has_value, value, context);
	state->has_value = true;
}

void
rtscan_set_scale(RtscanState *state, int scale, MemoryContext context)
{
	if (state->sum.scale == scale)
		return;
	/* Even a sum of zero has a scale that the result shows. */
	if (state->count > 0)
		add_numeric(state, sum_as_numeric(&state->sum), context);
	state->sum = (RtscanSum) {.scale = scale};
}

/* RtscanAggregate.add, as all add_ below that have its arguments */
static void
add_decimal(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	RtscanDecimal decimal;

	if (rtscan_decimal_from_datum(transition->type, value, &decimal))
	{
		rtscan_set_scale(state, decimal.scale, context);
		rtscan_add_digits(state, decimal.digits);
	}
	else
	{
		add_numeric(state, value, context);
		state->count++;
	}
}

static float8
real_of(const RtscanTransition *transition, Datum value)
{
	return transition->type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
}

/* As float8_accum() does, which leaves the average to float8_avg(). */
static void
add_to_average(const RtscanTransition *transition, RtscanState *state, Datum datum, MemoryContext context)
{
	float8		value = real_of(transition, datum);
	float8		before = state->real;

	state->count++;
	state->real += value;
	if (state->count == 1)
	{
		if (isnan(value) || isinf(value))
			state->squares = get_float8_nan();
		return;
	}
	state->squares += (value * state->count - state->real) * (value * state->count - state->real) /
		((float8) state->count * (state->count - 1));
	if (isinf(state->real) || isinf(state->squares))
	{
		if (!isinf(before) && !isinf(value))
			float_overflow_error();
		state->squares = get_float8_nan();
	}
}

static void
add_float4(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	float4		real = DatumGetFloat4(value);

	state->real = state->count++ == 0 ? real : float4_pl((float4) state->real, real);
}

static void
add_float8(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	float8		real = DatumGetFloat8(value);

	state->real = state->count++ == 0 ? real : float8_pl(state->real, real);
}

/* ---------------------------------------------------------------- choices */

/* Keep a value, as the function would have it, so that it need not convert it again; the one kept before goes. */
static void
keep(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Datum		copy = transition->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
		datumCopy(value, transition->typbyval, transition->typlen);

	if (state->has_value && !transition->typbyval)
		pfree(DatumGetPointer(state->value));
	state->value = copy;
	state->has_value = true;
	if (transition->direction != 0)
		rtscan_exact_encode(transition->exact, &state->value, 1, &state->exact);
	MemoryContextSwitchTo(old);
}

static void
add_choice(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	Datum		chosen = value;

	state->count++;
	if (state->has_value)
	{
		chosen = FunctionCall2Coll(transition->choose, transition->collation, state->value, value);
		if (chosen == state->value)
			return;
	}
	keep(transition, state, chosen, context);
}

/* ---------------------------------------------------------------- counts */

static void
add_one(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	state->count++;
}

/* ---------------------------------------------------------------- results */

/* RtscanAggregate.finish, as all that follow and have its arguments */
static Datum
finish_count(const RtscanTransition *transition, const RtscanState *state)
{
	return Int64GetDatum(state->count);
}

static Datum
sum_as_int8(const RtscanTransition *transition, const RtscanState *state)
{
	return Int64GetDatum((int64) state->sum.lower);
}

/* The sum of all integers and numerics. */
static Datum
total(const RtscanState *state)
{
	RtscanState all = {.has_value = false};

	if (!state->has_value)
		return sum_as_numeric(&state->sum);
	add_numeric(&all, sum_as_numeric(&state->sum), CurrentMemoryContext);
	all.value = call_transition(numeric_avg_combine, all.value, false, state->value, CurrentMemoryContext);
	return call_transition(numeric_sum, all.value, false, (Datum) 0, CurrentMemoryContext);
}

static Datum
sum_as_numeric_of_all(const RtscanTransition *transition, const RtscanState *state)
{
	return total(state);
}

static Datum
sum_as_float4(const RtscanTransition *transition, const RtscanState *state)
{
	return Float4GetDatum((float4) state->real);
}

static Datum
sum_as_float8(const RtscanTransition *transition, const RtscanState *state)
{
	return Float8GetDatum(state->real);
}

static Datum
average_as_numeric(const RtscanTransition *transition, const RtscanState *state)
{
	return DirectFunctionCall2(numeric_div, total(state), NumericGetDatum(int64_to_numeric(state->count)));
}

static Datum
average_as_float8(const RtscanTransition *transition, const RtscanState *state)
{
	return Float8GetDatum(state->real / state->count);
}

static Datum
copy_choice(const RtscanTransition *transition, const RtscanState *state)
{
	return datumCopy(state->value, transition->typbyval, transition->typlen);
}

/* ---------------------------------------------------------------- combination */

/* RtscanAggregate.combine, as all that follow */
static void
combine_counts(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
}

static void
combine_float4s(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	state->real = state->count == 0 ? other->real : float4_pl((float4) state->real, (float4) other->real);
}

static void
combine_float8s(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	state->real = state->count == 0 ? other->real : float8_pl(state->real, other->real);
}

/* As float8_combine() does. */
static void
combine_averages(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	float8		difference;

	if (state->count == 0)
	{
		state->real = other->real;
		state->squares = other->squares;
		return;
	}
	difference = state->real / state->count - other->real / other->count;
	state->squares += other->squares +
		(float8) state->count * other->count * difference * difference / (state->count + other->count);
	state->real = float8_pl(state->real, other->real);
	if (isinf(state->squares))
		float_overflow_error();
}

static void
combine_sums(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	if (other->has_value)
		state->value = call_transition(numeric_avg_combine, state->value, !state->has_value, other->value, context);
	state->has_value |= other->has_value;
	if (state->count == 0)
		state->sum.scale = other->sum.scale;
	if (other->sum.scale != state->sum.scale)
	{
		add_numeric(state, sum_as_numeric(&other->sum), context);
		return;
	}
	rtscan_sum_add(&state->sum, other->sum.upper, other->sum.lower);
}

static void
combine_choices(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	add_choice(transition, state, other->value, context);
	state->count--;
}

/* ---------------------------------------------------------------- temporary files */

/* Has a state something that it points to: a value, or a transition state of PostgreSQL's? */
static bool
has_reference(const RtscanTransition *transition, const RtscanState *state)
{
	return state->has_value && !(transition->aggregate->chooses && transition->typbyval);
}

void
rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file)
{
	Datum		value = state->value;
	Size		size;

	BufFileWrite(file, unconstify(RtscanState *, state), sizeof(RtscanState));
	if (transition->collecting)
	{
		rtscan_write_collection(state, file);
		return;
	}
	if (!has_reference(transition, state))
		return;
	if (!transition->aggregate->chooses)
		value = call_transition(numeric_avg_serialize, value, false, (Datum) 0, CurrentMemoryContext);
	size = datumGetSize(value, false, transition->aggregate->chooses ? transition->typlen : -1);
	BufFileWrite(file, &size, sizeof(Size));
	BufFileWrite(file, DatumGetPointer(value), size);
}

void
rtscan_read_exactly(BufFile *file, void *place, Size size)
{
	if (BufFileRead(file, place, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file of groups: it is too short")));
}

void
rtscan_read_state(const RtscanTransition *transition, RtscanState *state, BufFile *file)
{
	Size		size;
	char	   *value;

	rtscan_read_exactly(file, state, sizeof(RtscanState));
	if (transition->collecting)
	{
		rtscan_read_collection(state, file);
		return;
	}
	if (!has_reference(transition, state))
		return;
	rtscan_read_exactly(file, &size, sizeof(Size));
	value = palloc(size);
	rtscan_read_exactly(file, value, size);
	state->value = PointerGetDatum(value);
	if (!transition->aggregate->chooses)
		state->value = call_transition(numeric_avg_deserialize, state->value, false, (Datum) 0, CurrentMemoryContext);
}

/* ---------------------------------------------------------------- partial results */

/* As numericvar_serialize() does, of what is not special. */
static void
append_numeric(StringInfo message, Datum numeric)
{
	bytea	   *bytes = DatumGetByteaP(DirectFunctionCall1(numeric_send, numeric));
	StringInfoData sent;
	int			ndigits;

	sent = (StringInfoData) {.data = VARDATA(bytes), .len = VARSIZE(bytes) - VARHDRSZ, .maxlen = -1};
	ndigits = pq_getmsgint(&sent, 2);
	pq_sendint32(message, ndigits);
	pq_sendint32(message, (int16) pq_getmsgint(&sent, 2));	/* weight */
	for (int i = 0; i < 2; i++)
		pq_sendint32(message, pq_getmsgint(&sent, 2));	/* sign, display scale */
	pq_sendbytes(message, sent.data + sent.cursor, ndigits * sizeof(int16));
}

/* As int8_avg_serialize() writes an integer, where it does not convert it. */
static void
append_int128(StringInfo message, RtscanSum sum)
{
	pq_sendint64(message, sum.upper);
	pq_sendint64(message, sum.lower);
}

/* As int8_avg_serialize() and numeric_avg_serialize() do, the latter with counts of special values. */
static Datum
serialize_sum(const RtscanTransition *transition, const RtscanState *state)
{
	Datum		sum = total(state);
	Numeric		numeric = DatumGetNumeric(sum);
	bool		special = numeric_is_nan(numeric) || numeric_is_inf(numeric);
	bool		negative = special && !numeric_is_nan(numeric) &&
		DatumGetBool(DirectFunctionCall2(numeric_lt, sum, NumericGetDatum(int64_to_numeric(0))));
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendint64(&message, state->count);
	if (transition->type == INT8OID && RTSCAN_COMPAT_INT128_STATES)
		append_int128(&message, state->sum);
	else
		append_numeric(&message, special ? NumericGetDatum(int64_to_numeric(0)) : sum);
	if (transition->type == NUMERICOID)
	{
		pq_sendint32(&message, 0);	/* largest scale, and how many have it: for moving aggregates only */
		pq_sendint64(&message, 0);
		pq_sendint64(&message, special && numeric_is_nan(numeric));
		pq_sendint64(&message, special && !numeric_is_nan(numeric) && !negative);
		pq_sendint64(&message, negative);
	}
	return PointerGetDatum(pq_endtypsend(&message));
}

/* As int4_avg_accum() keeps it. */
static Datum
average_as_array(const RtscanTransition *transition, const RtscanState *state)
{
	Datum		elements[] = {Int64GetDatum(state->count), sum_as_int8(transition, state)};

	return PointerGetDatum(construct_array(elements, lengthof(elements), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* As float8_accum() keeps it. */
static Datum
float_average_as_array(const RtscanTransition *transition, const RtscanState *state)
{
	Datum		elements[] = {Float8GetDatum(state->count), Float8GetDatum(state->real), Float8GetDatum(state->squares)};

	return PointerGetDatum(construct_array(elements, lengthof(elements), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* ---------------------------------------------------------------- the table */

/* Partial counts are counts, which PostgreSQL adds. */
#define COUNT_OF(fn) \
	{.function = (fn), .counts = true, .add = add_one, .combine = combine_counts, .finish = finish_count}

/* Of integers and numerics. */
#define SUM_OF(fn, result, part) \
	{.function = (fn), .decimals = true, .add = add_decimal, .combine = combine_sums, .finish = (result), .finish_partial = (part)}
#define SMALL_AVERAGE_OF(fn) \
	{.function = (fn), .decimals = true, .counts_in_part = true, .add = add_decimal, .combine = combine_sums, \
	.finish = average_as_numeric, .finish_partial = average_as_array}

#define FLOAT_AVERAGE_OF(fn) \
	{.function = (fn), .counts_in_part = true, .add = add_to_average, .combine = combine_averages, \
	.finish = average_as_float8, .finish_partial = float_average_as_array}

static const RtscanAggregate aggregates[] = {
	COUNT_OF(F_COUNT_),
	COUNT_OF(F_COUNT_ANY),
	SUM_OF(F_SUM_INT2, sum_as_int8, NULL),
	SUM_OF(F_SUM_INT4, sum_as_int8, NULL),
	SUM_OF(F_SUM_INT8, sum_as_numeric_of_all, serialize_sum),
	SUM_OF(F_SUM_NUMERIC, sum_as_numeric_of_all, serialize_sum),
	SMALL_AVERAGE_OF(F_AVG_INT2),
	SMALL_AVERAGE_OF(F_AVG_INT4),
	SUM_OF(F_AVG_INT8, average_as_numeric, serialize_sum),
	SUM_OF(F_AVG_NUMERIC, average_as_numeric, serialize_sum),
	{.function = F_SUM_FLOAT4, .add = add_float4, .combine = combine_float4s, .finish = sum_as_float4},
	{.function = F_SUM_FLOAT8, .add = add_float8, .combine = combine_float8s, .finish = sum_as_float8},
	FLOAT_AVERAGE_OF(F_AVG_FLOAT4),
	FLOAT_AVERAGE_OF(F_AVG_FLOAT8),
	{.function = InvalidOid, .chooses = true, .add = add_choice, .combine = combine_choices, .finish = copy_choice},
};

int
rtscan_find_aggregate(Oid function)
{
	for (int line = 0; line < (int) lengthof(aggregates); line++)
		if (aggregates[line].function == function)
			return line;
	return -1;
}

/* Of functions that choose as exact integers would: -1 the smaller, 1 the larger; 0 of all others. */
static int
direction_of(Oid function)
{
	switch (function)
	{
		case F_INT2SMALLER:
		case F_INT4SMALLER:
		case F_INT8SMALLER:
		case F_DATE_SMALLER:
		case F_TIME_SMALLER:
		case F_TIMESTAMP_SMALLER:
		case F_TIMESTAMPTZ_SMALLER:
		case F_CASHSMALLER:
		case F_OIDSMALLER:
			return -1;
		case F_INT2LARGER:
		case F_INT4LARGER:
		case F_INT8LARGER:
		case F_DATE_LARGER:
		case F_TIME_LARGER:
		case F_TIMESTAMP_LARGER:
		case F_TIMESTAMPTZ_LARGER:
		case F_CASHLARGER:
		case F_OIDLARGER:
			return 1;
		default:
			return 0;
	}
}

void
rtscan_init_transition(RtscanTransition *transition, int line, Oid type, Oid function, Oid collation)
{
	bool		sorts;

	*transition = (RtscanTransition) {.aggregate = &aggregates[line], .type = type, .collation = collation};
	if (OidIsValid(type))
		get_typlenbyval(type, &transition->typlen, &transition->typbyval);
	if (!OidIsValid(function))
		return;
	transition->choose = palloc(sizeof(FmgrInfo));
	fmgr_info(function, transition->choose);
	transition->direction = direction_of(function);
	transition->exact = rtscan_exact_kind(type, transition->typlen, transition->typbyval, &sorts);
}

void
rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	if (other->count == 0)
		return;
	transition->aggregate->combine(transition, state, other, context);
	state->count += other->count;
}

Datum
rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	*isnull = state->count == 0 && !transition->aggregate->counts;
	return *isnull ? (Datum) 0 : transition->aggregate->finish(transition, state);
}

Datum
rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	if (transition->aggregate->finish_partial == NULL)
		return rtscan_result(transition, state, isnull);
	*isnull = state->count == 0 && !transition->aggregate->counts_in_part;
	return *isnull ? (Datum) 0 : transition->aggregate->finish_partial(transition, state);
}
