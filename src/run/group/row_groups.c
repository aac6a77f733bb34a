/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_groups.c
 *		Find the groups of the rows of a batch.
 */
#include "run/group/row_groups_parts.h"

#include "bits/key_hash.h"
#include "miscadmin.h"

/*
 * Groups are remembered in an array if there are at most MIN_CELLS combinations, or CELLS_A_ROW for each row of the
 * segment, and the array fits into work_mem.
 */
#define MIN_CELLS		1024
#define CELLS_A_ROW		4

/* Cells are used if there are at least this many rows for each, since they may have to be folded after each segment. */
#define ROWS_A_CELL		4

/* Groups remembered for a segment are kept for another only if that has at most MORE_ROWS times as many rows. */
#define MORE_ROWS		2

/*
 * Columns are combined, not determinants, if there are at least this many rows for each combination of columns, or
 * at most MIN_CELLS combinations of columns.
 */
#define ROWS_A_COMBINATION	64

/* Groups that take less than this part of the memory of a hash table fit easily. */
#define FEW_SHARE		4

/* The initial size of the hash table. */
#define TABLE_SIZE		1024

/* The most groups that the hash table may have. */
#define MAX_REMEMBERED	(UINT64CONST(1) << 30)

/* A group in the hash table. */
typedef struct Remembered
{
	uint64		combination;
	RtscanState *group;
	char		status;			/* for simplehash */
} Remembered;

#define SH_PREFIX remembered
#define SH_ELEMENT_TYPE Remembered
#define SH_KEY_TYPE uint64
#define SH_KEY combination
#define SH_HASH_KEY(table, key) rtscan_hash_key(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

RtscanRowGroups *
rtscan_create_row_groups(const Bitmapset *columns, List *composites, List *determinants, RtscanFindGroup find,
						 void *arg)
{
	RtscanRowGroups *groups = palloc(sizeof(RtscanRowGroups));
	int			column = -1;
	ListCell   *cell;

	memset(groups, 0, offsetof(RtscanRowGroups, cell_of));
	groups->find = find;
	groups->arg = arg;
	groups->context = CurrentMemoryContext;
	groups->columns = palloc0((bms_num_members(columns) + list_length(composites) + 1) * sizeof(RtscanKeyColumn));
	while ((column = bms_next_member(columns, column)) >= 0)
		groups->columns[groups->ncolumns++].column = column;
	foreach(cell, composites)
		groups->columns[groups->ncolumns++].composite = lfirst(cell);
	groups->determinants = palloc0(Max(list_length(determinants), 1) * sizeof(RtscanKeyDeterminant));
	foreach(cell, determinants)
	{
		RtscanKeyDeterminant *determinant = &groups->determinants[groups->ndeterminants++];

		determinant->arithmetic = ((const RtscanDeterminant *) lfirst(cell))->arithmetic;
		determinant->column.column = ((const RtscanDeterminant *) lfirst(cell))->column;
		determinant->column.composite = ((const RtscanDeterminant *) lfirst(cell))->composite;
	}
	return groups;
}

void
rtscan_let_row_groups_use(RtscanRowGroups *groups, RtscanCells *of_columns, RtscanCells *of_determinants)
{
	groups->by_columns.totals = of_columns;
	groups->by_determinants.totals = of_determinants;
}

void
rtscan_fold_row_groups(RtscanRowGroups *groups)
{
	if (groups->by_columns.totals)
		rtscan_fold_cells(groups->by_columns.totals);
	if (groups->by_determinants.totals)
		rtscan_fold_cells(groups->by_determinants.totals);
}

void
rtscan_forget_row_groups(RtscanRowGroups *groups)
{
	groups->segment = NULL;
	groups->batch = 0;
	groups->by_columns.kind = RTSCAN_REMEMBER_NOTHING;
	groups->by_determinants.kind = RTSCAN_REMEMBER_NOTHING;
	groups->is_dense = false;
}

/* ---------------------------------------------------------------- memories */

