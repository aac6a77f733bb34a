/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_members.h
 *		Conditions that a device tests rows for: is a row's integer a member of a set?
 *
 * These are conditions on INCLUDEd columns, and long ones on key columns (region.h).  The CPU would evaluate them on
 * the rows that are left (residual.h).
 */
#ifndef RTSCAN_DEVICE_MEMBERS_H
#define RTSCAN_DEVICE_MEMBERS_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/segment_scan.h"
#include "segment/integer_set.h"

/*
 * The most bits of a set that is written as a bitmap: 8 MB.  A bitmap has a bit for each integer that the segments may
 * have.  If these are further apart, the set is written as a hash table (device/table.h) of its integers, or of those
 * that it lacks.  A set of one span needs neither.
 */
#define RTSCAN_MOST_BITS	(UINT64CONST(1) << 26)

/* A condition in a segment. */
typedef struct RtscanDeviceMembers
{
	const RtscanCondition *condition;	/* the condition */
	RtscanDeviceColumn own;		/* the segment's column whose integers are tested */
	int64		least;			/* the column's least integer; own.largest is the greatest distance from it */
	const RtscanIntegerSet *set;	/* segments may share it; NULL: the members are the condition's keys */
	bool		few;			/* all members fit into a table */
	bool		lacks;			/* not few, but all integers between members fit into a table */
	double		part;			/* about the fraction of rows that pass, from 0 to 1 */
} RtscanDeviceMembers;

/*
 * For each part of a segment's filter that has such conditions, list in its region's "members" what a device needs to
 * test rows for all of them, in the current memory context.  Returns false if a device cannot test all conditions of
 * some part, which are left to the CPU.
 */
extern bool rtscan_list_members(RtscanReader *reader, RtscanSegmentFilter *filter);

/* Return the CPU's nanoseconds to test rows for such conditions: only for those that have been listed, or for all. */
extern double rtscan_tests_nanoseconds(const RtscanReader *reader, const RtscanSegmentFilter *filter, bool listed);

/* Does any part of a filter have such conditions that no device has tested rows for, so that the CPU has to? */
extern bool rtscan_has_untested(const RtscanSegmentFilter *filter);

/* Are some of these conditions on key columns, and cheaper for the CPU to look up than to test rows for? */
extern bool rtscan_leaves_lookups(const RtscanReader *reader, const RtscanSegmentFilter *filter);

/* Has a device tested a region's rows for all "members" of the region? */
static inline bool
rtscan_is_tested(const RtscanRegion *region)
{
	return region->members != NIL && region->evaluated != NULL;
}

#endif							/* RTSCAN_DEVICE_MEMBERS_H */
