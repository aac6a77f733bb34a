/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_node.c
 *		Executes Custom Scan (RtscanScan), which returns the rows of a table that an index finds.
 *
 * If the index has all columns that the query needs, and no qual needs the table's rows, values are read from the
 * index, and the node's tuple has just these columns.  A row is then looked up in the heap only if its block is not
 * all-visible (search/visible/visibility.h).  Otherwise rows are fetched from the heap (search/visible/heap_rows.h).
 * The node's tuple is then the table's, with its system columns, and EvalPlanQual() can replace it.
 *
 * Quals that the index does not look up are evaluated on rows of the index if that is possible (match_row_quals() in
 * scan_path.c).  PostgreSQL evaluates all other quals on the node's tuples.
 */
#include "run/node/scan_node_parts.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "tcop/pquery.h"

/* ---------------------------------------------------------------- start */

static Node *
create_scan(CustomScan *scan)
{
	return rtscan_create_node(sizeof(RtscanRowsState), &rtscan_scan_exec_methods, rtscan_end_scan_answer);
}

/*
 * Make the node return heap tuples, which stay in buffers.  PostgreSQL has initialized the slot, the projection and
 * the quals for virtual tuples, so initialize them again.
 */
static void
begin_heap_tuples(RtscanRowsState *state, EState *estate)
{
	ScanState  *scan = &state->node.custom.ss;

	state->want_tids = true;
	ExecInitScanTupleSlot(estate, scan, RelationGetDescr(state->node.heap), &TTSOpsBufferHeapTuple, 0);
	if (rtscan_scans_star(state))
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

/* Let store_row() store columns directly in the result's slot.  The target list must consist of columns. */
static void
leave_out_projection(RtscanRowsState *state, List *targetlist, const List *columns)
{
	ListCell   *cell;

	state->slot = state->node.custom.ss.ps.ps_ResultTupleSlot;
	state->ncolumns = 0;
	foreach(cell, targetlist)
		state->columns[state->ncolumns++].number =
			list_nth_int(columns, ((const Var *) lfirst_node(TargetEntry, cell)->expr)->varattno - 1);
}

/*
 * Does search_plan_tree(), with which execCurrentOf() looks for a scan, find "scan" in a plan?  This function
 * descends through the same nodes.
 */
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
 * May WHERE CURRENT OF refer to the row that was returned last?  If so, it may read the row's TID from the scan's slot
 * at any time.  WHERE CURRENT OF needs a portal that is visible (EXECUTE's is not) and has a name.  The portal's plan
 * must lead to the scan (leads_to()), and the scan must not be parallel.  If this returns false, the slot stays empty,
 * and no TIDs are needed.
 */
static bool
can_be_current(const RtscanRowsState *state, const EState *estate)
{
	const Plan *scan = state->node.custom.ss.ps.plan;

	return ActivePortal && ActivePortal->name[0] != '\0' && ActivePortal->visible && !scan->parallel_aware &&
		leads_to(estate->es_plannedstmt->planTree, scan);
}

static void
begin_index_tuples(RtscanRowsState *state, EState *estate)
{
	ScanState  *scan = &state->node.custom.ss;
	List	   *targetlist = scan->ps.plan->targetlist;
	List	   *columns = state->node.plan->columns;

	state->want_tids = !rtscan_scans_star(state) && can_be_current(state, estate);
	state->slot = state->want_tids ? scan->ss_ScanTupleSlot :
		ExecInitExtraTupleSlot(estate, scan->ss_ScanTupleSlot->tts_tupleDescriptor, &TTSOpsVirtual);
	state->projection = scan->ps.ps_ProjInfo;
	state->columns = palloc0(Max(list_length(targetlist), Max(list_length(columns), 1)) * sizeof(RtscanRowsColumn));
	for (state->ncolumns = 0; state->ncolumns < list_length(columns); state->ncolumns++)
		state->columns[state->ncolumns].number = list_nth_int(columns, state->ncolumns);
	if (state->projection && are_columns(targetlist, state->ncolumns))
	{
		leave_out_projection(state, targetlist, columns);
		state->projection = NULL;
	}
}

static void
begin_scan(CustomScanState *custom, EState *estate, int eflags)
{
	RtscanRowsState *state = (RtscanRowsState *) custom;
	RtscanShown shown = rtscan_read_shown(((CustomScan *) custom->ss.ps.plan)->custom_exprs);

	rtscan_begin_node(&state->node, eflags);
	state->row_quals = rtscan_begin_quals(&custom->ss.ps, state->node.plan->row_quals);

	/*
	 * Heap tuples are checked for visibility when they are fetched, so the search usually need not check the rows.
	 * It must check them if there are row quals, a bounded heap or OFFSET: only visible rows may reach row quals, be
	 * among the first rows that a bounded heap keeps, or be skipped.
	 */
	if (state->node.plan->from_heap && state->row_quals.state == NULL && !state->node.plan->order.by_heap &&
		!state->node.plan->skips)
		state->node.checked_heap = NULL;
	if (state->node.plan->from_heap)
		begin_heap_tuples(state, estate);
	else
		begin_index_tuples(state, estate);
	/* EvalPlanQual() does not recheck rows of a star. */
	if (!rtscan_scans_star(state))
		state->recheck = ExecInitQual(list_concat_copy(shown.quals, shown.row_quals), &custom->ss.ps);
}

/* ---------------------------------------------------------------- rescan and end */

static void
rescan_scan(CustomScanState *custom)
{
	RtscanRowsState *state = (RtscanRowsState *) custom;

	rtscan_rescan_node(&state->node);
	if (state->node.plan->from_heap && !rtscan_scans_star(state))
		ExecScanReScan(&custom->ss);
}

static void
end_scan(CustomScanState *custom)
{
	RtscanRowsState *state = (RtscanRowsState *) custom;

	rtscan_end_scan_answer(&state->node);
	rtscan_end_scan_batch(state);
	rtscan_end_node(&state->node);
}

/* End the leader's answer, which a LIMIT may have left unfinished, before shared memory is reset. */
static void
reinitialize_scan(CustomScanState *custom, ParallelContext *context, void *memory)
{
	rtscan_end_scan_answer((RtscanNode *) custom);
	rtscan_reinitialize_shared(custom, context, memory);
}

static void
explain_scan(CustomScanState *custom, List *ancestors, ExplainState *es)
{
	RtscanNode *node = (RtscanNode *) custom;
	RtscanShown shown = rtscan_read_shown(((CustomScan *) custom->ss.ps.plan)->custom_exprs);

	/* End the answer, which a LIMIT may have left unfinished: an answer adds its counts when it ends. */
	if (es->analyze)
		rtscan_end_scan_answer((RtscanNode *) custom);
	if (rtscan_scans_star((RtscanRowsState *) custom))
		rtscan_explain_relation(node, es);
	rtscan_explain_search(node, &shown, ancestors, es);
	if (node->plan->ordered)
		rtscan_explain_order(node, es);
	rtscan_explain_quals(node, shown.skip, "Offset", ancestors, es);
	rtscan_explain_totals(node, es);
}

const CustomExecMethods rtscan_scan_exec_methods = {
	.CustomName = "RtscanScan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = rtscan_next_scan_tuple,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan_scan,
	.EstimateDSMCustomScan = rtscan_estimate_shared,
	.InitializeDSMCustomScan = rtscan_initialize_shared,
	.ReInitializeDSMCustomScan = reinitialize_scan,
	.InitializeWorkerCustomScan = rtscan_initialize_worker,
	.ShutdownCustomScan = rtscan_shut_down_node,
	.ExplainCustomScan = explain_scan,
};

const CustomScanMethods rtscan_rows_scan_methods = {
	.CustomName = "RtscanScan",
	.CreateCustomScanState = create_scan,
};
