/*
 * states.c
 *		Aggregates' transition states: what some rows come to, added row by row.
 */
#include "custom/states.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "encode/decimal.h"
#include "libpq/pqformat.h"
#include "nodes/execnodes.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

void
rtscan_init_transition(RtscanTransition *transition, RtscanAggregateKind kind, Oid type, Oid function, Oid collation)
{
	*transition = (RtscanTransition) {.kind = kind, .type = type, .collation = collation};
	if (OidIsValid(type))
		get_typlenbyval(type, &transition->typlen, &transition->typbyval);
	if (OidIsValid(function))
	{
		transition->choose = palloc(sizeof(FmgrInfo));
		fmgr_info(function, transition->choose);
	}
}

bool
rtscan_adds_decimals(const RtscanTransition *transition)
{
	return transition->kind == RTSCAN_SUM_INT8 || transition->kind == RTSCAN_SUM_NUMERIC ||
		transition->kind == RTSCAN_AVERAGE;
}

/* ---------------------------------------------------------------- sums */

/* The sum as a numeric: (upper * 2^32 + lower) / 10^scale, showing so many digits. */
static Datum
sum_as_numeric(const RtscanSum *sum)
{
	Numeric		shifted = numeric_mul_safe(int64_to_numeric(sum->upper), int64_to_numeric(INT64CONST(1) << 32), NULL);
	Numeric		whole = numeric_add_safe(shifted, int64_to_numeric((int64) sum->lower), NULL);

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

/* As float8_accum() does, which leaves the average to float8_avg(). */
static void
add_to_average(RtscanState *state, float8 value)
{
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
add_float(const RtscanTransition *transition, RtscanState *state, Datum value)
{
	float8		real = transition->type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);

	if (transition->kind == RTSCAN_AVERAGE_FLOAT8)
	{
		add_to_average(state, real);
		return;
	}
	if (state->count++ == 0)
		state->real = real;
	else if (transition->kind == RTSCAN_SUM_FLOAT4)
		state->real = float4_pl((float4) state->real, (float4) real);
	else
		state->real = float8_pl(state->real, real);
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
	MemoryContextSwitchTo(old);
}

static void
add_candidate(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
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

/* ---------------------------------------------------------------- all */

void
rtscan_add_datum(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	switch (transition->kind)
	{
		case RTSCAN_COUNT:
			state->count++;
			break;
		case RTSCAN_SUM_INT8:
		case RTSCAN_SUM_NUMERIC:
		case RTSCAN_AVERAGE:
			add_decimal(transition, state, value, context);
			break;
		case RTSCAN_SUM_FLOAT4:
		case RTSCAN_SUM_FLOAT8:
		case RTSCAN_AVERAGE_FLOAT8:
			add_float(transition, state, value);
			break;
		case RTSCAN_CHOICE:
			add_candidate(transition, state, value, context);
			break;
		default:
			elog(ERROR, "unrecognized aggregate: %d", (int) transition->kind);
	}
}

static Datum
sum_as_int8(const RtscanState *state)
{
	return Int64GetDatum((int64) (((uint64) state->sum.upper << 32) + state->sum.lower));
}

/* The sum of all integers and numerics. */
static Datum
total(const RtscanState *state)
{
	RtscanSum	integers = state->sum;
	RtscanState all = {.has_value = false};

	rtscan_carry(&integers);
	if (!state->has_value)
		return sum_as_numeric(&integers);
	add_numeric(&all, sum_as_numeric(&integers), CurrentMemoryContext);
	all.value = call_transition(numeric_avg_combine, all.value, false, state->value, CurrentMemoryContext);
	return call_transition(numeric_sum, all.value, false, (Datum) 0, CurrentMemoryContext);
}

Datum
rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	*isnull = transition->kind != RTSCAN_COUNT && state->count == 0;
	if (*isnull)
		return (Datum) 0;
	switch (transition->kind)
	{
		case RTSCAN_COUNT:
			return Int64GetDatum(state->count);
		case RTSCAN_SUM_INT8:
			return sum_as_int8(state);
		case RTSCAN_SUM_NUMERIC:
			return total(state);
		case RTSCAN_SUM_FLOAT4:
			return Float4GetDatum((float4) state->real);
		case RTSCAN_SUM_FLOAT8:
			return Float8GetDatum(state->real);
		case RTSCAN_AVERAGE:
			return DirectFunctionCall2(numeric_div, total(state), NumericGetDatum(int64_to_numeric(state->count)));
		case RTSCAN_AVERAGE_FLOAT8:
			return Float8GetDatum(state->real / state->count);
		case RTSCAN_CHOICE:
			return datumCopy(state->value, transition->typbyval, transition->typlen);
		default:
			elog(ERROR, "unrecognized aggregate: %d", (int) transition->kind);
	}
}

/* ---------------------------------------------------------------- combination */

/* As float8_combine() does. */
static void
combine_averages(RtscanState *state, const RtscanState *other)
{
	float8		difference = state->real / state->count - other->real / other->count;

	state->squares += other->squares +
		(float8) state->count * other->count * difference * difference / (state->count + other->count);
	state->real = float8_pl(state->real, other->real);
	if (isinf(state->squares))
		float_overflow_error();
}

static void
combine_floats(const RtscanTransition *transition, RtscanState *state, const RtscanState *other)
{
	if (state->count == 0)
	{
		state->real = other->real;
		state->squares = other->squares;
	}
	else if (transition->kind == RTSCAN_SUM_FLOAT4)
		state->real = float4_pl((float4) state->real, (float4) other->real);
	else if (transition->kind == RTSCAN_SUM_FLOAT8)
		state->real = float8_pl(state->real, other->real);
	else
		combine_averages(state, other);
}

static void
combine_sums(RtscanState *state, const RtscanState *other, MemoryContext context)
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
	state->sum.upper += other->sum.upper;
	state->sum.lower += other->sum.lower;
	rtscan_carry(&state->sum);
}

