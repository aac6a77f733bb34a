/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_time.c
 *		Calculate with vectors of dates, times and timestamps.
 *
 * Dates are days, and timestamps are microseconds, since the beginning of 2000, in UTC or in the local time of a zone.
 * Infinite values are left to PostgreSQL, and so are date_trunc() and extract() of values before the year 1.
 */
#include "run/vector/arithmetic_parts.h"

#include "bits/multiversion.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "run/vector/calendar.h"
#include "utils/date.h"
#include "utils/float.h"

/*
 * If the days of a batch are from a period of this many days, their results are looked up in a table.  It takes 32 kB,
 * and so fits into the processor's first cache.
 */
#define MOST_DAYS	4096

/* Timestamps of a longer time, in microseconds, are from more years than the table of a time zone has. */
#define LONG_TIME	(100 * INT64CONST(366) * USECS_PER_DAY)

/* Results for the days of a period. */
struct RtscanDayTable
{
	int64		first;			/* first day of the period */
	int64		values[MOST_DAYS];	/* by day: its result */
};

static bool
are_dates(const RtscanVector *vector)
{
	return vector->lowest >= DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE &&
		vector->highest < DATE_END_JULIAN - POSTGRES_EPOCH_JDATE;
}

static bool
are_timestamps(const RtscanVector *vector)
{
	return vector->lowest >= MIN_TIMESTAMP && vector->highest < END_TIMESTAMP;
}

/* Is a day in the years for which a unit is calculated?  From the year 1 on; a decade begins in the year 10. */
static bool
has_unit(RtscanTimeUnit unit, int64 day)
{
	int64		first = unit == RTSCAN_DECADE ? RTSCAN_FIRST_DAY_OF_YEAR_10 : RTSCAN_FIRST_DAY_OF_YEAR_1;

	return day >= first - RTSCAN_DAYS_BEFORE_2000;
}

/* Set the bounds of a result by reading all of it. */
static bool
bound(RtscanVector *result, uint32 n, int scale)
{
	result->scale = scale;
	rtscan_find_bounds(result, n, &result->lowest, &result->highest);
	return true;
}

/* ---------------------------------------------------------------- quotients */

/* Divide values, minus a beginning, by a constant; a division by a constant is a multiplication. */
#define DIVIDE_BY(constant) \
	do { \
		for (uint32 i = 0; i < n; i++) \
			result[i] = rtscan_floor_divide(values[i] - beginning, constant); \
	} while (0)

/* Divide values, minus a beginning, and round down. */
static void
divide(const int64 *values, int64 beginning, int64 length, uint32 n, int64 *result)
{
	switch (length)
	{
		case USECS_PER_SEC:
			DIVIDE_BY(USECS_PER_SEC);
			break;
		case USECS_PER_MINUTE:
			DIVIDE_BY(USECS_PER_MINUTE);
			break;
		case USECS_PER_HOUR:
			DIVIDE_BY(USECS_PER_HOUR);
			break;
		case USECS_PER_DAY:
			DIVIDE_BY(USECS_PER_DAY);
			break;
		default:
			DIVIDE_BY(length);
			break;
	}
}

RTSCAN_MULTIVERSION static void
multiply(const int64 *values, int64 factor, int64 beginning, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = values[i] * factor + beginning;
}

/* ---------------------------------------------------------------- days */

/*
 * Replace days, from "first" to "last", by what a function of a unit and a day returns: from the step's table, which is
 * made anew if it lacks some of them, or one by one if they are too many.
 */
static void
look_up_days(const RtscanArithmetic *step, int64 (*function) (RtscanTimeUnit, int64), int64 first, int64 last,
			 uint32 n, int64 *days)
{
	RtscanTimeUnit unit = step->parameter;
	struct RtscanDayTable *table = *step->days;

	if (last - first >= MOST_DAYS)
	{
		for (uint32 i = 0; i < n; i++)
			days[i] = function(unit, days[i]);
		return;
	}
	if (table == NULL || first < table->first || last >= table->first + MOST_DAYS)
	{
		if (table == NULL)
			table = *step->days = MemoryContextAlloc(GetMemoryChunkContext(step->days), sizeof(struct RtscanDayTable));
		table->first = has_unit(unit, first - (MOST_DAYS - 1 - (last - first)) / 2)
			? first - (MOST_DAYS - 1 - (last - first)) / 2 : first;
		for (int i = 0; i < MOST_DAYS; i++)
			table->values[i] = function(unit, table->first + i);
	}
	for (uint32 i = 0; i < n; i++)
		days[i] = table->values[days[i] - table->first];
}

bool
rtscan_subtract_dates(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	return are_dates(operands[0]) && are_dates(operands[1]) && rtscan_add_integers(step, operands, n, result);
}

