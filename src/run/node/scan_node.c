/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_node.c
 *		Executes Custom Scan (RtscanScan), which returns the rows of a table that an index finds.
 *
 * If the index has all columns that are wanted, they are read from it, and the node's tuple has just those columns.
 * Then a row is looked up in the heap only if its block is not all-visible (search/visible/visibility.h).  Otherwise
 * rows are fetched from the heap (search/visible/heap_rows.h).  Then the node's tuple is the table's, with its system
 * columns, and EvalPlanQual() can replace it.
 *
 * Quals that the index does not look up are evaluated on rows of the index if it has the columns that they need.
 * PostgreSQL evaluates the remaining ones on the node's tuples.
 */
#include "run/node/node.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "run/answer/shared.h"
#include "run/star/scan_rows.h"
#include "run/vector/row_condition.h"
#include "search/visible/heap_rows.h"
#include "storage/bufmgr.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"

/* A column of the current tuples.  The arrays are indexed by a row's place in the batch. */
typedef struct RowsColumn
{
	int			number;			/* column of the index, from 0 */
	const Datum *values;
	const bool *isnull;
} RowsColumn;

typedef struct RowsState
{
	RtscanNode	node;
	RtscanExpression row_quals;
	RtscanBatch *batch;
	RtscanRowCondition condition;	/* row_quals, calculated for whole batches */
	bool		begun;			/* an answer has begun and not ended */
	const RtscanImage *image;	/* the image of the index that the answer searches */
	RtscanCursor *cursor;		/* source of the answer's rows, if they are in no order */
	RtscanOrdered *ordered;		/* source of the answer's rows, if they are in an order */
	bool		done;			/* all rows have been returned */

	TupleTableSlot *slot;		/* slot for columns from the index; without projection, it is the node's result */
	ProjectionInfo *projection; /* computes the node's result from slot; NULL: not needed */
	int			ncolumns;
	RowsColumn *columns;		/* the columns of slot */
	bool		want_tids;		/* TIDs are needed: for the heap, or for WHERE CURRENT OF */
	Buffer		current;		/* pinned heap block of the current row, or invalid */
	ItemPointerData tids[RTSCAN_CURSOR_ROWS];	/* TIDs of the rows that pass row_quals, if want_tids */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* places in the batch of the rows that pass row_quals */
	uint32		n;				/* number of rows that pass row_quals */
	uint32		next;			/* the next of these rows to be returned, from 0 */
	uint64		heap_fetches;	/* heap rows fetched in this pass, for EXPLAIN */
	uint64		filtered_rows;	/* rows of this pass that row_quals removed, for EXPLAIN */
	ExprState  *recheck;		/* quals that the node has evaluated, for EvalPlanQual() and for permission checks */
	RtscanHeapRows heap_rows;	/* reads the rows from the heap */
} RowsState;

/* ---------------------------------------------------------------- start */

static const CustomExecMethods exec_methods;

static Node *
create_state(CustomScan *scan)
{
	RowsState  *state = (RowsState *) newNode(sizeof(RowsState), T_CustomScanState);

	state->node.custom.methods = &exec_methods;
	return (Node *) state;
}

/* Does the node return the rows of a star? */
static bool
is_join(const RowsState *state)
{
	return state->node.custom.ss.ss_currentRelation == NULL;
}

/* Return tuples of the heap, in buffers.  PostgreSQL could not know that when it made the slot and expressions. */
static void
begin_heap_tuples(RowsState *state, EState *estate)
{
	ScanState  *scan = &state->node.custom.ss;

	state->want_tids = true;
	ExecInitScanTupleSlot(estate, scan, RelationGetDescr(state->node.heap), &TTSOpsBufferHeapTuple, 0);
	if (is_join(state))
		ExecAssignScanProjectionInfoWithVarno(scan, INDEX_VAR);
	else
		ExecAssignScanProjectionInfo(scan);
	scan->ps.qual = ExecInitQual(scan->ps.plan->qual, &scan->ps);
}

