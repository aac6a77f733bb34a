/*
 * row_groups.c
 *		Give each row of a batch its group.
 */
#include "run/group/row_groups.h"

#include "bits/key_hash.h"
#include "bits/multiversion.h"
#include "common/int.h"
#include "miscadmin.h"

/* Combinations in an array: so many, or some a row, within work_mem. */
#define MIN_CELLS		1024
#define CELLS_A_ROW		4

/* Cells are folded into groups once a segment: rows are as many times more. */
#define ROWS_A_CELL		4

/* What is remembered is good for other segments, unless they have so many times the rows. */
#define MORE_ROWS		2

/* Rather than calculate keys, their groups are looked up by columns, if a combination comes so many times. */
#define ROWS_A_COMBINATION	64

/* The hash table's first size, and what it may have at most. */
#define TABLE_SIZE		1024
#define MAX_REMEMBERED	(UINT64CONST(1) << 30)

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
#define SH_HASH_KEY(table, key) rtscan_hash_key(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What a combination is made of: integers from the least on, and NULL, which is above them. */
typedef struct Digit
{
	int64		least;
	uint64		null;			/* less the least: all are 0 .. null */
	uint64		stride;
} Digit;

/* A column that keys depend on, in the segment at hand. */
typedef struct KeyColumn
{
	int			column;
	bool		coded;			/* its integers are codes; else exact, */
	int			scale;			/* of numerics */
	Digit		digit;
} KeyColumn;

/* A key, in the rows so far. */
typedef struct KeyExpression
{
	RtscanArithmetic *arithmetic;
	const RtscanVector *vector; /* of the batch at hand */
	int			scale;
	int64		least;
	int64		greatest;
	Digit		digit;
} KeyExpression;

typedef enum Kind
{
	NOTHING,					/* each row's group is looked up */
	CELLS,
	TABLE
} Kind;

/* Groups by combination. */
typedef struct Memory
{
	Kind		kind;
	RtscanState **cells;		/* NULL: not yet known */
	Size		capacity;
	RtscanCells *totals;		/* of these cells, if it has any; or NULL */
	remembered_hash *table;
} Memory;

struct RtscanRowGroups
{
	RtscanFindGroup find;
	void	   *arg;
	MemoryContext context;
	int			ncolumns;
	KeyColumn  *columns;
	const RtscanSegmentScan *segment;	/* that the columns are about; NULL: none */
	uint64		rows;			/* that the memory by columns is made for */
	Memory		by_columns;
	bool		prefers_expressions;	/* has the segment too many combinations of columns? */
	int			nexpressions;
	KeyExpression *expressions;
	Memory		by_expressions; /* NOTHING: no rows so far */

	uint64		batch;			/* the one at hand: its number, 0 if it is not known */
	Memory	   *memory;			/* where its groups are remembered */

	/* By row. */
	uint32		cell_of[RTSCAN_CURSOR_ROWS];	/* of CELLS; or */
	uint64		combinations[RTSCAN_CURSOR_ROWS];
	uint32		codes[RTSCAN_CURSOR_ROWS];
	int64		integers[RTSCAN_CURSOR_ROWS];
	bool		isnull[RTSCAN_CURSOR_ROWS];
};

RtscanRowGroups *
rtscan_create_row_groups(const Bitmapset *columns, List *expressions, RtscanFindGroup find, void *arg)
{
	RtscanRowGroups *groups = palloc(sizeof(RtscanRowGroups));
	int			column = -1;
	ListCell   *cell;

	memset(groups, 0, offsetof(RtscanRowGroups, cell_of));
	groups->find = find;
	groups->arg = arg;
	groups->context = CurrentMemoryContext;
	groups->columns = palloc0(Max(bms_num_members(columns), 1) * sizeof(KeyColumn));
	while ((column = bms_next_member(columns, column)) >= 0)
		groups->columns[groups->ncolumns++].column = column;
	groups->expressions = palloc0(Max(list_length(expressions), 1) * sizeof(KeyExpression));
	foreach(cell, expressions)
		groups->expressions[groups->nexpressions++].arithmetic = lfirst(cell);
	return groups;
}

void
rtscan_let_row_groups_use(RtscanRowGroups *groups, RtscanCells *of_columns, RtscanCells *of_expressions)
{
	groups->by_columns.totals = of_columns;
	groups->by_expressions.totals = of_expressions;
}

