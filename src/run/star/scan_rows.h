/*
 * scan_rows.h
 *		Rows of an RtscanScan below a node, as it has them: some at a time, by column.
 *
 * A tuple for each would cost more than what a node does with it.  Rows that have not been passed come as tuples, if these are asked for.
 */
#ifndef RTSCAN_SCAN_ROWS_H
#define RTSCAN_SCAN_ROWS_H

#include "rtscan.h"

#include "nodes/execnodes.h"

/* Does a node return nothing but columns of an index, of which nobody counts the tuples? */
extern bool rtscan_has_rows_at_hand(PlanState *node);

/* How many rows it has next, which are at these places of the columns' arrays; 0: there is none any more. */
extern uint32 rtscan_rows_at_hand(PlanState *node, const uint16 **places);

/* One of its result's columns, from 0. */
extern void rtscan_column_at_hand(PlanState *node, int column, const Datum **values, const bool **isnull);

/* So many of them have been taken. */
extern void rtscan_pass_rows(PlanState *node, uint32 n);

#endif							/* RTSCAN_SCAN_ROWS_H */
