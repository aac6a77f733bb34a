/* SPDX-License-Identifier: PostgreSQL */
/*
 * folds.c
 *		Counts, and folds: aggregates that combine their state and the next value, both of one type, by a function.
 *
 * Folds are minima, maxima, bitwise AND, and all other aggregates whose transition does nothing but call a function of
 * two values of one type.  Some folds are *simple*: an operation of C replaces the function.  They are folds of floats,
 * of numerics, or of types with exact integers (row/exact.h).  Numerics that are read as 64-bit integers are folded by
 * the operation as long as their scale is the same.  When the scale changes, and at the end, the function combines the
 * result for this scale with the state's value.  The function also combines numerics that are added one by one.
 */
#include "run/aggregate/families.h"

#include "bits/masks.h"
#include "row/decimal.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"

/* ---------------------------------------------------------------- counts */

/* RtscanFamily.total_kind, as are all functions below with the same arguments */
static RtscanTotalKind
count_kind(const RtscanTransition *transition)
{
	return RTSCAN_TOTAL_COUNT;
}

/* RtscanFamily.add_total, as are all functions below with the same arguments */
static void
add_count(const RtscanTransition *transition, RtscanState *state, const RtscanTotal *total, int scale,
		  MemoryContext context)
{
	state->count += total->count;
}

/* RtscanFamily.add, as are all functions below with the same arguments */
static void
add_one(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	state->count++;
}

/* RtscanFamily.combine, as are all functions below with the same arguments */
static void
combine_counts(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
}

/* RtscanAggregate.finish, as are all rtscan_finish functions below */
Datum
rtscan_finish_count(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	return Int64GetDatum(state->count);
}

/* ---------------------------------------------------------------- folds by a function */

/*
 * Replace the state's value by a copy of "value".  The copy is detoasted, so that the fold's function does not have to
 * detoast the state's value in each call.
 */
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
fold_in(const RtscanTransition *transition, RtscanState *state, Datum value, MemoryContext context)
{
	Datum		folded = value;

	if (state->has_value)
	{
		folded = FunctionCall2Coll(transition->fold, transition->collation, state->value, value);
		if (folded == state->value)
			return;
	}
	keep(transition, state, folded, context);
}

static void
add_fold(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	state->count++;
	fold_in(transition, state, values[0], context);
}

static void
combine_folds(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	fold_in(transition, state, other->value, context);
}

/* ---------------------------------------------------------------- simple folds */

static inline int64
fold_integers(RtscanSimpleFold fold, int64 a, int64 b)
{
	switch (fold)
	{
		case RTSCAN_FOLD_SMALLER:
			return Min(a, b);
		case RTSCAN_FOLD_LARGER:
			return Max(a, b);
		case RTSCAN_FOLD_AND:
			return a & b;
		case RTSCAN_FOLD_OR:
			return a | b;
		default:
			return a ^ b;
	}
}

static inline void
fold_integer(RtscanSimpleFold fold, RtscanState *state, int64 exact)
{
	state->exact = state->has_value ? fold_integers(fold, state->exact, exact) : exact;
	state->has_value = true;
}

/* Keep the value that float8smaller() or float8larger() returns: "real" if both values are equal. */
static inline void
fold_real(RtscanSimpleFold fold, RtscanState *state, float8 real)
{
	if (!state->has_value ||
		!(fold == RTSCAN_FOLD_SMALLER ? float8_lt(state->real, real) : float8_gt(state->real, real)))
		state->real = real;
	state->has_value = true;
}

static void
add_integer(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	int64		exact;

	rtscan_exact_encode(transition->exact, values, 1, &exact);
	fold_integer(transition->simple_fold, state, exact);
	state->count++;
}

static void
add_real(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	fold_real(transition->simple_fold, state,
			  transition->exact == RTSCAN_EXACT_FLOAT4 ? DatumGetFloat4(values[0]) : DatumGetFloat8(values[0]));
	state->count++;
}

static pg_attribute_always_inline void
add_integers_by(RtscanSimpleFold fold, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	for (uint32 i = 0; i < chosen->n; i++)
	{
		RtscanState *state = rtscan_state_of(chosen, i);

		if (vector->isnull[chosen->rows[i]])
			continue;
		fold_integer(fold, state, vector->digits[chosen->rows[i]]);
		state->count++;
	}
}

/* RtscanFamily.add_integers */
static void
add_integers(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	if (transition->simple_fold == RTSCAN_FOLD_SMALLER)
		add_integers_by(RTSCAN_FOLD_SMALLER, chosen, vector);
	else if (transition->simple_fold == RTSCAN_FOLD_LARGER)
		add_integers_by(RTSCAN_FOLD_LARGER, chosen, vector);
	else
		add_integers_by(transition->simple_fold, chosen, vector);
}

