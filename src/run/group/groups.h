/* SPDX-License-Identifier: PostgreSQL */
/*
 * groups.h
 *		The groups of GROUP BY, within the memory that a hash table may take.
 *
 * A group is an array of states, one for each aggregate.
 *
 * When the groups take too much memory, all of them are *spilled*: each is written with its states so far to a
 * temporary file, chosen by some bits of its hash, and is removed from memory.  At the end one file after another is
 * read, and the states of each group are combined.  If the groups of a file take too much memory, they are spilled
 * again, by further bits of the hash.
 */
#ifndef RTSCAN_GROUPS_H
#define RTSCAN_GROUPS_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "run/aggregate/transition.h"

typedef struct RtscanGroups RtscanGroups;

/*
 * Create groups for keys with these types, equality operators and collations, and with a state for each transition.
 * "expected" is the expected number of groups, "limit" the memory that they may take, in bytes.  Everything is
 * allocated in the current memory context, which the caller deletes after rtscan_end_groups().
 */
extern RtscanGroups *rtscan_create_groups(TupleDesc keys, const Oid *operators, const Oid *collations,
										  const RtscanTransition *transitions, int nstates, double expected,
										  Size limit);

/* Close all temporary files. */
extern void rtscan_end_groups(RtscanGroups *groups);

/*
 * Return the group of some keys; make it if there is none.  The group is valid until the groups are spilled or
 * forgotten.  "fresh" says that no group in memory has these keys, so that none is looked up.
 */
extern RtscanState *rtscan_find_group(RtscanGroups *groups, const Datum *keys, const bool *isnull, bool fresh);

/* Are all keys passed by value, and equal only if they are identical bit by bit? */
extern bool rtscan_keys_are_images(const RtscanGroups *groups);

/* Are there groups, in memory or spilled? */
extern bool rtscan_has_groups(const RtscanGroups *groups);

/* Return how much memory the groups take, in bytes. */
extern Size rtscan_groups_memory(const RtscanGroups *groups);

/* Do the groups take so much memory that they should be spilled or forgotten? */
extern bool rtscan_groups_are_full(const RtscanGroups *groups);

/* Write all groups in memory to temporary files, and forget them. */
extern void rtscan_spill_groups(RtscanGroups *groups);

/* Remove all groups from memory. */
extern void rtscan_forget_groups(RtscanGroups *groups);

/* Return how many groups have been spilled so far.  A group that was spilled several times counts as several. */
extern uint64 rtscan_spilled_groups(const RtscanGroups *groups);

/* Return the memory context where states allocate what they keep by reference. */
extern MemoryContext rtscan_groups_context(const RtscanGroups *groups);

/* Begin to visit all groups. */
extern void rtscan_begin_groups(RtscanGroups *groups);

/* Return the next group and its keys; NULL at the end. */
extern RtscanState *rtscan_next_group(RtscanGroups *groups, Datum *keys, bool *isnull);

/* Make the only group of an aggregation without GROUP BY. */
static inline RtscanState *
rtscan_make_only_group(MemoryContext context, int nstates)
{
	return MemoryContextAllocZero(context, Max(nstates, 1) * sizeof(RtscanState));
}

#endif							/* RTSCAN_GROUPS_H */
