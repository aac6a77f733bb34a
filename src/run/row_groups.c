/*
 * row_groups.c
 *		Give each row of a batch its group.
 */
#include "run/row_groups.h"

#include "bits/multiversion.h"
#include "miscadmin.h"

/* Combinations in an array: so many, or some a row, within work_mem. */
#define MIN_CELLS		1024
#define CELLS_A_ROW		4

/* The hash table's first size. */
#define TABLE_SIZE		1024

/* A group by its combination; a combination has few bits in common with others that are near. */
typedef struct Remembered
{
	uint64		combination;
	RtscanState *group;
	char		status;
} Remembered;

#define SH_PREFIX remembered
#define SH_ELEMENT_TYPE Remembered
#define SH_KEY_TYPE uint64
#define SH_KEY combination
#define SH_HASH_KEY(table, key) ((uint32) (((key) * UINT64CONST(0x9E3779B97F4A7C15)) >> 32))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A column that keys depend on, in the segment at hand. */
typedef struct KeyColumn
{
	int			column;
	bool		coded;			/* its integers are codes; else exact */
	int64		least;			/* of them */
	uint64		null;			/* what NULL is, above the least: all are 0 .. null */
	uint64		stride;
} KeyColumn;

typedef enum Memory
{
	NOTHING,					/* each row's group is looked up */
	CELLS,
	TABLE
} Memory;

struct RtscanRowGroups
{
	RtscanFindGroup find;
	void	   *arg;
	MemoryContext context;
	int			ncolumns;
	KeyColumn  *columns;
	const RtscanSegmentScan *segment;	/* that all of this is about; NULL: none */
	Memory		memory;
	RtscanState **cells;		/* by combination; NULL: not yet known */
	Size		capacity;
	remembered_hash *table;

	/* Of the batch at hand, by row. */
	uint64		combinations[RTSCAN_CURSOR_ROWS];
	uint32		codes[RTSCAN_CURSOR_ROWS];
	int64		integers[RTSCAN_CURSOR_ROWS];
	bool		isnull[RTSCAN_CURSOR_ROWS];
};

RtscanRowGroups *
rtscan_create_row_groups(const Bitmapset *columns, RtscanFindGroup find, void *arg)
{
	RtscanRowGroups *groups = palloc(sizeof(RtscanRowGroups));
	int			column = -1;

	memset(groups, 0, offsetof(RtscanRowGroups, combinations));
	groups->find = find;
	groups->arg = arg;
	groups->context = CurrentMemoryContext;
	groups->columns = palloc0(Max(bms_num_members(columns), 1) * sizeof(KeyColumn));
	while ((column = bms_next_member(columns, column)) >= 0)
		groups->columns[groups->ncolumns++].column = column;
	return groups;
}

void
rtscan_forget_row_groups(RtscanRowGroups *groups)
{
	groups->segment = NULL;
}

/* ---------------------------------------------------------------- segments */

/* What integers does a column have?  False if that is not known. */
static bool
enter_column(KeyColumn *column, RtscanCursor *cursor)
{
	uint32		codes = rtscan_cursor_code_count(cursor, column->column);
	int64		greatest;

	column->coded = codes != PG_UINT32_MAX;
	column->least = 0;
	column->null = codes - 1;
	if (column->coded)
		return true;
	if (!rtscan_cursor_range(cursor, column->column, &column->least, &greatest))
		return false;
	/* Where all are NULL the least is the greatest there is. */
	column->null = column->least > greatest ? 0 : (uint64) greatest - (uint64) column->least + 1;
	return column->null != 0 || column->least > greatest;
}

/* The number of combinations of all columns, or 0 if it is not known or has too many bits. */
static uint64
count_combinations(RtscanRowGroups *groups, RtscanCursor *cursor)
{
	uint64		count = 1;

	for (int i = 0; i < groups->ncolumns; i++)
	{
		KeyColumn  *column = &groups->columns[i];

		if (!enter_column(column, cursor) || column->null >= PG_INT64_MAX / count)
			return 0;
		column->stride = count;
		count *= column->null + 1;
	}
	return count;
}

