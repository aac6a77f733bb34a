/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_node_rows.c
 *		Finds the rows that a scan returns, a batch at a time.
 */
#include "run/node/scan_node_parts.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "run/answer/shared.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- an answer */

/* May the node be rescanned?  If so, its image and its batch are kept, because rescans use the same snapshot. */
static bool
is_scanned_again(const RtscanRowsState *state)
{
	return state->node.custom.ss.ps.plan->allParam != NULL;
}

/*
 * Return the memory context for the image and the batch: the query's if they are kept for rescans, else the answer's.
 */
static MemoryContext
memory_to_keep(const RtscanRowsState *state)
{
	return is_scanned_again(state) ? state->node.custom.ss.ps.state->es_query_cxt : state->node.context;
}

static void
begin_scan_batch(RtscanRowsState *state)
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

void
rtscan_end_scan_batch(RtscanRowsState *state)
{
	if (state->batch)
		rtscan_end_batch(state->batch);
	state->batch = NULL;
}

static void
open_scan_rows(RtscanRowsState *state)
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
close_scan_rows(RtscanRowsState *state)
{
	const RtscanSearch *search = state->ordered ? rtscan_ordered_search(state->ordered) :
		rtscan_cursor_search(state->cursor);

	rtscan_add_heap_work(&state->heap_work, state->ordered ? rtscan_ordered_heap_work(state->ordered) :
						 rtscan_cursor_heap_work(state->cursor));
	rtscan_add_totals(&state->node.question, search, &state->heap_work, state->filtered_rows,
					  state->batch->single_rows);
	if (state->ordered)
		rtscan_close_ordered(state->ordered);
	else
		rtscan_close_cursor(state->cursor);
	state->ordered = NULL;
	state->cursor = NULL;
	state->heap_work = (RtscanHeapWork) {0};
	state->filtered_rows = state->batch->single_rows = 0;
}

static void
begin_scan_answer(RtscanRowsState *state)
{
	RtscanNode *node = &state->node;
	MemoryContext old;

	rtscan_begin_answer(node);
	if (state->row_quals.state)
		rtscan_leave_to_cpu(RTSCAN_ROW_FILTER_IS_CPUS);
	state->begun = true;
	begin_scan_batch(state);
	old = MemoryContextSwitchTo(node->context);
	state->image = rtscan_find_image(node, memory_to_keep(state), is_scanned_again(state));
	open_scan_rows(state);
	if (node->plan->from_heap)
		rtscan_begin_heap_rows(&state->heap_rows, node->heap, node->custom.ss.ps.state->es_snapshot,
							   rtscan_compat_reads_only(&node->custom.ss));
	MemoryContextSwitchTo(old);
}

void
rtscan_end_scan_answer(RtscanNode *node)
{
	RtscanRowsState *state = (RtscanRowsState *) node;

	state->n = state->next = 0;
	if (state->begun && node->plan->from_heap)
		rtscan_end_heap_rows(&state->heap_rows);
	if (BufferIsValid(state->current))
		ReleaseBuffer(state->current);
	state->current = InvalidBuffer;
	if (state->cursor || state->ordered)
		close_scan_rows(state);
	if (!is_scanned_again(state))
		rtscan_end_scan_batch(state);
	state->begun = false;
	rtscan_end_answer(node);
}

/* ---------------------------------------------------------------- rows of the index */

/* Store the places of the batch's rows that pass the row quals in state->rows.  Return how many there are. */
static uint32
choose_scan_rows(RtscanRowsState *state)
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
find_tids(RtscanRowsState *state)
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
next_scan_batch(RtscanRowsState *state)
{
	return state->ordered ? rtscan_next_ordered_batch(state->batch, state->ordered) :
		rtscan_next_batch(state->batch, state->cursor);
}

/* Find the next rows of the current pass.  Return false if none are left. */
static bool
next_rows_of_pass(RtscanRowsState *state)
{
	state->n = state->next = 0;
	while (next_scan_batch(state) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		pgstat_count_index_tuples(state->node.index, state->batch->n);
		state->n = choose_scan_rows(state);
		if (state->n == 0)
			continue;
		if (state->want_tids)
			find_tids(state);
		return true;
	}
	return false;
}

static bool
next_scan_pass(RtscanRowsState *state)
{
	MemoryContext old;

	close_scan_rows(state);
	if (!rtscan_next_pass(&state->node))
		return false;
	old = MemoryContextSwitchTo(state->node.context);
	open_scan_rows(state);
	MemoryContextSwitchTo(old);
	return true;
}

bool
rtscan_next_scan_rows(RtscanRowsState *state)
{
	if (state->node.done)
		return false;
	if (!state->begun)
		begin_scan_answer(state);
	do
		if (next_rows_of_pass(state))
			return true;
	while (next_scan_pass(state));
	rtscan_end_scan_answer(&state->node);
	state->node.done = true;
	return false;
}
