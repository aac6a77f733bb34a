/* SPDX-License-Identifier: PostgreSQL */
/*
 * lookup.c
 *		Look up conditions in a segment's dictionaries, which turns them into intervals.
 */
#include "search/filter/lookup.h"

#include "access/stratnum.h"
#include "common/int.h"
#include "device/device.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "search/filter/cost.h"
#include "search/filter/predicate.h"
#include "search/filter/value_set.h"
#include "segment/dictionary.h"
#include "segment/plain.h"
#include "utils/timestamp.h"

/*
 * Nanoseconds to look up the values of a condition that may be long:
 *
 *	LOOKUP			for each value, if each is searched for in a dictionary by itself
 *	MERGE, ENTRY	for each value and for each entry of the dictionary, if all values are merged with all entries
 *	PLAIN_LOOKUP	for each value in a plain column, where each comparison reads a row somewhere
 *	PLAIN_ROW		added to PLAIN_LOOKUP for each row of the segment: with more rows, more comparisons miss the
 *					processor's cache
 */
#define LOOKUP_NANOSECONDS	300.0
#define MERGE_NANOSECONDS	15.0
#define ENTRY_NANOSECONDS	2.0
#define PLAIN_LOOKUP_NANOSECONDS	600.0
#define PLAIN_ROW_NANOSECONDS	0.0001

/*
 * Nanoseconds to test the remaining rows for a condition:
 *
 *	SINGLE			if few rows remain: to find and test a row; rtscan_cpu_reading() estimates the time to read it
 *	READ, TEST		if many rows remain: to read each row of the segment, and to test each remaining row
 *	CODES, CODE		as READ and TEST, but by codes, after the dictionary's entries have been tested (ENTRY)
 */
#define SINGLE_NANOSECONDS	10.0
#define READ_NANOSECONDS	1.0
#define TEST_NANOSECONDS	3.0
#define CODES_NANOSECONDS	0.2
#define CODE_NANOSECONDS	1.5

/* ---------------------------------------------------------------- around clock changes */

/*
 * If the clock changes near the value of a condition, column values that are within this many microseconds of that
 * value are compared with it one by one.
 */
#define CLOCK_CHANGE_REACH	(2 * USECS_PER_DAY)

/* State of comparing local times with an instant one by one. */
typedef struct LocalTimes
{
	const RtscanColumn *type;	/* the column's type */
	const RtscanProbe *probe;	/* the instant that local times are compared with */
	StrategyNumber strategy;	/* btree's strategy number of the comparison */
	RtscanIntervals *set;		/* where accepted values are added */
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

/* RtscanDictionaryVisitor: add a value if the strategy accepts it. */
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

/* Move an instant by "by" microseconds.  If the sum overflows, returns the least or the greatest 64-bit integer. */
static TimestampTz
move_instant(TimestampTz instant, int64 by)
{
	TimestampTz moved;

	if (pg_add_s64_overflow(instant, by, &moved))
		return by < 0 ? PG_INT64_MIN : PG_INT64_MAX;
	return moved;
}

/* Does the session's clock change within CLOCK_CHANGE_REACH of an instant? */
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

/* May comparisons with a value disagree with the order of the column's values? */
static bool
order_may_break(const RtscanCondition *condition, Datum value)
{
	return rtscan_depends_on_clock(condition) && clock_changes_around(DatumGetTimestampTz(value));
}

/* ---------------------------------------------------------------- intervals */

/*
 * Add the interval that a strategy accepts.  "before" and "after" are the places before and after the values that are
 * equal to the condition's value.  "end" is the place behind all values.
 */
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
 * Add the intervals that the operator accepts for an instant around which the clock changes.  Column values farther
 * from the instant than CLOCK_CHANGE_REACH are certainly before or after it, and are added by strategy.  Nearer values
 * are compared with the instant one by one.
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

static RtscanProbe
probe_of(const RtscanCondition *condition, int i)
{
	return (RtscanProbe) {
		.column = condition->type,
		.has_key = condition->keys != NULL,
		.key = condition->keys ? condition->keys[i] : 0,
		.compare = condition->compare,
		.value = condition->values[i],
	};
}

/* Is a condition on a plain key column?  (A segment's descriptor has an RtscanColumnHeader only for key columns.) */
static bool
is_about_plain(const RtscanCondition *condition, const RtscanReader *reader)
{
	return !rtscan_is_included(condition) && rtscan_is_plain(&reader->segment->columns[condition->column].header);
}

static const RtscanColumnHeader *
header_of_key(const RtscanCondition *condition, const RtscanReader *reader)
{
	return &reader->segment->columns[condition->column].header;
}

/* Is a condition on a key column that stores a code for each row? */
static bool
is_about_codes(const RtscanCondition *condition, const RtscanReader *reader)
{
	return !rtscan_is_included(condition) && !rtscan_is_plain(header_of_key(condition, reader)) &&
		header_of_key(condition, reader)->codes.pages > 0;
}

static double
lookups_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double values)
{
	double		one_by_one = values * LOOKUP_NANOSECONDS;

	if (is_about_plain(condition, reader))
		return values * (PLAIN_LOOKUP_NANOSECONDS + reader->segment->header.rows * PLAIN_ROW_NANOSECONDS);
	if (is_about_codes(condition, reader))
		return Min(one_by_one,
				   values * MERGE_NANOSECONDS + header_of_key(condition, reader)->distinct * ENTRY_NANOSECONDS);
	return one_by_one;
}

