/* SPDX-License-Identifier: PostgreSQL */
/*
 * acl.h
 *		Decides whether the user may learn the values of an index's columns from estimates.
 *
 * Estimates from an index's dictionaries are exact: EXPLAIN's costs reveal whether a value exists.  So exact estimates
 * are made only for users who could query the table themselves.  For all other users, estimates use PostgreSQL's
 * statistics, which PostgreSQL protects in the same way.
 */
#ifndef RTSCAN_ACL_H
#define RTSCAN_ACL_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Does the query, or a query around it, use a security_barrier view?  The planner does not tell which quals such a view
 * contributes.
 */
extern bool rtscan_has_security_barrier(const PlannerInfo *root);

/*
 * May the user know the key columns' values, if rtscan_has_security_barrier() is false?  False if a security policy
 * hides rows of the table, or if SELECT has not been granted on the key columns.
 */
extern bool rtscan_acl_ok(PlannerInfo *root, const IndexOptInfo *info);

#endif							/* RTSCAN_ACL_H */
