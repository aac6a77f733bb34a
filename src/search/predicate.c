/*
 * predicate.c
 *		From scan keys to conditions, from conditions to intervals of ranks.
 */
#include "search/predicate.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "segment/plain.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------------- conditions */

/* Split the array of an "op ANY"; NULL elements are never true. */
static void
take_elements(RtscanCondition *condition, Datum array_datum)
{
	ArrayType  *array = DatumGetArrayTypeP(array_datum);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool	   *nulls;
	int			n,
				kept = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &condition->values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			condition->values[kept++] = condition->values[i];
	condition->nvalues = kept;
	pfree(nulls);
}

static void
take_value(RtscanCondition *condition, Datum value)
{
	condition->nvalues = 1;
	condition->values = palloc(sizeof(Datum));
	condition->values[0] = value;
}

/* The function that compares the column's type with that of the values. */
static FmgrInfo *
find_comparison(Relation index, const RtscanColumn *column, int i, Oid subtype)
{
	Oid			opcintype = index->rd_opcintype[i];
	FmgrInfo   *compare;
	RegProcedure proc;

	if (!OidIsValid(subtype) || subtype == opcintype)
		return column->compare;
	proc = get_opfamily_proc(index->rd_opfamily[i], opcintype, subtype, RTSCAN_COMPARE_PROC);
	if (!RegProcedureIsValid(proc))
		elog(ERROR, "missing support function %d(%u,%u) for attribute %d of index \"%s\"",
			 RTSCAN_COMPARE_PROC, opcintype, subtype, i + 1, RelationGetRelationName(index));
	compare = palloc(sizeof(FmgrInfo));
	fmgr_info(proc, compare);
	return compare;
}

/* Sorting many of them takes long. */
static int
compare_keys(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a,
				right = *(const uint64 *) b;

	CHECK_FOR_INTERRUPTS();
	return left < right ? -1 : left > right;
}

/* Where the column has keys, and the values are of its type, they have keys as well. */
static void
take_keys(RtscanCondition *condition, const RtscanColumn *column)
{
	bool		identical;

	if (column->key_kind == RTSCAN_KEY_NONE || condition->compare != column->compare)
		return;
	condition->keys = palloc(Max(condition->nvalues, 1) * sizeof(uint64));
	for (int i = 0; i < condition->nvalues; i++)
		condition->keys[i] = rtscan_key_encode(column->key_kind, condition->values[i], &identical);
	qsort(condition->keys, condition->nvalues, sizeof(uint64), compare_keys);
}

static int
compare_values(const void *a, const void *b, void *arg)
{
	const RtscanColumn *column = (const RtscanColumn *) arg;

	CHECK_FOR_INTERRUPTS();
	return DatumGetInt32(FunctionCall2Coll(column->compare, column->collation,
										   *(const Datum *) a, *(const Datum *) b));
}

/* Sort values of the column's type, so that a row need not be compared with all of them. */
static void
sort_values(RtscanCondition *condition, const RtscanColumn *column)
{
	if (condition->keys == NULL && condition->compare == column->compare)
		qsort_arg(condition->values, condition->nvalues, sizeof(Datum), compare_values,
				  unconstify(RtscanColumn *, column));
}

/* Prepare one scan key; false if it is never true. */
static bool
prepare_condition(Relation index, const RtscanSchema *schema, ScanKey key,
				  RtscanCondition *condition)
{
	int			i = key->sk_attno - 1;

	condition->column = i;
	if (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL))
	{
		condition->kind = (key->sk_flags & SK_SEARCHNULL) ?
			RTSCAN_CONDITION_IS_NULL : RTSCAN_CONDITION_IS_NOT_NULL;
		return true;
	}
	if (key->sk_flags & SK_ISNULL)
		return false;
	condition->kind = RTSCAN_CONDITION_COMPARE;
	condition->strategy = key->sk_strategy;
	condition->operator = &key->sk_func;
	condition->collation = key->sk_collation;
	condition->compare = find_comparison(index, &schema->columns[i], i, key->sk_subtype);
	if (key->sk_flags & SK_SEARCHARRAY)
		take_elements(condition, key->sk_argument);
	else
		take_value(condition, key->sk_argument);
	take_keys(condition, &schema->columns[i]);
	sort_values(condition, &schema->columns[i]);
	return condition->nvalues > 0;
}

