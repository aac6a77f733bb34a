/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_groups_dense.c
 *		Cells that need no groups.
 *
 * If all keys are columns of integers from a range that has not many more values than a segment has rows, or columns of
 * dimensions, rows are added to cells, and the keys of a cell follow from its number.  So no group is made until the
 * cells are visited: 100,000 customers take 24 bytes each in place of 150.
 *
 * If all keys are columns of dimensions, and the cells take too much memory, their numbers are divided into *windows*.
 * The rows are read once for each window, whose groups are complete then.
 *
 * When the range of a column is extended, the cells are moved.  When a row cannot be added to a cell, it gets a group,
 * and the cells are folded into groups in the end.
 */
#include "run/group/row_groups_parts.h"

#include "miscadmin.h"

/* Cells are used if there are at most so many for each row of a segment, or of LEAST_ROWS. */
#define CELLS_A_ROW		4
#define LEAST_ROWS		1024

/*
 * If a row cannot be added to a cell, all cells become groups.  They may then exceed the memory of groups by this
 * factor, until they are spilled.
 */
#define MOST_EXCESS		4

void
rtscan_let_row_groups_be_dense(RtscanRowGroups *groups, const RtscanExactKind *kinds, int *const *places,
							   RtscanMakeGroup make)
{
	for (int i = 0; i < groups->ndeterminants; i++)
		groups->determinants[i].places = places[i];
	groups->kinds = kinds;
	groups->make = make;
	groups->by_determinants.totals->make_group = rtscan_make_dense_group;
	groups->by_determinants.totals->arg = groups;
}

void
rtscan_set_window(RtscanRowGroups *groups, uint32 first, uint32 size)
{
	groups->window = first;
	groups->window_size = size;
}

bool
rtscan_row_groups_are_dense(const RtscanRowGroups *groups)
{
	return groups->is_dense;
}

/* ---------------------------------------------------------------- digits */

/* Find the keys of a cell. */
static void
decode_cell(const RtscanRowGroups *groups, uint32 cell, Datum *keys, bool *isnull)
{
	cell += groups->window;
	for (int i = 0; i < groups->ndeterminants; i++)
	{
		const RtscanKeyDeterminant *determinant = &groups->determinants[i];
		const RtscanComposite *composite = determinant->column.composite;
		const RtscanDigit *digit = &determinant->digit;
		uint64		number = cell / digit->stride % (digit->null + 1);
		int64		integer = (int64) ((uint64) digit->least + number);

		for (int j = 0; composite && j < composite->n; j++)
			keys[determinant->places[j]] = rtscan_decompose(composite, j, number, &isnull[determinant->places[j]]);
		if (composite)
			continue;
		isnull[determinant->places[0]] = number == digit->null;
		keys[determinant->places[0]] = (Datum) 0;
		if (number != digit->null)
			rtscan_exact_decode(groups->kinds[i], &integer, 1, &keys[determinant->places[0]]);
	}
}

/* Return the cell that a cell with the digits "before" becomes with the present ones. */
static uint32
place_of(const RtscanRowGroups *groups, const RtscanDigit *before, uint32 cell)
{
	uint64		place = 0;

	for (int i = 0; i < groups->ndeterminants; i++)
	{
		const RtscanDigit *digit = &groups->determinants[i].digit;
		uint64		number = cell / before[i].stride % (before[i].null + 1);

		place += digit->stride * (number == before[i].null ? digit->null :
								  number + (uint64) before[i].least - (uint64) digit->least);
	}
	return place;
}

/* ---------------------------------------------------------------- cells */

/* Are cells for "count" combinations, of a segment with so many rows, worth their memory, and do they fit into it? */
static bool
are_few(const RtscanRowGroups *groups, uint64 count, uint64 rows)
{
	const RtscanCells *cells = groups->by_determinants.totals;
	Size		memory = get_hash_memory_limit();

	return count > 0 && count <= Max(rows, LEAST_ROWS) * CELLS_A_ROW && count < PG_UINT32_MAX &&
		count * rtscan_cell_bytes(cells) <= memory && count <= memory / RTSCAN_GROUP_BYTES * MOST_EXCESS;
}

/* Move all cells, with their groups, to their places by the present digits. */
static void
move_cells(RtscanRowGroups *groups, const RtscanDigit *before, uint32 count)
{
	RtscanGroupMemory *memory = &groups->by_determinants;
	RtscanState **moved = MemoryContextAllocHuge(groups->context, count * sizeof(RtscanState *));
	uint32	   *places = MemoryContextAllocHuge(groups->context, memory->totals->n * sizeof(uint32));

	memset(moved, 0, count * sizeof(RtscanState *));
	for (uint32 cell = 0; cell < memory->totals->n; cell++)
	{
		bool		is_used = memory->totals->rows[cell] > 0 || memory->cells[cell];

		places[cell] = is_used ? place_of(groups, before, cell) : 0;
		if (memory->cells[cell])
			moved[places[cell]] = memory->cells[cell];
	}
	rtscan_move_cells(memory->totals, count, moved, places);
	pfree(places);
	pfree(memory->cells);
	memory->cells = moved;
	memory->capacity = count;
}

bool
rtscan_enter_dense(RtscanRowGroups *groups, const RtscanDigit *before, uint64 count, uint64 rows)
{
	RtscanGroupMemory *memory = &groups->by_determinants;

	if (groups->window_size > 0)
		count = groups->window_size;
	else if (!are_few(groups, count, rows))
		return false;
	if (groups->is_dense)
	{
		move_cells(groups, before, count);
		return true;
	}
	rtscan_fold_cells(memory->totals);
	memory->kind = RTSCAN_REMEMBER_CELLS;
	rtscan_clear_group_array(groups, memory, count);
	rtscan_size_cells(memory->totals, count, memory->cells);
	groups->is_dense = true;
	return true;
}

/* ---------------------------------------------------------------- groups */

RtscanState *
rtscan_make_dense_group(uint32 cell, void *arg)
{
	const RtscanRowGroups *groups = arg;
	int			nkeys = 0;
	Datum	   *keys;
	bool	   *isnull;
	RtscanState *group;

	for (int i = 0; i < groups->ndeterminants; i++)
		nkeys += groups->determinants[i].column.composite ? groups->determinants[i].column.composite->n : 1;
	keys = palloc(nkeys * sizeof(Datum));
	isnull = palloc(nkeys * sizeof(bool));
	decode_cell(groups, cell, keys, isnull);
	group = groups->make(keys, isnull, groups->arg);
	pfree(keys);
	pfree(isnull);
	return group;
}

void
rtscan_begin_dense_visit(RtscanRowGroups *groups)
{
	groups->visited = 0;
}

RtscanState *
rtscan_next_dense_group(RtscanRowGroups *groups, Datum *keys, bool *isnull)
{
	RtscanCells *cells = groups->by_determinants.totals;

	while (groups->visited < cells->n && cells->rows[groups->visited] == 0)
		groups->visited++;
	if (groups->visited == cells->n)
		return NULL;
	decode_cell(groups, groups->visited, keys, isnull);
	return rtscan_states_of_cell(cells, groups->visited++);
}