/* Does a target list consist only of some of the first ncolumns columns of the node's tuple? */
static bool
are_columns(List *targetlist, int ncolumns)
{
	ListCell   *cell;

	foreach(cell, targetlist)
	{
		const Var  *var = (const Var *) lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(var, Var) || var->varattno < 1 || var->varattno > ncolumns)
			return false;
	}
	return true;
}

/* Store columns directly in the result's slot, because the target list has only columns. */
static void
leave_out_projection(RowsState *state, List *targetlist, const List *columns)
{
	ListCell   *cell;

	state->slot = state->node.custom.ss.ps.ps_ResultTupleSlot;
	state->ncolumns = 0;
	foreach(cell, targetlist)
		state->columns[state->ncolumns++].number =
			list_nth_int(columns, ((const Var *) lfirst_node(TargetEntry, cell)->expr)->varattno - 1);
}

/* Does execCurrentOf() find a scan below a plan?  Its search_plan_tree() descends through the same nodes. */
static bool
leads_to(const Plan *plan, const Plan *scan)
{
	ListCell   *cell;

	while (plan && plan != scan && (IsA(plan, Result) || IsA(plan, Limit) || IsA(plan, SubqueryScan)))
		plan = IsA(plan, SubqueryScan) ? ((const SubqueryScan *) plan)->subplan : outerPlan(plan);
	if (plan && IsA(plan, Append))
		foreach(cell, ((const Append *) plan)->appendplans)
			if (leads_to((const Plan *) lfirst(cell), scan))
				return true;
	return plan == scan;
}

/*
 * May WHERE CURRENT OF refer to the row that was returned last?  It reads the row's TID from the scan's slot, at any
 * time.  This needs a visible portal that has a name (EXECUTE's is not visible), with a simple plan, which is never
 * parallel.  Otherwise the slot stays empty, and no TIDs are needed.
 */
static bool
can_be_current(const RowsState *state, const EState *estate)
{
	const Plan *scan = state->node.custom.ss.ps.plan;

	return ActivePortal && ActivePortal->name[0] != '\0' && ActivePortal->visible && !scan->parallel_aware &&
		leads_to(estate->es_plannedstmt->planTree, scan);
}

static void
begin_index_tuples(RowsState *state, EState *estate)
{
	ScanState  *scan = &state->node.custom.ss;
	List	   *targetlist = scan->ps.plan->targetlist;
	List	   *columns = state->node.plan->columns;

	state->want_tids = !is_join(state) && can_be_current(state, estate);
	state->slot = state->want_tids ? scan->ss_ScanTupleSlot :
		ExecInitExtraTupleSlot(estate, scan->ss_ScanTupleSlot->tts_tupleDescriptor, &TTSOpsVirtual);
	state->projection = scan->ps.ps_ProjInfo;
	state->columns = palloc0(Max(list_length(targetlist), Max(list_length(columns), 1)) * sizeof(RowsColumn));
	for (state->ncolumns = 0; state->ncolumns < list_length(columns); state->ncolumns++)
		state->columns[state->ncolumns].number = list_nth_int(columns, state->ncolumns);
	if (state->projection && are_columns(targetlist, state->ncolumns))
	{
		leave_out_projection(state, targetlist, columns);
		state->projection = NULL;
	}
}

static void
begin(CustomScanState *custom, EState *estate, int eflags)
{
	RowsState  *state = (RowsState *) custom;
	RtscanShown shown = rtscan_read_shown(((CustomScan *) custom->ss.ps.plan)->custom_exprs);

	rtscan_begin_node(&state->node, eflags);
	state->row_quals = rtscan_begin_quals(&custom->ss.ps, state->node.plan->row_quals);
	/*
	 * Heap tuples are checked for visibility when they are fetched, so the search need not do it.  But only visible
	 * rows may reach row quals, count among the first rows of a bounded heap, or be skipped by OFFSET.
	 */
	if (state->node.plan->from_heap && state->row_quals.state == NULL && !state->node.plan->order.by_heap &&
		!state->node.plan->skips)
		state->node.checked_heap = NULL;
	if (state->node.plan->from_heap)
		begin_heap_tuples(state, estate);
	else
		begin_index_tuples(state, estate);
	/* EvalPlanQual() does not recheck rows of a star. */
	if (!is_join(state))
		state->recheck = ExecInitQual(list_concat_copy(shown.quals, shown.row_quals), &custom->ss.ps);
}

