/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_members.h
 *		Conditions that a device tests rows for: is a row's integer a member of a set?
 *
 * They are the residual conditions of a filter: conditions on INCLUDEd columns, and long conditions on key columns
 * (region.h).  Without a device, the CPU evaluates them on the remaining rows (residual.h).
 */
#ifndef RTSCAN_DEVICE_MEMBERS_H
#define RTSCAN_DEVICE_MEMBERS_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/segment_scan.h"
#include "segment/integer_set.h"

/*
 * The most bits of a set that is written as a bitmap: 8 MB.  A bitmap has a bit for each integer that the segments may
 * have.  If the integers are too far apart, the set is written as a hash table (device/table.h) of its integers, or of
 * the integers that it lacks.  A set of one span needs neither a bitmap nor a table.
 */
#define RTSCAN_MOST_BITS	(UINT64CONST(1) << 26)

/* A condition in a segment. */
typedef struct RtscanDeviceMembers
{
	const RtscanCondition *condition;	/* the condition */
	RtscanDeviceColumn own;		/* the segment's column whose integers are tested */
	int64		least;			/* the column's least integer; own.largest is the greatest distance from it */
	const RtscanIntegerSet *set;	/* set of the members, which segments may share; NULL: the members are the
									 * condition's keys */
	bool		few;			/* all members fit into a hash table */
	bool		lacks;			/* "few" is false, but all integers between members fit into a hash table */
	double		part;			/* estimated fraction of rows that pass, from 0 to 1 */
} RtscanDeviceMembers;

/*
 * For each part of a segment's filter, list in "members" of its region all that a device needs to test rows for the
 * part's residual conditions, in the current memory context.  If a device cannot test rows for all conditions of a
 * part, leaves the conditions of this part to the CPU, and returns false.
 */
extern bool rtscan_list_members(RtscanReader *reader, RtscanSegmentFilter *filter);

/*
 * Return the CPU's nanoseconds to evaluate the residual conditions of a filter.  If "listed" is true, counts only the
 * conditions that rtscan_list_members() has listed.
 */
extern double rtscan_tests_nanoseconds(const RtscanReader *reader, const RtscanSegmentFilter *filter, bool listed);

/* Does any part of a filter have residual conditions that no device has tested rows for, so that the CPU has to? */
extern bool rtscan_has_untested(const RtscanSegmentFilter *filter);

/*
 * Does any part of a filter have residual conditions on key columns that no device has tested rows for?  Counts only
 * conditions that are cheaper for the CPU to look up than to test rows for.
 */
extern bool rtscan_leaves_lookups(const RtscanReader *reader, const RtscanSegmentFilter *filter);

/* Has a device tested a region's rows for all conditions in region->members?  False if there are none. */
static inline bool
rtscan_is_tested(const RtscanRegion *region)
{
	return region->members != NIL && region->evaluated != NULL;
}

#endif							/* RTSCAN_DEVICE_MEMBERS_H */
