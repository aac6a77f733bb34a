/* SPDX-License-Identifier: PostgreSQL */
/*
 * aggregates.c
 *		The table of aggregates, and functions on the states of any aggregate.
 */
#include "run/aggregate/aggregates.h"

#include "run/aggregate/collection.h"
#include "run/aggregate/families.h"
#include "run/aggregate/native_states.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* ---------------------------------------------------------------- the table */

/* The partial result of a count is a count, too: PostgreSQL adds up the counts. */
#define COUNT_OF(fn)			{(fn), &rtscan_counts, rtscan_finish_count, NULL}
#define FOLD_OF(fn)				{(fn), &rtscan_folds, rtscan_finish_fold, NULL}
#define MOMENT_OF(fn, family, final)	{(fn), &(family), rtscan_finish_moments, (final)}
#define REAL_OF(fn, final)		{(fn), &rtscan_real_moments, rtscan_finish_real_moments, (final)}
#define REGRESSION_OF(fn, final)	{(fn), &rtscan_regressions, rtscan_finish_regression, (final)}

/* The aggregates of a type that are computed from its values' moments. */
#define MOMENTS_OF(type, family) \
	MOMENT_OF(F_VARIANCE_##type, family, numeric_var_samp), \
	MOMENT_OF(F_VAR_SAMP_##type, family, numeric_var_samp), \
	MOMENT_OF(F_VAR_POP_##type, family, numeric_var_pop), \
	MOMENT_OF(F_STDDEV_##type, family, numeric_stddev_samp), \
	MOMENT_OF(F_STDDEV_SAMP_##type, family, numeric_stddev_samp), \
	MOMENT_OF(F_STDDEV_POP_##type, family, numeric_stddev_pop)
#define REALS_OF(type) \
	REAL_OF(F_AVG_##type, float8_avg), \
	REAL_OF(F_VARIANCE_##type, float8_var_samp), \
	REAL_OF(F_VAR_SAMP_##type, float8_var_samp), \
	REAL_OF(F_VAR_POP_##type, float8_var_pop), \
	REAL_OF(F_STDDEV_##type, float8_stddev_samp), \
	REAL_OF(F_STDDEV_SAMP_##type, float8_stddev_samp), \
	REAL_OF(F_STDDEV_POP_##type, float8_stddev_pop)
#define BITS_OF(type) \
	FOLD_OF(F_BIT_AND_##type), \
	FOLD_OF(F_BIT_OR_##type), \
	FOLD_OF(F_BIT_XOR_##type)

static const RtscanAggregate aggregates[] = {
	COUNT_OF(F_COUNT_),
	COUNT_OF(F_COUNT_ANY),
	COUNT_OF(F_REGR_COUNT),
	{F_SUM_INT2, &rtscan_small_sums, rtscan_finish_small_sum, NULL},
	{F_SUM_INT4, &rtscan_small_sums, rtscan_finish_small_sum, NULL},
	{F_SUM_INT8, &rtscan_sums, rtscan_finish_sum, NULL},
	{F_SUM_NUMERIC, &rtscan_sums, rtscan_finish_sum, NULL},
	{F_SUM_FLOAT4, &rtscan_float4_sums, rtscan_finish_float4_sum, NULL},
	{F_SUM_FLOAT8, &rtscan_float8_sums, rtscan_finish_float8_sum, NULL},
	{F_AVG_INT2, &rtscan_small_averages, rtscan_finish_average, NULL},
	{F_AVG_INT4, &rtscan_small_averages, rtscan_finish_average, NULL},
	{F_AVG_INT8, &rtscan_sums, rtscan_finish_average, NULL},
	{F_AVG_NUMERIC, &rtscan_sums, rtscan_finish_average, NULL},
	MOMENTS_OF(INT2, rtscan_small_moments),
	MOMENTS_OF(INT4, rtscan_small_moments),
	MOMENTS_OF(INT8, rtscan_moments),
	MOMENTS_OF(NUMERIC, rtscan_moments),
	REALS_OF(FLOAT4),
	REALS_OF(FLOAT8),
	REGRESSION_OF(F_COVAR_POP, float8_covar_pop),
	REGRESSION_OF(F_COVAR_SAMP, float8_covar_samp),
	REGRESSION_OF(F_CORR, float8_corr),
	REGRESSION_OF(F_REGR_AVGX, float8_regr_avgx),
	REGRESSION_OF(F_REGR_AVGY, float8_regr_avgy),
	REGRESSION_OF(F_REGR_INTERCEPT, float8_regr_intercept),
	REGRESSION_OF(F_REGR_R2, float8_regr_r2),
	REGRESSION_OF(F_REGR_SLOPE, float8_regr_slope),
	REGRESSION_OF(F_REGR_SXX, float8_regr_sxx),
	REGRESSION_OF(F_REGR_SXY, float8_regr_sxy),
	REGRESSION_OF(F_REGR_SYY, float8_regr_syy),
	BITS_OF(INT2),
	BITS_OF(INT4),
	BITS_OF(INT8),
	BITS_OF(BIT),
	FOLD_OF(F_BOOL_AND),
	FOLD_OF(F_BOOL_OR),
	FOLD_OF(F_EVERY),
	FOLD_OF(F_SUM_MONEY),
	FOLD_OF(F_ANY_VALUE),
	FOLD_OF(InvalidOid),
};

int
rtscan_find_aggregate(Oid function)
{
	for (int line = 0; line < (int) lengthof(aggregates); line++)
		if (aggregates[line].function == function)
			return line;
	return -1;
}

bool
rtscan_is_fold(int line)
{
	return aggregates[line].family->folds;
}

void
rtscan_init_transition(RtscanTransition *transition, int line, Oid type, Oid function, Oid collation)
{
	*transition = (RtscanTransition) {
		.aggregate = &aggregates[line],
		.family = aggregates[line].family,
		.type = type,
		.collation = collation,
	};
	if (OidIsValid(type))
		get_typlenbyval(type, &transition->typlen, &transition->typbyval);
	if (transition->family->folds)
		rtscan_set_fold(transition, function);
}

/* ---------------------------------------------------------------- states */

void
rtscan_combine(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	if (other->count == 0)
		return;
	transition->family->combine(transition, state, other, context);
	state->count += other->count;
}

bool
rtscan_result_is_number(int line)
{
	const RtscanAggregate *aggregate = &aggregates[line];

	return aggregate->finish == rtscan_finish_count || aggregate->finish == rtscan_finish_small_sum ||
		aggregate->finish == rtscan_finish_sum;
}

bool
rtscan_result_as_number(const RtscanTransition *transition, const RtscanState *state, int128 *number, int *scale)
{
	*scale = 0;
	if (transition->aggregate->finish == rtscan_finish_count)
	{
		*number = state->count;
		return true;
	}
	if (state->count == 0 || state->has_value)
		return false;
	*number = (int128) state->sum.upper * ((int128) 1 << 64) + state->sum.lower;
	if (transition->aggregate->finish == rtscan_finish_small_sum)
		*number = (int64) state->sum.lower;
	else
		*scale = state->sum.scale;
	return true;
}

Datum
rtscan_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	*isnull = state->count == 0 && !transition->family->counts;
	return *isnull ? (Datum) 0 : transition->aggregate->finish(transition, state, isnull);
}

Datum
rtscan_partial_result(const RtscanTransition *transition, const RtscanState *state, bool *isnull)
{
	const RtscanFamily *family = transition->family;

	if (family->partial == NULL)
		return rtscan_result(transition, state, isnull);
	*isnull = state->count == 0 && !family->counts_in_part;
	return *isnull ? (Datum) 0 : family->partial(transition, state, isnull);
}

/* ---------------------------------------------------------------- temporary files */

/* Does a state refer to other memory: a value passed by reference, or a transition state of PostgreSQL's? */
static bool
has_reference(const RtscanTransition *transition, const RtscanState *state)
{
	return state->has_value && !(transition->family->folds && transition->typbyval);
}

void
rtscan_write_state(const RtscanTransition *transition, const RtscanState *state, BufFile *file)
{
	const RtscanFamily *family = transition->family;
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
	if (family->serialize)
		value = rtscan_convert_state(family->serialize, value);
	size = datumGetSize(value, false, family->folds ? transition->typlen : -1);
	BufFileWrite(file, &size, sizeof(Size));
	BufFileWrite(file, DatumGetPointer(value), size);
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
	if (transition->family->deserialize)
		state->value = rtscan_convert_state(transition->family->deserialize, state->value);
}