void
rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	if (other->count == 0)
		return;
	switch (transition->kind)
	{
		case RTSCAN_COUNT:
			break;
		case RTSCAN_SUM_INT8:
		case RTSCAN_SUM_NUMERIC:
		case RTSCAN_AVERAGE:
			combine_sums(state, other, context);
			break;
		case RTSCAN_CHOICE:
			add_candidate(transition, state, other->value, context);
			state->count--;
			break;
		default:
			combine_floats(transition, state, other);
	}
	state->count += other->count;
}

/* Has a state something that it points to: a value, or a transition state of PostgreSQL's? */
static bool
has_reference(const RtscanTransition *transition, const RtscanState *state)
{
	return state->has_value && !(transition->kind == RTSCAN_CHOICE && transition->typbyval);
}

void
rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file)
{
	Datum		value = state->value;
	Size		size;

	BufFileWrite(file, unconstify(RtscanState *, state), sizeof(RtscanState));
	if (!has_reference(transition, state))
		return;
	if (transition->kind != RTSCAN_CHOICE)
		value = call_transition(numeric_avg_serialize, value, false, (Datum) 0, CurrentMemoryContext);
	size = datumGetSize(value, false, transition->kind == RTSCAN_CHOICE ? transition->typlen : -1);
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
	if (!has_reference(transition, state))
		return;
	rtscan_read_exactly(file, &size, sizeof(Size));
	value = palloc(size);
	rtscan_read_exactly(file, value, size);
	state->value = PointerGetDatum(value);
	if (transition->kind != RTSCAN_CHOICE)
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
	rtscan_carry(&sum);
	pq_sendint64(message, sum.upper >> 32);
	pq_sendint64(message, ((uint64) sum.upper << 32) | sum.lower);
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
average_as_array(const RtscanState *state)
{
	Datum		elements[] = {Int64GetDatum(state->count), sum_as_int8(state)};

	return PointerGetDatum(construct_array(elements, lengthof(elements), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* As float8_accum() keeps it. */
static Datum
float_average_as_array(const RtscanState *state)
{
	Datum		elements[] = {Float8GetDatum(state->count), Float8GetDatum(state->real), Float8GetDatum(state->squares)};

	return PointerGetDatum(construct_array(elements, lengthof(elements), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

Datum
rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	bool		is_small = transition->type == INT2OID || transition->type == INT4OID;

	*isnull = false;
	if (transition->kind == RTSCAN_AVERAGE_FLOAT8)
		return float_average_as_array(state);
	if (transition->kind == RTSCAN_AVERAGE && is_small)
		return average_as_array(state);
	if (state->count > 0 && (transition->kind == RTSCAN_AVERAGE || transition->kind == RTSCAN_SUM_NUMERIC))
		return serialize_sum(transition, state);
	return rtscan_result(transition, state, isnull);
}
