/* SPDX-License-Identifier: PostgreSQL */
/*
 * sets.h
 *		Grouping sets: those of GROUP BY, and sets from whose groups other sets are made.
 *
 * The groups of sets without a parent are made from rows, one set after another, each in a pass over the rows.  The
 * groups of any other set are made from those of its *parent*, a set that has all keys of the set; the set is a *part*
 * of its parent.  Each group of the parent is contained in one group of each part.  When a group of the parent is
 * visited, its states are combined with those of the groups that contain it, as the states of processes are combined in
 * a parallel query.
 *
 * An aggregate that counts groups, count(DISTINCT x), counts those groups of the parent that have rows, and whose last
 * key, x, is not NULL.
 *
 * Sets are visited in the task's order, in which each set follows its parent.  The groups of a part are in memory from
 * the visit of its parent to the end of its own visit.
 */
#ifndef RTSCAN_SETS_H
#define RTSCAN_SETS_H

#include "rtscan.h"

#include "miscadmin.h"
#include "run/answer/answer.h"
#include "run/plan/node_plan.h"

/* Each set may take this much memory, in bytes, however many sets there are. */
#define RTSCAN_LEAST_SET_MEMORY		(64 * 1024)

/* The cells of a set (run/group/row_groups.h) are divided into at most this many windows. */
#define RTSCAN_MOST_WINDOWS			16

/* Cells are not divided into windows if so many of them as there are groups take less than this part of the memory. */
#define RTSCAN_FEW_GROUPS_SHARE		16

/*
 * Return how much memory the groups of a set may take, in bytes.
 *
 * Only one set made from rows is in memory at a time.  If it has parts, it gets three quarters of the memory, and
 * parts share the last quarter: "most_parts" is the most parts that are in memory at once.  The set made from rows gets
 * more because it is spilled more often: while rows are added, the same groups may be spilled many times.
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

/* Has the current set groups, in memory or spilled, or cells without groups that have rows? */
extern bool rtscan_set_has_groups(const RtscanCurrentSet *current);

/* End the current set and begin the next one.  A set made from rows has no groups at first.  False at the end. */
extern bool rtscan_next_set(RtscanRowsAnswer *answer);

/* End all sets. */
extern void rtscan_end_sets(RtscanRowsAnswer *answer);

/* Begin to visit the groups of the current set. */
extern void rtscan_begin_visit(RtscanRowsAnswer *answer);

/*
 * Return the next group of the current set; NULL at the end.  Add it to all parts of the set, and store its keys in
 * answer->visit.
 */
extern RtscanState *rtscan_visit_group(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_SETS_H */