RtscanPredicate *
rtscan_predicate(Relation index, const RtscanSchema *schema, ScanKey keys, int nkeys)
{
	RtscanPredicate *predicate = palloc0(sizeof(RtscanPredicate));

	predicate->schema = schema;
	predicate->conditions = palloc0(Max(nkeys, 1) * sizeof(RtscanCondition));
	for (int i = 0; i < nkeys && !predicate->impossible; i++)
	{
		if (prepare_condition(index, schema, &keys[i], &predicate->conditions[i]))
			predicate->nconditions++;
		else
			predicate->impossible = true;
	}
	return predicate;
}

/* ---------------------------------------------------------------- around clock changes */

#define CLOCK_CHANGE_REACH	(2 * USECS_PER_DAY)

/* What comparing a local time with an instant one by one needs to know. */
typedef struct LocalTimes
{
	const RtscanColumn *type;
	const RtscanProbe *probe;
	StrategyNumber strategy;
	RtscanIntervals *set;
} LocalTimes;

static bool
strategy_accepts(StrategyNumber strategy, int32 order)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return order < 0;
		case BTLessEqualStrategyNumber:
			return order <= 0;
		case BTEqualStrategyNumber:
			return order == 0;
		case BTGreaterEqualStrategyNumber:
			return order >= 0;
		case BTGreaterStrategyNumber:
			return order > 0;
	}
	elog(ERROR, "unrecognized strategy number: %d", strategy);
}

/* RtscanDictionaryVisitor: add a value if it compares as asked for. */
static void
add_if_accepted(uint32 code, uint64 key, uint32 first_rank, uint32 end_rank, void *arg)
{
	LocalTimes *local = (LocalTimes *) arg;
	Datum		value = rtscan_key_decode(local->type->key_kind, key);
	int32		order = DatumGetInt32(FunctionCall2Coll(local->probe->compare, local->type->collation,
														value, local->probe->value));

	if (strategy_accepts(local->strategy, order))
		rtscan_intervals_add(local->set, (RtscanPosition) {code, first_rank},
							 (RtscanPosition) {code + 1, end_rank});
}

/* An instant moved; where that overflows the end of time will do. */
static TimestampTz
move_instant(TimestampTz instant, int64 by)
{
	TimestampTz moved;

	if (pg_add_s64_overflow(instant, by, &moved))
		return by < 0 ? PG_INT64_MIN : PG_INT64_MAX;
	return moved;
}

/* Does the session's clock change within reach of an instant? */
static bool
clock_changes_around(TimestampTz instant)
{
	pg_time_t	from,
				change;
	long		before_offset,
				after_offset;
	int			before_dst,
				after_dst,
				found;

	if (TIMESTAMP_NOT_FINITE(instant))
		return false;
	from = timestamptz_to_time_t(move_instant(instant, -CLOCK_CHANGE_REACH));
	found = pg_next_dst_boundary(&from, &before_offset, &before_dst, &change,
								 &after_offset, &after_dst, session_timezone);
	return found < 0 ||
		(found > 0 && change <= timestamptz_to_time_t(move_instant(instant, CLOCK_CHANGE_REACH)));
}

/* Is the order of the column's values not that of their comparison with this one? */
static bool
order_may_break(const RtscanProbe *probe)
{
	Oid			function = probe->compare->fn_oid;

	return (function == F_TIMESTAMP_CMP_TIMESTAMPTZ || function == F_DATE_CMP_TIMESTAMPTZ) &&
		clock_changes_around(DatumGetTimestampTz(probe->value));
}

/* ---------------------------------------------------------------- intervals */

