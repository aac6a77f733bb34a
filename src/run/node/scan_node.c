/*
 * scan_node.c
 *		Execute Custom Scan (RtscanScan): the rows of a table that an index finds.
 *
 * Its columns come from the index, where that has all that are wanted; then a row is looked up in the heap only where its
 * block is not all-visible (search/visible/visibility.h), and the node's tuple has just those columns.  Or else rows come from the heap
 * (search/visible/heap_rows.h): then the tuple is the table's, with its system columns, and EvalPlanQual() can replace it.
 *
 * Quals that the index does not look up are evaluated on the index's rows as far as it has what they need, then PostgreSQL's
 * way on what is left.
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

/* A column of the tuples at hand, by place in the batch. */
typedef struct RowsColumn
{
	int			number;			/* of the index, from 0 */
	const Datum *values;
	const bool *isnull;
} RowsColumn;

typedef struct RowsState
{
	RtscanNode	node;
	RtscanExpression row_quals;
	RtscanBatch *batch;
	RtscanRowCondition condition;	/* the quals, calculated in this batch */
	bool		begun;			/* an answer, which has not been given back: */
	const RtscanImage *image;
	RtscanCursor *cursor;		/* its rows, or */
	RtscanOrdered *ordered;		/* in an order */
	bool		done;			/* all rows have been returned */

	TupleTableSlot *slot;		/* from the index: where columns are put, which is the node's result, */
	ProjectionInfo *projection; /* unless there is still something to be computed */
	int			ncolumns;
	RowsColumn *columns;		/* by the slot's attribute */
	bool		want_tids;		/* who takes the rows may ask for them, as WHERE CURRENT OF does for the one at hand, */
	Buffer		current;		/* whose block may be pinned */
	ItemPointerData tids[RTSCAN_CURSOR_ROWS];	/* of the rows that are left, if they are wanted */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* their places in the batch */
	uint32		n;
	uint32		next;
	uint64		heap_fetches;	/* of this answer */
	uint64		filtered_rows;
	ExprState  *recheck;		/* what the index answers, for EvalPlanQual(), and for who may call its functions */
	RtscanHeapRows heap_rows;
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

/* Does it return the rows of a star? */
static bool
is_join(const RowsState *state)
{
	return state->node.custom.ss.ss_currentRelation == NULL;
}

/* The tuples are the heap's, in buffers, which PostgreSQL did not know when it made slots and expressions. */
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

/* Is a list of target entries made of nothing but the first columns of the node's tuple? */
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

/* The result has only columns: they are put where they belong, without a projection. */
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

/* Does execCurrentOf() find a scan below a plan?  It goes through these nodes, as search_plan_tree() has them. */
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
 * May WHERE CURRENT OF look for the row that was returned last?  It does so in the scan's slot, where nothing tells us that it
 * does; but only in a portal that has a name that is shown (EXECUTE's is not), whose plan is simple, so that no process shares it.
 * Where it cannot, that slot stays empty, and TIDs need not be found.
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
	 * The heap's tuples are checked when they are taken; but quals are evaluated on rows that the snapshot sees only, nor can other
	 * ones be the first of all, or be skipped.
	 */
	if (state->node.plan->from_heap && state->row_quals.state == NULL && !state->node.plan->order.by_heap && !state->node.plan->skips)
		state->node.checked_heap = NULL;
	if (state->node.plan->from_heap)
		begin_heap_tuples(state, estate);
	else
		begin_index_tuples(state, estate);
	/* A star's rows are not asked about again. */
	if (!is_join(state))
		state->recheck = ExecInitQual(list_concat_copy(shown.quals, shown.row_quals), &custom->ss.ps);
}

/* ---------------------------------------------------------------- an answer */

/* Is the node going to be scanned again?  Then the image and the batch are kept: the snapshot stays the same. */
static bool
is_scanned_again(const RowsState *state)
{
	return state->node.custom.ss.ps.plan->allParam != NULL;
}

/* The memory of what is kept. */
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
	const RtscanSearch *search = state->ordered ? rtscan_ordered_search(state->ordered) : rtscan_cursor_search(state->cursor);

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

/* Give back what the answer at hand took, if there is one. */
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

/* Which rows of the batch pass the quals? */
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

/* The rows' TIDs, less those that have not been chosen. */
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

/* The next rows of the pass at hand. */
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

/* The next rows; false if there are none, and then all has been given back. */
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
	/* WHERE CURRENT OF looks for the row in the scan's slot, also where that has no columns. */
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(state->node.heap);
	return true;
}

/* Where the row at hand is: the index has the TID of its first version, of which nothing may be left. */
static void
set_tid(RowsState *state)
{
	TupleTableSlot *slot = state->node.custom.ss.ss_ScanTupleSlot;

	slot->tts_tid = state->tids[state->next];
	rtscan_find_seen(state->node.heap, state->node.custom.ss.ps.state->es_snapshot, &slot->tts_tid, &state->current);
}

/* Put the next row at hand into the slot. */
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

/* The next tuple, of columns of the index. */
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

/* ---------------------------------------------------------------- rows for a node above */

bool
rtscan_has_rows_at_hand(PlanState *node)
{
	const RowsState *state = (const RowsState *) node;

	return IsA(node, CustomScanState) && ((CustomScanState *) node)->methods == &exec_methods && node->instrument == NULL &&
		!state->node.plan->from_heap && state->projection == NULL && !state->want_tids;
}

uint32
rtscan_rows_at_hand(PlanState *node, const uint16 **places)
{
	RowsState  *state = (RowsState *) node;

	/* As ExecProcNode() does. */
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

/* ExecScanAccessMtd: the next tuple of the heap. */
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

/* ExecScanRecheckMtd: would the index find a tuple that EvalPlanQual() has in the place of another? */
static bool
recheck(ScanState *scan, TupleTableSlot *slot)
{
	scan->ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecQualAndReset(((RowsState *) scan)->recheck, scan->ps.ps_ExprContext);
}

/* The next row of a star that passes the quals.  ExecScan() would take this for a join that knows EvalPlanQual(). */
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

/* ---------------------------------------------------------------- again, and the end */

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

/* Shared memory is going to be released: look at it no more. */
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

/* The leader's answer may not have come to its end: it is none of those that are counted from now on. */
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

	/* What an answer did is known at its end, to which a LIMIT has not taken it. */
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
