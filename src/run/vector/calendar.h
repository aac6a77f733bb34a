/* SPDX-License-Identifier: PostgreSQL */
/*
 * calendar.h
 *		The Gregorian calendar: which unit of time a date is in.
 *
 * Dates are days since the beginning of 2000, and must not be before the year 1.
 */
#ifndef RTSCAN_CALENDAR_H
#define RTSCAN_CALENDAR_H

#include "rtscan.h"

#include "run/plan/time_units.h"

/*
 * Number of days from 1 March of the year 0, where a period of the calendar begins, to the first day of 2000, and to
 * the first days of the years 1 and 10.
 */
#define RTSCAN_DAYS_BEFORE_2000		730425
#define RTSCAN_FIRST_DAY_OF_YEAR_1	306
#define RTSCAN_FIRST_DAY_OF_YEAR_10	3593
#define RTSCAN_DAYS_OF_ERA			146097	/* days of 400 years, a period of the calendar */

/* Dates of a Monday (3 January 2000) and of a Sunday (the day before). */
#define RTSCAN_A_MONDAY		2
#define RTSCAN_A_SUNDAY		1

/* Days from the beginning of 1970 to that of 2000. */
#define RTSCAN_UNIX_DAYS	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* A day of the calendar. */
typedef struct RtscanDay
{
	uint32		year;
	uint32		month;
	uint32		day;
} RtscanDay;

static inline int64
rtscan_floor_divide(int64 value, int64 divisor)
{
	return value / divisor - (value % divisor < 0);
}

/*
 * Split a date into year, month and day.  In the calculation, years begin in March, so that a leap day is the last
 * day of its year.  Eras of 400 years begin in a year that can be divided by 400.
 */
static inline RtscanDay
rtscan_find_day(int64 date)
{
	uint32		days = (uint32) (date + RTSCAN_DAYS_BEFORE_2000);
	uint32		era = days / RTSCAN_DAYS_OF_ERA;
	uint32		of_era = days % RTSCAN_DAYS_OF_ERA;
	uint32		year = (of_era - of_era / 1460 + of_era / 36524 - of_era / (RTSCAN_DAYS_OF_ERA - 1)) / 365;
	uint32		of_year = of_era - (365 * year + year / 4 - year / 100);
	uint32		month = (5 * of_year + 2) / 153;
	uint32		next_year = month >= 10;

	return (RtscanDay) {
		.year = era * 400 + year + next_year,
		.month = month + 3 - 12 * next_year,
		.day = of_year - (153 * month + 2) / 5 + 1,
	};
}

/* Return the date of the first day of a month. */
static inline int64
rtscan_first_of_month(uint32 year, uint32 month)
{
	uint32		next_year = month <= 2;
	uint32		march_year = year - next_year;
	uint32		of_era = march_year % 400;
	uint32		of_year = (153 * (month + 12 * next_year - 3) + 2) / 5;

	return (int64) (march_year / 400) * RTSCAN_DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
		RTSCAN_DAYS_BEFORE_2000;
}

/* Return how many days a date is after the last day of the week that some date is. */
static inline int64
rtscan_modulo_week(int64 date, int64 day)
{
	return date - day - rtscan_floor_divide(date - day, 7) * 7;
}

/* Return the date of the Thursday of a date's week.  An ISO week belongs to the year of its Thursday. */
static inline int64
rtscan_thursday_of(int64 date)
{
	return date - rtscan_modulo_week(date, RTSCAN_A_MONDAY) + 3;
}

/* Return the first date of the unit of time, of a day or longer, that a date is in. */
static inline int64
rtscan_truncate_date(RtscanTimeUnit unit, int64 date)
{
	RtscanDay	day;

	if (unit == RTSCAN_DAY)
		return date;
	if (unit == RTSCAN_WEEK)
		return date - rtscan_modulo_week(date, RTSCAN_A_MONDAY);
	day = rtscan_find_day(date);
	switch (unit)
	{
		case RTSCAN_MONTH:
			return rtscan_first_of_month(day.year, day.month);
		case RTSCAN_QUARTER:
			return rtscan_first_of_month(day.year, (day.month - 1) / 3 * 3 + 1);
		case RTSCAN_DECADE:
			return rtscan_first_of_month(day.year / 10 * 10, 1);
		case RTSCAN_CENTURY:
			return rtscan_first_of_month((day.year + 99) / 100 * 100 - 99, 1);
		case RTSCAN_MILLENNIUM:
			return rtscan_first_of_month((day.year + 999) / 1000 * 1000 - 999, 1);
		default:
			return rtscan_first_of_month(day.year, 1);
	}
}

/* Extract a unit of a day or longer from a date. */
static inline int64
rtscan_extract_of_date(RtscanTimeUnit unit, int64 date)
{
	int64		thursday = rtscan_thursday_of(date);
	RtscanDay	day = rtscan_find_day(unit == RTSCAN_WEEK || unit == RTSCAN_ISO_YEAR ? thursday : date);

	switch (unit)
	{
		case RTSCAN_DAY:
			return day.day;
		case RTSCAN_WEEK:
			return (thursday - rtscan_first_of_month(day.year, 1)) / 7 + 1;
		case RTSCAN_MONTH:
			return day.month;
		case RTSCAN_QUARTER:
			return (day.month + 2) / 3;
		case RTSCAN_DECADE:
			return day.year / 10;
		case RTSCAN_CENTURY:
			return (day.year + 99) / 100;
		case RTSCAN_MILLENNIUM:
			return (day.year + 999) / 1000;
		case RTSCAN_DAY_OF_WEEK:
			return rtscan_modulo_week(date, RTSCAN_A_SUNDAY);
		case RTSCAN_ISO_DAY_OF_WEEK:
			return rtscan_modulo_week(date, RTSCAN_A_MONDAY) + 1;
		case RTSCAN_DAY_OF_YEAR:
			return date - rtscan_first_of_month(day.year, 1) + 1;
		default:
			return day.year;
	}
}

#endif							/* RTSCAN_CALENDAR_H */
