/*
 * privacy.h
 *		May who asks a query know what the values of an index's columns are?
 *
 * Estimates that are made of an index's dictionaries are exact: EXPLAIN's costs tell whether a value
 * is there.  So they are made only for who could ask the table himself; for all others of
 * PostgreSQL's statistics, which it guards likewise.
 */
#ifndef RTSCAN_PRIVACY_H
#define RTSCAN_PRIVACY_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Is the query, or one around it, about a view whose rows its user may not all see?  Which one its quals come from is not known. */
extern bool rtscan_has_barrier(const PlannerInfo *root);

/*
 * Of a query without such a view: false where a security policy hides rows of the table, or where SELECT on the key
 * columns has not been granted.
 */
extern bool rtscan_may_know_values(PlannerInfo *root, const IndexOptInfo *info);

#endif							/* RTSCAN_PRIVACY_H */
