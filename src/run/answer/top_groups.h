/* SPDX-License-Identifier: PostgreSQL */
/*
 * top_groups.h
 *		Leave out groups that cannot be among the first ones in the order of an aggregate.
 *
 * In "GROUP BY k ORDER BY sum(x) DESC LIMIT 10", PostgreSQL sorts the results of all groups, and making a result takes
 * longer than adding up a group's rows.  Groups are visited once; those that come after ten others are left out.  What
 * remains includes the first ten, all that are equal to the tenth, and a few of those that were visited early.
 */
#ifndef RTSCAN_TOP_GROUPS_H
#define RTSCAN_TOP_GROUPS_H

#include "rtscan.h"

#include "run/aggregate/transition.h"
#include "run/plan/node_plan.h"

typedef struct RtscanTopGroups RtscanTopGroups;

/* Create an empty set of top groups, in the current memory context.  "plan" must remain. */
extern RtscanTopGroups *rtscan_create_top_groups(const RtscanPlanTop *plan);

/*
 * May a group be among the first ones?  Call this once for each group, with the states of its aggregates.  True as well
 * if the aggregate's result is NULL, or is not known as a number without being computed.
 */
extern bool rtscan_may_be_top_group(RtscanTopGroups *top, const RtscanTransition *transitions,
									const RtscanState *group);

#endif							/* RTSCAN_TOP_GROUPS_H */
