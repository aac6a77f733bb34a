/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_rows.c
 *		Find the first rows in an order of several columns, with a bounded heap.
 *
 * A pass reads all matching rows, and keeps the first of them, as many as are wanted.  The array of kept rows grows as
 * it fills, since a LIMIT may be far greater than the number of matching rows.  The array becomes a heap only when it
 * has as many rows as the pass keeps.
 *
 * Values of types with exact integers (row/exact.h) are converted to places: integers that ascend in the order.  The
 * places of the first column are compared with the place of the worst kept row, up to RTSCAN_FIRST_BLOCK at a time.
 * Other columns are read only for candidates: rows that may be better than the worst kept row.  A row that the snapshot
 * does not see must not be kept, so candidates are checked in the table's heap, unless the snapshot is known to see
 * them.
 *
 * Rows with equal values are ordered by source and row number, so that the order is total.  If more rows are requested
 * than have been kept, another pass, whose heap is usually larger, finds the rows after the last kept row.
 */
#include "search/order/first_rows_parts.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* Each pass keeps at most this many times as many rows as the pass before. */
#define GROWTH		4

/* ---------------------------------------------------------------- segments */

/* Return the least place in the first column with which a row may be kept. */
static int64
least_place(const RtscanFirstRows *first)
{
	return first->after && first->columns[0].placed ? first->after->keys[0].place : PG_INT64_MIN;
}

/* Return the greatest place in the first column with which a row may be kept. */
static int64
greatest_place(const RtscanFirstRows *first)
{
	return rtscan_first_is_full(first) && first->columns[0].placed ? rtscan_first_root(first)->keys[0].place :
		PG_INT64_MAX;
}

/*
 * Choose the candidates among n elements of a selection, from element "from" on, by their places in the first column.
 * The loops store the number of every row, but advance m only for candidates: a branch would often be mispredicted.
 */
static void
choose_candidates(RtscanFirstRows *first, const RtscanSelection *selection, uint32 from, uint32 n)
{
	RtscanFirstBlock *block = &first->block;
	int64		least = least_place(first);
	int64		greatest = greatest_place(first);
	uint32		base = selection->chunk * RTSCAN_CHUNK_ROWS + from;
	uint32		m = 0;

	if (selection->rows)
		for (uint32 i = 0; i < n; i++)
		{
			block->rows[m] = selection->rows[from + i];
			m += block->places[i] >= least && block->places[i] <= greatest;
		}
	else
		for (uint32 i = 0; i < n; i++)
		{
			block->rows[m] = base + i;
			m += block->places[i] >= least && block->places[i] <= greatest &&
				rtscan_bit_is_set(selection->bits, from + i);
		}
	block->m = m;
}

/*
 * Return the number of elements to compare at a time.  As long as the pass keeps every row, this is at most the
 * number of rows that the heap still has room for.
 */
static uint32
block_rows(const RtscanFirstRows *first)
{
	const RtscanFirstHeap *heap = &first->heap;

	return rtscan_first_is_full(first) ? RTSCAN_FIRST_BLOCK : (uint32) Min(heap->limit - heap->n, RTSCAN_FIRST_BLOCK);
}

/* Do the bounds of a chunk's values show that all its rows sort after the worst kept row? */
static bool
chunk_is_beyond(const RtscanFirstRows *first, RtscanValues *values, uint32 chunk)
{
	const RtscanFirstColumn *column = &first->columns[0];
	RtscanChunkBounds bounds;

	if (!rtscan_first_is_full(first) || !column->placed)
		return false;
	bounds = rtscan_chunk_bounds(values, chunk);
	if (bounds.kind == RTSCAN_EXACT_NONE || rtscan_exact_is_float(bounds.kind) || bounds.nulls > 0)
		return false;
	return (column->order->descending ? ~bounds.greatest : bounds.least) > greatest_place(first);
}

/* Read the matching rows of a chunk, and keep the rows that qualify (see qualifies()). */
static void
pass_chunk(RtscanFirstRows *first, uint32 chunk)
{
	const RtscanFirstColumn *column = &first->columns[0];
	RtscanOrderedSource *source = first->block.source;
	RtscanValues *values = rtscan_source_values(source, column->order->column);
	RtscanSelection selection;
	RtscanTyped typed;

	CHECK_FOR_INTERRUPTS();
	if (chunk_is_beyond(first, values, chunk))
		return;
	selection = rtscan_select_rows(&source->segment->reader, chunk, rtscan_bits_chunk(source->bits, chunk),
								   column->placed ? RTSCAN_SELECT_CHEAPEST : RTSCAN_SELECT_WANTED, first->block.list);
	if (selection.wanted == 0)
		return;
	if (column->placed)
		rtscan_get_typed(values, &selection, false, &typed);
	for (uint32 from = 0, n; from < selection.n; from += n)
	{
		n = Min(selection.n - from, block_rows(first));
		if (column->placed)
			rtscan_find_places(column, &typed, from, n, first->block.places);
		choose_candidates(first, &selection, from, n);
		if (first->block.m > 0)
			rtscan_try_candidates(first, chunk);
	}
}

