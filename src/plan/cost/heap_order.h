/*
 * heap_order.h
 *		How far rows lie in the heap in the order of a column: its correlation, of the statistics.
 */
#ifndef RTSCAN_HEAP_ORDER_H
#define RTSCAN_HEAP_ORDER_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

/* From -1, descending, to 1; 0 if nothing is known of it.  The same of an expression that may be a column. */
extern double rtscan_correlation_of(const VariableStatData *variable);
extern double rtscan_heap_correlation(PlannerInfo *root, Node *expression);

#endif							/* RTSCAN_HEAP_ORDER_H */
