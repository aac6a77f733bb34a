/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_results.h
 *		Reads results directly from a device aggregate, if each entry is a group of its own and there are no other
 *		groups.
 *
 * A table of groups would be made only to be read once.  So the first device aggregate is *kept*, if the results are
 * just totals of its entries.  If another device aggregate or rows follow, the kept entries are added to groups after
 * all.
 */
#ifndef RTSCAN_DEVICE_RESULTS_H
#define RTSCAN_DEVICE_RESULTS_H

#include "rtscan.h"

#include "run/device_aggregate/entries.h"

/*
 * Can results be read from the entries of a device aggregate, if no rows and no other device aggregate follow?  The
 * entries must be small enough to be copied.
 */
extern bool rtscan_may_keep_entries(const RtscanEntries *entries);

/*
 * Keep entries, with a copy of their device aggregate.  The entries' values are in the memory context "context", which
 * belongs to the returned struct.
 */
extern RtscanKeptEntries *rtscan_keep_entries(RtscanEntries *entries, MemoryContext context);

/* If entries are kept, add them to groups and free them. */
extern void rtscan_add_kept_entries(RtscanRowsAnswer *answer);

/*
 * Store the next result of kept entries in values[] and isnull[]: the task's keys, then its aggregates.  Values by
 * reference are valid until the next call.  False if no result is left.
 */
extern bool rtscan_next_kept_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull);

#endif							/* RTSCAN_DEVICE_RESULTS_H */