void
rtscan_clear_group_array(RtscanRowGroups *groups, RtscanGroupMemory *memory, uint64 count)
{
	if (memory->capacity < count)
	{
		if (memory->cells)
			pfree(memory->cells);
		memory->cells = MemoryContextAllocHuge(groups->context, count * sizeof(RtscanState *));
		memory->capacity = count;
	}
	memset(memory->cells, 0, count * sizeof(RtscanState *));
}

static void
clear_table(RtscanRowGroups *groups, RtscanGroupMemory *memory)
{
	if (memory->table)
		remembered_reset(memory->table);
	else
		memory->table = remembered_create(groups->context, TABLE_SIZE, NULL);
}

/* Use cells for "count" combinations if there are at least ROWS_A_CELL rows for each, and cells fit into work_mem. */
static void
size_totals(RtscanGroupMemory *memory, uint64 count, uint64 rows)
{
	bool		pays = memory->kind == RTSCAN_REMEMBER_CELLS && count * ROWS_A_CELL <= rows &&
		count * rtscan_cell_bytes(memory->totals) <= work_mem * (uint64) 1024;

	rtscan_size_cells(memory->totals, pays ? count : 0, memory->cells);
}

void
rtscan_clear_group_memory(RtscanRowGroups *groups, RtscanGroupMemory *memory, uint64 count, uint64 rows)
{
	uint64		limit = Min(Max(rows * CELLS_A_ROW, MIN_CELLS), work_mem * (uint64) 1024 / sizeof(RtscanState *));

	if (memory->totals)
		rtscan_fold_cells(memory->totals);
	memory->kind = count == 0 ? RTSCAN_REMEMBER_NOTHING :
		count <= limit ? RTSCAN_REMEMBER_CELLS : RTSCAN_REMEMBER_TABLE;
	if (memory->kind == RTSCAN_REMEMBER_CELLS)
		rtscan_clear_group_array(groups, memory, count);
	else if (memory->kind == RTSCAN_REMEMBER_TABLE)
		clear_table(groups, memory);
	if (memory->totals)
		size_totals(memory, count, rows);
}

/* ---------------------------------------------------------------- segments */

/*
 * Do combinations of columns mean the same in the batch's segment as those that are remembered?  False if the segment
 * has more than MORE_ROWS times as many rows.
 */
static bool
remembers_segment(const RtscanRowGroups *groups, RtscanBatch *batch)
{
	if (groups->by_columns.kind == RTSCAN_REMEMBER_NOTHING || groups->segment == NULL ||
		rtscan_cursor_segment_rows(batch->cursor) > groups->rows * MORE_ROWS)
		return false;
	for (int i = 0; i < groups->ncolumns; i++)
		if (!rtscan_key_column_fits(&groups->columns[i], batch))
			return false;
	return true;
}

/*
 * Return how many combinations of columns are few: there are many rows for each and, if determinants need no groups,
 * the groups of columns fit easily in memory.
 */
static uint64
few_combinations(const RtscanRowGroups *groups)
{
	uint64		few = groups->rows / ROWS_A_COMBINATION;

	if (groups->kinds)
		few = Min(few, get_hash_memory_limit() / RTSCAN_GROUP_BYTES / FEW_SHARE);
	return Max(few, MIN_CELLS);
}

/* Go on to the segment of a batch. */
static void
begin_segment(RtscanRowGroups *groups, RtscanBatch *batch)
{
	RtscanCursor *cursor = batch->cursor;
	uint64		count = 1;

	groups->segment = rtscan_cursor_segment(cursor);
	if (remembers_segment(groups, batch))
		return;
	groups->rows = rtscan_cursor_segment_rows(cursor);
	if (groups->segment == NULL)
		count = 0;
	for (int i = 0; i < groups->ncolumns && count > 0; i++)
		count = rtscan_enter_key_column(&groups->columns[i], batch)
			? rtscan_place_digit(&groups->columns[i].digit, count) : 0;
	groups->prefers_determinants = groups->ndeterminants > 0 && !groups->is_sparse &&
		(count == 0 || count > few_combinations(groups)) && rtscan_enter_determinant_columns(groups, batch);
	rtscan_clear_group_memory(groups, &groups->by_columns, count, groups->rows);
}

