/* SPDX-License-Identifier: PostgreSQL */
/*
 * runnable.h
 *		Prepares a path's expressions for execution by a node.
 */
#ifndef RTSCAN_RUNNABLE_H
#define RTSCAN_RUNNABLE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Return copies of expressions as the planner would leave them, except for references to other nodes: values of outer
 * tables become parameters of a nested loop, and PlaceHolderVars are replaced by their expressions.
 */
extern List *rtscan_make_runnable(PlannerInfo *root, List *expressions);

/*
 * Copy the plans below a node.  The plans of one path, made several times for leaves, share parts, and
 * set_plan_references() would change these more than once.
 */
static inline List *
rtscan_own_plans(List *custom_plans)
{
	return copyObject(custom_plans);
}

/*
 * Return the OIDs of all functions that expressions call when they are evaluated on rows, even if the index has
 * already called them.
 */
extern List *rtscan_functions_of(List *expressions);

#endif							/* RTSCAN_RUNNABLE_H */