/* ---------------------------------------------------------------- an answer */

/* May the node be rescanned?  Then the image and the batch are kept, because the snapshot stays the same. */
static bool
is_scanned_again(const RowsState *state)
{
	return state->node.custom.ss.ps.plan->allParam != NULL;
}

/* Return the memory context for what is kept for rescans. */
static MemoryContext
memory_to_keep(const RowsState *state)
{
	return is_scanned_again(state) ? state->node.custom.ss.ps.state->es_query_cxt : state->node.context;
}

static void
begin_batch(RowsState *state)
{
	MemoryContext old = MemoryContextSwitchTo(memory_to_keep(state));

	if (state->batch == NULL)
	{
		List	   *known = NIL;

		state->batch = rtscan_create_batch(state->node.index, state->node.custom.ss.ps.state, state->node.ndimensions,
										   state->node.values.dimensions);
		state->condition = rtscan_make_row_condition(&state->row_quals, &known);
	}
	MemoryContextSwitchTo(old);
}

static void
end_batch(RowsState *state)
{
	if (state->batch)
		rtscan_end_batch(state->batch);
	state->batch = NULL;
}

static void
open_rows(RowsState *state)
{
	RtscanNode *node = &state->node;
	const RtscanImage *image = state->image;

	rtscan_restart_batch(state->batch);
	if (node->plan->ordered)
		state->ordered = rtscan_open_ordered(&node->visibility, image, node->schema, &node->filter, &node->plan->order,
											 rtscan_find_skip(node));
	else
		state->cursor = rtscan_open_shared_cursor(&node->visibility, image, node->shared ? &node->shared->search : NULL,
												  node->question.claim, node->schema, &node->filter);
}

static void
close_rows(RowsState *state)
{
	const RtscanSearch *search = state->ordered ? rtscan_ordered_search(state->ordered) :
		rtscan_cursor_search(state->cursor);

	state->heap_fetches += state->ordered ? rtscan_ordered_heap_fetches(state->ordered) :
		rtscan_cursor_heap_fetches(state->cursor);
	rtscan_add_totals(&state->node.question, search, state->heap_fetches, state->filtered_rows,
					  state->batch->single_rows);
	if (state->ordered)
		rtscan_close_ordered(state->ordered);
	else
		rtscan_close_cursor(state->cursor);
	state->ordered = NULL;
	state->cursor = NULL;
	state->heap_fetches = state->filtered_rows = state->batch->single_rows = 0;
}

static void
begin_answer(RowsState *state)
{
	RtscanNode *node = &state->node;
	MemoryContext old;

	rtscan_begin_answer(node);
	if (state->row_quals.state)
		rtscan_leave_to_cpu(RTSCAN_ROW_FILTER_IS_CPUS);
	state->begun = true;
	begin_batch(state);
	old = MemoryContextSwitchTo(node->context);
	state->image = rtscan_find_image(&state->node, memory_to_keep(state), is_scanned_again(state));
	open_rows(state);
	if (node->plan->from_heap)
		rtscan_begin_heap_rows(&state->heap_rows, node->heap, node->custom.ss.ps.state->es_snapshot,
							   rtscan_compat_reads_only(&node->custom.ss));
	MemoryContextSwitchTo(old);
}

/* Free the current answer, if there is one. */
static void
end_answer(RowsState *state)
{
	RtscanNode *node = &state->node;

	state->n = state->next = 0;
	if (state->begun && node->plan->from_heap)
		rtscan_end_heap_rows(&state->heap_rows);
	if (BufferIsValid(state->current))
		ReleaseBuffer(state->current);
	state->current = InvalidBuffer;
	if (state->cursor || state->ordered)
		close_rows(state);
	if (!is_scanned_again(state))
		end_batch(state);
	state->begun = false;
	rtscan_end_answer(node);
}

/* ---------------------------------------------------------------- rows of the index */

