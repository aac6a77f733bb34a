/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_groups.h
 *		Adds the groups of a device aggregate (search/exec/device_aggregate.h) to the groups of an answer.
 */
#ifndef RTSCAN_DEVICE_GROUPS_H
#define RTSCAN_DEVICE_GROUPS_H

#include "rtscan.h"

#include "run/device_aggregate/entries.h"

/*
 * Find the totals of an aggregate in n entries, from the entry "first" on.  The aggregate has no argument, or device
 * aggregates have totals of its argument.  *scale is set to the scale of the totals, or to 0 if they have no scale; it
 * means nothing if no total has values.  *number is the number of the aggregate's first value in the device aggregate,
 * and is advanced to the next aggregate's first value.
 */
extern void rtscan_find_totals(const RtscanEntries *entries, uint32 first, uint32 n, int aggregate, int *number,
							   RtscanTotal *totals, int *scale);

/*
 * With GROUP BY: do different digits always mean different groups?  They may not if keys are computed, are columns of
 * dimensions, or are of a type whose equal values can differ in their bytes.
 */
extern bool rtscan_have_own_keys(const RtscanEntries *entries);

/* Add all entries to their groups, or to the only group.  Work space is allocated in the current memory context. */
extern void rtscan_add_entries(const RtscanEntries *entries);

#endif							/* RTSCAN_DEVICE_GROUPS_H */
