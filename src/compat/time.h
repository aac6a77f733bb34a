/* SPDX-License-Identifier: PostgreSQL */
/*
 * compat/time.h
 *		Differences between PostgreSQL's versions: time zones.
 */
#ifndef RTSCAN_COMPAT_TIME_H
#define RTSCAN_COMPAT_TIME_H

#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/datetime.h"

/*
 * Find the time zone that AT TIME ZONE understands by a name: an abbreviation or, if there is none, the full name of a
 * zone.  Returns NULL if there is no such zone, or if the meaning of the abbreviation depends on the time.
 *
 * Since 16, the function also returns errors of the list of abbreviations, and takes a constant string.
 */
static inline pg_tz *
rtscan_compat_find_time_zone(const char *name)
{
	char	   *lower = downcase_truncate_identifier(name, strlen(name), false);
	int			type,
				offset;
	pg_tz	   *zone = NULL;
#if PG_VERSION_NUM >= 160000
	DateTimeErrorExtra extra;

	if (DecodeTimezoneAbbrev(0, lower, &type, &offset, &zone, &extra) != 0)
		return NULL;
#else
	type = DecodeTimezoneAbbrev(0, lower, &offset, &zone);
#endif
	if (type == TZ || type == DTZ)
		return pg_tzset_offset(-offset);
	return type == DYNTZ ? NULL : pg_tzset(name);
}

#endif							/* RTSCAN_COMPAT_TIME_H */
