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
 * Return copies of expressions that the node can evaluate: values of outer tables become parameters of a nested loop,
 * and PlaceHolderVars are replaced by their expressions.  References to the node's own columns remain.
 */
extern List *rtscan_make_runnable(PlannerInfo *root, List *expressions);

/*
 * Copy the plans below a node.  For leaves, the planner may make several plans of one path.  These plans share parts,
 * which set_plan_references() would change once for each plan.
 */
static inline List *
rtscan_own_plans(List *custom_plans)
{
	return copyObject(custom_plans);
}

/*
 * Return the OIDs of all functions that a plan without the index would call to evaluate expressions on rows.  The user
 * needs EXECUTE on them even if the index has already called them.
 */
extern List *rtscan_functions_of(List *expressions);

#endif							/* RTSCAN_RUNNABLE_H */
