/* SPDX-License-Identifier: PostgreSQL */
/*
 * time_zone.h
 *		Convert many timestamps between UTC and a time zone.
 *
 * Between two changes of a zone's clock, local time is UTC plus a constant.  A table of these constants, for the period
 * that the timestamps are from, is read from PostgreSQL's time zones.  A period of a few years has a few of them:
 *
 *		UTC			┌── offset 0 ──┬── offset 1 ──┬── offset 2 ──┐
 *					from		begin[1]		begin[2]		until
 *
 * The clock skips an hour, or an hour occurs twice, where the offset changes.  PostgreSQL converts a local time that
 * does not exist by the offset before the change, and one that occurs twice by the offset after it
 * (DetermineTimeZoneOffset()).  Either way, the offset after the change is used from begin[i] + offset[i] on.
 *
 * All times are in microseconds since the beginning of 2000.
 */
#ifndef RTSCAN_TIME_ZONE_H
#define RTSCAN_TIME_ZONE_H

#include "rtscan.h"

#include "pgtime.h"

/* The most offsets of a table; a zone with summer time has two a year. */
#define RTSCAN_MOST_OFFSETS		256

/* The offsets of a time zone in a period. */
typedef struct RtscanTimeZone
{
	pg_tz	   *zone;			/* the time zone; NULL: that of the session */
	const pg_tz *known;			/* the time zone whose offsets are in the table; NULL: the table is empty */
	int64		from;			/* beginning of the period, in UTC */
	int64		until;			/* end of the period, in UTC */
	int			n;				/* number of offsets */
	int64		begin[RTSCAN_MOST_OFFSETS]; /* first time of each offset, in UTC */
	int64		local_begin[RTSCAN_MOST_OFFSETS];	/* first local time that is converted by each offset */
	int64		offset[RTSCAN_MOST_OFFSETS];	/* local time minus UTC */
} RtscanTimeZone;

/*
 * Make a time zone, in the current memory context.  "name" is what AT TIME ZONE accepts, an abbreviation or a full
 * name; NULL stands for the session's time zone.  Returns NULL if there is no such zone, or if it is an abbreviation
 * whose meaning depends on the time.
 */
extern RtscanTimeZone *rtscan_make_time_zone(const char *name);

/*
 * Convert n timestamps, from "least" to "greatest", from UTC to local time, or back.  The results are between *lowest
 * and *highest.  "values" and "result" may be the same array.  Returns false if the zone has too many offsets in this
 * time, or one of more than a day, or changes its clock twice within three days, or if a result would not be a
 * timestamp.
 */
extern bool rtscan_to_local_time(RtscanTimeZone *zone, const int64 *values, uint32 n, int64 least, int64 greatest,
								 int64 *result, int64 *lowest, int64 *highest);
extern bool rtscan_from_local_time(RtscanTimeZone *zone, const int64 *values, uint32 n, int64 least, int64 greatest,
								   int64 *result, int64 *lowest, int64 *highest);

#endif							/* RTSCAN_TIME_ZONE_H */