/* Add the values that a strategy accepts, given where a value's equals begin and end. */
static void
add_by_strategy(RtscanIntervals *set, StrategyNumber strategy, RtscanPosition before,
				RtscanPosition after, RtscanPosition end)
{
	RtscanPosition start = {0, 0};

	switch (strategy)
	{
		case BTLessStrategyNumber:
			rtscan_intervals_add(set, start, before);
			break;
		case BTLessEqualStrategyNumber:
			rtscan_intervals_add(set, start, after);
			break;
		case BTEqualStrategyNumber:
			rtscan_intervals_add(set, before, after);
			break;
		case BTGreaterEqualStrategyNumber:
			rtscan_intervals_add(set, before, end);
			break;
		case BTGreaterStrategyNumber:
			rtscan_intervals_add(set, after, end);
			break;
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
}

static RtscanPosition
end_of_values(const RtscanColumnHeader *header)
{
	return (RtscanPosition) {rtscan_null_code(header), header->nonnull};
}

/*
 * Around a clock change: values certainly before and after the edge by strategy, and
 * those between one by one.
 */
static bool
add_one_by_one(RtscanReader *reader, int column, const RtscanProbe *probe,
			   StrategyNumber strategy, RtscanIntervals *set)
{
	RtscanPosition end = end_of_values(&reader->segment->columns[column].header);
	TimestampTz instant = DatumGetTimestampTz(probe->value);
	RtscanProbe moved = *probe;
	LocalTimes	local = {probe->column, probe, strategy, set};
	RtscanPosition first,
				last;

	moved.value = TimestampTzGetDatum(move_instant(instant, -CLOCK_CHANGE_REACH));
	if (!rtscan_dictionary_find(reader, column, &moved, false, &first))
		return false;
	moved.value = TimestampTzGetDatum(move_instant(instant, CLOCK_CHANGE_REACH));
	if (!rtscan_dictionary_find(reader, column, &moved, true, &last))
		return false;
	if (strategy_accepts(strategy, -1))
		rtscan_intervals_add(set, (RtscanPosition) {0, 0}, first);
	if (strategy_accepts(strategy, 1))
		rtscan_intervals_add(set, last, end);
	return (rtscan_is_plain(&reader->segment->columns[column].header) ? rtscan_plain_visit : rtscan_dictionary_visit)
		(reader, column, probe->column, first.code, last.code, add_if_accepted, &local);
}

static bool
add_value_intervals(RtscanReader *reader, const RtscanCondition *condition,
					const RtscanProbe *probe, RtscanIntervals *set)
{
	int			column = condition->column;
	RtscanPosition end = end_of_values(&reader->segment->columns[column].header);
	RtscanPosition before = {0, 0},
				after = {0, 0};

	if (order_may_break(probe))
		return add_one_by_one(reader, column, probe, condition->strategy, set);
	if (condition->strategy != BTLessEqualStrategyNumber &&
		condition->strategy != BTGreaterStrategyNumber &&
		!rtscan_dictionary_find(reader, column, probe, false, &before))
		return false;
	if (condition->strategy != BTLessStrategyNumber &&
		condition->strategy != BTGreaterEqualStrategyNumber &&
		!rtscan_dictionary_find(reader, column, probe, true, &after))
		return false;
	add_by_strategy(set, condition->strategy, before, after, end);
	return true;
}

static bool
condition_intervals(const RtscanPredicate *predicate, const RtscanCondition *condition,
					RtscanReader *reader, RtscanIntervals *set)
{
	const RtscanColumn *type = &predicate->schema->columns[condition->column];
	RtscanPosition start = {0, 0};
	RtscanPosition end = end_of_values(&reader->segment->columns[condition->column].header);
	RtscanPosition nulls_end = {end.code + 1, reader->segment->header.rows};

	*set = (RtscanIntervals) {0, 0, NULL};
	if (condition->kind == RTSCAN_CONDITION_IS_NULL)
		rtscan_intervals_add(set, end, nulls_end);
	else if (condition->kind == RTSCAN_CONDITION_IS_NOT_NULL)
		rtscan_intervals_add(set, start, end);
	else
		for (int i = 0; i < condition->nvalues; i++)
		{
			RtscanProbe probe = {
				.column = type,
				.has_key = condition->keys != NULL,
				.key = condition->keys ? condition->keys[i] : 0,
				.compare = condition->compare,
				.value = condition->values[i],
			};

			if (!add_value_intervals(reader, condition, &probe, set))
				return false;
		}
	rtscan_intervals_normalize(set);
	return true;
}

/* ---------------------------------------------------------------- regions */

/* Narrow the region's column by a set; adds the column if it is not there. */
static void
narrow_column(RtscanRegion *region, int column, RtscanIntervals set)
{
	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column == column)
		{
			region->columns[i].intervals = rtscan_intervals_intersect(&region->columns[i].intervals, &set);
			return;
		}
	region->columns[region->ncolumns++] = (RtscanRegionColumn) {.column = column, .intervals = set};
}

