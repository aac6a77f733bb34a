/* SPDX-License-Identifier: PostgreSQL */
/*
 * estimate_column.c
 *		Estimate the size of a column in an index.
 */
#include "monitor/estimate_column.h"

#include <math.h>

#include "access/htup_details.h"
#include "bits/packed.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "row/keys.h"
#include "segment/dictionary.h"
#include "segment/distinct.h"
#include "segment/plain.h"
#include "segment/values.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Least correlation with which each segment or chunk is assumed to have values that no other segment or chunk has. */
#define CLUSTERED	0.99

/* Ratio of the largest gap of a dictionary block to the mean gap, if values are spread randomly. */
#define LARGEST_GAP			(log(RTSCAN_DICTIONARY_BLOCK) + 0.58)
/* Ratio of the largest gap to the mean gap if each row has a larger value than the row before. */
#define LARGEST_REGULAR_GAP	2.0

/*
 * If values exist for this fraction of the keys between the bounds in the statistics, the column is assumed to have
 * no gaps.  The fraction is less than 1 because the bounds and the number of values are those of a sample.
 */
#define DENSE	0.98

/* Bytes of the offset of a value that is stored whole. */
#define OFFSET_BYTES	2.0
/* Bytes of the rank of a value that is stored whole in a key column's dictionary. */
#define RANK_BYTES		4.0

/* The number of distinct values that is assumed of an expression, as PostgreSQL assumes it. */
#define GUESSED_DISTINCT	200.0

/* ---------------------------------------------------------------- statistics */

static RtscanColumn
describe(Oid declared)
{
	Oid			type = getBaseType(declared);
	RtscanColumn column = {
		.numeric = type == NUMERICOID,
		.key_kind = rtscan_key_kind(lookup_type_cache(declared, TYPECACHE_CMP_PROC)->cmp_proc),
	};

	get_typlenbyvalalign(declared, &column.typlen, &column.typbyval, &column.typalign);
	column.exact = rtscan_exact_kind(type, column.typlen, column.typbyval, &column.exact_sorts);
	return column;
}

/*
 * Extend the range from *least to *greatest by some values.  If the values are not exact integers, or are numerics
 * whose scale is not *scale, statistics->integers becomes false.  *scale is negative before the first values.
 */
static void
widen_range(RtscanColumnStatistics *statistics, const Datum *values, int n, double *least, double *greatest, int *scale)
{
	int64	   *digits = palloc(Max(n, 1) * sizeof(int64));
	int			found;

	if (n > 0 && statistics->integers &&
		(!rtscan_find_decimals(&statistics->type, values, NULL, n, digits, &found) || (*scale >= 0 && found != *scale)))
		statistics->integers = false;
	else if (n > 0 && statistics->integers)
	{
		*scale = found;
		for (int i = 0; i < n; i++)
		{
			*least = Min(*least, (double) digits[i]);
			*greatest = Max(*greatest, (double) digits[i]);
		}
		statistics->has_range = true;
		statistics->range = *greatest - *least;
	}
	pfree(digits);
}

static void
read_values(HeapTuple tuple, RtscanColumnStatistics *statistics)
{
	static const int kinds[] = {STATISTIC_KIND_HISTOGRAM, STATISTIC_KIND_MCV};
	double		least = INFINITY,
				greatest = -INFINITY;
	int			scale = -1;
	AttStatsSlot slot;

	for (Size k = 0; k < lengthof(kinds); k++)
	{
		if (!get_attstatsslot(&slot, tuple, kinds[k], InvalidOid, ATTSTATSSLOT_VALUES))
			continue;
		widen_range(statistics, slot.values, slot.nvalues, &least, &greatest, &scale);
		if (kinds[k] == STATISTIC_KIND_HISTOGRAM && statistics->type.key_kind != RTSCAN_KEY_NONE)
		{
			statistics->nbounds = Min(slot.nvalues, RTSCAN_MOST_BOUNDS);
			statistics->bounds = palloc(statistics->nbounds * sizeof(double));
			for (int i = 0; i < statistics->nbounds; i++)
				statistics->bounds[i] = (double) rtscan_key_encode(statistics->type.key_kind, slot.values[i]);
		}
		free_attstatsslot(&slot);
	}
}

