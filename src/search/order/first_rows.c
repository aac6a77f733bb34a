/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_rows.c
 *		Find the first rows in an order of several columns, with a bounded heap.
 *
 * A pass reads all rows that match, and keeps the first ones, as many as are wanted.  Their array grows as it fills,
 * and becomes a heap only when it is full, since a LIMIT may be far greater than the number of rows.
 *
 * Values of types with exact integers (row/exact.h) are converted to places: integers that ascend in the order.  The
 * places of the first column are compared with that of the worst row that is kept, many at a time.  Other columns are
 * read only for candidates, the rows that may be better.  A row that the snapshot does not see must not be kept, so
 * candidates are checked in the table's heap unless they are known to be seen.
 *
 * Rows with equal values are ordered by source and row number, so that the order is total.  If more rows are
 * requested than have been kept, another pass with a larger heap finds the rows after the last one.
 */
#include "search/order/ordered_parts.h"

#include <math.h>

#include "bits/bits.h"
#include "miscadmin.h"
#include "segment/typed.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* The most rows that are compared at a time. */
#define BLOCK_ROWS	1024

/* Each pass keeps this multiple of the rows of the pass before. */
#define GROWTH		4

/* Initial size of the array of kept rows. */
#define FIRST_ROOM	1024

/* A value of a row. */
typedef struct Key
{
	int64		place;			/* its place, or its Datum if the column has no places; NULL has the least or the
								 * greatest place */
	bool		isnull;			/* is the value NULL? */
} Key;

/* A row. */
typedef struct Entry
{
	const RtscanOrderedSource *source;
	uint32		row;			/* number in the segment, or among the pending rows */
	Key			keys[FLEXIBLE_ARRAY_MEMBER];	/* by column of the order: its values */
} Entry;

/* A column of the order. */
typedef struct Column
{
	const RtscanOrderColumn *order;
	const RtscanColumn *type;
	bool		placed;			/* its values have places */
	FmgrInfo	compare;		/* compares Datums, if it has no places */
} Column;

/* The state of a search for the first rows. */
typedef struct RtscanFirstRows
{
	RtscanOrdered *ordered;
	int			ncolumns;
	Column	   *columns;
	uint64		limit;			/* the most rows that the current pass keeps */
	uint64		most;			/* greatest limit to which passes grow, so that their rows fit into work_mem */
	uint64		left;			/* the most matching rows that no pass has kept yet */
	MemoryContext context;		/* memory context of the pass */
	MemoryContext short_context;	/* memory context of the current candidates */
	Entry	   *after;			/* last row of the pass before; NULL in the first pass */
	Entry	   *candidate;		/* the candidate that is compared */
	Entry	  **kept;			/* rows that the pass keeps: a heap with the worst row on top, once they are "limit";
								 * in order after the pass */
	uint64		n;				/* number of rows kept */
	uint64		room;			/* size of that array */
	uint64		next;			/* first of these rows that has not been returned */

	/* The rows that are compared at a time. */
	RtscanOrderedSource *source;	/* their source */
	uint32		m;				/* number of candidates among them */
	uint32		rows[BLOCK_ROWS];	/* row numbers of the candidates */
	Key		   *keys[INDEX_MAX_KEYS];	/* by column of the order: keys of the candidates */
	int64		places[BLOCK_ROWS]; /* places of all of the rows in the first column */
	uint32		list[RTSCAN_LIST_ROOM]; /* room for the numbers of the chunk's matching rows */
} RtscanFirstRows;

/* ---------------------------------------------------------------- comparing */

