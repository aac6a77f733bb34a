/* SPDX-License-Identifier: PostgreSQL */
/*
 * heap_order.h
 *		Reads from the statistics how well the heap's order correlates with a column.
 */
#ifndef RTSCAN_HEAP_ORDER_H
#define RTSCAN_HEAP_ORDER_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

/* Return the correlation of a variable with the heap's order, from -1 (descending) to 1; 0 if it is not known. */
extern double rtscan_correlation_of(const VariableStatData *variable);

/* Return rtscan_correlation_of() for an expression, which is usually a column. */
extern double rtscan_heap_correlation(PlannerInfo *root, Node *expression);

#endif							/* RTSCAN_HEAP_ORDER_H */
