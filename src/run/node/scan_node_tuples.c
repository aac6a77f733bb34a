/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_node_tuples.c
 *		Returns the rows that a scan has found: as tuples of the index or of the heap, or as columns to a dimension.
 */
#include "run/node/scan_node_parts.h"

#include "executor/executor.h"
#include "run/star/scan_rows.h"

/* ---------------------------------------------------------------- tuples of the index */

static bool
next_index_rows(RtscanRowsState *state)
{
	TupleTableSlot *slot = state->node.custom.ss.ss_ScanTupleSlot;

	if (!rtscan_next_scan_rows(state))
		return false;
	for (int i = 0; i < state->ncolumns; i++)
	{
		RtscanRowsColumn *column = &state->columns[i];

		rtscan_load_column(state->batch, column->number);
		column->values = state->batch->values[column->number];
		column->isnull = state->batch->isnull[column->number];
	}
	if (!state->want_tids)
		return true;
	/* WHERE CURRENT OF reads the row's TID from the scan's slot, even if the slot has no columns. */
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(state->node.heap);
	return true;
}

/*
 * Set the slot's TID to the TID of the current row's visible version.  The index has the TID of the first version in
 * the HOT chain.
 */
static void
set_tid(RtscanRowsState *state)
{
	TupleTableSlot *slot = state->node.custom.ss.ss_ScanTupleSlot;

	slot->tts_tid = state->tids[state->next];
	rtscan_find_seen(state->node.heap, state->node.custom.ss.ps.state->es_snapshot, &slot->tts_tid, &state->current);
}

/* Store the next row in the slot. */
static void
store_row(RtscanRowsState *state)
{
	TupleTableSlot *slot = state->slot;
	Datum	   *values = slot->tts_values;
	bool	   *isnull = slot->tts_isnull;
	uint32		row = state->rows[state->next];

	if (TTS_SHOULDFREE(slot))
		ExecClearTuple(slot);
	if (state->want_tids)
		set_tid(state);
	state->next++;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_nvalid = slot->tts_tupleDescriptor->natts;
	for (const RtscanRowsColumn *column = state->columns, *end = column + state->ncolumns; column < end; column++)
	{
		*values++ = column->values[row];
		*isnull++ = column->isnull[row];
	}
}

/* Return the next tuple that consists of columns of the index; NULL at the end. */
static TupleTableSlot *
next_index_tuple(RtscanRowsState *state)
{
	ExprContext *context = state->node.custom.ss.ps.ps_ExprContext;

	if (state->next == state->n && !next_index_rows(state))
	{
		ExecClearTuple(state->node.custom.ss.ss_ScanTupleSlot);
		return NULL;
	}
	store_row(state);
	if (state->projection == NULL)
		return state->slot;
	ResetExprContext(context);
	context->ecxt_scantuple = state->slot;
	return ExecProject(state->projection);
}

/* ---------------------------------------------------------------- rows for a dimension of a node above */

bool
rtscan_has_rows_at_hand(PlanState *node)
{
	const RtscanRowsState *state = (const RtscanRowsState *) node;

	return IsA(node, CustomScanState) && ((CustomScanState *) node)->methods == &rtscan_scan_exec_methods &&
		node->instrument == NULL && !state->node.plan->from_heap && state->projection == NULL && !state->want_tids;
}

uint32
rtscan_rows_at_hand(PlanState *node, const uint16 **places)
{
	RtscanRowsState *state = (RtscanRowsState *) node;

	/* Rescan the node if parameters have changed, like ExecProcNode(). */
	if (node->chgParam)
		ExecReScan(node);
	if (state->next == state->n && !next_index_rows(state))
		return 0;
	*places = state->rows + state->next;
	return state->n - state->next;
}

void
rtscan_column_at_hand(PlanState *node, int column, const Datum **values, const bool **isnull)
{
	const RtscanRowsColumn *at_hand = &((const RtscanRowsState *) node)->columns[column];

	*values = at_hand->values;
	*isnull = at_hand->isnull;
}

void
rtscan_pass_rows(PlanState *node, uint32 n)
{
	((RtscanRowsState *) node)->next += n;
}

/* ---------------------------------------------------------------- tuples of the heap */

/* ExecScanAccessMtd: return the next tuple of the heap. */
static TupleTableSlot *
next_heap_tuple(ScanState *scan)
{
	RtscanRowsState *state = (RtscanRowsState *) scan;
	TupleTableSlot *slot = scan->ss_ScanTupleSlot;

	while (!state->begun || !rtscan_next_heap_row(&state->heap_rows, slot))
	{
		if (!rtscan_next_scan_rows(state))
			return ExecClearTuple(slot);
		state->heap_work.fetches += state->n;
		rtscan_set_heap_tids(&state->heap_rows, state->tids, state->n);
	}
	return slot;
}

/* ExecScanRecheckMtd: would the index find a tuple that EvalPlanQual() has put in the place of the scan's tuple? */
static bool
recheck(ScanState *scan, TupleTableSlot *slot)
{
	scan->ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecQualAndReset(((RtscanRowsState *) scan)->recheck, scan->ps.ps_ExprContext);
}

/*
 * Return the next row of a star that passes the quals.  ExecScan() is not used, because it requires that a node
 * without a relation supports EvalPlanQual().
 */
static TupleTableSlot *
next_join_tuple(ScanState *scan)
{
	ExprContext *context = scan->ps.ps_ExprContext;
	TupleTableSlot *slot;

	while ((slot = next_heap_tuple(scan)), !TupIsNull(slot))
	{
		ResetExprContext(context);
		context->ecxt_scantuple = slot;
		if (ExecQual(scan->ps.qual, context))
			return scan->ps.ps_ProjInfo ? ExecProject(scan->ps.ps_ProjInfo) : slot;
		InstrCountFiltered1(scan, 1);
	}
	return NULL;
}

TupleTableSlot *
rtscan_next_scan_tuple(CustomScanState *custom)
{
	RtscanRowsState *state = (RtscanRowsState *) custom;

	return !state->node.plan->from_heap ? next_index_tuple(state) :
		rtscan_scans_star(state) ? next_join_tuple(&custom->ss) : ExecScan(&custom->ss, next_heap_tuple, recheck);
}