static double
testing_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double rows)
{
	double		all = reader->segment->header.rows;

	if (is_about_codes(condition, reader))
		return header_of_key(condition, reader)->distinct * ENTRY_NANOSECONDS + all * CODES_NANOSECONDS +
			rows * CODE_NANOSECONDS;
	if (rows < all / RTSCAN_DENSE)
		return rows * SINGLE_NANOSECONDS + rtscan_cpu_reading(reader->segment, rows, 1);
	return all * READ_NANOSECONDS + rows * TEST_NANOSECONDS;
}

static bool
can_be_tested(const RtscanCondition *condition, const RtscanReader *reader)
{
	return condition->nvalues >= RTSCAN_LONG && condition->keys && condition->strategy == BTEqualStrategyNumber &&
		(is_about_plain(condition, reader) || is_about_codes(condition, reader)) &&
		rtscan_accepts_integers(condition, condition->type->exact);
}

double
rtscan_list_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double rows)
{
	double		lookups = lookups_nanoseconds(condition, reader, condition->nvalues * condition->stands_for);

	if (rtscan_is_included(condition))
		return testing_nanoseconds(condition, reader, rows);
	return can_be_tested(condition, reader) ? Min(lookups, testing_nanoseconds(condition, reader, rows)) : lookups;
}

bool
rtscan_condition_is_long(const RtscanCondition *condition, const RtscanReader *reader, double rows)
{
	double		testing = testing_nanoseconds(condition, reader, rows);

	/* A device takes at most DEVICE_MAX_RUNS runs of bins of a column.  For more values rows must be tested. */
	if (reader->test_time > 0)
		testing = condition->nvalues > DEVICE_MAX_RUNS ? 0 : Min(testing, reader->test_time);
	return !reader->soft && lookups_nanoseconds(condition, reader, condition->nvalues) > testing &&
		can_be_tested(condition, reader);
}

void
rtscan_condition_approach(const RtscanCondition *condition, RtscanReader *reader, RtscanApproachStep step)
{
	bool		after = condition->strategy == BTLessEqualStrategyNumber ||
		condition->strategy == BTGreaterStrategyNumber;
	RtscanProbe probe;

	if (condition->nvalues != 1 || condition->keys == NULL || !is_about_plain(condition, reader))
		return;
	probe = probe_of(condition, 0);
	rtscan_dictionary_approach(reader, condition->column, &probe, after, step);
}

/* Add the intervals that a condition's operator accepts for one of its values. */
static bool
add_value_intervals(RtscanReader *reader, const RtscanCondition *condition, int i, RtscanIntervals *set)
{
	RtscanProbe probe = probe_of(condition, i);
	int			column = condition->column;
	RtscanPosition end = end_of_values(&reader->segment->columns[column].header);
	RtscanPosition before = {0, 0},
				after = {0, 0};

	if (order_may_break(condition, probe.value))
		return add_one_by_one(reader, column, &probe, condition->strategy, set);
	if (condition->strategy != BTLessEqualStrategyNumber &&
		condition->strategy != BTGreaterStrategyNumber &&
		!rtscan_dictionary_find(reader, column, &probe, false, &before))
		return false;
	if (condition->strategy == BTEqualStrategyNumber ?
		!rtscan_dictionary_find_behind(reader, column, &probe, &before, &after) :
		condition->strategy != BTLessStrategyNumber && condition->strategy != BTGreaterEqualStrategyNumber &&
		!rtscan_dictionary_find(reader, column, &probe, true, &after))
		return false;
	add_by_strategy(set, condition->strategy, before, after, end);
	return true;
}

/* State of looking up many values for equality. */
typedef struct Equals
{
	RtscanIntervals *set;		/* intervals found so far */
	RtscanTrace *trace;			/* trace that counts the values found; or NULL */
	RtscanFoundCodes *found;	/* codes of the values found so far; NULL: they are not wanted, or the column has no
								 * codes */
	bool		coded;			/* the column has codes */
} Equals;

