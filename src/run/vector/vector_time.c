/* SPDX-License-Identifier: PostgreSQL */
/*
 * vector_time.c
 *		Calculate with vectors of dates and of timestamps.
 *
 * Dates are days, and timestamps are microseconds, since the beginning of 2000, without a time zone or in UTC.
 * Infinite values are left to PostgreSQL, and so are date_trunc() and extract() of values before the year 1.
 */
#include "run/vector/arithmetic_parts.h"

#include "bits/multiversion.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "pgtime.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/fmgroids.h"

/*
 * Number of days from 1 March of the year 0, where a period of the calendar begins, to the first day of 2000, and to
 * the first day of the year 1.
 */
#define DAYS_BEFORE_2000		730425
#define FIRST_DAY_OF_YEAR_1		306
#define DAYS_OF_ERA				146097	/* days of 400 years, a period of the calendar */

/* Dates of a Monday (3 January 2000) and of a Sunday (the day before). */
#define A_MONDAY		2
#define A_SUNDAY		1

#define UNIX_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

typedef enum Unit
{
	MICROSECOND,
	MILLISECOND,
	SECOND,
	MINUTE,
	HOUR,
	DAY,
	WEEK,
	MONTH,
	QUARTER,
	YEAR,
	DAY_OF_WEEK,
	ISO_DAY_OF_WEEK,
	DAY_OF_YEAR,
	EPOCH
} Unit;

typedef struct UnitName
{
	const char *name;
	Unit		unit;
} UnitName;

static const UnitName units[] = {
	{"microseconds", MICROSECOND},
	{"milliseconds", MILLISECOND},
	{"second", SECOND},
	{"minute", MINUTE},
	{"hour", HOUR},
	{"day", DAY},
	{"week", WEEK},
	{"month", MONTH},
	{"quarter", QUARTER},
	{"year", YEAR},
	{"dow", DAY_OF_WEEK},
	{"isodow", ISO_DAY_OF_WEEK},
	{"doy", DAY_OF_YEAR},
	{"epoch", EPOCH},
};

/* ---------------------------------------------------------------- days */

static inline int64
floor_divide(int64 value, int64 divisor)
{
	return value / divisor - (value % divisor < 0);
}

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

RTSCAN_MULTIVERSION static void
multiply_by_factor(const int64 *values, int64 factor, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = values[i] * factor;
}

bool
rtscan_dates_to_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
						   RtscanVector *result)
{
	if (!are_dates(operands[0]) || operands[0]->highest >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		return false;
	multiply_by_factor(operands[0]->digits, USECS_PER_DAY, n, result->digits);
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
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = floor_divide(operands[0]->digits[i], USECS_PER_DAY);
	result->scale = 0;
	result->lowest = floor_divide(operands[0]->lowest, USECS_PER_DAY);
	result->highest = floor_divide(operands[0]->highest, USECS_PER_DAY);
	return true;
}

/* ---------------------------------------------------------------- the calendar */

typedef struct Day
{
	uint32		year;
	uint32		month;
	uint32		day;
} Day;

/*
 * Split a date into year, month and day.  In the calculation, years begin in March, so that a leap day is the last
 * day of its year.  Eras of 400 years begin in a year that can be divided by 400.
 */
static inline Day
find_day(int64 date)
{
	uint32		days = (uint32) (date + DAYS_BEFORE_2000);
	uint32		era = days / DAYS_OF_ERA;
	uint32		of_era = days % DAYS_OF_ERA;
	uint32		year = (of_era - of_era / 1460 + of_era / 36524 - of_era / (DAYS_OF_ERA - 1)) / 365;
	uint32		of_year = of_era - (365 * year + year / 4 - year / 100);
	uint32		month = (5 * of_year + 2) / 153;
	uint32		next_year = month >= 10;

	return (Day) {
		.year = era * 400 + year + next_year,
		.month = month + 3 - 12 * next_year,
		.day = of_year - (153 * month + 2) / 5 + 1,
	};
}

/* Return the date of the first day of a month. */
static inline int64
first_of_month(uint32 year, uint32 month)
{
	uint32		next_year = month <= 2;
	uint32		march_year = year - next_year;
	uint32		of_era = march_year % 400;
	uint32		of_year = (153 * (month + 12 * next_year - 3) + 2) / 5;

	return (int64) (march_year / 400) * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
		DAYS_BEFORE_2000;
}

/* ---------------------------------------------------------------- date_trunc() */

/* Find the length of a unit, in microseconds, and a time at which a unit begins; false if units differ in length. */
static bool
find_length(Unit unit, int64 *length, int64 *beginning)
{
	*beginning = unit == WEEK ? A_MONDAY * USECS_PER_DAY : 0;
	*length = unit == MICROSECOND ? 1 : unit == MILLISECOND ? 1000 : unit == SECOND ? USECS_PER_SEC :
		unit == MINUTE ? USECS_PER_MINUTE : unit == HOUR ? USECS_PER_HOUR : unit == DAY ? USECS_PER_DAY :
		unit == WEEK ? 7 * USECS_PER_DAY : 0;
	return *length != 0;
}

static inline int64
truncate_date(Unit unit, int64 date)
{
	Day			day = find_day(date);
	uint32		month = unit == YEAR ? 1 : unit == QUARTER ? (day.month - 1) / 3 * 3 + 1 : day.month;

	return first_of_month(day.year, month);
}

/*
 * Truncate timestamps.  Returns false if some may be infinite, or before the year 1.  The bounds are found by reading
 * all results.
 */
static bool
truncate_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	const RtscanVector *operand = operands[0];
	int64		length,
				beginning;

	if (!are_timestamps(operand) || operand->lowest < (FIRST_DAY_OF_YEAR_1 - DAYS_BEFORE_2000) * USECS_PER_DAY)
		return false;
	if (find_length(step->parameter, &length, &beginning))
		for (uint32 i = 0; i < n; i++)
			result->digits[i] = floor_divide(operand->digits[i] - beginning, length) * length + beginning;
	else
		for (uint32 i = 0; i < n; i++)
			result->digits[i] = truncate_date(step->parameter, floor_divide(operand->digits[i], USECS_PER_DAY)) *
				USECS_PER_DAY;
	result->scale = 0;
	rtscan_find_bounds(result, n, &result->lowest, &result->highest);
	return true;
}

