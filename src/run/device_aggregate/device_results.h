/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_results.h
 *		Reads results directly from a device aggregate, if each entry is a group of its own and there are no other
 *		groups.
 *
 * A table of groups would be made only to be read once.  So the first device aggregate is *kept*, if the results are
 * just totals of its entries.  If another device aggregate or rows follow, its entries are added to groups after all.
 */
#ifndef RTSCAN_DEVICE_RESULTS_H
#define RTSCAN_DEVICE_RESULTS_H

#include "rtscan.h"

#include "run/device_aggregate/entries.h"

/*
 * Can results be read from a device aggregate's entries, if nothing else follows?  They must be small enough to be
 * copied.
 */
extern bool rtscan_may_keep_entries(const RtscanEntries *entries);

/*
 * Return the entries, to be kept, with a copy of their device aggregate.  What is returned owns the memory context,
 * in which the entries are.
 */
extern RtscanKeptEntries *rtscan_keep_entries(RtscanEntries *entries, MemoryContext context);

/* Add kept entries, if there are any, to groups. */
extern void rtscan_add_kept_entries(RtscanRowsAnswer *answer);

/*
 * Store the next result of kept entries in values and isnull: the task's keys, then its aggregates.  They are valid
 * until the next call.  False if there is none.
 */
extern bool rtscan_next_kept_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull);

#endif							/* RTSCAN_DEVICE_RESULTS_H */