static void
clear_cells(RtscanRowGroups *groups, uint64 count)
{
	if (groups->capacity < count)
	{
		if (groups->cells)
			pfree(groups->cells);
		groups->cells = MemoryContextAllocHuge(groups->context, count * sizeof(RtscanState *));
		groups->capacity = count;
	}
	memset(groups->cells, 0, count * sizeof(RtscanState *));
}

static void
clear_table(RtscanRowGroups *groups)
{
	if (groups->table)
		remembered_reset(groups->table);
	else
		groups->table = remembered_create(groups->context, TABLE_SIZE, NULL);
}

static void
enter_segment(RtscanRowGroups *groups, RtscanCursor *cursor)
{
	uint64		count;
	uint64		limit;

	groups->segment = rtscan_cursor_segment(cursor);
	groups->memory = NOTHING;
	if (groups->segment == NULL)
		return;
	count = count_combinations(groups, cursor);
	limit = Min(Max(rtscan_cursor_segment_rows(cursor) * CELLS_A_ROW, MIN_CELLS),
				work_mem * (uint64) 1024 / sizeof(RtscanState *));
	if (count == 0)
		return;
	groups->memory = count <= limit ? CELLS : TABLE;
	if (groups->memory == CELLS)
		clear_cells(groups, count);
	else
		clear_table(groups);
}

/* ---------------------------------------------------------------- combinations */

RTSCAN_MULTIVERSION static void
add_codes(uint64 *combinations, const uint32 *codes, uint32 n, uint64 stride)
{
	for (uint32 i = 0; i < n; i++)
		combinations[i] += codes[i] * stride;
}

RTSCAN_MULTIVERSION static void
add_integers(uint64 *combinations, const int64 *integers, const bool *isnull, uint32 n, const KeyColumn *column)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint64		digit = isnull[i] ? column->null : (uint64) integers[i] - (uint64) column->least;

		combinations[i] += digit * column->stride;
	}
}

/* Of all rows of the batch. */
static void
find_combinations(RtscanRowGroups *groups, RtscanBatch *batch)
{
	int			scale;

	memset(groups->combinations, 0, batch->n * sizeof(uint64));
	for (int i = 0; i < groups->ncolumns; i++)
	{
		const KeyColumn *column = &groups->columns[i];

		if (column->coded)
		{
			rtscan_cursor_codes(batch->cursor, column->column, groups->codes);
			add_codes(groups->combinations, groups->codes, batch->n, column->stride);
		}
		else if (rtscan_cursor_decimals(batch->cursor, column->column, groups->integers, groups->isnull, &scale))
			add_integers(groups->combinations, groups->integers, groups->isnull, batch->n, column);
		else
			elog(ERROR, "column %d has no integers", column->column + 1);
	}
}

/* ---------------------------------------------------------------- groups */

static RtscanState *
group_in_cell(RtscanRowGroups *groups, uint32 row)
{
	RtscanState **cell = &groups->cells[groups->combinations[row]];

	if (unlikely(*cell == NULL))
		*cell = groups->find(row, groups->arg);
	return *cell;
}

/* No more groups than fit into work_mem are remembered. */
static RtscanState *
group_in_table(RtscanRowGroups *groups, uint32 row)
{
	bool		found;
	Remembered *remembered;

	if (unlikely(groups->table->members > work_mem * (uint64) 1024 / sizeof(Remembered) / 2))
		remembered_reset(groups->table);
	remembered = remembered_insert(groups->table, groups->combinations[row], &found);
	if (!found)
		remembered->group = groups->find(row, groups->arg);
	return remembered->group;
}

void
rtscan_find_row_groups(RtscanRowGroups *groups, RtscanBatch *batch, const uint16 *rows, uint32 n, RtscanState **found)
{
	const RtscanSegmentScan *segment = rtscan_cursor_segment(batch->cursor);

	if (segment == NULL || segment != groups->segment)
		enter_segment(groups, batch->cursor);
	if (groups->memory != NOTHING)
		find_combinations(groups, batch);
	if (groups->memory == CELLS)
		for (uint32 i = 0; i < n; i++)
			found[i] = group_in_cell(groups, rows[i]);
	else if (groups->memory == TABLE)
		for (uint32 i = 0; i < n; i++)
			found[i] = group_in_table(groups, rows[i]);
	else
		for (uint32 i = 0; i < n; i++)
			found[i] = groups->find(rows[i], groups->arg);
}
