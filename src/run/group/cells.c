/* SPDX-License-Identifier: PostgreSQL */
/*
 * cells.c
 *		Dense accumulators, one per cell, folded into the groups' states at the end.
 */
#include "run/group/cells.h"

#include "common/int.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Folding pays if at least this many rows per cell have been added. */
#define ROWS_A_FOLD		2

/* Interrupts are checked each time that so many cells have been folded. */
#define CELLS_A_CHECK	4096

/* The most rows that are added before cells are folded, so that no 32-bit count overflows. */
#define MAX_ADDED		PG_INT32_MAX

RtscanCells *
rtscan_create_cells(const RtscanTransition *transitions, int naggregates, MemoryContext states_context)
{
	RtscanCells *cells = palloc0(sizeof(RtscanCells));

	cells->context = CurrentMemoryContext;
	cells->states_context = states_context;
	cells->temporary = AllocSetContextCreate(CurrentMemoryContext, "rtscan cells", ALLOCSET_SMALL_SIZES);
	cells->naggregates = naggregates;
	cells->aggregates = palloc0(Max(naggregates, 1) * sizeof(RtscanCellAggregate));
	for (int i = 0; i < naggregates; i++)
		cells->aggregates[i].transition = &transitions[i];
	return cells;
}

void
rtscan_let_cells_take(RtscanCells *cells, int number, bool filtered)
{
	RtscanCellAggregate *aggregate = &cells->aggregates[number];
	const RtscanFamily *family = aggregate->transition->family;

	if (family->add_total)
		aggregate->kind = family->total_kind(aggregate->transition);
	aggregate->counts_itself = filtered;
}

bool
rtscan_cells_are_of_use(const RtscanCells *cells)
{
	for (int i = 0; i < cells->naggregates; i++)
		if (cells->aggregates[i].kind != RTSCAN_NO_TOTAL)
			return true;
	return cells->naggregates == 0;
}

Size
rtscan_cell_bytes(const RtscanCells *cells)
{
	return sizeof(RtscanState *) + sizeof(uint32) + cells->naggregates * (sizeof(uint32) + sizeof(int64));
}

/* ---------------------------------------------------------------- arrays */

static void
clear_aggregate(RtscanCellAggregate *aggregate, uint32 n)
{
	int64		nothing = aggregate->kind == RTSCAN_TOTAL_LEAST ? PG_INT64_MAX :
		aggregate->kind == RTSCAN_TOTAL_GREATEST ? PG_INT64_MIN : 0;

	memset(aggregate->counts, 0, n * sizeof(uint32));
	for (uint32 cell = 0; cell < n; cell++)
		aggregate->values[cell] = nothing;
	aggregate->room = PG_INT64_MAX;
}

static void
clear_all(RtscanCells *cells)
{
	memset(cells->rows, 0, cells->n * sizeof(uint32));
	for (int i = 0; i < cells->naggregates; i++)
		clear_aggregate(&cells->aggregates[i], cells->n);
	cells->added = 0;
}

static void *
replace_array(RtscanCells *cells, void *array, uint32 n, Size size)
{
	if (array)
		pfree(array);
	return MemoryContextAllocHuge(cells->context, n * size);
}

void
rtscan_size_cells(RtscanCells *cells, uint32 n, RtscanState **groups)
{
	Assert(cells->added == 0);
	if (n > cells->capacity)
	{
		cells->rows = replace_array(cells, cells->rows, n, sizeof(uint32));
		for (int i = 0; i < cells->naggregates; i++)
		{
			RtscanCellAggregate *aggregate = &cells->aggregates[i];

			aggregate->counts = replace_array(cells, aggregate->counts, n, sizeof(uint32));
			aggregate->values = replace_array(cells, aggregate->values, n, sizeof(int64));
		}
		cells->capacity = n;
	}
	cells->n = n;
	cells->groups = groups;
	if (n > 0)
		clear_all(cells);
}

/* ---------------------------------------------------------------- folding */

