/*
 * device_members.h
 *		Conditions that a device tests rows for: their integers, in a column, are members of a set.
 *
 * Those are the conditions on INCLUDEd columns, and the long ones on key columns (region.h), which the CPU asks of the rows that are left
 * (included.h).
 */
#ifndef RTSCAN_DEVICE_MEMBERS_H
#define RTSCAN_DEVICE_MEMBERS_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/segment_scan.h"
#include "segment/integer_set.h"

/*
 * A set of more than one span has a bit for each integer that segments may have, up to so many: 8 MB.  Integers that are further apart are
 * in a table (device/table.h), or those of the segments that are not in the set.
 */
#define RTSCAN_MOST_BITS	(UINT64CONST(1) << 26)

/* A condition in a segment, all of whose rows of the column that are not NULL have integers from the least on. */
typedef struct RtscanDeviceMembers
{
	const RtscanCondition *condition;
	RtscanDeviceColumn own;
	int64		least;
	const RtscanIntegerSet *set;	/* segments may have it in common; NULL: those of the condition's keys */
	bool		few;			/* all of its integers fit into a table, */
	bool		lacks;			/* or else those between them do */
	double		part;			/* of the rows that pass, about */
} RtscanDeviceMembers;

/*
 * For each part of a segment's filter that has such conditions, list what a device needs to test rows for all of them, in the current memory
 * context.  False if it cannot for some: these parts' stay the CPU's.
 */
extern bool rtscan_list_members(RtscanReader *reader, RtscanSegmentFilter *filter);

/* What testing rows for such conditions takes the CPU, in nanoseconds: for those that have been listed, or for all. */
extern double rtscan_tests_nanoseconds(const RtscanReader *reader, const RtscanSegmentFilter *filter, bool listed);

/* Do parts of a filter have conditions that are left to the CPU, for no device has tested rows for them? */
extern bool rtscan_has_untested(const RtscanSegmentFilter *filter);

/* And are there such, on key columns, that the CPU had better look up than test rows for? */
extern bool rtscan_leaves_lookups(const RtscanReader *reader, const RtscanSegmentFilter *filter);

/* Have rows of a region been tested for the conditions of its part of the filter? */
static inline bool
rtscan_is_tested(const RtscanRegion *region)
{
	return region->members != NIL && region->evaluated != NULL;
}

#endif							/* RTSCAN_DEVICE_MEMBERS_H */
