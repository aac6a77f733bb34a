/* SPDX-License-Identifier: PostgreSQL */
/*
 * time_functions.c
 *		Compile functions of time to steps.
 *
 * A function of a timestamptz is made of conversions to the local time of a zone and back, and of functions of local
 * time.  date_trunc('day', t), for example, is
 *
 *		(date_trunc('day', t::timestamp))::timestamptz
 *
 * The parts are written as expressions, so that all functions of the same timestamps share a conversion.
 */
#include "run/vector/arithmetic_parts.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "nodes/makefuncs.h"
#include "run/plan/time_units.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

static Expr *
call(Oid function, Oid type, List *arguments)
{
	return (Expr *) makeFuncExpr(function, type, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Return the local time of a timestamptz in the zone that an argument names; if it is NULL, in that of the session. */
static Expr *
local_time(Node *zone, Node *timestamp)
{
	return zone ? call(F_TIMEZONE_TEXT_TIMESTAMPTZ, TIMESTAMPOID, list_make2(zone, timestamp))
		: call(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, list_make1(timestamp));
}

/* Make a step that converts between UTC and the local time of a zone. */
static bool
in_zone(RtscanArithmetic *step, RtscanCalculate calculate, const Node *zone)
{
	const Const *name = (const Const *) zone;

	if (zone && (!IsA(zone, Const) || name->constisnull))
		return false;
	step->calculate = calculate;
	step->zone = rtscan_make_time_zone(zone ? TextDatumGetCString(name->constvalue) : NULL);
	return step->zone != NULL;
}

static bool
of_unit(RtscanArithmetic *step, RtscanCalculate calculate, RtscanTimeUnit unit)
{
	step->calculate = calculate;
	step->parameter = unit;
	step->days = palloc0(sizeof(struct RtscanDayTable *));
	return true;
}

/* date_trunc(unit, timestamptz), in the session's zone or a named one */
static bool
truncate_in_zone(RtscanArithmetic *step, Node *unit_name, Node *timestamp, Node *zone, List **operands)
{
	Expr	   *local = local_time(zone, timestamp);
	RtscanTimeUnit unit;

	if (!rtscan_find_time_unit(unit_name, &unit) || unit > RTSCAN_MILLENNIUM)
		return false;
	if (unit < RTSCAN_DAY)
	{
		*operands = list_make2(timestamp, local);
		return of_unit(step, rtscan_truncate_in_zone, unit);
	}
	*operands = list_make1(call(F_DATE_TRUNC_TEXT_TIMESTAMP, TIMESTAMPOID, list_make2(unit_name, local)));
	return in_zone(step, rtscan_timestamps_from_local, zone);
}

/* extract(unit FROM timestamptz) */
static bool
extract_in_zone(RtscanArithmetic *step, Node *unit_name, Node *timestamp, List **operands)
{
	RtscanTimeUnit unit;

	if (!rtscan_find_time_unit(unit_name, &unit))
		return false;
	*operands = list_make1(unit == RTSCAN_EPOCH ? timestamp : (Node *) local_time(NULL, timestamp));
	return of_unit(step, rtscan_extract_of_timestamps, unit);
}

/* date_part(), which is extract() as a double; fractions may be rounded in another way */
static bool
extract_double(RtscanArithmetic *step, Oid extract, Node *unit_name, Node *time, List **operands)
{
	RtscanTimeUnit unit;

	if (!rtscan_find_time_unit(unit_name, &unit) || unit <= RTSCAN_SECOND || unit == RTSCAN_EPOCH)
		return false;
	*operands = list_make1(call(extract, NUMERICOID, list_make2(unit_name, time)));
	step->calculate = rtscan_integers_to_doubles;
	return true;
}

/* date_bin(stride, timestamp, origin); the stride must have a length, and no months */
static bool
bin(RtscanArithmetic *step, List *arguments, List **operands)
{
	const Const *stride = linitial(arguments);
	const Interval *interval;

	if (!IsA(stride, Const) || stride->constisnull || !IsA(lthird(arguments), Const))
		return false;
	interval = DatumGetIntervalP(stride->constvalue);
	if (interval->month != 0 || interval->day < 0 || interval->day > DAYS_PER_YEAR * 1000 || interval->time < 0 ||
		interval->time > USECS_PER_DAY * 366)
		return false;
	step->parameter = interval->day * USECS_PER_DAY + interval->time;
	step->calculate = rtscan_bin_timestamps;
	*operands = list_copy_tail(arguments, 1);
	return step->parameter > 0;
}

bool
rtscan_find_time_function(RtscanArithmetic *step, Oid function, List *arguments, List **operands)
{
	Node	   *first = linitial(arguments);
	Node	   *second = list_length(arguments) > 1 ? lsecond(arguments) : NULL;
	RtscanTimeUnit unit;

	*operands = second ? list_make1(second) : list_make1(first);
	switch (function)
	{
		case F_TIMESTAMP_TIMESTAMPTZ:
			return in_zone(step, rtscan_timestamps_to_local, NULL);
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			return in_zone(step, rtscan_timestamps_to_local, first);
		case F_TIMESTAMPTZ_TIMESTAMP:
			return in_zone(step, rtscan_timestamps_from_local, NULL);
		case F_TIMEZONE_TEXT_TIMESTAMP:
			return in_zone(step, rtscan_timestamps_from_local, first);
		case F_TIMESTAMPTZ_DATE:
			*operands = list_make1(call(F_TIMESTAMP_DATE, TIMESTAMPOID, arguments));
			return in_zone(step, rtscan_timestamps_from_local, NULL);
		case F_DATE_TIMESTAMPTZ:
			*operands = list_make1(local_time(NULL, first));
			step->calculate = rtscan_timestamps_to_dates;
			return true;
		case F_TIME_TIMESTAMPTZ:
			*operands = list_make1(local_time(NULL, first));
			step->calculate = rtscan_timestamps_to_times;
			return true;
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			return rtscan_find_time_unit(first, &unit) && unit <= RTSCAN_MILLENNIUM &&
				of_unit(step, rtscan_truncate_timestamps, unit);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return truncate_in_zone(step, first, second, NULL, operands);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return truncate_in_zone(step, first, second, lthird(arguments), operands);
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return bin(step, arguments, operands);
		case F_EXTRACT_TEXT_DATE:
			return rtscan_find_time_unit(first, &unit) && unit >= RTSCAN_DAY &&
				of_unit(step, rtscan_extract_of_dates, unit);
		case F_EXTRACT_TEXT_TIMESTAMP:
			return rtscan_find_time_unit(first, &unit) && of_unit(step, rtscan_extract_of_timestamps, unit);
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
			return extract_in_zone(step, first, second, operands);
		case F_DATE_PART_TEXT_TIMESTAMP:
			return extract_double(step, F_EXTRACT_TEXT_TIMESTAMP, first, second, operands);
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			return extract_double(step, F_EXTRACT_TEXT_TIMESTAMPTZ, first, second, operands);
		default:
			return false;
	}
}