/* Add a cell to the state of an aggregate.  What the state keeps by reference is allocated in "context". */
static void
fold_cell(RtscanCells *cells, const RtscanCellAggregate *aggregate, uint32 cell, RtscanState *state,
		  MemoryContext context)
{
	int64		value = aggregate->values[cell];
	RtscanTotal total = {
		.count = aggregate->counts_itself ? aggregate->counts[cell] : cells->rows[cell],
		.upper = value >> 32,
		.lower = (uint32) value,
		.outermost = value,
	};

	aggregate->transition->family->add_total(aggregate->transition, state, &total, aggregate->scale, context);
}

static void
fold_into(RtscanCells *cells, uint32 cell, RtscanState *states, MemoryContext context)
{
	for (int i = 0; i < cells->naggregates; i++)
		if (cells->aggregates[i].kind != RTSCAN_NO_TOTAL)
			fold_cell(cells, &cells->aggregates[i], cell, &states[i], context);
}

void
rtscan_fold_cells(RtscanCells *cells)
{
	MemoryContext old;

	if (cells->added == 0)
		return;
	old = MemoryContextSwitchTo(cells->temporary);
	for (uint32 cell = 0; cell < cells->n; cell++)
	{
		if (cell % CELLS_A_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (cells->rows[cell] == 0)
			continue;
		if (cells->groups[cell] == NULL)
			cells->groups[cell] = cells->make_group(cell, cells->arg);
		fold_into(cells, cell, cells->groups[cell], cells->states_context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(cells->temporary);
	clear_all(cells);
}

RtscanState *
rtscan_states_of_cell(RtscanCells *cells, uint32 cell)
{
	Size		size = Max(cells->naggregates, 1) * sizeof(RtscanState);
	MemoryContext old;

	if (cells->states == NULL)
		cells->states = MemoryContextAlloc(cells->context, size);
	MemoryContextReset(cells->temporary);
	old = MemoryContextSwitchTo(cells->temporary);
	memset(cells->states, 0, size);
	fold_into(cells, cell, cells->states, cells->temporary);
	MemoryContextSwitchTo(old);
	return cells->states;
}

/* ---------------------------------------------------------------- moving */

/* Move the numbers of rows to their places in a new array, which replaces the old one. */
static uint32 *
move_rows(const RtscanCells *cells, uint32 n, const uint32 *places)
{
	uint32	   *moved = MemoryContextAllocHuge(cells->context, n * sizeof(uint32));

	memset(moved, 0, n * sizeof(uint32));
	for (uint32 cell = 0; cell < cells->n; cell++)
		if (cells->rows[cell] > 0)
			moved[places[cell]] = cells->rows[cell];
	return moved;
}

static void
move_aggregate(const RtscanCells *cells, RtscanCellAggregate *aggregate, uint32 n, const uint32 *places)
{
	RtscanCellAggregate moved = *aggregate;
	uint64		room = aggregate->room;

	moved.counts = MemoryContextAllocHuge(cells->context, n * sizeof(uint32));
	moved.values = MemoryContextAllocHuge(cells->context, n * sizeof(int64));
	clear_aggregate(&moved, n);
	for (uint32 cell = 0; cell < cells->n; cell++)
		if (cells->rows[cell] > 0)
		{
			moved.counts[places[cell]] = aggregate->counts[cell];
			moved.values[places[cell]] = aggregate->values[cell];
		}
	pfree(aggregate->counts);
	pfree(aggregate->values);
	*aggregate = moved;
	aggregate->room = room;
}

void
rtscan_move_cells(RtscanCells *cells, uint32 n, RtscanState **groups, const uint32 *places)
{
	uint32	   *rows = move_rows(cells, n, places);

	for (int i = 0; i < cells->naggregates; i++)
		move_aggregate(cells, &cells->aggregates[i], n, places);
	pfree(cells->rows);
	cells->rows = rows;
	cells->n = cells->capacity = n;
	cells->groups = groups;
}

/* ---------------------------------------------------------------- slices */

void
rtscan_offer_to_cells(RtscanCells *cells, int number, bool known, const RtscanVector *vector)
{
	RtscanCellAggregate *aggregate = &cells->aggregates[number];

	aggregate->adds = known && aggregate->kind != RTSCAN_NO_TOTAL &&
		(vector == NULL || aggregate->kind == RTSCAN_TOTAL_COUNT || vector->kind == RTSCAN_VECTOR_INTEGERS);
	aggregate->added = false;
	aggregate->vector = vector;
}

/* Return by how much n values of the slice may change a sum; PG_UINT64_MAX if it may be more than PG_INT64_MAX. */
static uint64
most_change(const RtscanCellAggregate *aggregate, uint32 n)
{
	const RtscanVector *vector = aggregate->vector;
	uint64		most = Max((uint64) Max(vector->highest, 0), -(uint64) Min(vector->lowest, 0));

	return most > PG_INT64_MAX / n ? PG_UINT64_MAX : most * n;
}

/* Can n rows be added to the present cells: do the cells have the scale of the slice, and can no sum overflow? */
static bool
has_room(const RtscanCellAggregate *aggregate, uint32 n)
{
	if (aggregate->kind == RTSCAN_TOTAL_COUNT)
		return true;
	return aggregate->scale == aggregate->vector->scale &&
		(aggregate->kind != RTSCAN_TOTAL_SUM || most_change(aggregate, n) <= aggregate->room);
}

/* Must an aggregate begin to count its values itself with this slice? */
static bool
begins_to_count(const RtscanCellAggregate *aggregate)
{
	return aggregate->kind != RTSCAN_NO_TOTAL && !aggregate->counts_itself &&
		(!aggregate->adds || (aggregate->vector && aggregate->vector->has_nulls));
}

/* Reserve room for the slice.  Empty cells get the scale of the slice.  Without room, the slice is added row by row. */
static void
reserve_room(RtscanCellAggregate *aggregate, bool empty, uint32 n)
{
	if (empty)
		aggregate->scale = aggregate->vector->scale;
	aggregate->adds = has_room(aggregate, n);
	if (!aggregate->adds)
		aggregate->counts_itself = true;
	else if (aggregate->kind == RTSCAN_TOTAL_SUM)
		aggregate->room -= most_change(aggregate, n);
}

void
rtscan_begin_slice(RtscanCells *cells, uint32 n)
{
	bool		pays = cells->added >= (uint64) cells->n * ROWS_A_FOLD;
	bool		folds = cells->added + n > MAX_ADDED;

	for (int i = 0; i < cells->naggregates; i++)
	{
		RtscanCellAggregate *aggregate = &cells->aggregates[i];

		folds |= begins_to_count(aggregate);

		/*
		 * If folding does not pay, a slice without room is added row by row.  But then the aggregate must count its
		 * values itself, and it can begin to do so only after a fold.
		 */
		folds |= aggregate->adds && !has_room(aggregate, n) && (pays || !aggregate->counts_itself);
	}
	if (folds)
		rtscan_fold_cells(cells);
	for (int i = 0; i < cells->naggregates; i++)
	{
		RtscanCellAggregate *aggregate = &cells->aggregates[i];

		aggregate->counts_itself |= begins_to_count(aggregate);
		if (aggregate->adds && aggregate->kind != RTSCAN_TOTAL_COUNT)
			reserve_room(aggregate, cells->added == 0, n);
	}
	cells->added += n;
}

/* ---------------------------------------------------------------- counts and sums */

/*
 * If two rows in succession have the same cell, the second addition has to wait until the first is stored.  Meanwhile
 * the processor can work on another array.  So rows are counted together with the first sum, and further sums are added
 * in pairs.
 */
static bool
count_and_sum(uint32 *counts, int64 *sums, const int64 *digits, const uint32 *cell_of, const uint16 *rows, uint32 n)
{
	bool		was_empty = false;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = rows[i];
		uint32		cell = cell_of[row];

		was_empty |= counts[cell]++ == 0;
		sums[cell] += digits[row];
	}
	return was_empty;
}

static bool
count_only(uint32 *counts, const uint32 *cell_of, const uint16 *rows, uint32 n)
{
	bool		was_empty = false;

	for (uint32 i = 0; i < n; i++)
		was_empty |= counts[cell_of[rows[i]]]++ == 0;
	return was_empty;
}

static void
add_two_sums(const RtscanCellAggregate *one, const RtscanCellAggregate *other, const uint32 *cell_of,
			 const uint16 *rows, uint32 n)
{
	int64	   *sums = one->values;
	int64	   *other_sums = other->values;
	const int64 *digits = one->vector->digits;
	const int64 *other_digits = other->vector->digits;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = rows[i];
		uint32		cell = cell_of[row];

		sums[cell] += digits[row];
		other_sums[cell] += other_digits[row];
	}
}

/* Return the next aggregate, from *number on, that is a sum over all rows; NULL if there is none. */
static RtscanCellAggregate *
next_plain_sum(RtscanCells *cells, int *number)
{
	while (*number < cells->naggregates)
	{
		RtscanCellAggregate *aggregate = &cells->aggregates[(*number)++];

		if (aggregate->adds && aggregate->kind == RTSCAN_TOTAL_SUM && !aggregate->counts_itself &&
			!aggregate->vector->has_nulls)
			return aggregate;
	}
	return NULL;
}

bool
rtscan_count_in_cells(RtscanCells *cells, const uint32 *cell_of, const uint16 *rows, uint32 n)
{
	int			number = 0;
	RtscanCellAggregate *first = next_plain_sum(cells, &number);
	RtscanCellAggregate *one,
			   *other;

	if (first == NULL)
		return count_only(cells->rows, cell_of, rows, n);
	first->added = true;
	while ((one = next_plain_sum(cells, &number)) != NULL && (other = next_plain_sum(cells, &number)) != NULL)
	{
		add_two_sums(one, other, cell_of, rows, n);
		one->added = other->added = true;
	}
	return count_and_sum(cells->rows, first->values, first->vector->digits, cell_of, rows, n);
}

/* ---------------------------------------------------------------- values */

static void
count_values_by_cell(uint32 *counts, const bool *isnull, const uint32 *cell_of, const uint16 *rows, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		counts[cell_of[rows[i]]] += !isnull[rows[i]];
}

static void
count_rows_by_cell(uint32 *counts, const uint32 *cell_of, const uint16 *rows, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		counts[cell_of[rows[i]]]++;
}

/*
 * Define a function that sets the value of each row's cell to "result", an expression of the cell's value "so_far" and
 * of the row's value "value".  NULLs are skipped.
 */
#define DEFINE_ADD(name, result) \
static pg_attribute_always_inline void \
name ## _with(bool has_nulls, int64 *values, const RtscanVector *vector, const uint32 *cell_of, const uint16 *rows, \
			  uint32 n) \
{ \
	for (uint32 i = 0; i < n; i++) \
	{ \
		uint32		row = rows[i]; \
		int64	   *cell = &values[cell_of[row]]; \
		int64		so_far = *cell; \
		int64		value = vector->digits[row]; \
	\
		*cell = has_nulls && vector->isnull[row] ? so_far : (result); \
	} \
} \
static void \
name(int64 *values, const RtscanVector *vector, const uint32 *cell_of, const uint16 *rows, uint32 n) \
{ \
	if (vector->has_nulls) \
		name ## _with(true, values, vector, cell_of, rows, n); \
	else \
		name ## _with(false, values, vector, cell_of, rows, n); \
}

DEFINE_ADD(add_sums, so_far + value)
DEFINE_ADD(add_least, Min(so_far, value))
DEFINE_ADD(add_greatest, Max(so_far, value))

void
rtscan_add_to_cells(RtscanCells *cells, int number, const uint32 *cell_of, const uint16 *rows, uint32 n)
{
	const RtscanCellAggregate *aggregate = &cells->aggregates[number];
	const RtscanVector *vector = aggregate->vector;

	if (aggregate->added)
		return;
	if (aggregate->counts_itself && vector && vector->has_nulls)
		count_values_by_cell(aggregate->counts, vector->isnull, cell_of, rows, n);
	else if (aggregate->counts_itself)
		count_rows_by_cell(aggregate->counts, cell_of, rows, n);
	switch (aggregate->kind)
	{
		case RTSCAN_TOTAL_SUM:
			add_sums(aggregate->values, vector, cell_of, rows, n);
			break;
		case RTSCAN_TOTAL_LEAST:
			add_least(aggregate->values, vector, cell_of, rows, n);
			break;
		case RTSCAN_TOTAL_GREATEST:
			add_greatest(aggregate->values, vector, cell_of, rows, n);
			break;
		default:
			break;
	}
}