void
rtscan_fold_row_groups(RtscanRowGroups *groups)
{
	if (groups->by_columns.totals)
		rtscan_fold_cells(groups->by_columns.totals);
	if (groups->by_expressions.totals)
		rtscan_fold_cells(groups->by_expressions.totals);
}

void
rtscan_forget_row_groups(RtscanRowGroups *groups)
{
	groups->segment = NULL;
	groups->batch = 0;
	groups->by_columns.kind = NOTHING;
	groups->by_expressions.kind = NOTHING;
}

/* ---------------------------------------------------------------- memories */

static void
clear_cells(RtscanRowGroups *groups, Memory *memory, uint64 count)
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
clear_table(RtscanRowGroups *groups, Memory *memory)
{
	if (memory->table)
		remembered_reset(memory->table);
	else
		memory->table = remembered_create(groups->context, TABLE_SIZE, NULL);
}

/* Have totals of so many cells, if these are few beside the rows. */
static void
size_totals(Memory *memory, uint64 count, uint64 rows)
{
	bool		pays = memory->kind == CELLS && count * ROWS_A_CELL <= rows &&
		count * rtscan_cell_bytes(memory->totals) <= work_mem * (uint64) 1024;

	rtscan_size_cells(memory->totals, pays ? count : 0, memory->cells);
}

/* Begin anew, with so many combinations; 0: it is not known how many, or their number has too many bits. */
static void
clear_memory(RtscanRowGroups *groups, Memory *memory, uint64 count, uint64 rows)
{
	uint64		limit = Min(Max(rows * CELLS_A_ROW, MIN_CELLS), work_mem * (uint64) 1024 / sizeof(RtscanState *));

	if (memory->totals)
		rtscan_fold_cells(memory->totals);
	memory->kind = count == 0 ? NOTHING : count <= limit ? CELLS : TABLE;
	if (memory->kind == CELLS)
		clear_cells(groups, memory, count);
	else if (memory->kind == TABLE)
		clear_table(groups, memory);
	if (memory->totals)
		size_totals(memory, count, rows);
}

/* Give a digit its place before others, of so many combinations; returns how many there are with it, or 0. */
static uint64
place_digit(Digit *digit, uint64 count)
{
	if (count == 0 || digit->null >= PG_INT64_MAX / count)
		return 0;
	digit->stride = count;
	return count * (digit->null + 1);
}

/* ---------------------------------------------------------------- segments */

/* What integers does a column have?  False if that is not known. */
static bool
enter_column(KeyColumn *column, RtscanBatch *batch)
{
	uint32		codes = rtscan_batch_code_count(batch, column->column);
	Digit	   *digit = &column->digit;
	int64		greatest;

	column->coded = codes != PG_UINT32_MAX;
	column->scale = 0;
	digit->least = 0;
	digit->null = codes - 1;
	if (column->coded)
		return true;
	if (!rtscan_cursor_range(batch->cursor, column->column, &digit->least, &greatest, &column->scale))
		return false;
	/* Where all are NULL the least is the greatest there is. */
	digit->null = digit->least > greatest ? 0 : (uint64) greatest - (uint64) digit->least + 1;
	return digit->null != 0 || digit->least > greatest;
}

/* Are a column's integers among those that it had so far, in segments where they mean the same? */
static bool
column_fits(const KeyColumn *column, RtscanBatch *batch)
{
	const Digit *digit = &column->digit;
	KeyColumn	entered = *column;

	if (column->coded || !enter_column(&entered, batch) || entered.coded)
		return false;
	return entered.digit.null == 0 ||
		(entered.scale == column->scale && entered.digit.least >= digit->least &&
		 entered.digit.null <= digit->null &&
		 (uint64) entered.digit.least - (uint64) digit->least <= digit->null - entered.digit.null);
}

/* Are combinations those that are remembered? */
static bool
remembers_segment(const RtscanRowGroups *groups, RtscanBatch *batch)
{
	if (groups->by_columns.kind == NOTHING || groups->segment == NULL ||
		rtscan_cursor_segment_rows(batch->cursor) > groups->rows * MORE_ROWS)
		return false;
	for (int i = 0; i < groups->ncolumns; i++)
		if (!column_fits(&groups->columns[i], batch))
			return false;
	return true;
}