/* ---------------------------------------------------------------- extract() */

static inline int64
modulo_week(int64 date, int64 day)
{
	return date - day - floor_divide(date - day, 7) * 7;
}

static inline int64
extract_of_day(Unit unit, int64 date)
{
	Day			day;

	if (unit == DAY_OF_WEEK)
		return modulo_week(date, A_SUNDAY);
	if (unit == ISO_DAY_OF_WEEK)
		return modulo_week(date, A_MONDAY) + 1;
	if (unit == EPOCH)
		return (date + UNIX_DAYS) * SECS_PER_DAY;
	day = find_day(date);
	return unit == YEAR ? day.year : unit == QUARTER ? (day.month + 2) / 3 : unit == MONTH ? day.month :
		unit == DAY ? day.day : date - first_of_month(day.year, 1) + 1;
}

static bool
extract_of_dates(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	const RtscanVector *operand = operands[0];

	if (!are_dates(operand) || operand->lowest < FIRST_DAY_OF_YEAR_1 - DAYS_BEFORE_2000)
		return false;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = extract_of_day(step->parameter, operand->digits[i]);
	result->scale = 0;
	rtscan_find_bounds(result, n, &result->lowest, &result->highest);
	return true;
}

static inline int64
extract_of_time(Unit unit, int64 timestamp)
{
	int64		date = floor_divide(timestamp, USECS_PER_DAY);
	int64		time = timestamp - date * USECS_PER_DAY;

	return unit == HOUR ? time / USECS_PER_HOUR : unit == MINUTE ? time / USECS_PER_MINUTE % MINS_PER_HOUR :
		unit == EPOCH ? timestamp + UNIX_DAYS * USECS_PER_DAY : unit <= SECOND ? time % USECS_PER_MINUTE :
		extract_of_day(unit, date);
}

/* Return the scale of an extracted unit.  Second, millisecond and epoch have decimal digits down to microseconds. */
static int
scale_of(Unit unit)
{
	return unit == EPOCH || unit == SECOND ? 6 : unit == MILLISECOND ? 3 : 0;
}

static bool
extract_of_timestamps(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)
{
	const RtscanVector *operand = operands[0];

	if (!are_timestamps(operand) || operand->lowest < (FIRST_DAY_OF_YEAR_1 - DAYS_BEFORE_2000) * USECS_PER_DAY ||
		operand->highest > PG_INT64_MAX - UNIX_DAYS * USECS_PER_DAY)
		return false;
	for (uint32 i = 0; i < n; i++)
		result->digits[i] = extract_of_time(step->parameter, operand->digits[i]);
	result->scale = scale_of(step->parameter);
	rtscan_find_bounds(result, n, &result->lowest, &result->highest);
	return true;
}

/* ---------------------------------------------------------------- all functions */

static bool
find_unit(const char *name, Unit *unit)
{
	for (Size i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(name, units[i].name) == 0)
		{
			*unit = units[i].unit;
			return true;
		}
	return false;
}

bool
rtscan_find_time_function(Oid function, const char *name, RtscanArithmetic *step)
{
	Unit		unit;

	if (!find_unit(name, &unit))
		return false;
	step->parameter = unit;
	switch (function)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			step->calculate = truncate_timestamps;
			step->in_utc = function == F_DATE_TRUNC_TEXT_TIMESTAMPTZ;
			return unit <= YEAR;
		case F_EXTRACT_TEXT_DATE:
			step->calculate = extract_of_dates;
			return unit == DAY || unit >= MONTH;
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
			step->calculate = extract_of_timestamps;
			step->in_utc = function == F_EXTRACT_TEXT_TIMESTAMPTZ;
			return unit != WEEK;
		default:
			return false;
	}
}

double
rtscan_values_of_unit(const RtscanArithmetic *step)
{
	static const int values[] = {
		[MINUTE] = 60,
		[HOUR] = 24,
		[DAY] = 31,
		[MONTH] = 12,
		[QUARTER] = 4,
		[DAY_OF_WEEK] = 7,
		[ISO_DAY_OF_WEEK] = 7,
		[DAY_OF_YEAR] = 366,
		[EPOCH] = 0,
	};
	bool		extracts = step->calculate == extract_of_dates || step->calculate == extract_of_timestamps;

	return extracts && values[step->parameter] > 0 ? values[step->parameter] : get_float8_infinity();
}

bool
rtscan_session_is_in_utc(void)
{
	long		offset;

	return pg_get_timezone_offset(session_timezone, &offset) && offset == 0;
}
