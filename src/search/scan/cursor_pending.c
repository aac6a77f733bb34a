/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor_pending.c
 *		Pending rows of a cursor, which are returned after the rows of all segments.
 */
#include "search/scan/cursor_parts.h"

/* Copy the next pending rows that the snapshot sees to pending->tuples; returns their number. */
static uint32
copy_pending_tuples(RtscanCursor *cursor)
{
	RtscanCursorPending *pending = &cursor->pending;
	IndexTuple	tuple;
	uint32		n = 0;

	pending->tuples = palloc(RTSCAN_CURSOR_ROWS * sizeof(IndexTuple));
	while (n < RTSCAN_CURSOR_ROWS && (tuple = rtscan_next_pending(&cursor->search)))
		if (cursor->asked.unchecked || rtscan_sees_row(&cursor->visibility, &tuple->t_tid))
			pending->tuples[n++] = CopyIndexTuple(tuple);
	return n;
}

/* Call copy_pending_tuples(), and add the number of rows and the time of the call to the statistics. */
static uint32
collect_pending(RtscanCursor *cursor)
{
	RtscanScanStats *stats = &cursor->search.stats;
	instr_time	start,
				end;
	uint32		n;

	INSTR_TIME_SET_CURRENT(start);
	n = copy_pending_tuples(cursor);
	stats->rows += n;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(stats->bits_time, end, start);
	return n;
}

/* Set pending->values and pending->isnull for the n rows of pending->tuples. */
static void
deform_pending(RtscanCursor *cursor, uint32 n)
{
	RtscanCursorPending *pending = &cursor->pending;
	int			ncolumns = cursor->schema->ncolumns;

	pending->values = palloc(n * ncolumns * sizeof(Datum));
	pending->isnull = palloc(n * ncolumns * sizeof(bool));
	for (uint32 i = 0; i < n; i++)
		rtscan_deform_pending(cursor->index, cursor->schema, pending->tuples[i], pending->values + i * ncolumns,
							  pending->isnull + i * ncolumns);
}

uint32
rtscan_cursor_read_pending(RtscanCursor *cursor)
{
	MemoryContext old;
	uint32		n;

	if (!rtscan_image_has_pending(cursor->search.image))
		return 0;
	old = MemoryContextSwitchTo(cursor->row_context);
	n = collect_pending(cursor);
	deform_pending(cursor, n);
	MemoryContextSwitchTo(old);
	return n;
}

void
rtscan_cursor_pending_tids(const RtscanCursor *cursor, ItemPointerData *tids)
{
	for (uint32 i = 0; i < cursor->current.n; i++)
		tids[i] = cursor->pending.tuples[i]->t_tid;
}

void
rtscan_cursor_pending_values(const RtscanCursor *cursor, int column, Datum *datums, bool *isnull)
{
	int			ncolumns = cursor->schema->ncolumns;

	for (uint32 i = 0; i < cursor->current.n; i++)
	{
		datums[i] = cursor->pending.values[i * ncolumns + column];
		isnull[i] = cursor->pending.isnull[i * ncolumns + column];
	}
}
