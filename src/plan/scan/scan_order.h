/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_order.h
 *		Finds out whether an index can return a table's rows in an order that the query needs.
 */
#ifndef RTSCAN_SCAN_ORDER_H
#define RTSCAN_SCAN_ORDER_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/scan/scan_groups.h"
#include "search/order/order_stream.h"

/* Get the order of a path key, if segments have this order by rank; false if not. */
extern bool rtscan_order_of_key(PlannerInfo *root, IndexOptInfo *index, PathKey *key, RtscanOrder *order);

/*
 * Get the order of all of these path keys, in which a bounded heap finds the first rows for a LIMIT.  False if the
 * index does not have the columns, or if the number of rows is unknown or too large for memory.
 */
extern bool rtscan_order_of_first_rows(PlannerInfo *root, IndexOptInfo *index, List *keys, RtscanOrder *order);

/*
 * Get the order of the first rows of each group.  False if the index does not have the columns, or if values cannot be
 * hashed.
 */
extern bool rtscan_order_of_groups(PlannerInfo *root, IndexOptInfo *index, const RtscanFirstOf *first,
								   RtscanOrder *order);

#endif							/* RTSCAN_SCAN_ORDER_H */
