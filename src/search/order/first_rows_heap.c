/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_rows_heap.c
 *		Compare candidates for the first rows, and keep the best of them in a heap.
 */
#include "search/order/first_rows_parts.h"

#include "bits/bits.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* Number of rows that the array of rows has room for at first, unless fewer are kept. */
#define FIRST_CAPACITY	1024

/* ---------------------------------------------------------------- comparing */

int
rtscan_compare_first_keys(const RtscanFirstColumn *column, const RtscanFirstKey *a, const RtscanFirstKey *b)
{
	int			result;

	if (a->isnull || b->isnull)
		return a->isnull == b->isnull ? 0 : a->isnull == column->order->nulls_first ? -1 : 1;
	if (column->placed)
		return a->place < b->place ? -1 : a->place > b->place;
	result = DatumGetInt32(FunctionCall2Coll(unconstify(FmgrInfo *, &column->compare), column->order->collation,
											 (Datum) a->place, (Datum) b->place));
	return column->order->descending ? (result < 0) - (result > 0) : result;
}

static int
compare_first_rows(const RtscanFirstRows *first, const RtscanFirstRow *a, const RtscanFirstRow *b)
{
	for (int i = 0; i < first->ncolumns; i++)
	{
		int			result = rtscan_compare_first_keys(&first->columns[i], &a->keys[i], &b->keys[i]);

		if (result != 0)
			return result;
	}
	if (a->source != b->source)
		return a->source->number < b->source->number ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* qsort_arg_comparator of pointers to kept rows; "arg" is the RtscanFirstRows. */
static int
compare_kept_rows(const void *a, const void *b, void *arg)
{
	const RtscanFirstRow *left = *(RtscanFirstRow *const *) a;
	const RtscanFirstRow *right = *(RtscanFirstRow *const *) b;

	return compare_first_rows((const RtscanFirstRows *) arg, left, right);
}

/* ---------------------------------------------------------------- the heap */

void
rtscan_begin_first_heap(RtscanFirstRows *first)
{
	RtscanFirstHeap *heap = &first->heap;

	MemoryContextReset(heap->context);
	heap->n = 0;
	heap->capacity = Min(heap->limit, FIRST_CAPACITY);
	heap->rows = MemoryContextAlloc(heap->context, heap->capacity * sizeof(RtscanFirstRow *));
}

/* Is a key a pointer to a value? */
static bool
is_reference(const RtscanFirstColumn *column, const RtscanFirstKey *key)
{
	return !column->placed && !column->type->typbyval && !key->isnull;
}

void
rtscan_copy_first_row(const RtscanFirstRows *first, RtscanFirstRow *to, const RtscanFirstRow *from)
{
	memcpy(to, from, rtscan_first_row_size(first));
	for (int i = 0; i < first->ncolumns; i++)
		if (is_reference(&first->columns[i], &to->keys[i]))
			to->keys[i].place = (int64) datumCopy((Datum) to->keys[i].place, false, first->columns[i].type->typlen);
}

static void
free_keys(const RtscanFirstRows *first, RtscanFirstRow *row)
{
	for (int i = 0; i < first->ncolumns; i++)
		if (is_reference(&first->columns[i], &row->keys[i]))
			pfree(DatumGetPointer((Datum) row->keys[i].place));
}

/* Does the candidate sort after the rows of the previous pass and, if the heap is full, before the worst kept row? */
static bool
qualifies(const RtscanFirstRows *first)
{
	return (first->after == NULL || compare_first_rows(first, first->candidate, first->after) > 0) &&
		(!rtscan_first_is_full(first) || compare_first_rows(first, first->candidate, rtscan_first_root(first)) < 0);
}

/* Sift the row at "place" down the heap, until no row below it is worse. */
static void
sink(RtscanFirstRows *first, uint64 place)
{
	RtscanFirstHeap *heap = &first->heap;
	RtscanFirstRow *row = heap->rows[place];
	uint64		below;

	while ((below = 2 * place + 1) < heap->n)
	{
		if (below + 1 < heap->n && compare_first_rows(first, heap->rows[below + 1], heap->rows[below]) > 0)
			below++;
		if (compare_first_rows(first, heap->rows[below], row) <= 0)
			break;
		heap->rows[place] = heap->rows[below];
		place = below;
	}
	heap->rows[place] = row;
}

/* Add the candidate to the array, which becomes a heap when it is full. */
static void
append_candidate(RtscanFirstRows *first)
{
	RtscanFirstHeap *heap = &first->heap;
	RtscanFirstRow *row = palloc(rtscan_first_row_size(first));

	rtscan_copy_first_row(first, row, first->candidate);
	if (heap->n == heap->capacity)
	{
		heap->capacity = Min(2 * heap->capacity, heap->limit);
		heap->rows = repalloc_huge(heap->rows, heap->capacity * sizeof(RtscanFirstRow *));
	}
	heap->rows[heap->n++] = row;
	if (rtscan_first_is_full(first))
		for (uint64 place = heap->n / 2; place > 0; place--)
			sink(first, place - 1);
}

/* Keep the candidate, which qualifies.  If the heap is full, the candidate replaces the worst row. */
static void
admit(RtscanFirstRows *first)
{
	MemoryContext old = MemoryContextSwitchTo(first->heap.context);

	if (rtscan_first_is_full(first))
	{
		free_keys(first, first->heap.rows[0]);
		rtscan_copy_first_row(first, first->heap.rows[0], first->candidate);
		sink(first, 0);
	}
	else
		append_candidate(first);
	MemoryContextSwitchTo(old);
}

void
rtscan_sort_first_heap(RtscanFirstRows *first)
{
	qsort_arg(first->heap.rows, first->heap.n, sizeof(RtscanFirstRow *), compare_kept_rows, first);
}

/* ---------------------------------------------------------------- candidates */

/* Set block->keys[i]: the keys of all candidates in column i of the order. */
static void
find_keys_of_column(RtscanFirstRows *first, int i)
{
	RtscanFirstBlock *block = &first->block;
	const RtscanFirstColumn *column = &first->columns[i];
	RtscanValues *values = rtscan_source_values(block->source, column->order->column);
	Datum	   *datums = palloc(block->m * sizeof(Datum));
	bool	   *isnull = palloc(block->m * sizeof(bool));

	rtscan_get_values(values, block->rows, block->m, datums, isnull);
	block->keys[i] = palloc(block->m * sizeof(RtscanFirstKey));
	rtscan_make_first_keys(column, datums, isnull, block->m, block->keys[i]);
}

/* If the heap is full, drop the candidates that already sort after the worst kept row by their first column. */
static void
rule_out(RtscanFirstRows *first)
{
	RtscanFirstBlock *block = &first->block;
	RtscanFirstKey *keys = block->keys[0];
	uint32		m = 0;

	if (!rtscan_first_is_full(first))
		return;
	for (uint32 i = 0; i < block->m; i++)
		if (rtscan_compare_first_keys(&first->columns[0], &keys[i], &rtscan_first_root(first)->keys[0]) <= 0)
		{
			block->rows[m] = block->rows[i];
			keys[m++] = keys[i];
		}
	block->m = m;
}

/*
 * Find the keys of the candidates in all columns.  If the first column has places, rule_out() is not called, since
 * choose_candidates() has already compared the places with the place of the worst kept row.
 */
static void
find_candidate_keys(RtscanFirstRows *first)
{
	find_keys_of_column(first, 0);
	if (!first->columns[0].placed)
		rule_out(first);
	for (int i = 1; i < first->ncolumns && first->block.m > 0; i++)
		find_keys_of_column(first, i);
}

/* Copy a candidate of the block, given its number in the block, to first->candidate. */
static void
enter_candidate(RtscanFirstRows *first, uint32 number)
{
	first->candidate->source = first->block.source;
	first->candidate->row = first->block.rows[number];
	for (int i = 0; i < first->ncolumns; i++)
		first->candidate->keys[i] = first->block.keys[i][number];
}

/* Clear the bits of the candidates that qualify, but that the snapshot does not see. */
static void
clear_invisible_candidates(RtscanFirstRows *first, uint32 chunk)
{
	RtscanOrderedSource *source = first->block.source;
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint64	   *words = palloc0(RTSCAN_CHUNK_BYTES);
	uint64	   *seen = palloc(RTSCAN_CHUNK_BYTES);
	uint64	   *bits = rtscan_bits_chunk(source->bits, chunk);

	for (uint32 i = 0; i < first->block.m; i++)
	{
		uint32		bit = first->block.rows[i] - base;

		enter_candidate(first, i);
		if (qualifies(first))
			words[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
	memcpy(seen, words, RTSCAN_CHUNK_BYTES);
	rtscan_clear_invisible_in_chunk(&first->ordered->visibility, source->segment, chunk, seen);
	rtscan_and_not(words, seen);
	rtscan_and_not(bits, words);
}

void
rtscan_try_candidates(RtscanFirstRows *first, uint32 chunk)
{
	const uint64 *bits = rtscan_bits_chunk(first->block.source->bits, chunk);
	MemoryContext old = MemoryContextSwitchTo(first->short_context);

	find_candidate_keys(first);
	if (!first->block.source->sees_all)
		clear_invisible_candidates(first, chunk);
	for (uint32 i = 0; i < first->block.m; i++)
	{
		enter_candidate(first, i);
		if (qualifies(first) && rtscan_bit_is_set(bits, first->block.rows[i] - chunk * RTSCAN_CHUNK_ROWS))
			admit(first);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(first->short_context);
}

void
rtscan_try_pending_row(RtscanFirstRows *first, uint32 row)
{
	const RtscanPendingRow *pending = &first->ordered->pending.rows[row];

	first->candidate->source = first->block.source;
	first->candidate->row = row;
	for (int i = 0; i < first->ncolumns; i++)
	{
		int			column = first->columns[i].order->column;

		rtscan_make_first_keys(&first->columns[i], &pending->values[column], &pending->isnull[column], 1,
							   &first->candidate->keys[i]);
	}
	if (qualifies(first))
		admit(first);
}
