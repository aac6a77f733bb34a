/*
 * batch.h
 *		Some rows of an index at a time, for expressions to be evaluated on.
 *
 * Row expressions refer to the index's columns, as INDEX_VAR; expressions.h makes them.  Behind these there may be columns of dimensions.
 *
 * A batch is made of the rows that have been fetched together.  Where some of them meet several rows of a dimension they come several times
 * (attributes.h), and more than one batch may be made of them.
 */
#ifndef RTSCAN_BATCH_H
#define RTSCAN_BATCH_H

#include "rtscan.h"

#include "executor/executor.h"
#include "run/vector/attributes.h"
#include "run/vector/own_columns.h"

/* A row expression, or a conjunction of them. */
typedef struct RtscanExpression
{
	ExprState  *state;			/* NULL: there is none */
	const Expr *row_expression; /* what it evaluates: of a conjunction, with AND */
	Bitmapset  *columns;		/* that it refers to, from 0 */
} RtscanExpression;

/* A batch for expressions on an index's rows, in the current memory context, which is to be deleted after the end. */
extern RtscanBatch *rtscan_create_batch(Relation index, EState *estate, int ndimensions, RtscanDimension **dimensions);
extern void rtscan_end_batch(RtscanBatch *batch);

/* Prepare an expression of a node's, or its quals. */
extern RtscanExpression rtscan_begin_expression(PlanState *parent, Expr *row_expression);
extern RtscanExpression rtscan_begin_quals(PlanState *parent, List *row_expressions);

/* Forget the rows at hand: others come, of another cursor. */
extern void rtscan_restart_batch(RtscanBatch *batch);

/* The next rows of a cursor, or in order; 0 at the end. */
extern uint32 rtscan_next_batch(RtscanBatch *batch, RtscanCursor *cursor);

/* Make it a batch of no other rows of the cursor than those that are wanted (rtscan_cursor_narrow()): their places change. */
extern void rtscan_narrow_batch(RtscanBatch *batch);
extern uint32 rtscan_next_ordered_batch(RtscanBatch *batch, RtscanOrdered *ordered);

/* All values of a column. */
extern void rtscan_load_column(RtscanBatch *batch, int column);

/* Likewise, as integers, or false where they are none (segment/values.h). */
extern bool rtscan_load_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale);

/* Likewise as codes of a segment (cursor.h), and how many there are; PG_UINT32_MAX: there are none. */
extern void rtscan_load_codes(RtscanBatch *batch, int column, uint32 *codes);
extern uint32 rtscan_batch_code_count(RtscanBatch *batch, int column);

/* Bounds of a column's integers of a scale, 0 where they are NULL, if they are known without a look at the rows; else false. */
extern bool rtscan_know_bounds(RtscanBatch *batch, int column, int scale, int64 *lowest, int64 *highest);

/* Let expressions that refer to some columns be about a row; values by reference are good until the next batch. */
extern void rtscan_enter_row(RtscanBatch *batch, const Bitmapset *columns, uint32 row);

/* Evaluate one on the row entered: its result is good until the next row is entered. */
static inline Datum
rtscan_evaluate_expression(RtscanBatch *batch, const RtscanExpression *expression, bool *isnull)
{
	return ExecEvalExprSwitchContext(expression->state, batch->context, isnull);
}

#endif							/* RTSCAN_BATCH_H */