static void
read_tuple(HeapTuple tuple, RtscanColumnStatistics *statistics)
{
	Form_pg_statistic form = (Form_pg_statistic) GETSTRUCT(tuple);
	AttStatsSlot slot;

	if (form->stadistinct != 0)
		statistics->distinct = form->stadistinct > 0 ? form->stadistinct : -form->stadistinct * statistics->rows;
	statistics->nulls = form->stanullfrac;
	statistics->width = form->stawidth;
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid, ATTSTATSSLOT_NUMBERS))
	{
		statistics->order = fabs(slot.numbers[0]);
		statistics->ascends = slot.numbers[0] == 1 && statistics->nulls == 0;
		free_attstatsslot(&slot);
	}
	read_values(tuple, statistics);
}

void
rtscan_read_statistics(Relation table, AttrNumber attno, double rows, RtscanColumnStatistics *statistics)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), attno - 1);
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(table)),
										Int16GetDatum(attno), BoolGetDatum(false));

	*statistics = (RtscanColumnStatistics) {
		.type = describe(attribute->atttypid),
		.rows = rows,
		.distinct = rows,
		.width = get_typavgwidth(attribute->atttypid, attribute->atttypmod),
	};
	statistics->integers = statistics->type.exact != RTSCAN_EXACT_NONE;
	if (HeapTupleIsValid(tuple))
	{
		read_tuple(tuple, statistics);
		ReleaseSysCache(tuple);
	}
	statistics->distinct = Max(1, Min(statistics->distinct, rows * (1 - statistics->nulls)));
}

void
rtscan_guess_statistics(Oid type, int32 typmod, double rows, RtscanColumnStatistics *statistics)
{
	*statistics = (RtscanColumnStatistics) {
		.type = describe(type),
		.rows = rows,
		.distinct = Max(1, Min(GUESSED_DISTINCT, rows)),
		.width = get_typavgwidth(type, typmod),
	};
}

/* ---------------------------------------------------------------- sizes of parts */

/* Estimate the fraction of the range of the table's values that "rows" consecutive rows cover. */
static double
share_of(const RtscanColumnStatistics *statistics, double rows)
{
	return Min(1, rows / Max(statistics->rows, 1) + sqrt(Max(0, 1 - statistics->order * statistics->order)));
}

double
rtscan_distinct_among(const RtscanColumnStatistics *statistics, double rows)
{
	double		share = Min(1, rows / Max(statistics->rows, 1));
	double		copies = statistics->rows * (1 - statistics->nulls) / statistics->distinct;

	if (statistics->order >= CLUSTERED)
		return Max(1, statistics->distinct * share);
	return Max(1, statistics->distinct * (1 - pow(1 - share, copies)));
}

static double
chunk_rows(const RtscanBuildPlan *plan)
{
	return Min(plan->rows, RTSCAN_CHUNK_ROWS);
}

/* Estimate the bytes of a segment's elements in frames, if the largest element of each chunk is "largest". */
static double
frame_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan, double largest)
{
	double		with_null = largest + (statistics->nulls > 0 ? 1 : 0);
	uint32		bits = with_null >= ldexp(1, 63) ? 64 : rtscan_packed_bits((uint64) with_null);

	return plan->rows * bits / 8;
}

static double
integer_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan)
{
	if (!statistics->has_range)
		return plan->rows * (statistics->type.numeric ? sizeof(int64) : statistics->width);
	return frame_bytes(statistics, plan, ceil(statistics->range * share_of(statistics, chunk_rows(plan))));
}

/* ---------------------------------------------------------------- dictionaries */

/* Return the bits that each gap of a dictionary block takes.  "largest" is the expected largest gap, less one. */
static double
gap_bits(double largest)
{
	return largest < 0.01 ? 0 : Min(64, log2(largest + 1));
}

/*
 * Estimate the bits of a gap between keys.  "distinct" values are spread over the fraction "share" of each part
 * between two bounds of the statistics.
 */