/* ---------------------------------------------------------------- groups */

static RtscanState *
group_in_cell(RtscanRowGroups *groups, RtscanGroupMemory *memory, uint32 row)
{
	RtscanState **cell = &memory->cells[groups->cell_of[row]];

	if (unlikely(*cell == NULL))
		*cell = groups->find(row, groups->arg);
	return *cell;
}

/*
 * Return the group of a row from the hash table, or look it up.  If the table has more groups than fit into work_mem,
 * or than a table with 32-bit hashes should have, the table is cleared first.
 */
static RtscanState *
group_in_table(RtscanRowGroups *groups, RtscanGroupMemory *memory, uint32 row)
{
	bool		found;
	Remembered *remembered;

	if (unlikely(memory->table->members > Min(work_mem * (uint64) 1024 / sizeof(Remembered) / 2, MAX_REMEMBERED)))
		remembered_reset(memory->table);
	remembered = remembered_insert(memory->table, groups->combinations[row], &found);
	if (!found)
		remembered->group = groups->find(row, groups->arg);
	return remembered->group;
}

/* Find the combinations of a batch, and return where the groups of its rows are remembered. */
static RtscanGroupMemory *
enter_batch(RtscanRowGroups *groups, RtscanBatch *batch)
{
	const RtscanSegmentScan *segment = rtscan_cursor_segment(batch->cursor);

	if (segment == NULL || segment != groups->segment)
		begin_segment(groups, batch);
	if (groups->prefers_determinants && rtscan_find_determinants(groups, batch))
		return &groups->by_determinants;
	if (groups->by_columns.kind == RTSCAN_REMEMBER_CELLS)
		rtscan_find_cells(groups, batch);
	else if (groups->by_columns.kind == RTSCAN_REMEMBER_TABLE)
		rtscan_find_combinations(groups, batch);
	return &groups->by_columns;
}

/* Return where the groups of a batch's rows are remembered.  Find combinations unless the batch is the current one. */
static RtscanGroupMemory *
find_memory(RtscanRowGroups *groups, RtscanBatch *batch)
{
	if (groups->batch != batch->number)
		groups->memory = enter_batch(groups, batch);
	groups->batch = batch->number;
	return groups->memory;
}

uint32
rtscan_keep_rows_of_window(RtscanRowGroups *groups, RtscanBatch *batch, uint16 *rows, uint32 n)
{
	uint32		kept = 0;

	if (groups->window_size == 0)
		return n;
	if (find_memory(groups, batch) != &groups->by_determinants)
		elog(ERROR, "rows have no combinations of composites");
	for (uint32 i = 0; i < n; i++)
	{
		rows[kept] = rows[i];
		kept += groups->cell_of[rows[i]] < groups->window_size;
	}
	return kept;
}

RtscanCells *
rtscan_find_row_cells(RtscanRowGroups *groups, RtscanBatch *batch, const uint32 **cell_of)
{
	const RtscanGroupMemory *memory = find_memory(groups, batch);

	*cell_of = groups->cell_of;
	return memory->totals && memory->totals->n > 0 ? memory->totals : NULL;
}

void
rtscan_find_row_groups(RtscanRowGroups *groups, RtscanBatch *batch, const uint16 *rows, uint32 n, RtscanState **found)
{
	RtscanGroupMemory *memory = find_memory(groups, batch);

	if (memory->kind == RTSCAN_REMEMBER_CELLS)
		for (uint32 i = 0; i < n; i++)
			found[i] = group_in_cell(groups, memory, rows[i]);
	else if (memory->kind == RTSCAN_REMEMBER_TABLE)
		for (uint32 i = 0; i < n; i++)
			found[i] = group_in_table(groups, memory, rows[i]);
	else
		for (uint32 i = 0; i < n; i++)
			found[i] = groups->find(rows[i], groups->arg);
}
