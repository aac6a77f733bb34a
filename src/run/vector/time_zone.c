/* SPDX-License-Identifier: PostgreSQL */
/*
 * time_zone.c
 *		Convert many timestamps between UTC and a time zone.
 */
#include "run/vector/time_zone.h"

#include "bits/multiversion.h"
#include "datatype/timestamp.h"
#include "parser/scansup.h"
#include "utils/datetime.h"

/*
 * No larger offsets are used, although a zone that is written as a rule may have them.  The table reaches twice as far
 * beyond the timestamps.
 */
#define MOST_OFFSET	USECS_PER_DAY
#define MARGIN		(2 * MOST_OFFSET)

/*
 * PostgreSQL finds the offset of a local time by the first change after the day before, taken as UTC.  If changes are
 * so far apart, that is the change next to it.
 */
#define LEAST_DISTANCE	(3 * USECS_PER_DAY)

/* Timestamps from one 1 January to another, so that batches of a few years share a table. */
#define ROUNDED_TO	(366 * USECS_PER_DAY)

#define UNIX_SECONDS	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

RtscanTimeZone *
rtscan_make_time_zone(const char *name)
{
	RtscanTimeZone *zone = palloc0(sizeof(RtscanTimeZone));

	if (name == NULL)
		return zone;
	zone->zone = rtscan_compat_find_time_zone(name);
	return zone->zone ? zone : NULL;
}

/* ---------------------------------------------------------------- the table */

/* Return the seconds since 1970 of a time, rounded down. */
static pg_time_t
seconds_of(int64 time)
{
	return time / USECS_PER_SEC - (time % USECS_PER_SEC < 0) + UNIX_SECONDS;
}

static int64
time_of(pg_time_t seconds)
{
	return (seconds - UNIX_SECONDS) * USECS_PER_SEC;
}

/*
 * Append an offset to the table; returns false if it is too large, if there is no room, or if the change before it is
 * too near.
 */
static bool
add_offset(RtscanTimeZone *table, int64 begin, int64 offset)
{
	int			n = table->n;

	if (offset > MOST_OFFSET || offset < -MOST_OFFSET || n == RTSCAN_MOST_OFFSETS ||
		(n > 1 && begin - table->begin[n - 1] < LEAST_DISTANCE))
		return false;
	table->begin[n] = begin;
	table->offset[n] = offset;
	table->local_begin[n] = begin + offset;
	table->n++;
	return true;
}

/*
 * Read the offsets of a zone from table->from to table->until.  Before its first change, PostgreSQL's two functions may
 * use different offsets; then returns false.
 */
static bool
read_offsets(RtscanTimeZone *table, const pg_tz *zone)
{
	int64		begin = table->from;
	int			more = 1;

	table->n = 0;
	while (more > 0 && begin < table->until)
	{
		pg_time_t	seconds = seconds_of(begin);
		pg_time_t	boundary = 0;
		long		before,
					after;
		int			before_is_dst,
					after_is_dst;
		const struct pg_tm *local;

		more = pg_next_dst_boundary(&seconds, &before, &before_is_dst, &boundary, &after, &after_is_dst, zone);
		local = more < 0 ? NULL : pg_localtime(&seconds, zone);
		if (local == NULL || local->tm_gmtoff != before || !add_offset(table, begin, before * USECS_PER_SEC))
			return false;
		begin = time_of(boundary);
	}
	return true;
}

/* Make the table include all times from "least" to "greatest" with a margin; false if that is not possible. */
static bool
know_offsets(RtscanTimeZone *table, int64 least, int64 greatest)
{
	const pg_tz *zone = table->zone ? table->zone : session_timezone;

	if (least < MIN_TIMESTAMP + 2 * MARGIN + ROUNDED_TO || greatest >= END_TIMESTAMP - 2 * MARGIN - ROUNDED_TO)
		return false;
	if (table->known == zone && table->from <= least - MARGIN && table->until > greatest + MARGIN)
		return true;
	table->known = NULL;
	table->from = (least - MARGIN) / ROUNDED_TO * ROUNDED_TO - (least < MARGIN ? ROUNDED_TO : 0);
	table->until = greatest + MARGIN + ROUNDED_TO;
	if (!read_offsets(table, zone))
		return false;
	table->known = zone;
	return true;
}

/* Return the number of the last of n ascending beginnings that is not after a time. */
static int
find_offset(const int64 *begin, int n, int64 time)
{
	int			first = 0;

	while (n > 1)
	{
		int			half = n / 2;

		first += begin[first + half] <= time ? half : 0;
		n -= half;
	}
	return first;
}

/* ---------------------------------------------------------------- conversions */

RTSCAN_MULTIVERSION static void
add_constant(const int64 *values, int64 constant, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = values[i] + constant;
}

/* Add one of two constants: the second one to values from "change" on. */
RTSCAN_MULTIVERSION static void
add_either(const int64 *values, int64 before, int64 change, int64 after, uint32 n, int64 *result)
{
	for (uint32 i = 0; i < n; i++)
		result[i] = values[i] + (values[i] < change ? before : after);
}

/*
 * Add the offsets numbered "first" to "last" to n values, or subtract them if "sign" is -1; begin[] are the first
 * values of each.
 */
static void
add_offsets(const RtscanTimeZone *table, const int64 *begin, int sign, int first, int last, const int64 *values,
			uint32 n, int64 *result)
{
	if (first == last)
		add_constant(values, sign * table->offset[first], n, result);
	else if (first + 1 == last)
		add_either(values, sign * table->offset[first], begin[last], sign * table->offset[last], n, result);
	else
		for (uint32 i = 0; i < n; i++)
			result[i] = values[i] +
				sign * table->offset[first + find_offset(begin + first, last - first + 1, values[i])];
}

/* Convert values; begin[] are the first values of each offset. */
static void
convert(const RtscanTimeZone *table, const int64 *begin, int sign, const int64 *values, uint32 n, int64 least,
		int64 greatest, int64 *result, int64 *lowest, int64 *highest)
{
	int			first = find_offset(begin, table->n, least);
	int			last = find_offset(begin, table->n, greatest);
	int64		smallest = sign * table->offset[first];
	int64		largest = smallest;

	for (int i = first + 1; i <= last; i++)
	{
		smallest = Min(smallest, sign * table->offset[i]);
		largest = Max(largest, sign * table->offset[i]);
	}
	*lowest = least + smallest;
	*highest = greatest + largest;
	add_offsets(table, begin, sign, first, last, values, n, result);
}

bool
rtscan_to_local_time(RtscanTimeZone *zone, const int64 *values, uint32 n, int64 least, int64 greatest, int64 *result,
					 int64 *lowest, int64 *highest)
{
	if (!know_offsets(zone, least, greatest))
		return false;
	convert(zone, zone->begin, 1, values, n, least, greatest, result, lowest, highest);
	return true;
}

bool
rtscan_from_local_time(RtscanTimeZone *zone, const int64 *values, uint32 n, int64 least, int64 greatest, int64 *result,
					   int64 *lowest, int64 *highest)
{
	if (!know_offsets(zone, least, greatest))
		return false;
	convert(zone, zone->local_begin, -1, values, n, least, greatest, result, lowest, highest);
	return true;
}
