/* SPDX-License-Identifier: PostgreSQL */
/*
 * batch.h
 *		Batches of an index's rows, on which expressions are evaluated.
 *
 * Row expressions refer to the index's columns as INDEX_VAR; run/plan/expressions.h makes them.  The columns of
 * dimensions may follow those of the index.
 *
 * A batch consists of rows that are fetched together.  If some rows match several rows of a dimension, it consists of
 * copies of the rows instead (attributes.h), and several batches may be made of the rows of one fetch.
 */
#ifndef RTSCAN_BATCH_H
#define RTSCAN_BATCH_H

#include "rtscan.h"

#include "executor/executor.h"
#include "run/vector/attributes.h"
#include "run/vector/own_columns.h"

/* A row expression, or a conjunction of row expressions. */
typedef struct RtscanExpression
{
	ExprState  *state;			/* its executable form; NULL: there is no expression */
	const Expr *row_expression; /* the expression, with the values of parameters; a conjunction is joined by AND */
	Bitmapset  *columns;		/* numbers of the columns that it refers to, from 0 */
} RtscanExpression;

/* Create a batch of an index's rows, in the current memory context, which is deleted after rtscan_end_batch(). */
extern RtscanBatch *rtscan_create_batch(Relation index, EState *estate, int ndimensions, RtscanDimension **dimensions);

/* Free the expression context of a batch, before the batch's memory context is deleted. */
extern void rtscan_end_batch(RtscanBatch *batch);

/* Prepare an expression of a node. */
extern RtscanExpression rtscan_begin_expression(PlanState *parent, Expr *row_expression);

/* Prepare the quals of a node. */
extern RtscanExpression rtscan_begin_quals(PlanState *parent, List *row_expressions);

/* Forget the current rows, before rows of another cursor are fetched. */
extern void rtscan_restart_batch(RtscanBatch *batch);

/* Make a batch of the next copies of rows, or of the next rows of a cursor.  Returns their number; 0 at the end. */
extern uint32 rtscan_next_batch(RtscanBatch *batch, RtscanCursor *cursor);

/* Remove the rows that are not wanted from a batch (rtscan_cursor_narrow()).  The places of the other rows change. */
extern void rtscan_narrow_batch(RtscanBatch *batch);

/* Make a batch of the next rows in an order.  Returns their number; 0 at the end. */
extern uint32 rtscan_next_ordered_batch(RtscanBatch *batch, RtscanOrdered *ordered);

/* Load the values of a column for all rows. */
extern void rtscan_load_column(RtscanBatch *batch, int column);

/*
 * Load the integers of a column for all rows; false if its values cannot be converted to integers of one scale
 * (segment/values.h).
 */
extern bool rtscan_load_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale);

/*
 * Load the codes of a column for all rows of the batch.  For a column of the index, the rows must be in a segment, not
 * pending (cursor.h).  For a column of a dimension, call rtscan_batch_code_count() before.
 */
extern void rtscan_load_codes(RtscanBatch *batch, int column, uint32 *codes);

/*
 * Return a number that exceeds all codes of a column, including NULL's; PG_UINT32_MAX if the column has no codes
 * (rtscan_code_count()).
 */
extern uint32 rtscan_batch_code_count(RtscanBatch *batch, int column);

/*
 * Find bounds of a column's integers at a scale; NULLs count as 0.  Returns false if bounds are not known before the
 * rows are read.
 */
extern bool rtscan_know_bounds(RtscanBatch *batch, int column, int scale, int64 *lowest, int64 *highest);

/*
 * Enter a row, on which expressions are evaluated from now on.  "columns" has all columns that they refer to.  Values
 * by reference are valid until the next batch.
 */
extern void rtscan_enter_row(RtscanBatch *batch, const Bitmapset *columns, uint32 row);

/* Evaluate an expression on the row entered.  Its result is valid until the next row is entered. */
static inline Datum
rtscan_evaluate_expression(RtscanBatch *batch, const RtscanExpression *expression, bool *isnull)
{
	return ExecEvalExprSwitchContext(expression->state, batch->context, isnull);
}

#endif							/* RTSCAN_BATCH_H */