/* RtscanFamily.add_masked */
static bool
add_masked(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
		   const RtscanMaskedRows *rows)
{
	RtscanSimpleFold fold = transition->simple_fold;

	if (vectors[0]->kind != RTSCAN_VECTOR_INTEGERS || (fold != RTSCAN_FOLD_SMALLER && fold != RTSCAN_FOLD_LARGER))
		return false;
	fold_integer(fold, state,
				 rtscan_masked_outermost(vectors[0]->digits, rows->mask, rows->n, fold == RTSCAN_FOLD_LARGER));
	state->count += rows->count;
	return true;
}

static RtscanTotalKind
outermost_kind(const RtscanTransition *transition)
{
	switch (transition->simple_fold)
	{
		case RTSCAN_FOLD_SMALLER:
			return RTSCAN_TOTAL_LEAST;
		case RTSCAN_FOLD_LARGER:
			return RTSCAN_TOTAL_GREATEST;
		default:
			return RTSCAN_NO_TOTAL;
	}
}

static void
add_outermost(const RtscanTransition *transition, RtscanState *state, const RtscanTotal *total, int scale,
			  MemoryContext context)
{
	if (total->count > 0)
		fold_integer(transition->simple_fold, state, total->outermost);
	state->count += total->count;
}

/* Can no value from "least" to "greatest" change the minimum or maximum "value"? */
static bool
is_beyond(RtscanSimpleFold fold, int64 value, int64 least, int64 greatest)
{
	return fold == RTSCAN_FOLD_SMALLER ? value <= least : value >= greatest;
}

/* RtscanFamily.is_beyond */
static bool
integer_is_beyond(const RtscanTransition *transition, const RtscanState *state, int64 least, int64 greatest, int scale)
{
	return state->has_value && is_beyond(transition->simple_fold, state->exact, least, greatest);
}

/* RtscanFamily.add_doubles */
static void
add_doubles(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *const *vectors)
{
	for (uint32 i = 0; i < chosen->n; i++)
	{
		RtscanState *state = rtscan_state_of(chosen, i);

		if (vectors[0]->isnull[chosen->rows[i]])
			continue;
		fold_real(transition->simple_fold, state, vectors[0]->doubles[chosen->rows[i]]);
		state->count++;
	}
}

static void
combine_integers(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
				 MemoryContext context)
{
	fold_integer(transition->simple_fold, state, other->exact);
}

static void
combine_reals(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	fold_real(transition->simple_fold, state, other->real);
}

/* ---------------------------------------------------------------- folds of numerics */

/*
 * Fold state->decimal, the result for one scale, into the state's value.  Called before a value of another scale is
 * folded, and at the end.
 */
static void
end_scale(const RtscanTransition *transition, RtscanState *state, MemoryContext context)
{
	RtscanDecimal decimal = {state->decimal.digits, state->decimal.scale};

	fold_in(transition, state, rtscan_numeric_from_decimal(decimal), context);
	state->decimal.known = false;
}

static void
fold_decimal(const RtscanTransition *transition, RtscanState *state, int64 digits, int scale, MemoryContext context)
{
	RtscanFoldedDecimal *decimal = &state->decimal;

	if (unlikely(decimal->known && decimal->scale != scale))
		end_scale(transition, state, context);
	*decimal = (RtscanFoldedDecimal) {
		.digits = decimal->known ? fold_integers(transition->simple_fold, decimal->digits, digits) : digits,
		.scale = scale,
		.known = true,
	};
}

/* RtscanFamily.add_integers */
static void
add_decimals(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	for (uint32 i = 0; i < chosen->n; i++)
	{
		RtscanState *state = rtscan_state_of(chosen, i);

		if (vector->isnull[chosen->rows[i]])
			continue;
		fold_decimal(transition, state, vector->digits[chosen->rows[i]], vector->scale, chosen->context);
		state->count++;
	}
}

/* RtscanFamily.add_masked */
static bool
add_masked_decimals(const RtscanTransition *transition, RtscanState *state, const RtscanVector *const *vectors,
					const RtscanMaskedRows *rows)
{
	const RtscanVector *vector = vectors[0];

	if (vector->kind != RTSCAN_VECTOR_INTEGERS)
		return false;
	fold_decimal(transition, state,
				 rtscan_masked_outermost(vector->digits, rows->mask, rows->n,
										 transition->simple_fold == RTSCAN_FOLD_LARGER),
				 vector->scale, rows->context);
	state->count += rows->count;
	return true;
}

static void
add_outermost_decimal(const RtscanTransition *transition, RtscanState *state, const RtscanTotal *total, int scale,
					  MemoryContext context)
{
	if (total->count > 0)
		fold_decimal(transition, state, total->outermost, scale, context);
	state->count += total->count;
}

/* RtscanFamily.is_beyond */
static bool
decimal_is_beyond(const RtscanTransition *transition, const RtscanState *state, int64 least, int64 greatest, int scale)
{
	return state->decimal.known && state->decimal.scale == scale &&
		is_beyond(transition->simple_fold, state->decimal.digits, least, greatest);
}

