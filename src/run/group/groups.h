/*
 * groups.h
 *		The groups of GROUP BY, within the memory that a hash may take.
 *
 * A group is its states, one an aggregate.
 *
 * Where the groups do not fit, those that there are, with their states so far, are spilled to
 * temporary files, by some bits of their hash, and forgotten.  In the end one file after another is
 * read, and the states of each group are combined; a file whose groups do not fit is spilled again,
 * by further bits.
 */
#ifndef RTSCAN_GROUPS_H
#define RTSCAN_GROUPS_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "run/aggregate/transition.h"

typedef struct RtscanGroups RtscanGroups;

/*
 * Groups by keys with such types, equality operators and collations, and with a state for each
 * transition, expected to be so many, within so much memory; in the current memory context, which is to be deleted after the end.
 */
extern RtscanGroups *rtscan_create_groups(TupleDesc keys, const Oid *operators, const Oid *collations,
										  const RtscanTransition *transitions, int nstates, double expected, Size limit);
extern void rtscan_end_groups(RtscanGroups *groups);

/*
 * The group that has these keys, made if need be; good until the groups are spilled or forgotten.  Fresh: none that is in memory has
 * these keys.
 */
extern RtscanState *rtscan_find_group(RtscanGroups *groups, const Datum *keys, const bool *isnull, bool fresh);

/* Are keys equal only if they are identical? */
extern bool rtscan_keys_are_images(const RtscanGroups *groups);

/* Are there groups, in memory or spilled? */
extern bool rtscan_has_groups(const RtscanGroups *groups);

/* Memory of the groups; and is it more than they may take? */
extern Size rtscan_groups_memory(const RtscanGroups *groups);
extern bool rtscan_groups_are_full(const RtscanGroups *groups);

/* Then: spill them, or forget them. */
extern void rtscan_spill_groups(RtscanGroups *groups);
extern void rtscan_forget_groups(RtscanGroups *groups);

/* How many groups have been spilled so far: as often as they came, but for those that are spilled again. */
extern uint64 rtscan_spilled_groups(const RtscanGroups *groups);

/* The context that states keep values in. */
extern MemoryContext rtscan_groups_context(const RtscanGroups *groups);

/* Visit all groups: each once with its keys, in the end NULL. */
extern void rtscan_begin_groups(RtscanGroups *groups);
extern RtscanState *rtscan_next_group(RtscanGroups *groups, Datum *keys, bool *isnull);

/* The states of all rows without GROUP BY. */
static inline RtscanState *
rtscan_make_only_group(MemoryContext context, int nstates)
{
	return MemoryContextAllocZero(context, Max(nstates, 1) * sizeof(RtscanState));
}

#endif							/* RTSCAN_GROUPS_H */