static void
enter_segment(RtscanRowGroups *groups, RtscanBatch *batch)
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
		count = enter_column(&groups->columns[i], batch) ? place_digit(&groups->columns[i].digit, count) : 0;
	groups->prefers_expressions = groups->nexpressions > 0 &&
		(count == 0 || count > Max(groups->rows / ROWS_A_COMBINATION, MIN_CELLS));
	clear_memory(groups, &groups->by_columns, count, groups->rows);
}

/* ---------------------------------------------------------------- combinations */

RTSCAN_MULTIVERSION static void
add_codes(uint64 *combinations, const uint32 *codes, uint32 n, uint64 stride)
{
	for (uint32 i = 0; i < n; i++)
		combinations[i] += codes[i] * stride;
}

RTSCAN_MULTIVERSION static void
add_integers(uint64 *combinations, const int64 *integers, const bool *isnull, uint32 n, const Digit *digit)
{
	for (uint32 i = 0; i < n; i++)
		combinations[i] += (isnull[i] ? digit->null : (uint64) integers[i] - (uint64) digit->least) * digit->stride;
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
			rtscan_load_codes(batch, column->column, groups->codes);
			add_codes(groups->combinations, groups->codes, batch->n, column->digit.stride);
		}
		else if (rtscan_load_integers(batch, column->column, groups->integers, groups->isnull, &scale))
			add_integers(groups->combinations, groups->integers, groups->isnull, batch->n, &column->digit);
		else
			elog(ERROR, "column %d has no integers", column->column + 1);
	}
}

/* The same of few combinations, in 32 bits. */
RTSCAN_MULTIVERSION static void
add_to_cells(uint32 *cells, const uint32 *codes, uint32 n, uint32 stride)
{
	for (uint32 i = 0; i < n; i++)
		cells[i] += codes[i] * stride;
}

RTSCAN_MULTIVERSION static void
add_integers_to_cells(uint32 *cells, const int64 *integers, const bool *isnull, uint32 n, const Digit *digit)
{
	uint32		least = (uint32) digit->least;
	uint32		null = (uint32) digit->null;
	uint32		stride = (uint32) digit->stride;

	for (uint32 i = 0; i < n; i++)
		cells[i] += (isnull[i] ? null : (uint32) integers[i] - least) * stride;
}

static void
find_cells(RtscanRowGroups *groups, RtscanBatch *batch)
{
	if (groups->ncolumns == 0)
		memset(groups->cell_of, 0, batch->n * sizeof(uint32));
	for (int i = 0; i < groups->ncolumns; i++)
	{
		const KeyColumn *column = &groups->columns[i];
		const Digit *digit = &column->digit;
		uint32	   *codes = i == 0 ? groups->cell_of : groups->codes;

		if (column->coded)
			rtscan_load_codes(batch, column->column, codes);
		else
			rtscan_load_offsets(batch, column->column, digit->least, digit->null, codes);
		/* The first digit's stride is 1. */
		if (i > 0)
			add_to_cells(groups->cell_of, codes, batch->n, digit->stride);
	}
}

/* ---------------------------------------------------------------- expressions */

/* Does a key's range have its values, of its scale?  Else it is widened: at least doubled, so that this is seldom. */
static bool
has_values(KeyExpression *key, uint32 n, bool first)
{
	int64		least,
				greatest,
				width;

	rtscan_find_bounds(key->vector, n, &least, &greatest);
	if (!first && key->vector->scale == key->scale && least >= key->least && greatest <= key->greatest)
		return true;
	if (first || key->vector->scale != key->scale)
	{
		key->least = least;
		key->greatest = greatest;
	}
	else if (!pg_sub_s64_overflow(key->greatest, key->least, &width))
	{
		if (least < key->least && pg_sub_s64_overflow(key->least, width, &key->least))
			key->least = PG_INT64_MIN;
		if (greatest > key->greatest && pg_add_s64_overflow(key->greatest, width, &key->greatest))
			key->greatest = PG_INT64_MAX;
	}
	key->scale = key->vector->scale;
	key->least = Min(key->least, least);
	key->greatest = Max(key->greatest, greatest);
	return false;
}

