/*
 * sets.h
 *		Grouping sets: GROUP BY's, and those that others are made of.
 *
 * The groups of some sets are made of rows, one set after another, each in a pass over the rows.  The groups of all others
 * are made of those of a set that has all of their keys, its *parent*, whose *parts* they are: while a set's groups are
 * visited, the states of each are combined with those of its group in each part, as processes' are in a parallel query.
 *
 * Sets are visited in their order, where each follows its parent: of a set there are groups in memory from when its parent's
 * are visited until its own have been.
 */
#ifndef RTSCAN_SETS_H
#define RTSCAN_SETS_H

#include "rtscan.h"

#include "miscadmin.h"
#include "run/answer/answer.h"
#include "run/plan/node_plan.h"

/* A set may have so much memory, however many sets there are. */
#define RTSCAN_LEAST_SET_MEMORY		(64 * 1024)

/*
 * Sets of rows come one after another.  One that others are made of leaves them a quarter of the memory, of which there are so many at
 * once: its groups may have to be spilled again and again, theirs once.
 */
static inline Size
rtscan_set_memory(bool of_rows, int most_parts, bool has_parts)
{
	Size		memory = get_hash_memory_limit();

	if (!of_rows)
		return Max(memory / 4 / Max(most_parts, 1), RTSCAN_LEAST_SET_MEMORY);
	return has_parts ? memory / 4 * 3 : memory;
}

/* What the plan says of the task's sets; its keys and transitions are known. */
extern void rtscan_prepare_sets(RtscanRowsTask *task, const RtscanNodePlan *plan);

/* Go on to the next set, with no groups at hand if they are made of rows; false if there is none. */
extern bool rtscan_next_set(RtscanRowsAnswer *answer);
extern void rtscan_end_sets(RtscanRowsAnswer *answer);

/* Visit the groups of the set at hand: each once, with its keys in the answer, added to all parts; in the end NULL. */
extern void rtscan_begin_visit(RtscanRowsAnswer *answer);
extern RtscanState *rtscan_visit_group(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_SETS_H */
