/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_node_parts.h
 *		The state of an RtscanScan, and functions that only the files of this module share.
 *
 * scan_node_rows.c finds rows, and scan_node_tuples.c returns them.
 */
#ifndef RTSCAN_SCAN_NODE_PARTS_H
#define RTSCAN_SCAN_NODE_PARTS_H

#include "rtscan.h"

#include "run/node/node.h"
#include "run/vector/row_condition.h"
#include "search/visible/heap_rows.h"

/* A column of the current tuples.  The arrays are indexed by a row's place in the batch. */
typedef struct RtscanRowsColumn
{
	int			number;			/* column of the index, from 0 */
	const Datum *values;
	const bool *isnull;
} RtscanRowsColumn;

typedef struct RtscanRowsState
{
	RtscanNode	node;
	RtscanExpression row_quals;
	RtscanBatch *batch;
	RtscanRowCondition condition;	/* row_quals, calculated for whole batches */
	bool		begun;			/* an answer has begun and not ended */
	const RtscanImage *image;	/* the image of the index that the answer searches */
	RtscanCursor *cursor;		/* source of the answer's rows, if they are in no order */
	RtscanOrdered *ordered;		/* source of the answer's rows, if they are in an order */
	TupleTableSlot *slot;		/* slot for columns from the index; without projection, it is the node's result */
	ProjectionInfo *projection; /* computes the node's result from slot; NULL: not needed */
	int			ncolumns;
	RtscanRowsColumn *columns;	/* the columns of slot */
	bool		want_tids;		/* TIDs are needed: for the heap, or for WHERE CURRENT OF */
	Buffer		current;		/* pinned heap block of the current row, or invalid */
	ItemPointerData tids[RTSCAN_CURSOR_ROWS];	/* TIDs of the rows that pass row_quals, if want_tids */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* places in the batch of the rows that pass row_quals */
	uint32		n;				/* number of rows that pass row_quals */
	uint32		next;			/* place in "rows" of the next row to be returned */
	RtscanHeapWork heap_work;	/* work in the heap in this pass, with fetching rows from it, for EXPLAIN */
	uint64		filtered_rows;	/* rows of this pass that row_quals removed, for EXPLAIN */
	ExprState  *recheck;		/* quals that the node evaluates, for EvalPlanQual() and to check permissions */
	RtscanHeapRows heap_rows;	/* reads the rows from the heap */
} RtscanRowsState;

/* Does the node return the rows of a star? */
static inline bool
rtscan_scans_star(const RtscanRowsState *state)
{
	return state->node.custom.ss.ss_currentRelation == NULL;
}

/* ---------------------------------------------------------------- scan_node.c */

extern const CustomExecMethods rtscan_scan_exec_methods;

/* ---------------------------------------------------------------- rows: scan_node_rows.c */

/* Find the next rows.  If no rows are left, free the answer and return false. */
extern bool rtscan_next_scan_rows(RtscanRowsState *state);

/* RtscanEndAnswer (node.h).  Does not free the batch if it is kept for rescans. */
extern void rtscan_end_scan_answer(RtscanNode *node);

/* Free the batch, if there is one. */
extern void rtscan_end_scan_batch(RtscanRowsState *state);

/* ---------------------------------------------------------------- tuples: scan_node_tuples.c */

/* CustomExecMethods.ExecCustomScan: return the next row as a tuple; at the end, return NULL or an empty slot. */
extern TupleTableSlot *rtscan_next_scan_tuple(CustomScanState *custom);

#endif							/* RTSCAN_SCAN_NODE_PARTS_H */