static void
enter_expressions(RtscanRowGroups *groups, uint64 rows)
{
	uint64		count = 1;

	for (int i = 0; i < groups->nexpressions; i++)
	{
		KeyExpression *key = &groups->expressions[i];

		key->digit.least = key->least;
		key->digit.null = (uint64) key->greatest - (uint64) key->least + 1;
		count = key->digit.null == 0 ? 0 : place_digit(&key->digit, count);
	}
	clear_memory(groups, &groups->by_expressions, count, rows);
}

static void
combine_expressions(RtscanRowGroups *groups, uint32 n)
{
	bool		in_cells = groups->by_expressions.kind == CELLS;

	if (in_cells)
		memset(groups->cell_of, 0, n * sizeof(uint32));
	else
		memset(groups->combinations, 0, n * sizeof(uint64));
	for (int i = 0; i < groups->nexpressions; i++)
	{
		const KeyExpression *key = &groups->expressions[i];

		if (in_cells)
			add_integers_to_cells(groups->cell_of, key->vector->digits, key->vector->isnull, n, &key->digit);
		else
			add_integers(groups->combinations, key->vector->digits, key->vector->isnull, n, &key->digit);
	}
}

/* Combinations of all rows of the batch, of the keys' own values; false if there are none. */
static bool
find_expressions(RtscanRowGroups *groups, RtscanBatch *batch)
{
	bool		first = groups->by_expressions.kind == NOTHING;
	bool		known = !first;

	for (int i = 0; i < groups->nexpressions; i++)
	{
		groups->expressions[i].vector = rtscan_calculate(groups->expressions[i].arithmetic, batch);
		if (groups->expressions[i].vector == NULL)
			return false;
	}
	for (int i = 0; i < groups->nexpressions; i++)
		known &= has_values(&groups->expressions[i], batch->n, first);
	if (!known)
		enter_expressions(groups, rtscan_cursor_segment_rows(batch->cursor));
	if (groups->by_expressions.kind == NOTHING)
		return false;
	combine_expressions(groups, batch->n);
	return true;
}

/* ---------------------------------------------------------------- groups */

static RtscanState *
group_in_cell(RtscanRowGroups *groups, Memory *memory, uint32 row)
{
	RtscanState **cell = &memory->cells[groups->cell_of[row]];

	if (unlikely(*cell == NULL))
		*cell = groups->find(row, groups->arg);
	return *cell;
}

/* No more groups than fit into work_mem are remembered, nor than a hash table of 32 bits has room for. */
static RtscanState *
group_in_table(RtscanRowGroups *groups, Memory *memory, uint32 row)
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

static Memory *
enter_batch(RtscanRowGroups *groups, RtscanBatch *batch)
{
	const RtscanSegmentScan *segment = rtscan_cursor_segment(batch->cursor);

	if (segment == NULL || segment != groups->segment)
		enter_segment(groups, batch);
	if (groups->prefers_expressions && find_expressions(groups, batch))
		return &groups->by_expressions;
	if (groups->by_columns.kind == CELLS)
		find_cells(groups, batch);
	else if (groups->by_columns.kind == TABLE)
		find_combinations(groups, batch);
	return &groups->by_columns;
}

/* Where the groups of the batch are remembered, whose combinations are found. */
static Memory *
find_memory(RtscanRowGroups *groups, RtscanBatch *batch)
{
	if (groups->batch != batch->number)
		groups->memory = enter_batch(groups, batch);
	groups->batch = batch->number;
	return groups->memory;
}

RtscanCells *
rtscan_find_row_cells(RtscanRowGroups *groups, RtscanBatch *batch, const uint32 **cell_of)
{
	const Memory *memory = find_memory(groups, batch);

	*cell_of = groups->cell_of;
	return memory->totals && memory->totals->n > 0 ? memory->totals : NULL;
}

void
rtscan_find_row_groups(RtscanRowGroups *groups, RtscanBatch *batch, const uint16 *rows, uint32 n, RtscanState **found)
{
	Memory	   *memory = find_memory(groups, batch);

	if (memory->kind == CELLS)
		for (uint32 i = 0; i < n; i++)
			found[i] = group_in_cell(groups, memory, rows[i]);
	else if (memory->kind == TABLE)
		for (uint32 i = 0; i < n; i++)
			found[i] = group_in_table(groups, memory, rows[i]);
	else
		for (uint32 i = 0; i < n; i++)
			found[i] = groups->find(rows[i], groups->arg);
}
