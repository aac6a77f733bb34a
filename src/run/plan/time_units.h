/* SPDX-License-Identifier: PostgreSQL */
/*
 * time_units.h
 *		The units of date_trunc(), extract() and to_char().
 */
#ifndef RTSCAN_TIME_UNITS_H
#define RTSCAN_TIME_UNITS_H

#include "rtscan.h"

#include "nodes/primnodes.h"

/* Units of date_trunc() and extract(), from short to long ones, and then those that only extract() has. */
typedef enum RtscanTimeUnit
{
	RTSCAN_MICROSECOND,
	RTSCAN_MILLISECOND,
	RTSCAN_SECOND,
	RTSCAN_MINUTE,
	RTSCAN_HOUR,
	RTSCAN_DAY,
	RTSCAN_WEEK,
	RTSCAN_MONTH,
	RTSCAN_QUARTER,
	RTSCAN_YEAR,
	RTSCAN_DECADE,
	RTSCAN_CENTURY,
	RTSCAN_MILLENNIUM,
	RTSCAN_ISO_YEAR,
	RTSCAN_DAY_OF_WEEK,
	RTSCAN_ISO_DAY_OF_WEEK,
	RTSCAN_DAY_OF_YEAR,
	RTSCAN_EPOCH
} RtscanTimeUnit;

/* Return the value of a constant text, in the current memory context; NULL if a node is none, or NULL. */
extern const char *rtscan_constant_text(const Node *node);

/* Find the unit that an argument names; false if the argument is not a constant, or the unit is not among these. */
extern bool rtscan_find_time_unit(const Node *argument, RtscanTimeUnit *unit);

/* Return the name of a unit. */
extern const char *rtscan_name_of_unit(RtscanTimeUnit unit);

/*
 * Find the longest unit, up to a day, that determines to_char() of a timestamp by a format.  Returns false if the
 * format is not a constant, or has fractions of seconds or the offset of the time zone.
 */
extern bool rtscan_find_unit_of_format(const Node *format, RtscanTimeUnit *unit);

/* Return the length of a unit of date_trunc() in microseconds, on average. */
extern double rtscan_length_of_unit(RtscanTimeUnit unit);

/* Return how many values extract() of a unit has; infinity if they are many, or the unit is no part of another one. */
extern double rtscan_count_of_unit(RtscanTimeUnit unit);

#endif							/* RTSCAN_TIME_UNITS_H */