bool
rtscan_add_to_dates(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	return are_dates(operands[0]) && rtscan_add_integers(step, operands, n, result);
}

bool
rtscan_dates_to_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	if (!are_dates(operands[0]) || operands[0]->highest >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		return false;
	multiply(operands[0]->digits, USECS_PER_DAY, 0, n, result->digits);
	result->scale = 0;
	result->lowest = operands[0]->lowest * USECS_PER_DAY;
	result->highest = operands[0]->highest * USECS_PER_DAY;
	return true;
}

bool
rtscan_timestamps_to_dates(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	if (!are_timestamps(operands[0]))
		return false;
	divide(operands[0]->digits, 0, USECS_PER_DAY, n, result->digits);
	result->scale = 0;
	result->lowest = rtscan_floor_divide(operands[0]->lowest, USECS_PER_DAY);
	result->highest = rtscan_floor_divide(operands[0]->highest, USECS_PER_DAY);
	return true;
}

bool
rtscan_timestamps_to_times(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	if (!rtscan_timestamps_to_dates(step, operands, n, result))
		return false;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = operands[0]->digits[i] - result->digits[i] * USECS_PER_DAY;
	return bound(result, n, 0);
}

/* ---------------------------------------------------------------- time zones */

/*
 * Convert timestamps between UTC and local time.  If the bounds are those of a whole chunk, and far apart, those of the
 * batch are found first.
 */
static bool
convert(const RtscanArithmetic *step, const RtscanVector *timestamps, uint32 n, RtscanVector *result,
		bool (*function) (RtscanTimeZone *, const int64 *, uint32, int64, int64, int64 *, int64 *, int64 *))
{
	int64		least = timestamps->lowest;
	int64		greatest = timestamps->highest;

	if (!are_timestamps(timestamps))
		return false;
	if (greatest - least > LONG_TIME)
		rtscan_find_bounds(timestamps, n, &least, &greatest);
	result->scale = 0;
	return function(step->zone, timestamps->digits, n, least, greatest, result->digits, &result->lowest,
					&result->highest);
}

bool
rtscan_timestamps_to_local(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	return convert(step, operands[0], n, result, rtscan_to_local_time);
}

bool
rtscan_timestamps_from_local(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
							 RtscanVector *result)
{
	return convert(step, operands[0], n, result, rtscan_from_local_time);
}

/* ---------------------------------------------------------------- date_trunc(), date_bin() */

/*
 * Return the length of a unit in microseconds, and in *beginning a time at which one begins; 0 if they differ in
 * length.
 */
static int64
length_of(RtscanTimeUnit unit, int64 *beginning)
{
	*beginning = unit == RTSCAN_WEEK ? RTSCAN_A_MONDAY * USECS_PER_DAY : 0;
	switch (unit)
	{
		case RTSCAN_MICROSECOND:
			return 1;
		case RTSCAN_MILLISECOND:
			return 1000;
		case RTSCAN_SECOND:
			return USECS_PER_SEC;
		case RTSCAN_MINUTE:
			return USECS_PER_MINUTE;
		case RTSCAN_HOUR:
			return USECS_PER_HOUR;
		case RTSCAN_DAY:
			return USECS_PER_DAY;
		case RTSCAN_WEEK:
			return 7 * USECS_PER_DAY;
		default:
			return 0;
	}
}

/* Are timestamps finite, and in the years for which a unit is calculated? */
static bool
have_unit(RtscanTimeUnit unit, const RtscanVector *timestamps)
{
	return are_timestamps(timestamps) && has_unit(unit, rtscan_floor_divide(timestamps->lowest, USECS_PER_DAY));
}

/*
 * Number the units of time that timestamps are in: those of the same length from 0 at their beginning, others by their
 * first day.
 */
bool
rtscan_number_units(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	RtscanTimeUnit unit = step->parameter;
	int64		beginning;
	int64		length = length_of(unit, &beginning);

	if (!have_unit(unit, operands[0]))
		return false;
	divide(operands[0]->digits, beginning, length ? length : USECS_PER_DAY, n, result->digits);
	if (length == 0)
		look_up_days(step, rtscan_truncate_date, rtscan_floor_divide(operands[0]->lowest, USECS_PER_DAY),
					 rtscan_floor_divide(operands[0]->highest, USECS_PER_DAY), n, result->digits);
	return bound(result, n, 0);
}

bool
rtscan_truncate_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	int64		beginning;
	int64		length = length_of(step->parameter, &beginning);

	if (!rtscan_number_units(step, operands, n, result))
		return false;
	if (length == 0)
		length = USECS_PER_DAY;
	multiply(result->digits, length, beginning, n, result->digits);
	result->lowest = result->lowest * length + beginning;
	result->highest = result->highest * length + beginning;
	return true;
}

