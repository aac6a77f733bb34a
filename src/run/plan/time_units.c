/* SPDX-License-Identifier: PostgreSQL */
/*
 * time_units.c
 *		The units of date_trunc(), extract() and to_char().
 */
#include "run/plan/time_units.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

/* A unit: its name, its average length in microseconds, and how many of it extract() tells apart, or 0. */
typedef struct UnitData
{
	const char *name;
	double		length;
	int			count;
} UnitData;

static const UnitData units[] = {
	[RTSCAN_MICROSECOND] = {"microseconds", 1, 0},
	[RTSCAN_MILLISECOND] = {"milliseconds", 1000, 0},
	[RTSCAN_SECOND] = {"second", USECS_PER_SEC, 0},
	[RTSCAN_MINUTE] = {"minute", USECS_PER_MINUTE, 60},
	[RTSCAN_HOUR] = {"hour", USECS_PER_HOUR, 24},
	[RTSCAN_DAY] = {"day", USECS_PER_DAY, 31},
	[RTSCAN_WEEK] = {"week", 7.0 * USECS_PER_DAY, 53},
	[RTSCAN_MONTH] = {"month", 30.4375 * USECS_PER_DAY, 12},
	[RTSCAN_QUARTER] = {"quarter", 91.3125 * USECS_PER_DAY, 4},
	[RTSCAN_YEAR] = {"year", 365.25 * USECS_PER_DAY, 0},
	[RTSCAN_DECADE] = {"decade", 3652.5 * USECS_PER_DAY, 0},
	[RTSCAN_CENTURY] = {"century", 36525.0 * USECS_PER_DAY, 0},
	[RTSCAN_MILLENNIUM] = {"millennium", 365250.0 * USECS_PER_DAY, 0},
	[RTSCAN_ISO_YEAR] = {"isoyear", 365.25 * USECS_PER_DAY, 0},
	[RTSCAN_DAY_OF_WEEK] = {"dow", 0, 7},
	[RTSCAN_ISO_DAY_OF_WEEK] = {"isodow", 0, 7},
	[RTSCAN_DAY_OF_YEAR] = {"doy", 0, 366},
	[RTSCAN_EPOCH] = {"epoch", 0, 0},
};

const char *
rtscan_constant_text(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && constant->consttype == TEXTOID && !constant->constisnull
		? TextDatumGetCString(constant->constvalue) : NULL;
}

bool
rtscan_find_time_unit(const Node *argument, RtscanTimeUnit *unit)
{
	const char *name = rtscan_constant_text(argument);

	for (Size i = 0; name && i < lengthof(units); i++)
		if (pg_strcasecmp(name, units[i].name) == 0)
		{
			*unit = i;
			return true;
		}
	return false;
}

const char *
rtscan_name_of_unit(RtscanTimeUnit unit)
{
	return units[unit].name;
}

double
rtscan_length_of_unit(RtscanTimeUnit unit)
{
	return units[unit].length;
}

double
rtscan_count_of_unit(RtscanTimeUnit unit)
{
	return units[unit].count > 0 ? units[unit].count : INFINITY;
}

/* Text of the format may look like its patterns; then the unit is shorter than it need be. */
bool
rtscan_find_unit_of_format(const Node *format, RtscanTimeUnit *unit)
{
	static const struct
	{
		const char *pattern;
		RtscanTimeUnit unit;
	}			patterns[] = {
		{"MS", RTSCAN_MICROSECOND}, {"US", RTSCAN_MICROSECOND}, {"FF", RTSCAN_MICROSECOND},
		{"TZ", RTSCAN_MICROSECOND}, {"OF", RTSCAN_MICROSECOND}, {"SS", RTSCAN_SECOND}, {"MI", RTSCAN_MINUTE},
		{"HH", RTSCAN_HOUR}, {"AM", RTSCAN_HOUR}, {"A.M", RTSCAN_HOUR}, {"PM", RTSCAN_HOUR}, {"P.M", RTSCAN_HOUR},
	};
	const char *text = rtscan_constant_text(format);
	const char *upper = text ? asc_toupper(text, strlen(text)) : NULL;

	*unit = RTSCAN_DAY;
	for (Size i = 0; upper && i < lengthof(patterns); i++)
		if (patterns[i].unit < *unit && strstr(upper, patterns[i].pattern))
			*unit = patterns[i].unit;
	return upper && *unit > RTSCAN_MICROSECOND;
}