/* Find the rows of the batch that pass the row quals.  Return how many. */
static uint32
choose_rows(RowsState *state)
{
	RtscanBatch *batch = state->batch;
	uint32		n;

	for (uint32 row = 0; row < batch->n; row++)
		state->rows[row] = row;
	if (state->row_quals.state == NULL)
		return batch->n;
	n = rtscan_choose_rows(&state->condition, batch, state->rows, batch->n, state->rows);
	state->filtered_rows += batch->n - n;
	return n;
}

/* Find the TIDs of the rows that have passed the row quals. */
static void
find_tids(RowsState *state)
{
	if (state->ordered)
		rtscan_ordered_tids(state->ordered, state->tids);
	else
		rtscan_cursor_tids(state->cursor, state->tids);
	if (state->n < state->batch->n)
		for (uint32 i = 0; i < state->n; i++)
			state->tids[i] = state->tids[state->rows[i]];
}

static uint32
next_batch(RowsState *state)
{
	return state->ordered ? rtscan_next_ordered_batch(state->batch, state->ordered) :
		rtscan_next_batch(state->batch, state->cursor);
}

/* Find the next rows of the current pass. */
static bool
next_of_pass(RowsState *state)
{
	state->n = state->next = 0;
	while (next_batch(state) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		pgstat_count_index_tuples(state->node.index, state->batch->n);
		state->n = choose_rows(state);
		if (state->n == 0)
			continue;
		if (state->want_tids)
			find_tids(state);
		return true;
	}
	return false;
}

static bool
next_pass(RowsState *state)
{
	MemoryContext old;

	close_rows(state);
	if (!rtscan_next_pass(&state->node))
		return false;
	old = MemoryContextSwitchTo(state->node.context);
	open_rows(state);
	MemoryContextSwitchTo(old);
	return true;
}

/* Find the next rows.  If there are none, free the answer and return false. */
static bool
next_rows(RowsState *state)
{
	if (state->done)
		return false;
	if (!state->begun)
		begin_answer(state);
	do
		if (next_of_pass(state))
			return true;
	while (next_pass(state));
	end_answer(state);
	state->done = true;
	return false;
}

/* ---------------------------------------------------------------- tuples */

static bool
next_index_rows(RowsState *state)
{
	TupleTableSlot *slot = state->node.custom.ss.ss_ScanTupleSlot;

	if (!next_rows(state))
		return false;
	for (int i = 0; i < state->ncolumns; i++)
	{
		RowsColumn *column = &state->columns[i];

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

/* Set the current row's TID: that of its visible version.  The index has the TID of the first one in the HOT chain. */
static void
set_tid(RowsState *state)
{
	TupleTableSlot *slot = state->node.custom.ss.ss_ScanTupleSlot;

	slot->tts_tid = state->tids[state->next];
	rtscan_find_seen(state->node.heap, state->node.custom.ss.ps.state->es_snapshot, &slot->tts_tid, &state->current);
}

/* Store the next row in the slot. */
static void
store_row(RowsState *state)
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
	for (const RowsColumn *column = state->columns, *end = column + state->ncolumns; column < end; column++)
	{
		*values++ = column->values[row];
		*isnull++ = column->isnull[row];
	}
}

/* Return the next tuple of columns of the index. */
static TupleTableSlot *
next_index_tuple(RowsState *state)
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
	const RowsState *state = (const RowsState *) node;

	return IsA(node, CustomScanState) && ((CustomScanState *) node)->methods == &exec_methods &&
		node->instrument == NULL && !state->node.plan->from_heap && state->projection == NULL && !state->want_tids;
}

uint32
rtscan_rows_at_hand(PlanState *node, const uint16 **places)
{
	RowsState  *state = (RowsState *) node;

	/* ExecProcNode() does the same. */
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
	const RowsColumn *at_hand = &((const RowsState *) node)->columns[column];

	*values = at_hand->values;
	*isnull = at_hand->isnull;
}

void
rtscan_pass_rows(PlanState *node, uint32 n)
{
	((RowsState *) node)->next += n;
}

/* ---------------------------------------------------------------- tuples of the heap */