static void
combine_decimals(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
				 MemoryContext context)
{
	if (other->decimal.known)
		fold_decimal(transition, state, other->decimal.digits, other->decimal.scale, context);
	if (other->has_value)
		fold_in(transition, state, other->value, context);
}

static Datum
finish_decimal(const RtscanTransition *transition, const RtscanState *state)
{
	RtscanState all = *state;

	all.value = state->has_value ? datumCopy(state->value, false, -1) : (Datum) 0;
	if (all.decimal.known)
		end_scale(transition, &all, CurrentMemoryContext);
	return all.value;
}

/* ---------------------------------------------------------------- results */

Datum
rtscan_finish_fold(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	Datum		value;

	if (transition->simple_fold == RTSCAN_FOLD_BY_FUNCTION)
		return datumCopy(state->value, transition->typbyval, transition->typlen);
	if (transition->exact == RTSCAN_EXACT_DECIMAL)
		return finish_decimal(transition, state);
	if (transition->exact == RTSCAN_EXACT_FLOAT4)
		return Float4GetDatum((float4) state->real);
	if (transition->exact == RTSCAN_EXACT_FLOAT8)
		return Float8GetDatum(state->real);
	rtscan_exact_decode(transition->exact, &state->exact, 1, &value);
	return value;
}

/*
 * Return the operation on exact integers or floats that gives the same result as "function"; RTSCAN_FOLD_BY_FUNCTION if
 * there is none.
 */
static RtscanSimpleFold
simple_fold(Oid function)
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
		case F_FLOAT4SMALLER:
		case F_FLOAT8SMALLER:
		case F_NUMERIC_SMALLER:
			return RTSCAN_FOLD_SMALLER;
		case F_INT2LARGER:
		case F_INT4LARGER:
		case F_INT8LARGER:
		case F_DATE_LARGER:
		case F_TIME_LARGER:
		case F_TIMESTAMP_LARGER:
		case F_TIMESTAMPTZ_LARGER:
		case F_CASHLARGER:
		case F_OIDLARGER:
		case F_FLOAT4LARGER:
		case F_FLOAT8LARGER:
		case F_NUMERIC_LARGER:
			return RTSCAN_FOLD_LARGER;
		case F_INT2AND:
		case F_INT4AND:
		case F_INT8AND:
		case F_BOOLAND_STATEFUNC:
			return RTSCAN_FOLD_AND;
		case F_INT2OR:
		case F_INT4OR:
		case F_INT8OR:
		case F_BOOLOR_STATEFUNC:
			return RTSCAN_FOLD_OR;
		case F_INT2XOR:
		case F_INT4XOR:
		case F_INT8XOR:
			return RTSCAN_FOLD_XOR;
		default:
			return RTSCAN_FOLD_BY_FUNCTION;
	}
}

/* ---------------------------------------------------------------- families */

const RtscanFamily rtscan_counts = {
	.counts = true,
	.add = add_one,
	.total_kind = count_kind,
	.add_total = add_count,
	.combine = combine_counts,
};
const RtscanFamily rtscan_folds = {.folds = true, .add = add_fold, .combine = combine_folds};

static const RtscanFamily integer_folds = {
	.folds = true,
	.add = add_integer,
	.add_integers = add_integers,
	.add_masked = add_masked,
	.total_kind = outermost_kind,
	.add_total = add_outermost,
	.is_beyond = integer_is_beyond,
	.combine = combine_integers,
};

static const RtscanFamily real_folds = {
	.folds = true,
	.add = add_real,
	.add_doubles = add_doubles,
	.combine = combine_reals,
};

static const RtscanFamily decimal_folds = {
	.folds = true,
	.add = add_fold,
	.add_integers = add_decimals,
	.add_masked = add_masked_decimals,
	.total_kind = outermost_kind,
	.add_total = add_outermost_decimal,
	.is_beyond = decimal_is_beyond,
	.combine = combine_decimals,
};

static const RtscanFamily *
family_of(RtscanExactKind kind)
{
	switch (kind)
	{
		case RTSCAN_EXACT_DECIMAL:
			return &decimal_folds;
		case RTSCAN_EXACT_FLOAT4:
		case RTSCAN_EXACT_FLOAT8:
			return &real_folds;
		default:
			return &integer_folds;
	}
}

void
rtscan_set_fold(RtscanTransition *transition, Oid function)
{
	bool		sorts;

	transition->simple_fold = simple_fold(function);
	if (transition->simple_fold != RTSCAN_FOLD_BY_FUNCTION)
	{
		transition->exact = rtscan_exact_kind(transition->type, transition->typlen, transition->typbyval, &sorts);
		transition->family = family_of(transition->exact);
	}
	if (transition->simple_fold == RTSCAN_FOLD_BY_FUNCTION || transition->exact == RTSCAN_EXACT_DECIMAL)
	{
		transition->fold = palloc(sizeof(FmgrInfo));
		fmgr_info(function, transition->fold);
	}
}
