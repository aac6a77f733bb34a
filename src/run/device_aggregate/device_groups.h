/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_groups.h
 *		Adds the groups of a device aggregate (search/exec/device_aggregate.h) to those of an answer.
 */
#ifndef RTSCAN_DEVICE_GROUPS_H
#define RTSCAN_DEVICE_GROUPS_H

#include "rtscan.h"

#include "run/device_aggregate/entries.h"

/*
 * Find the totals of an aggregate in n entries, from the first one on.  The aggregate has no argument, or one that
 * device aggregates have totals of.  *scale becomes the scale of all totals, or 0 if none has values or they have no
 * scale.  *number is the number of the aggregate's first value in the device aggregate, and is advanced to that of
 * the next aggregate.
 */
extern void rtscan_find_totals(const RtscanEntries *entries, uint32 first, uint32 n, int aggregate, int *number,
							   RtscanTotal *totals, int *scale);

/*
 * With GROUP BY: do different digits always mean different groups?  They may not if keys are computed, are columns of
 * dimensions, or are of a type whose equal values can differ in their bytes.
 */
extern bool rtscan_have_own_keys(const RtscanEntries *entries);

/* Add all entries to their groups, or to the only group.  Memory for this is allocated in the current context. */
extern void rtscan_add_entries(const RtscanEntries *entries);

#endif							/* RTSCAN_DEVICE_GROUPS_H */