static int
compare_keys(const Column *column, const Key *a, const Key *b)
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
compare_entries(const RtscanFirstRows *first, const Entry *a, const Entry *b)
{
	for (int i = 0; i < first->ncolumns; i++)
	{
		int			result = compare_keys(&first->columns[i], &a->keys[i], &b->keys[i]);

		if (result != 0)
			return result;
	}
	if (a->source != b->source)
		return a->source->number < b->source->number ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* qsort_arg_comparator */
static int
compare_sorted(const void *a, const void *b, void *arg)
{
	return compare_entries((const RtscanFirstRows *) arg, *(Entry *const *) a, *(Entry *const *) b);
}

/* ---------------------------------------------------------------- entries */

static Size
entry_size(const RtscanFirstRows *first)
{
	return offsetof(Entry, keys) + first->ncolumns * sizeof(Key);
}

static bool
is_reference(const Column *column, const Key *key)
{
	return !column->placed && !column->type->typbyval && !key->isnull;
}

/* Copy an entry, and its values into the current memory context. */
static void
copy_entry(const RtscanFirstRows *first, Entry *to, const Entry *from)
{
	memcpy(to, from, entry_size(first));
	for (int i = 0; i < first->ncolumns; i++)
		if (is_reference(&first->columns[i], &to->keys[i]))
			to->keys[i].place = (int64) datumCopy((Datum) to->keys[i].place, false, first->columns[i].type->typlen);
}

static void
free_values(const RtscanFirstRows *first, Entry *entry)
{
	for (int i = 0; i < first->ncolumns; i++)
		if (is_reference(&first->columns[i], &entry->keys[i]))
			pfree(DatumGetPointer((Datum) entry->keys[i].place));
}

static bool
is_full(const RtscanFirstRows *first)
{
	return first->n == first->limit;
}

static const Entry *
heap_root(const RtscanFirstRows *first)
{
	return first->kept[0];
}

/* Is the candidate after the rows of the pass before, and better than the worst row that is kept? */
static bool
qualifies(const RtscanFirstRows *first)
{
	return (first->after == NULL || compare_entries(first, first->candidate, first->after) > 0) &&
		(!is_full(first) || compare_entries(first, first->candidate, heap_root(first)) < 0);
}

/* Let an entry of the heap sink until no entry below it is worse. */
static void
sink(RtscanFirstRows *first, uint64 place)
{
	Entry	   *entry = first->kept[place];
	uint64		below;

	while ((below = 2 * place + 1) < first->n)
	{
		if (below + 1 < first->n && compare_entries(first, first->kept[below + 1], first->kept[below]) > 0)
			below++;
		if (compare_entries(first, first->kept[below], entry) <= 0)
			break;
		first->kept[place] = first->kept[below];
		place = below;
	}
	first->kept[place] = entry;
}

static void
add_candidate(RtscanFirstRows *first)
{
	Entry	   *entry = palloc(entry_size(first));

	copy_entry(first, entry, first->candidate);
	if (first->n == first->room)
	{
		first->room = Min(2 * first->room, first->limit);
		first->kept = repalloc_huge(first->kept, first->room * sizeof(Entry *));
	}
	first->kept[first->n++] = entry;
	if (is_full(first))
		for (uint64 place = first->n / 2; place > 0; place--)
			sink(first, place - 1);
}

static void
admit(RtscanFirstRows *first)
{
	MemoryContext old = MemoryContextSwitchTo(first->context);

	if (is_full(first))
	{
		free_values(first, first->kept[0]);
		copy_entry(first, first->kept[0], first->candidate);
		sink(first, 0);
	}
	else
		add_candidate(first);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- places */

/* Return the place of a float.  Equal floats have the same place: -0 and 0, and all NaNs, which sort last. */
static int64
place_of_double(double value)
{
	int64		bits;

	value += 0.0;
	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? PG_INT64_MAX : rtscan_turn_float8(bits);
}

static int64
null_place(const Column *column)
{
	return column->order->nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
}

/* Find the places of some elements of a vector of the first column. */
static void
find_places(const Column *column, const RtscanTyped *typed, uint32 from, uint32 n, int64 *places)
{
	int64		flip = column->order->descending ? -1 : 0;

	if (typed->kind == RTSCAN_TYPED_DOUBLES)
		for (uint32 i = 0; i < n; i++)
			places[i] = place_of_double(typed->doubles[from + i]) ^ flip;
	else
		for (uint32 i = 0; i < n; i++)
			places[i] = typed->integers[from + i] ^ flip;
	for (uint32 i = 0; typed->nulls && i < n; i++)
		if (rtscan_bit_is_set(typed->nulls, from + i))
			places[i] = null_place(column);
}

/* Make the keys of some values.  Values passed by reference are not copied. */
static void
make_keys(const Column *column, const Datum *datums, const bool *isnull, uint32 n, Key *keys)
{
	RtscanExactKind kind = column->type->exact;
	bool		floats = rtscan_exact_is_float(kind);
	int64		flip = column->order->descending ? -1 : 0;

	for (uint32 i = 0; i < n; i++)
	{
		int64		place = (int64) datums[i];

		if (isnull[i])
			place = null_place(column);
		else if (column->placed)
		{
			rtscan_exact_encode(kind, &datums[i], 1, &place);
			place = (floats ? place_of_double(rtscan_exact_double(kind, place)) : place) ^ flip;
		}
		keys[i] = (Key) {place, isnull[i]};
	}
}

/* ---------------------------------------------------------------- candidates */

/* Find the candidates' keys of a column of the order. */
static void
find_keys_of_column(RtscanFirstRows *first, int i)
{
	const Column *column = &first->columns[i];
	Datum	   *datums = palloc(first->m * sizeof(Datum));
	bool	   *isnull = palloc(first->m * sizeof(bool));

	rtscan_get_values(rtscan_source_values(first->source, column->order->column), first->rows, first->m, datums,
					  isnull);
	first->keys[i] = palloc(first->m * sizeof(Key));
	make_keys(column, datums, isnull, first->m, first->keys[i]);
}

/* Drop the candidates that are worse than the worst row that is kept, by their keys of the first column. */
static void
rule_out(RtscanFirstRows *first)
{
	Key		   *keys = first->keys[0];
	uint32		m = 0;

	if (!is_full(first))
		return;
	for (uint32 i = 0; i < first->m; i++)
		if (compare_keys(&first->columns[0], &keys[i], &heap_root(first)->keys[0]) <= 0)
		{
			first->rows[m] = first->rows[i];
			keys[m++] = keys[i];
		}
	first->m = m;
}

/* Find the candidates' keys of all columns.  The first column's places, if it has any, have been compared before. */
static void
find_keys(RtscanFirstRows *first)
{
	find_keys_of_column(first, 0);
	if (!first->columns[0].placed)
		rule_out(first);
	for (int i = 1; i < first->ncolumns && first->m > 0; i++)
		find_keys_of_column(first, i);
}

/* Select a candidate by its number. */
static void
enter_candidate(RtscanFirstRows *first, uint32 number)
{
	first->candidate->source = first->source;
	first->candidate->row = first->rows[number];
	for (int i = 0; i < first->ncolumns; i++)
		first->candidate->keys[i] = first->keys[i][number];
}

/* Clear the bits of those candidates that would be kept, but that the snapshot does not see. */
static void
keep_visible(RtscanFirstRows *first, uint32 chunk)
{
	RtscanOrderedSource *source = first->source;
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint64	   *words = palloc0(RTSCAN_CHUNK_BYTES);
	uint64	   *seen = palloc(RTSCAN_CHUNK_BYTES);
	uint64	   *bits = rtscan_bits_chunk(source->bits, chunk);

	for (uint32 i = 0; i < first->m; i++)
	{
		enter_candidate(first, i);
		if (qualifies(first))
			words[(first->rows[i] - base) / 64] |= UINT64CONST(1) << (first->rows[i] - base) % 64;
	}
	memcpy(seen, words, RTSCAN_CHUNK_BYTES);
	rtscan_clear_invisible_in_chunk(&first->ordered->visibility, source->segment, chunk, seen);
	rtscan_and_not(words, seen);
	rtscan_and_not(bits, words);
}

/* Keep those of the candidates that are good enough, and that the snapshot sees. */
static void
try_candidates(RtscanFirstRows *first, uint32 chunk)
{
	const uint64 *bits = rtscan_bits_chunk(first->source->bits, chunk);
	MemoryContext old = MemoryContextSwitchTo(first->short_context);

	find_keys(first);
	if (!first->source->sees_all)
		keep_visible(first, chunk);
	for (uint32 i = 0; i < first->m; i++)
	{
		enter_candidate(first, i);
		if (qualifies(first) && rtscan_bit_is_set(bits, first->rows[i] - chunk * RTSCAN_CHUNK_ROWS))
			admit(first);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(first->short_context);
}

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
	return is_full(first) && first->columns[0].placed ? heap_root(first)->keys[0].place : PG_INT64_MAX;
}

/*
 * Choose the candidates among n elements, by their places in the first column.  The loops store each row, and advance
 * only past candidates, since branches would often be mispredicted.
 */
static void
choose_rows(RtscanFirstRows *first, const RtscanSelection *selection, uint32 from, uint32 n)
{
	int64		least = least_place(first);
	int64		greatest = greatest_place(first);
	uint32		base = selection->chunk * RTSCAN_CHUNK_ROWS + from;
	uint32		m = 0;

	if (selection->rows)
		for (uint32 i = 0; i < n; i++)
		{
			first->rows[m] = selection->rows[from + i];
			m += first->places[i] >= least && first->places[i] <= greatest;
		}
	else
		for (uint32 i = 0; i < n; i++)
		{
			first->rows[m] = base + i;
			m += first->places[i] >= least && first->places[i] <= greatest &&
				rtscan_bit_is_set(selection->bits, from + i);
		}
	first->m = m;
}

/* Return the number of elements to compare at a time: before the array is full, no more than it has room for. */
static uint32
block_rows(const RtscanFirstRows *first)
{
	return is_full(first) ? BLOCK_ROWS : (uint32) Min(first->limit - first->n, BLOCK_ROWS);
}

/* Do the bounds of a chunk say that all of its values sort after that of the worst row? */
static bool
is_beyond(const RtscanFirstRows *first, RtscanValues *values, uint32 chunk)
{
	const Column *column = &first->columns[0];
	RtscanBounds bounds;

	if (!is_full(first) || !column->placed)
		return false;
	bounds = rtscan_chunk_bounds(values, chunk);
	if (bounds.kind == RTSCAN_EXACT_NONE || rtscan_exact_is_float(bounds.kind) || bounds.nulls > 0)
		return false;
	return (column->order->descending ? ~bounds.greatest : bounds.least) > greatest_place(first);
}

static void
pass_chunk(RtscanFirstRows *first, uint32 chunk)
{
	const Column *column = &first->columns[0];
	RtscanOrderedSource *source = first->source;
	RtscanValues *values = rtscan_source_values(source, column->order->column);
	RtscanSelection selection;
	RtscanTyped typed;

	CHECK_FOR_INTERRUPTS();
	if (is_beyond(first, values, chunk))
		return;
	selection = rtscan_select_rows(&source->segment->reader, chunk, rtscan_bits_chunk(source->bits, chunk),
								   column->placed ? RTSCAN_SELECT_CHEAPEST : RTSCAN_SELECT_WANTED, first->list);
	if (selection.wanted == 0)
		return;
	if (column->placed)
		rtscan_get_typed(values, &selection, false, &typed);
	for (uint32 from = 0, n; from < selection.n; from += n)
	{
		n = Min(selection.n - from, block_rows(first));
		if (column->placed)
			find_places(column, &typed, from, n, first->places);
		choose_rows(first, &selection, from, n);
		if (first->m > 0)
			try_candidates(first, chunk);
	}
}

/* ---------------------------------------------------------------- passes */

static void
try_pending_row(RtscanFirstRows *first, uint32 row)
{
	const RtscanPendingRow *pending = &first->ordered->pending.rows[row];

	first->candidate->source = first->source;
	first->candidate->row = row;
	for (int i = 0; i < first->ncolumns; i++)
	{
		int			column = first->columns[i].order->column;

		make_keys(&first->columns[i], &pending->values[column], &pending->isnull[column], 1,
				  &first->candidate->keys[i]);
	}
	if (qualifies(first))
		admit(first);
}

static void
pass_pending(RtscanFirstRows *first)
{
	MemoryContext old = MemoryContextSwitchTo(first->short_context);

	for (uint32 row = 0; row < first->ordered->pending.n; row++)
	{
		CHECK_FOR_INTERRUPTS();
		try_pending_row(first, row);
		if (row % BLOCK_ROWS == 0)
			MemoryContextReset(first->short_context);
	}
	MemoryContextSwitchTo(old);
}

static void
pass(RtscanFirstRows *first)
{
	MemoryContext old = MemoryContextSwitchTo(first->context);
	ListCell   *cell;

	MemoryContextReset(first->context);
	first->n = first->next = 0;
	first->room = Min(first->limit, FIRST_ROOM);
	first->kept = palloc(first->room * sizeof(Entry *));
	foreach(cell, first->ordered->sources)
	{
		first->source = lfirst(cell);
		if (first->source->segment == NULL)
			pass_pending(first);
		else
			for (uint32 chunk = 0; chunk < first->source->segment->reader.segment->chunks; chunk++)
				pass_chunk(first, chunk);
	}
	qsort_arg(first->kept, first->n, sizeof(Entry *), compare_sorted, first);
	first->left -= first->n;
	MemoryContextSwitchTo(old);
}

/*
 * If there may be more rows than the pass has kept, find them by another pass; returns false if there are none.  The
 * current memory context is that of the scan.
 */
static bool
pass_again(RtscanFirstRows *first)
{
	if (first->n < first->limit || first->left == 0)
		return false;
	first->after = palloc(entry_size(first));
	copy_entry(first, first->after, first->kept[first->n - 1]);
	first->limit = Min(Max(first->limit, Min(first->limit * GROWTH, first->most)), first->left);
	pass(first);
	return first->n > 0;
}

/* ---------------------------------------------------------------- begin, and rows */

static void
begin_column(RtscanFirstRows *first, int number)
{
	const RtscanOrdered *ordered = first->ordered;
	Column	   *column = &first->columns[number];
	const TypeCacheEntry *type;

	column->order = &ordered->order->columns[number];
	column->type = &ordered->schema->columns[column->order->column];
	column->placed = column->type->exact_sorts && !column->type->numeric;
	type = lookup_type_cache(TupleDescAttr(ordered->schema->tupdesc, column->order->column)->atttypid,
							 TYPECACHE_CMP_PROC_FINFO);
	fmgr_info_copy(&column->compare, unconstify(FmgrInfo *, &type->cmp_proc_finfo), CurrentMemoryContext);
}

/* Return the number of rows that match, whether or not the snapshot sees them. */
static uint64
count_rows(const RtscanOrdered *ordered)
{
	uint64		rows = 0;
	ListCell   *cell;

	foreach(cell, ordered->sources)
		rows += ((const RtscanOrderedSource *) lfirst(cell))->rows;
	return rows;
}

struct RtscanFirstRows *
rtscan_begin_first_rows(RtscanOrdered *ordered)
{
	RtscanFirstRows *first = palloc(sizeof(RtscanFirstRows));

	memset(first, 0, offsetof(RtscanFirstRows, rows));
	first->ordered = ordered;
	first->ncolumns = ordered->order->ncolumns;
	first->columns = palloc0(first->ncolumns * sizeof(Column));
	for (int i = 0; i < first->ncolumns; i++)
		begin_column(first, i);
	first->left = count_rows(ordered);
	first->limit = (uint64) Max(Min(ordered->order->wanted, (double) first->left), 1);
	first->most = work_mem * (uint64) 1024 / (2 * entry_size(first));
	first->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan first rows", ALLOCSET_DEFAULT_SIZES);
	first->short_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan candidates", ALLOCSET_DEFAULT_SIZES);
	first->candidate = palloc0(entry_size(first));
	pass(first);
	return first;
}

uint32
rtscan_next_first_rows(struct RtscanFirstRows *first, RtscanLotRow *rows, uint32 n)
{
	uint32		done = 0;

	while (done < n && (first->next < first->n || pass_again(first)))
	{
		const Entry *entry = first->kept[first->next++];

		rows[done++] = (RtscanLotRow) {
			.source = unconstify(RtscanOrderedSource *, entry->source),
			.row = entry->row,
			.visible = true,
		};
	}
	return done;
}
