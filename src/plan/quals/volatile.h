/*
 * volatile.h
 *		Does evaluating an expression call volatile functions, also those in subqueries?
 *
 * contain_volatile_functions() looks into a SubLink, which has its query.  Once that is planned a SubPlan takes its place, which has a number: then
 * only the planner's list of queries says what it calls.
 */
#ifndef RTSCAN_VOLATILE_H
#define RTSCAN_VOLATILE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Are there volatile functions in an expression, a list of expressions, or a query? */
extern bool rtscan_is_volatile(PlannerInfo *root, const void *node);

#endif							/* RTSCAN_VOLATILE_H */