/* ---------------------------------------------------------------- passes */

/* Read the pending rows, and keep the rows that qualify (see qualifies()). */
static void
pass_pending(RtscanFirstRows *first)
{
	MemoryContext old = MemoryContextSwitchTo(first->short_context);

	for (uint32 row = 0; row < first->ordered->pending.n; row++)
	{
		CHECK_FOR_INTERRUPTS();
		rtscan_try_pending_row(first, row);
		if (row % RTSCAN_FIRST_BLOCK == 0)
			MemoryContextReset(first->short_context);
	}
	MemoryContextSwitchTo(old);
}

/* Read the matching rows of the block's source, a segment, and keep the rows that qualify (see qualifies()). */
static void
pass_segment(RtscanFirstRows *first)
{
	RtscanOrderedSource *source = first->block.source;

	for (uint32 chunk = 0; chunk < source->segment->reader.segment->chunks; chunk++)
		pass_chunk(first, chunk);
	rtscan_end_typed(rtscan_source_values(source, first->columns[0].order->column));
}

/* Read all matching rows, and keep the first of them that sort after the rows of the previous pass. */
static void
run_pass(RtscanFirstRows *first)
{
	MemoryContext old = MemoryContextSwitchTo(first->heap.context);
	ListCell   *cell;

	rtscan_begin_first_heap(first);
	first->next = 0;
	foreach(cell, first->ordered->sources)
	{
		first->block.source = lfirst(cell);
		if (first->block.source->segment == NULL)
			pass_pending(first);
		else
			pass_segment(first);
	}
	rtscan_sort_first_heap(first);
	first->left -= first->heap.n;
	MemoryContextSwitchTo(old);
}

/*
 * Run another pass if there may be rows that no pass has kept.  Returns false if no further row is found.  The current
 * memory context must be that of the scan, since first->after is allocated in it.
 */
static bool
pass_again(RtscanFirstRows *first)
{
	RtscanFirstHeap *heap = &first->heap;

	if (heap->n < heap->limit || first->left == 0)
		return false;
	first->after = palloc(rtscan_first_row_size(first));
	rtscan_copy_first_row(first, first->after, heap->rows[heap->n - 1]);
	heap->limit = Min(Max(heap->limit, Min(heap->limit * GROWTH, first->most)), first->left);
	run_pass(first);
	return heap->n > 0;
}

/* ---------------------------------------------------------------- begin, and rows */

static void
begin_order_column(const RtscanOrdered *ordered, int number, RtscanFirstColumn *column)
{
	const TypeCacheEntry *type;

	column->order = &ordered->order->columns[number];
	column->type = &ordered->schema->columns[column->order->column];
	column->placed = column->type->exact_sorts && !column->type->numeric;
	type = lookup_type_cache(TupleDescAttr(ordered->schema->tupdesc, column->order->column)->atttypid,
							 TYPECACHE_CMP_PROC_FINFO);
	fmgr_info_copy(&column->compare, unconstify(FmgrInfo *, &type->cmp_proc_finfo), CurrentMemoryContext);
}

RtscanFirstColumn *
rtscan_begin_first_columns(const RtscanOrdered *ordered)
{
	RtscanFirstColumn *columns = palloc0(ordered->order->ncolumns * sizeof(RtscanFirstColumn));

	for (int i = 0; i < ordered->order->ncolumns; i++)
		begin_order_column(ordered, i, &columns[i]);
	return columns;
}

struct RtscanFirstRows *
rtscan_begin_first_rows(RtscanOrdered *ordered)
{
	RtscanFirstRows *first = palloc(sizeof(RtscanFirstRows));

	memset(first, 0, offsetof(RtscanFirstRows, block.rows));
	first->ordered = ordered;
	first->ncolumns = ordered->order->ncolumns;
	first->columns = rtscan_begin_first_columns(ordered);
	first->left = rtscan_count_source_rows(ordered);
	first->heap.limit = (uint64) Max(Min(ordered->order->wanted, (double) first->left), 1);
	first->most = work_mem * (uint64) 1024 / (2 * rtscan_first_row_size(first));
	first->heap.context = AllocSetContextCreate(CurrentMemoryContext, "rtscan first rows", ALLOCSET_DEFAULT_SIZES);
	first->short_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan candidates", ALLOCSET_DEFAULT_SIZES);
	first->candidate = palloc0(rtscan_first_row_size(first));
	run_pass(first);
	return first;
}

uint32
rtscan_next_first_rows(struct RtscanFirstRows *first, RtscanLotRow *rows, uint32 n)
{
	uint32		done = 0;

	while (done < n && (first->next < first->heap.n || pass_again(first)))
	{
		const RtscanFirstRow *row = first->heap.rows[first->next++];

		rows[done++] = (RtscanLotRow) {
			.source = unconstify(RtscanOrderedSource *, row->source),
			.row = row->row,
			.visible = true,
		};
	}
	return done;
}
