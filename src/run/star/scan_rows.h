/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_rows.h
 *		Reads the rows of an RtscanScan below a node column by column, many rows at a time.
 *
 * Making a tuple of each row would cost more than what a dimension does with the row.  Rows that have not been passed
 * by rtscan_pass_rows() are returned as tuples by ExecProcNode().
 *
 * node/scan_node_tuples.c implements these functions.  This sub-room calls no other function of a higher sub-room.
 */
#ifndef RTSCAN_SCAN_ROWS_H
#define RTSCAN_SCAN_ROWS_H

#include "rtscan.h"

#include "nodes/execnodes.h"

/*
 * Can a node's rows be read column by column?  It must be an RtscanScan, not instrumented, that returns only columns of
 * its index.
 */
extern bool rtscan_has_rows_at_hand(PlanState *node);

/* Return how many rows can be read, 0 at the end.  (*places)[i] is the place of row i in the columns' arrays. */
extern uint32 rtscan_rows_at_hand(PlanState *node, const uint16 **places);

/* Return column number "column" of the node's result, from 0, as arrays of values and of NULL flags. */
extern void rtscan_column_at_hand(PlanState *node, int column, const Datum **values, const bool **isnull);

/* Skip the first n of the rows that can be read, because the caller has read them. */
extern void rtscan_pass_rows(PlanState *node, uint32 n);

#endif							/* RTSCAN_SCAN_ROWS_H */