/* RtscanFoundVisitor */
static void
add_found(const RtscanFound *found, uint32 n, void *arg)
{
	const Equals *equals = (const Equals *) arg;

	for (uint32 i = 0; i < n; i++)
		rtscan_intervals_add(equals->set, found[i].place, found[i].behind);
	for (uint32 i = 0; i < n && equals->found; i++)
	{
		equals->found->numbers[equals->found->n] = found[i].value;
		equals->found->codes[equals->found->n++] = found[i].place.code;
	}
	for (uint32 i = 0; i < n && equals->trace; i++)
		rtscan_trace_key(equals->trace, found[i].value, equals->coded ? found[i].behind.code - found[i].place.code : 0);
}

/* Allocate the codes that a lookup returns, with room for all values. */
static RtscanFoundCodes *
begin_found(const RtscanCondition *condition)
{
	RtscanFoundCodes *found = palloc0(sizeof(RtscanFoundCodes));

	found->values = condition->values;
	found->numbers = palloc_extended(Max(condition->nvalues, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	found->codes = palloc_extended(Max(condition->nvalues, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	return found;
}

/* Free unused room, since the codes found in all segments are kept at the same time. */
static void
free_rest_of_found(RtscanFoundCodes *found)
{
	found->numbers = repalloc_huge(found->numbers, Max(found->n, 1) * sizeof(uint32));
	found->codes = repalloc_huge(found->codes, Max(found->n, 1) * sizeof(uint32));
}

static RtscanProbes
probes_of(const RtscanCondition *condition)
{
	return (RtscanProbes) {
		.column = condition->type,
		.n = condition->nvalues,
		.keys = condition->keys,
		.compare = condition->compare,
		.values = condition->values,
	};
}

/* Find the intervals of values that are equal to any of the condition's values, which are sorted. */
static bool
equal_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set, RtscanFoundCodes **found)
{
	const RtscanProbes probes = probes_of(condition);
	Equals		equals = {
		.set = set,
		.trace = condition->trace,
		.coded = !rtscan_is_plain(&reader->segment->columns[condition->column].header),
	};

	if (condition->notes_codes && equals.coded)
		*found = equals.found = begin_found(condition);
	if (!rtscan_dictionary_find_all(reader, condition->column, &probes, add_found, &equals))
		return false;
	if (equals.found)
		free_rest_of_found(equals.found);
	rtscan_intervals_normalize(set);
	return true;
}

/* Find the intervals that the operator accepts for any of the values. */
static bool
any_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set, RtscanFoundCodes **found)
{
	if ((condition->nvalues > 1 || condition->trace) && condition->sorted &&
		condition->strategy == BTEqualStrategyNumber)
		return equal_intervals(condition, reader, set, found);
	for (int i = 0; i < condition->nvalues; i++)
		if (!add_value_intervals(reader, condition, i, set))
			return false;
	rtscan_intervals_normalize(set);
	return true;
}

/* Find the intervals that the operator accepts for all of the values. */
static bool
all_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set)
{
	for (int i = 0; i < condition->nvalues; i++)
	{
		RtscanIntervals one = {0, 0, NULL};

		if (!add_value_intervals(reader, condition, i, &one))
			return false;
		rtscan_intervals_normalize(&one);
		*set = i == 0 ? one : rtscan_intervals_intersect(set, &one);
	}
	return true;
}

/* RtscanFoundVisitor */
static void
trace_found(const RtscanFound *found, uint32 n, void *arg)
{
	for (uint32 i = 0; i < n; i++)
		rtscan_trace_key(arg, found[i].value, found[i].behind.code - found[i].place.code);
}

void
rtscan_trace_values(const RtscanCondition *condition, RtscanReader *reader)
{
	const RtscanProbes probes = probes_of(condition);

	if (condition->trace && condition->trace->counts_keys && !condition->trace->paused)
		rtscan_dictionary_find_all(reader, condition->column, &probes, trace_found, condition->trace);
}

bool
rtscan_condition_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set,
						   RtscanFoundCodes **found)
{
	RtscanPosition start = {0, 0};
	RtscanPosition end = end_of_values(&reader->segment->columns[condition->column].header);
	RtscanPosition nulls_end = {end.code + 1, reader->segment->header.rows};

	*set = (RtscanIntervals) {0, 0, NULL};
	*found = NULL;
	switch (condition->kind)
	{
		case RTSCAN_CONDITION_IS_NULL:
			rtscan_intervals_add(set, end, nulls_end);
			return true;
		case RTSCAN_CONDITION_IS_NOT_NULL:
			rtscan_intervals_add(set, start, end);
			return true;
		case RTSCAN_CONDITION_ALL:
			return all_intervals(condition, reader, set);
		default:
			if (!any_intervals(condition, reader, set, found))
				return false;
			if (condition->kind == RTSCAN_CONDITION_NONE)
				*set = rtscan_intervals_complement(set, end);
			else if (condition->kind == RTSCAN_CONDITION_DISTINCT)
				*set = rtscan_intervals_complement(set, nulls_end);
			return true;
	}
}
