/* SPDX-License-Identifier: PostgreSQL */
/*
 * volatile.h
 *		Tests whether an expression calls volatile functions, also in subqueries.
 *
 * contain_volatile_functions() looks into a SubLink, which holds its query.  Once the query is planned, a SubPlan
 * takes the SubLink's place and holds only a number; the query is then in the planner's list of subqueries.
 */
#ifndef RTSCAN_VOLATILE_H
#define RTSCAN_VOLATILE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Does an expression, a list of expressions, or a query call volatile functions? */
extern bool rtscan_is_volatile(PlannerInfo *root, const void *node);

#endif							/* RTSCAN_VOLATILE_H */
