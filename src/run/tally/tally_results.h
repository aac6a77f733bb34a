/*
 * tally_results.h
 *		Results that are read from a tally: where each entry is a group of its own, and there are no others.
 *
 * A table of groups would be made only to be read once.  So the first tally that comes is *kept*, if no more is asked than totals of its
 * entries; when others come, or rows, its entries are added to groups.
 */
#ifndef RTSCAN_TALLY_RESULTS_H
#define RTSCAN_TALLY_RESULTS_H

#include "rtscan.h"

#include "run/tally/entries.h"

/* Can results be read from a tally's entries, if nothing else comes?  It is a small one, so that it may be copied. */
extern bool rtscan_may_keep_entries(const RtscanEntries *entries);

/* Keep a copy of the entries, which are in the memory context, as all else that this takes: it is to be deleted at the end. */
extern void rtscan_keep_entries(RtscanEntries *entries, MemoryContext context);

/* Add entries that are kept, if there are any, to groups. */
extern void rtscan_add_kept_entries(RtscanRowsAnswer *answer);

/*
 * The next result of those that are kept: its keys, by their numbers among the task's, and its aggregates, which are good until the next one
 * is asked for.  False if there is none.
 */
extern bool rtscan_next_kept_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull);

#endif							/* RTSCAN_TALLY_RESULTS_H */
