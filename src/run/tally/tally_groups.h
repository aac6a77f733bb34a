/*
 * tally_groups.h
 *		Groups that another executor has tallied (search/exec/tally.h), added to those that there are.
 */
#ifndef RTSCAN_TALLY_GROUPS_H
#define RTSCAN_TALLY_GROUPS_H

#include "rtscan.h"

#include "run/tally/entries.h"

/*
 * What an aggregate comes to in some entries, one after another, whose argument, if it has one, is a column or an expression that tallies have
 * sums of.  The scale is the same in all entries that have values; 0 if none has, or they have no scales.  The number is that of its first value in
 * the tally, and becomes the next aggregate's.
 */
extern void rtscan_find_totals(const RtscanEntries *entries, uint32 first, uint32 n, int aggregate, int *number, RtscanTotal *totals, int *scale);

/* With GROUP BY: has each group keys that no other one has?  Values that dimensions have, or that keys come to, may be the same, and others equal. */
extern bool rtscan_have_own_keys(const RtscanEntries *entries);

/* Add all entries to their groups, or to the only one.  What that takes is in the current memory context. */
extern void rtscan_add_entries(const RtscanEntries *entries);

#endif							/* RTSCAN_TALLY_GROUPS_H */