static double
key_gap_bits(const RtscanColumnStatistics *statistics, double share, double distinct)
{
	double		largest = statistics->ascends ? LARGEST_REGULAR_GAP : LARGEST_GAP;
	int			parts = statistics->nbounds - 1;
	double		sum = 0;

	if (parts < 1)
		return statistics->type.typlen * 4;
	if (statistics->distinct >= DENSE * (statistics->bounds[parts] - statistics->bounds[0]))
		return 0;
	for (int i = 0; i < parts; i++)
	{
		double		keys = (statistics->bounds[i + 1] - statistics->bounds[i]) * share;
		double		filled = Min(1, distinct / parts / Max(keys, 1));

		sum += gap_bits(filled >= 0.9999 ? 0 : largest / -log1p(-filled));
	}
	return sum / parts;
}

/* Estimate the bytes of a key column's dictionary in a segment, if it has "entries" entries. */
static double
dictionary_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan, double entries)
{
	double		copies = plan->rows * (1 - statistics->nulls) / entries;
	double		more = Max(0, copies - 1);
	double		ranks = gap_bits(more + 3 * sqrt(more));

	if (statistics->type.key_kind == RTSCAN_KEY_NONE)
		return entries * (statistics->width + OFFSET_BYTES + (more > 0.001 ? RANK_BYTES : 0));
	return entries / 8 * (key_gap_bits(statistics, statistics->order >= CLUSTERED
									   ? share_of(statistics, plan->rows) : 1,
									   entries) + ranks +
						  8.0 * sizeof(RtscanDictionaryBlock) / RTSCAN_DICTIONARY_BLOCK);
}

/* ---------------------------------------------------------------- key columns */

/* Estimate the bytes of the sieve.  A page of a vector is stored only if its bits are not all equal. */
static double
sieve_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan, double bins)
{
	double		radix = plan->components == 2 ? ceil(sqrt(bins)) : 1;
	double		high = ceil(bins / radix) - 1;
	double		low = radix - 1;
	double		share = Min(1, share_of(statistics, RTSCAN_CHUNK_ROWS) * plan->segments);
	double		of_chunk = Min(high, high * share + 1) + Min(low, bins * share + 1);

	return ceil(plan->rows / RTSCAN_CHUNK_ROWS) * of_chunk * RTSCAN_CHUNK_BYTES;
}

double
rtscan_key_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan)
{
	double		distinct = Min(rtscan_distinct_among(statistics, plan->rows), plan->rows);
	double		dictionary = dictionary_bytes(statistics, plan, distinct);
	double		coded = plan->rows * rtscan_code_bytes(distinct) + dictionary;
	double		bins = Min(plan->bins, distinct + (statistics->nulls > 0 ? 1 : 0));
	double		order = distinct <= plan->bins ? 0 : 3 * plan->rows;

	if (statistics->ascends)
		return dictionary;
	if (plan->rows < RTSCAN_CHUNK_ROWS)
		return coded;
	if (rtscan_may_be_plain(&statistics->type, distinct))
		coded = Min(coded, integer_bytes(statistics, plan) +
					dictionary_bytes(statistics, plan, plan->rows / RTSCAN_PLAIN_STEP));
	return sieve_bytes(statistics, plan, bins) + order + coded;
}

/* ---------------------------------------------------------------- INCLUDE columns */

static double
code_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan)
{
	double		distinct = rtscan_distinct_among(statistics, plan->rows);
	double		of_chunk = statistics->integers ?
		ceil(distinct * Min(1, share_of(statistics, chunk_rows(plan)) * plan->segments)) : distinct;

	if (distinct >= RTSCAN_MOST_CODES)
		return INFINITY;
	return frame_bytes(statistics, plan, of_chunk - 1) +
		distinct * (statistics->integers ? sizeof(int64) : statistics->width + OFFSET_BYTES);
}

double
rtscan_include_bytes(const RtscanColumnStatistics *statistics, const RtscanBuildPlan *plan)
{
	const RtscanColumn *type = &statistics->type;
	double		bytes;

	if (type->numeric || type->typlen <= 0)
		bytes = plan->rows * ((1 - statistics->nulls) * statistics->width + OFFSET_BYTES);
	else
		bytes = plan->rows * (type->typlen + (statistics->nulls > 0 ? 0.125 : 0));
	if (statistics->integers)
		bytes = type->numeric ? integer_bytes(statistics, plan) : Min(bytes, integer_bytes(statistics, plan));
	return Min(bytes, code_bytes(statistics, plan));
}