/* ExecScanAccessMtd: return the next tuple of the heap. */
static TupleTableSlot *
next_heap_tuple(ScanState *scan)
{
	RowsState  *state = (RowsState *) scan;
	TupleTableSlot *slot = scan->ss_ScanTupleSlot;

	while (!state->begun || !rtscan_next_heap_row(&state->heap_rows, slot))
	{
		if (!next_rows(state))
			return ExecClearTuple(slot);
		state->heap_fetches += state->n;
		rtscan_set_heap_tids(&state->heap_rows, state->tids, state->n);
	}
	return slot;
}

/* ExecScanRecheckMtd: would the index find the tuple that EvalPlanQual() has put in place of another one? */
static bool
recheck(ScanState *scan, TupleTableSlot *slot)
{
	scan->ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecQualAndReset(((RowsState *) scan)->recheck, scan->ps.ps_ExprContext);
}

/* Return the next row of a star that passes the quals.  ExecScan() would expect that a join supports EvalPlanQual(). */
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

static TupleTableSlot *
execute(CustomScanState *custom)
{
	RowsState  *state = (RowsState *) custom;

	return !state->node.plan->from_heap ? next_index_tuple(state) :
		is_join(state) ? next_join_tuple(&custom->ss) : ExecScan(&custom->ss, next_heap_tuple, recheck);
}

/* ---------------------------------------------------------------- rescan and end */

static void
rescan(CustomScanState *custom)
{
	RowsState  *state = (RowsState *) custom;

	end_answer(state);
	rtscan_rescan_node(&state->node);
	state->done = false;
	ExecClearTuple(custom->ss.ss_ScanTupleSlot);
	if (state->node.plan->from_heap && !is_join(state))
		ExecScanReScan(&custom->ss);
}

static void
end(CustomScanState *custom)
{
	RowsState  *state = (RowsState *) custom;

	end_answer(state);
	end_batch(state);
	rtscan_end_node(&state->node);
}

/* Shared memory is about to be released: stop using it. */
static void
shut_down(CustomScanState *custom)
{
	RowsState  *state = (RowsState *) custom;

	if (state->node.shared == NULL)
		return;
	end_answer(state);
	state->done = true;
	rtscan_leave_shared(&state->node);
}

/* End the leader's answer before shared memory is reset: a LIMIT may have left it unfinished. */
static void
reinitialize(CustomScanState *custom, ParallelContext *context, void *memory)
{
	end_answer((RowsState *) custom);
	rtscan_reinitialize_shared(custom, context, memory);
}

static void
explain(CustomScanState *custom, List *ancestors, ExplainState *es)
{
	RtscanNode *node = (RtscanNode *) custom;
	RtscanShown shown = rtscan_read_shown(((CustomScan *) custom->ss.ps.plan)->custom_exprs);

	/* An answer adds its counts when it ends, but a LIMIT may have left it unfinished. */
	if (es->analyze)
		end_answer((RowsState *) custom);
	if (is_join((RowsState *) custom))
		ExplainPropertyText("Relation", RelationGetRelationName(node->heap), es);
	ExplainPropertyText("Index", RelationGetRelationName(node->index), es);
	rtscan_explain_quals(node, shown.quals, "Index Cond", ancestors, es);
	rtscan_explain_dimensions(node, shown.joins, ancestors, es);
	rtscan_explain_columns(node, shown.implied, "Implied Ranges", ancestors, es);
	rtscan_explain_quals(node, shown.row_quals, "Row Filter", ancestors, es);
	if (node->plan->ordered)
		rtscan_explain_order(node, es);
	rtscan_explain_quals(node, shown.skip, "Offset", ancestors, es);
	rtscan_explain_totals(node, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "RtscanScan",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = rtscan_estimate_shared,
	.InitializeDSMCustomScan = rtscan_initialize_shared,
	.ReInitializeDSMCustomScan = reinitialize,
	.InitializeWorkerCustomScan = rtscan_initialize_worker,
	.ShutdownCustomScan = shut_down,
	.ExplainCustomScan = explain,
};

const CustomScanMethods rtscan_rows_scan_methods = {
	.CustomName = "RtscanScan",
	.CreateCustomScanState = create_state,
};