static int
compare_rows(const void *a, const void *b)
{
	uint32		left = ((const RtscanRegionColumn *) a)->rows;
	uint32		right = ((const RtscanRegionColumn *) b)->rows;

	return left < right ? -1 : left > right;
}

/* Drop columns that exclude nothing, put the narrowest first, see whether one excludes all. */
static void
finish_region(RtscanRegion *region, uint32 rows)
{
	int			kept = 0;

	for (int i = 0; i < region->ncolumns; i++)
	{
		region->columns[i].rows = rtscan_intervals_rows(&region->columns[i].intervals);
		if (region->columns[i].rows == 0)
			region->empty = true;
		if (region->columns[i].rows < rows)
			region->columns[kept++] = region->columns[i];
	}
	region->ncolumns = kept;
	qsort(region->columns, kept, sizeof(RtscanRegionColumn), compare_rows);
}

bool
rtscan_predicate_region(const RtscanPredicate *predicate, RtscanReader *reader,
						RtscanRegion *region)
{
	*region = (RtscanRegion) {.empty = predicate->impossible};
	if (region->empty)
		return true;
	region->columns = palloc0(Max(predicate->nconditions, 1) * sizeof(RtscanRegionColumn));
	for (int i = 0; i < predicate->nconditions; i++)
	{
		RtscanIntervals set;

		if (!condition_intervals(predicate, &predicate->conditions[i], reader, &set))
			return false;
		narrow_column(region, predicate->conditions[i].column, set);
	}
	finish_region(region, reader->segment->header.rows);
	return true;
}

/* ---------------------------------------------------------------- single rows */

static bool
has_key(const RtscanCondition *condition, uint64 key)
{
	return bsearch(&key, condition->keys, condition->nvalues, sizeof(uint64), compare_keys) != NULL;
}

/* For inequalities only the extreme of the values matters. */
static bool
key_matches(const RtscanCondition *condition, uint64 key)
{
	uint64		smallest = condition->keys[0];
	uint64		largest = condition->keys[condition->nvalues - 1];

	switch (condition->strategy)
	{
		case BTLessStrategyNumber:
			return key < largest;
		case BTLessEqualStrategyNumber:
			return key <= largest;
		case BTGreaterEqualStrategyNumber:
			return key >= smallest;
		case BTGreaterStrategyNumber:
			return key > smallest;
		default:
			return has_key(condition, key);
	}
}

static bool
operator_accepts(const RtscanCondition *condition, Datum value, int i)
{
	return DatumGetBool(FunctionCall2Coll(condition->operator, condition->collation,
										  value, condition->values[i]));
}

/* Likewise for values of the column's type that are in order. */
static bool
matches_sorted(const RtscanCondition *condition, const RtscanColumn *type, Datum value)
{
	int			low = 0,
				high = condition->nvalues;

	if (condition->strategy == BTLessStrategyNumber || condition->strategy == BTLessEqualStrategyNumber)
		return operator_accepts(condition, value, high - 1);
	if (condition->strategy != BTEqualStrategyNumber)
		return operator_accepts(condition, value, 0);
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (compare_values(&condition->values[middle], &value, unconstify(RtscanColumn *, type)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < condition->nvalues && operator_accepts(condition, value, low);
}

static bool
value_matches(const RtscanCondition *condition, const RtscanColumn *type, Datum value)
{
	bool		identical;

	if (condition->keys)
		return key_matches(condition, rtscan_key_encode(type->key_kind, value, &identical));
	if (condition->compare == type->compare)
		return matches_sorted(condition, type, value);
	for (int i = 0; i < condition->nvalues; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (operator_accepts(condition, value, i))
			return true;
	}
	return false;
}

bool
rtscan_predicate_matches(const RtscanPredicate *predicate, const Datum *values, const bool *isnull)
{
	if (predicate->impossible)
		return false;
	for (int i = 0; i < predicate->nconditions; i++)
	{
		const RtscanCondition *condition = &predicate->conditions[i];
		bool		null = isnull[condition->column];

		if (condition->kind == RTSCAN_CONDITION_IS_NULL ? !null : null)
			return false;
		if (condition->kind == RTSCAN_CONDITION_COMPARE &&
			!value_matches(condition, &predicate->schema->columns[condition->column],
						   values[condition->column]))
			return false;
	}
	return true;
}
