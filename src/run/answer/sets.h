/* SPDX-License-Identifier: PostgreSQL */
/*
 * sets.h
 *		Grouping sets: those of GROUP BY, and sets from whose groups other sets are made.
 *
 * The groups of some sets are made from rows, one set after another, each in a pass over the rows.  The groups of each
 * other set are made from those of its *parent*, a set that has all of its keys; it is a *part* of the parent.  When a
 * group of the parent is visited, its states are combined with those of its group in each part, as the states of
 * processes are combined in a parallel query.
 *
 * Sets are visited in their order, in which each follows its parent.  The groups of a part are in memory from the visit
 * of its parent to the end of its own visit.
 */
#ifndef RTSCAN_SETS_H
#define RTSCAN_SETS_H

#include "rtscan.h"

#include "miscadmin.h"
#include "run/answer/answer.h"
#include "run/plan/node_plan.h"

/* Each set may take this much memory, in bytes, however many sets there are. */
#define RTSCAN_LEAST_SET_MEMORY		(64 * 1024)

/*
 * Return how much memory the groups of a set may take.
 *
 * Only one set made from rows is in memory at a time.  If it has parts, it leaves them a quarter of the memory, which
 * is divided by the most parts that are in memory at once.  It gets more than they do because its groups may be
 * spilled many times while rows are added, theirs only once.
 */
static inline Size
rtscan_set_memory(bool of_rows, int most_parts, bool has_parts)
{
	Size		memory = get_hash_memory_limit();

	if (!of_rows)
		return Max(memory / 4 / Max(most_parts, 1), RTSCAN_LEAST_SET_MEMORY);
	return has_parts ? memory / 4 * 3 : memory;
}

/* Prepare the sets of a task whose keys and transitions are set up. */
extern void rtscan_prepare_sets(RtscanRowsTask *task, const RtscanNodePlan *plan);

/* End the current set and begin the next.  If that is made from rows, it has no groups yet.  False at the end. */
extern bool rtscan_next_set(RtscanRowsAnswer *answer);

/* End all sets. */
extern void rtscan_end_sets(RtscanRowsAnswer *answer);

/* Begin to visit the groups of the current set. */
extern void rtscan_begin_visit(RtscanRowsAnswer *answer);

/* Add the next group to all parts and return it, with its keys in the answer; NULL at the end. */
extern RtscanState *rtscan_visit_group(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_SETS_H */
