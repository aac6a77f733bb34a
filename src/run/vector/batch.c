/* SPDX-License-Identifier: PostgreSQL */
/*
 * batch.c
 *		Batches of an index's rows, on which expressions are evaluated.
 */
#include "run/vector/batch.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "run/plan/expressions.h"

/* ---------------------------------------------------------------- begin and end */

/* May a row of the index match several rows of a dimension? */
static bool
any_repeats(int ndimensions, RtscanDimension **dimensions)
{
	for (int i = 0; i < ndimensions; i++)
		if (dimensions[i]->plan->repeats)
			return true;
	return false;
}

RtscanBatch *
rtscan_create_batch(Relation index, EState *estate, int ndimensions, RtscanDimension **dimensions)
{
	RtscanBatch *batch = palloc0(sizeof(RtscanBatch));

	batch->schema = rtscan_schema(index);
	batch->context = CreateExprContext(estate);
	batch->slot = MakeSingleTupleTableSlot(rtscan_describe_attributes(RelationGetDescr(index), ndimensions, dimensions),
										   &TTSOpsVirtual);
	batch->ncolumns = batch->slot->tts_tupleDescriptor->natts;
	if (batch->ncolumns > batch->schema->ncolumns || any_repeats(ndimensions, dimensions))
		batch->attributes = rtscan_create_attributes(batch, ndimensions, dimensions);
	batch->context->ecxt_scantuple = batch->slot;
	ExecStoreAllNullTuple(batch->slot);
	batch->loaded = palloc0(batch->ncolumns * sizeof(bool));
	batch->values = palloc0(batch->ncolumns * sizeof(Datum *));
	batch->isnull = palloc0(batch->ncolumns * sizeof(bool *));
	return batch;
}

RtscanExpression
rtscan_begin_expression(PlanState *parent, Expr *row_expression)
{
	return (RtscanExpression) {
		.state = ExecInitExpr(row_expression, parent),
		.row_expression = rtscan_settle_parameters(row_expression, parent->state->es_param_list_info),
		.columns = rtscan_row_columns((Node *) row_expression),
	};
}

RtscanExpression
rtscan_begin_quals(PlanState *parent, List *row_expressions)
{
	return (RtscanExpression) {
		.state = ExecInitQual(row_expressions, parent),
		.row_expression = rtscan_settle_parameters(make_ands_explicit(row_expressions),
												   parent->state->es_param_list_info),
		.columns = rtscan_row_columns((Node *) row_expressions),
	};
}

void
rtscan_end_batch(RtscanBatch *batch)
{
	FreeExprContext(batch->context, true);
}

/* ---------------------------------------------------------------- the next rows */

void
rtscan_restart_batch(RtscanBatch *batch)
{
	batch->sources = NULL;
	if (batch->attributes)
		rtscan_forget_segments(batch->attributes);
}

static uint32
begin_batch(RtscanBatch *batch, uint32 n)
{
	batch->number++;
	batch->n = n;
	memset(batch->loaded, false, batch->ncolumns * sizeof(bool));
	return n;
}

/* Begin a batch of n rows that have been fetched. */
static uint32
begin_fetched(RtscanBatch *batch, uint32 n)
{
	batch->fetch++;
	batch->nfetched = n;
	batch->sources = NULL;
	return begin_batch(batch, n);
}

/* Begin a batch of the next copies.  Returns the number of copies; 0 if none is left. */
static uint32
next_copies(RtscanBatch *batch)
{
	uint16	   *sources;
	uint32		n;

	CHECK_FOR_INTERRUPTS();
	sources = rtscan_room_for_sources(batch);
	n = rtscan_next_copies(batch->attributes, sources);
	batch->sources = sources;
	batch->wanted = NULL;
	return begin_batch(batch, n);
}

/* Begin the first batch of copies.  Rows that are not wanted have no copies, so they are removed first. */
static void
begin_copies(RtscanBatch *batch)
{
	if (batch->wanted)
	{
		rtscan_narrow_batch(batch);
		rtscan_begin_copies(batch->attributes);
	}
	next_copies(batch);
}

uint32
rtscan_next_batch(RtscanBatch *batch, RtscanCursor *cursor)
{
	if (batch->sources && next_copies(batch) > 0)
		return batch->n;
	batch->cursor = cursor;
	batch->ordered = NULL;
	begin_fetched(batch, rtscan_next_rows(cursor));
	batch->wanted = rtscan_cursor_wanted(cursor);
	if (batch->n > 0 && batch->attributes && rtscan_begin_copies(batch->attributes))
		begin_copies(batch);
	return batch->n;
}

void
rtscan_narrow_batch(RtscanBatch *batch)
{
	begin_fetched(batch, rtscan_cursor_narrow(batch->cursor));
	batch->wanted = NULL;
}

uint32
rtscan_next_ordered_batch(RtscanBatch *batch, RtscanOrdered *ordered)
{
	batch->cursor = NULL;
	batch->ordered = ordered;
	batch->wanted = NULL;
	return begin_fetched(batch, rtscan_next_ordered(ordered));
}

/* ---------------------------------------------------------------- columns */

void
rtscan_load_column(RtscanBatch *batch, int column)
{
	if (column < batch->schema->ncolumns)
	{
		rtscan_load_own_column(batch, column);
		return;
	}
	if (batch->loaded[column])
		return;
	rtscan_make_room_for_column(batch, &batch->values[column], &batch->isnull[column]);
	rtscan_attribute_values(batch->attributes, column, batch->values[column], batch->isnull[column]);
	batch->loaded[column] = true;
}

bool
rtscan_load_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale)
{
	return column < batch->schema->ncolumns ? rtscan_load_own_integers(batch, column, integers, isnull, scale) :
		rtscan_attribute_decimals(batch->attributes, column, integers, isnull, scale);
}

bool
rtscan_know_bounds(RtscanBatch *batch, int column, int scale, int64 *lowest, int64 *highest)
{
	return batch->cursor && column < batch->schema->ncolumns &&
		rtscan_cursor_bounds(batch->cursor, column, scale, lowest, highest);
}

void
rtscan_load_codes(RtscanBatch *batch, int column, uint32 *codes)
{
	if (column >= batch->schema->ncolumns)
		rtscan_attribute_codes(batch->attributes, column, codes);
	else
		rtscan_load_own_codes(batch, column, codes);
}

uint32
rtscan_batch_code_count(RtscanBatch *batch, int column)
{
	return column >= batch->schema->ncolumns ? rtscan_attribute_code_count(batch->attributes, column) :
		rtscan_cursor_code_count(batch->cursor, column);
}

void
rtscan_enter_row(RtscanBatch *batch, const Bitmapset *columns, uint32 row)
{
	int			column = -1;

	ResetExprContext(batch->context);
	while ((column = bms_next_member(columns, column)) >= 0)
	{
		rtscan_load_column(batch, column);
		batch->slot->tts_values[column] = batch->values[column][row];
		batch->slot->tts_isnull[column] = batch->isnull[column][row];
	}
}