/*
 * Truncate timestamps to a unit shorter than a day, of local time: subtract the part of a unit that has passed there.
 * The operands are the timestamps in UTC, and in local time.
 */
bool
rtscan_truncate_in_zone(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	if (!rtscan_truncate_timestamps(step, operands + 1, n, result))
		return false;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] += operands[0]->digits[i] - operands[1]->digits[i];
	return bound(result, n, 0);
}

/*
 * Number the bins of date_bin() that timestamps are in, from an origin on; the parameter is their length.  Timestamps
 * before the origin are left to PostgreSQL, whose minor versions differ in them.
 */
bool
rtscan_number_bins(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	int64		origin = operands[1]->lowest;
	int64		longest;

	if (!are_timestamps(operands[0]) || !are_timestamps(operands[1]) || !rtscan_is_constant(operands[1]) ||
		operands[0]->lowest < origin || pg_sub_s64_overflow(operands[0]->highest, origin, &longest))
		return false;
	divide(operands[0]->digits, origin, step->parameter, n, result->digits);
	return bound(result, n, 0);
}

bool
rtscan_bin_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	int64		origin = operands[1]->lowest;

	if (!rtscan_number_bins(step, operands, n, result))
		return false;
	multiply(result->digits, step->parameter, origin, n, result->digits);
	result->lowest = result->lowest * step->parameter + origin;
	result->highest = result->highest * step->parameter + origin;
	return true;
}

/* ---------------------------------------------------------------- extract() */

bool
rtscan_extract_of_dates(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						RtscanVector *result)
{
	const RtscanVector *operand = operands[0];

	if (!are_dates(operand) || !has_unit(step->parameter, operand->lowest))
		return false;
	if (step->parameter == RTSCAN_EPOCH)
		multiply(operand->digits, SECS_PER_DAY, RTSCAN_UNIX_DAYS * SECS_PER_DAY, n, result->digits);
	else
	{
		memcpy(result->digits, operand->digits, n * sizeof(int64));
		look_up_days(step, rtscan_extract_of_date, operand->lowest, operand->highest, n, result->digits);
	}
	return bound(result, n, 0);
}

/* Extract a unit of a day or longer from timestamps. */
static void
extract_of_days(const RtscanArithmetic *step, const RtscanVector *operand, uint32 n, int64 *result)
{
	divide(operand->digits, 0, USECS_PER_DAY, n, result);
	look_up_days(step, rtscan_extract_of_date, rtscan_floor_divide(operand->lowest, USECS_PER_DAY),
				 rtscan_floor_divide(operand->highest, USECS_PER_DAY), n, result);
}

/* Extract a unit shorter than a day.  Seconds, milliseconds and microseconds are microseconds of their minute. */
static void
extract_of_times(RtscanTimeUnit unit, const int64 *values, uint32 n, int64 *result)
{
	int64		whole = unit == RTSCAN_HOUR ? USECS_PER_DAY : unit == RTSCAN_MINUTE ? USECS_PER_HOUR : USECS_PER_MINUTE;

	divide(values, 0, whole, n, result);
	for (uint32 i = 0; i < n; i++)
		result[i] = values[i] - result[i] * whole;
	if (unit == RTSCAN_HOUR || unit == RTSCAN_MINUTE)
		divide(result, 0, unit == RTSCAN_HOUR ? USECS_PER_HOUR : USECS_PER_MINUTE, n, result);
}

/* Return the scale of an extracted unit.  Second, millisecond and epoch have decimal digits down to microseconds. */
static int
scale_of(RtscanTimeUnit unit)
{
	return unit == RTSCAN_EPOCH || unit == RTSCAN_SECOND ? 6 : unit == RTSCAN_MILLISECOND ? 3 : 0;
}

bool
rtscan_extract_of_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
							 RtscanVector *result)
{
	const RtscanVector *operand = operands[0];
	RtscanTimeUnit unit = step->parameter;

	if (!have_unit(unit, operand) || operand->highest > PG_INT64_MAX - RTSCAN_UNIX_DAYS * USECS_PER_DAY)
		return false;
	if (unit == RTSCAN_EPOCH)
		multiply(operand->digits, 1, RTSCAN_UNIX_DAYS * USECS_PER_DAY, n, result->digits);
	else if (unit <= RTSCAN_HOUR)
		extract_of_times(unit, operand->digits, n, result->digits);
	else
		extract_of_days(step, operand, n, result->digits);
	return bound(result, n, scale_of(unit));
}

double
rtscan_values_of_unit(const RtscanArithmetic *step)
{
	bool		extracts = step->calculate == rtscan_extract_of_dates ||
		step->calculate == rtscan_extract_of_timestamps;

	return extracts ? rtscan_count_of_unit(step->parameter) : get_float8_infinity();
}
