/* SPDX-License-Identifier: PostgreSQL */
/*
 * quantiles.c
 *		Compute percentiles and modes from collections as orderedsetaggs.c does, and aggregates of distinct values as
 *		nodeAgg.c does.
 */
#include "run/aggregate/quantiles.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "run/aggregate/aggregates.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

/* ---------------------------------------------------------------- percentiles */

/* The position of a percentile: a rank, or between a rank and the next. */
typedef struct Percentile
{
	bool		isnull;			/* is the fraction NULL? */
	uint64		rank;			/* rank in the aggregate's order, from 0 */
	bool		between;		/* is the percentile between "rank" and the next rank? */
	float8		proportion;		/* if "between": distance of the percentile from "rank", in ranks, less than 1 */
} Percentile;

static void
check_fraction(float8 fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

static Percentile
find_percentile(const RtscanCollecting *collecting, NullableDatum datum, int64 n)
{
	Percentile	percentile = {.isnull = datum.isnull};
	float8		fraction;

	if (datum.isnull)
		return percentile;
	fraction = DatumGetFloat8(datum.value);
	check_fraction(fraction);
	if (collecting->how.purpose == RTSCAN_FOR_DISCRETE)
		percentile.rank = Max((int64) ceil(fraction * n), 1) - 1;
	else
	{
		percentile.rank = (int64) floor(fraction * (n - 1));
		percentile.between = (int64) ceil(fraction * (n - 1)) > (int64) percentile.rank;
		percentile.proportion = (fraction * (n - 1)) - floor(fraction * (n - 1));
	}
	return percentile;
}

static int
compare_ranks(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* Convert a rank in the aggregate's order to the rank in ascending order. */
static uint64
ascending(const RtscanCollecting *collecting, uint64 rank, int64 n)
{
	return collecting->how.descending ? n - 1 - rank : rank;
}

/* List the ranks of all percentiles in ascending order without duplicates, and return how many there are. */
static int
list_ranks(const RtscanCollecting *collecting, const Percentile *percentiles, int npercentiles, int64 n, uint64 *ranks)
{
	int			nranks = 0;
	int			kept = 0;

	for (int i = 0; i < npercentiles; i++)
		if (!percentiles[i].isnull)
			for (int j = 0; j <= percentiles[i].between; j++)
				ranks[nranks++] = ascending(collecting, percentiles[i].rank + j, n);
	qsort(ranks, nranks, sizeof(uint64), compare_ranks);
	for (int i = 0; i < nranks; i++)
		if (kept == 0 || ranks[i] != ranks[kept - 1])
			ranks[kept++] = ranks[i];
	return kept;
}

/* The keys of selected ranks. */
typedef struct Selected
{
	const RtscanCollecting *collecting;
	int64		n;				/* number of all values */
	int			nranks;
	uint64	   *ranks;			/* the selected ranks, ascending */
	int64	   *keys;			/* the key of each rank */
} Selected;

static int64
selected_key(const Selected *selected, uint64 rank)
{
	uint64		wanted = ascending(selected->collecting, rank, selected->n);
	uint64	   *found = bsearch(&wanted, selected->ranks, selected->nranks, sizeof(uint64), compare_ranks);

	return selected->keys[found - selected->ranks];
}

static Datum
percentile_value(const Selected *selected, const Percentile *percentile)
{
	int64		key = selected_key(selected, percentile->rank);
	float8		low,
				high;

	if (selected->collecting->how.purpose == RTSCAN_FOR_DISCRETE)
		return rtscan_key_value(selected->collecting, key);
	low = rtscan_key_float(selected->collecting, key);
	if (!percentile->between)
		return Float8GetDatum(low);
	high = rtscan_key_float(selected->collecting, selected_key(selected, percentile->rank + 1));
	return Float8GetDatum(low + (percentile->proportion * (high - low)));
}

/* Find the percentiles of n fractions.  If a fraction is NULL, its element of values[] is set to 0. */
static void
find_percentiles(RtscanCollecting *collecting, RtscanState *state, const NullableDatum *fractions, int n, Datum *values)
{
	Percentile *percentiles = palloc(n * sizeof(Percentile));
	Selected	selected = {.collecting = collecting, .n = state->count};

	for (int i = 0; i < n; i++)
		percentiles[i] = find_percentile(collecting, fractions[i], state->count);
	selected.ranks = palloc(2 * n * sizeof(uint64));
	selected.keys = palloc(2 * n * sizeof(int64));
	selected.nranks = list_ranks(collecting, percentiles, n, state->count, selected.ranks);
	if (selected.nranks > 0)
		rtscan_select_keys(collecting, rtscan_collection(state), selected.ranks, selected.nranks, selected.keys);
	for (int i = 0; i < n; i++)
		values[i] = percentiles[i].isnull ? (Datum) 0 : percentile_value(&selected, &percentiles[i]);
}

static Datum
percentile_of(RtscanCollecting *collecting, RtscanState *state, NullableDatum fraction, bool *isnull)
{
	Datum		value;

	*isnull = true;
	if (fraction.isnull)
		return (Datum) 0;
	/* PostgreSQL checks the fraction even if there are no rows. */
	check_fraction(DatumGetFloat8(fraction.value));
	if (state->count == 0)
		return (Datum) 0;
	find_percentiles(collecting, state, &fraction, 1, &value);
	*isnull = false;
	return value;
}

/* Return an array of percentiles.  It gets the dimensions of the array "shape". */
static Datum
make_percentile_array(const RtscanCollecting *collecting, const ArrayType *shape, Datum *values, bool *isnull)
{
	Oid			type = collecting->how.purpose == RTSCAN_FOR_DISCRETE ? collecting->type : FLOAT8OID;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	return PointerGetDatum(construct_md_array(values, isnull, ARR_NDIM(shape), ARR_DIMS(shape), ARR_LBOUND(shape),
											  type, typlen, typbyval, typalign));
}

/* Return the elements of an array of fractions. */
static NullableDatum *
list_fractions(ArrayType *array, int *n)
{
	NullableDatum *fractions;
	Datum	   *values;
	bool	   *nulls;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, n);
	fractions = palloc(Max(*n, 1) * sizeof(NullableDatum));
	for (int i = 0; i < *n; i++)
		fractions[i] = (NullableDatum) {values[i], nulls[i]};
	return fractions;
}

int
rtscan_percentile_ranks(const RtscanCollecting *collecting, NullableDatum datum, int64 n, uint64 **ranks)
{
	NullableDatum *fractions = &datum;
	int			nfractions = 1;
	Percentile *percentiles;

	if (datum.isnull)
		return 0;
	if (collecting->how.several)
		fractions = list_fractions(DatumGetArrayTypeP(datum.value), &nfractions);
	percentiles = palloc(Max(nfractions, 1) * sizeof(Percentile));
	for (int i = 0; i < nfractions; i++)
		percentiles[i] = find_percentile(collecting, fractions[i], n);
	*ranks = palloc(Max(2 * nfractions, 1) * sizeof(uint64));
	return list_ranks(collecting, percentiles, nfractions, n, *ranks);
}

/* Return the percentiles of an array of fractions, as an array of the same dimensions. */
static Datum
percentiles_of(RtscanCollecting *collecting, RtscanState *state, NullableDatum datum, bool *isnull)
{
	ArrayType  *array;
	NullableDatum *fractions;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	*isnull = state->count == 0 || datum.isnull;
	if (*isnull)
		return (Datum) 0;
	array = DatumGetArrayTypeP(datum.value);
	fractions = list_fractions(array, &n);
	if (n == 0)
		return make_percentile_array(collecting, array, NULL, NULL);
	values = palloc(n * sizeof(Datum));
	nulls = palloc(n * sizeof(bool));
	for (int i = 0; i < n; i++)
		nulls[i] = fractions[i].isnull;
	find_percentiles(collecting, state, fractions, n, values);
	return make_percentile_array(collecting, array, values, nulls);
}

/* ---------------------------------------------------------------- modes */

/* Return the most frequent value.  If there are several, return the first of them in the aggregate's order. */
static Datum
mode_of(RtscanCollecting *collecting, RtscanState *state, bool *isnull)
{
	RtscanKeys	keys;
	uint64		most = 0;
	uint64		count = 0;
	int64		mode = 0;
	int64		last = 0;
	int64		key;

	*isnull = state->count == 0;
	if (*isnull)
		return (Datum) 0;
	rtscan_begin_keys(&keys, collecting, rtscan_collection(state));
	while (rtscan_next_key(&keys, &key))
	{
		count = count > 0 && rtscan_same_key(collecting, last, key) ? count + 1 : 1;
		last = key;
		if (count > most || (collecting->how.descending && count == most))
		{
			most = count;
			mode = key;
		}
	}
	return rtscan_key_value(collecting, mode);
}

/* ---------------------------------------------------------------- distinct values */

static void
add_distinct_key(const RtscanTransition *aggregate, RtscanState *result, const RtscanCollecting *collecting, int64 key,
				 MemoryContext values, MemoryContext context)
{
	MemoryContext old;
	Datum		value;

	MemoryContextReset(values);
	old = MemoryContextSwitchTo(values);
	value = rtscan_key_value(collecting, key);
	rtscan_add_datums(aggregate, result, &value, context);
	MemoryContextSwitchTo(old);
}

/* Add all distinct values in ascending order, as PostgreSQL does. */
static void
add_all_distinct(RtscanCollecting *collecting, RtscanCollection *collection, RtscanState *result)
{
	MemoryContext values = AllocSetContextCreate(CurrentMemoryContext, "rtscan distinct values",
												 ALLOCSET_DEFAULT_SIZES);
	RtscanKeys	keys;
	int64		key;

	rtscan_begin_keys(&keys, collecting, collection);
	while (rtscan_next_key(&keys, &key))
		add_distinct_key(collecting->aggregate, result, collecting, key, values, CurrentMemoryContext);
	MemoryContextDelete(values);
}

static Datum
aggregate_distinct(RtscanCollecting *collecting, RtscanState *state, bool *isnull)
{
	RtscanState result = {.has_value = false};

	if (state->count > 0 && collecting->aggregate->family->counts)
		result.count = rtscan_count_keys(collecting, rtscan_collection(state));
	else if (state->count > 0)
		add_all_distinct(collecting, rtscan_collection(state), &result);
	return rtscan_result(collecting->aggregate, &result, isnull);
}

/* ---------------------------------------------------------------- results */

Datum
rtscan_collected_result(const RtscanTransition *transition, RtscanState *state, NullableDatum fractions, bool *isnull)
{
	RtscanCollecting *collecting = transition->collecting;
	Datum		result;

	CHECK_FOR_INTERRUPTS();
	if (collecting->how.purpose == RTSCAN_FOR_DISTINCT)
		result = aggregate_distinct(collecting, state, isnull);
	else if (collecting->how.purpose == RTSCAN_FOR_MODE)
		result = mode_of(collecting, state, isnull);
	else if (collecting->how.several)
		result = percentiles_of(collecting, state, fractions, isnull);
	else
		result = percentile_of(collecting, state, fractions, isnull);
	if (state->has_value)
		rtscan_end_collection(collecting, rtscan_collection(state));
	return result;
}
