/*
 * runnable.h
 *		Expressions of a path as a node runs them.
 */
#ifndef RTSCAN_RUNNABLE_H
#define RTSCAN_RUNNABLE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Copies, as the planner would leave them but for references to other nodes: what comes from outer tables are parameters of a nested
 * loop, and values that outer joins would make NULL further up are themselves.
 */
extern List *rtscan_make_runnable(PlannerInfo *root, List *expressions);

/* Plans below a node: those that are made of one path several times, for leaves, have parts in common, which set_plan_references() would change. */
static inline List *
rtscan_own_plans(List *custom_plans)
{
	return copyObject(custom_plans);
}

/* All functions that they call, if they are asked of rows, whatever the index has called already (OIDs). */
extern List *rtscan_functions_of(List *expressions);

#endif							/* RTSCAN_RUNNABLE_H */
