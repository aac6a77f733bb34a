/* SPDX-License-Identifier: PostgreSQL */
/*
 * native_states.c
 *		Call PostgreSQL's functions on its own transition states, and serialize numbers as it does.
 */
#include "run/aggregate/native_states.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "nodes/execnodes.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/* ---------------------------------------------------------------- calls */

/* Return an AggState, from which PostgreSQL's aggregate functions get the memory context of their states. */
static Node *
aggregation_in(MemoryContext context)
{
	static AggState *aggregation;

	if (aggregation == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		AggState   *made = makeNode(AggState);

		made->curaggcontext = makeNode(ExprContext);
		aggregation = made;
		MemoryContextSwitchTo(old);
	}
	aggregation->curaggcontext->ecxt_per_tuple_memory = context;
	return (Node *) aggregation;
}

Datum
rtscan_call_native(PGFunction function, const NullableDatum *args, int nargs, MemoryContext context, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, RTSCAN_NATIVE_ARGUMENTS);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, NULL, nargs, InvalidOid, aggregation_in(context), NULL);
	memcpy(fcinfo->args, args, nargs * sizeof(NullableDatum));
	result = function(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

Datum
rtscan_call_transition(PGFunction function, Datum state, bool isnull, Datum value, MemoryContext context)
{
	const NullableDatum args[] = {{state, isnull}, {value, false}};

	return rtscan_call_native(function, args, lengthof(args), context, &isnull);
}

Datum
rtscan_combine_native(PGFunction transition, PGFunction combine, Datum state, bool isnull, Datum other,
					  MemoryContext context)
{
	const NullableDatum nothing[] = {{(Datum) 0, true}, {(Datum) 0, true}};

	if (isnull)
		state = rtscan_call_native(transition, nothing, lengthof(nothing), context, &isnull);
	return rtscan_call_transition(combine, state, false, other, context);
}

Datum
rtscan_call_final(PGFunction function, Datum state, bool *isnull)
{
	const NullableDatum args[] = {{state, false}};

	return rtscan_call_native(function, args, lengthof(args), CurrentMemoryContext, isnull);
}

Datum
rtscan_convert_state(PGFunction function, Datum state)
{
	return rtscan_call_transition(function, state, false, (Datum) 0, CurrentMemoryContext);
}

Datum
rtscan_float_array(const float8 *elements, int n)
{
	Datum	   *datums = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		datums[i] = Float8GetDatum(elements[i]);
	return PointerGetDatum(construct_array(datums, n, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* ---------------------------------------------------------------- numbers */

Numeric
rtscan_shift_in(Numeric whole, uint64 part)
{
	Numeric		shift = int64_to_numeric(INT64CONST(1) << 32);

	whole = numeric_add_safe(numeric_mul_safe(whole, shift, NULL), int64_to_numeric(part >> 32), NULL);
	return numeric_add_safe(numeric_mul_safe(whole, shift, NULL), int64_to_numeric((uint32) part), NULL);
}

Numeric
rtscan_shift_point(Numeric whole, int scale)
{
	return scale == 0 ? whole : numeric_mul_safe(whole, int64_div_fast_to_numeric(1, scale), NULL);
}

Numeric
rtscan_sum_as_numeric(const RtscanSum *sum)
{
	return rtscan_shift_point(rtscan_shift_in(int64_to_numeric(sum->upper), sum->lower), sum->scale);
}

/* Append a numeric in the format of numericvar_serialize(). */
void
rtscan_append_numeric(StringInfo message, Numeric numeric)
{
	bytea	   *bytes = DatumGetByteaP(DirectFunctionCall1(numeric_send, NumericGetDatum(numeric)));
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

/* PostgreSQL serializes the sums of integers as int128 or as numerics, depending on its version. */
void
rtscan_append_integer(StringInfo message, int64 upper, uint64 lower)
{
	if (RTSCAN_COMPAT_INT128_STATES)
	{
		pq_sendint64(message, upper);
		pq_sendint64(message, lower);
	}
	else
		rtscan_append_numeric(message, rtscan_shift_in(int64_to_numeric(upper), lower));
}
