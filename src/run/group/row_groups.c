/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_groups.c
 *		Find the groups of the rows of a batch.
 */
#include "run/group/row_groups.h"

#include "bits/key_hash.h"
#include "bits/multiversion.h"
#include "common/int.h"
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
 * Columns are combined, not calculated keys, if there are at least this many rows for each combination of columns, or
 * at most MIN_CELLS combinations of columns.
 */
#define ROWS_A_COMBINATION	64

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

/* A digit of combinations: an integer minus the least integer, or for NULL the number above all other digits. */
typedef struct Digit
{
	int64		least;			/* the least integer */
	uint64		null;			/* the digit of NULL: digits are 0 .. null */
	uint64		stride;			/* what the digit is multiplied by */
} Digit;

/* A column that keys depend on, in the current segment. */
typedef struct KeyColumn
{
	int			column;
	bool		coded;			/* are its integers codes, and not exact integers? */
	int			scale;			/* scale of numerics */
	Digit		digit;
} KeyColumn;

/* A key that can be calculated as integers. */
typedef struct KeyExpression
{
	RtscanArithmetic *arithmetic;
	const RtscanVector *vector; /* its values in the current batch */
	int			scale;			/* scale of numerics */
	int64		least;			/* lower bound of its range, which includes the values of all rows so far */
	int64		greatest;		/* upper bound of its range */
	Digit		digit;
} KeyExpression;

/* A way to remember groups by combination. */
typedef enum Kind
{
	NOTHING,					/* not at all: the group of each row is looked up */
	CELLS,						/* in an array */
	TABLE						/* in a hash table */
} Kind;

/* The groups that are remembered by combination. */
typedef struct Memory
{
	Kind		kind;			/* the way that is used */
	RtscanState **cells;		/* CELLS: the group of each combination; NULL if it has not been looked up yet */
	Size		capacity;		/* number of combinations that the array has room for */
	RtscanCells *totals;		/* cells to which rows may be added in place of groups; NULL: they are never used */
	remembered_hash *table;		/* TABLE: the hash table */
} Memory;

struct RtscanRowGroups
{
	RtscanFindGroup find;		/* looks up the group of a row */
	void	   *arg;			/* argument of "find" */
	MemoryContext context;		/* memory context of all members */
	int			ncolumns;
	KeyColumn  *columns;		/* the columns that keys depend on */
	const RtscanSegmentScan *segment;	/* the current segment; NULL if there is none */
	uint64		rows;			/* number of rows for which "by_columns" was sized */
	Memory		by_columns;		/* groups by combinations of columns */
	bool		prefers_expressions;	/* has the segment too many combinations of columns? */
	int			nexpressions;
	KeyExpression *expressions; /* the keys, if all can be calculated as integers */
	Memory		by_expressions; /* groups by combinations of keys; NOTHING: none are remembered so far */

	uint64		batch;			/* number of the current batch; 0 if there is none */
	Memory	   *memory;			/* where the groups of the current batch's rows are remembered */

	/* Arrays by row, which rtscan_create_row_groups() does not clear. */
	uint32		cell_of[RTSCAN_CURSOR_ROWS];	/* CELLS: combination of each row */
	uint64		combinations[RTSCAN_CURSOR_ROWS];	/* TABLE: combination of each row */
	uint32		codes[RTSCAN_CURSOR_ROWS];	/* codes or offsets of a column */
	int64		integers[RTSCAN_CURSOR_ROWS];	/* integers of a column */
	bool		isnull[RTSCAN_CURSOR_ROWS]; /* is each element of integers[] NULL? */
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
clear_array(RtscanRowGroups *groups, Memory *memory, uint64 count)
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

/* Use cells for "count" combinations if there are at least ROWS_A_CELL rows for each, and cells fit into work_mem. */
static void
size_totals(Memory *memory, uint64 count, uint64 rows)
{
	bool		pays = memory->kind == CELLS && count * ROWS_A_CELL <= rows &&
		count * rtscan_cell_bytes(memory->totals) <= work_mem * (uint64) 1024;

	rtscan_size_cells(memory->totals, pays ? count : 0, memory->cells);
}

/* Forget all groups, and prepare for "count" combinations.  "count" is 0 if it is not known, or has too many bits. */
static void
clear_memory(RtscanRowGroups *groups, Memory *memory, uint64 count, uint64 rows)
{
	uint64		limit = Min(Max(rows * CELLS_A_ROW, MIN_CELLS), work_mem * (uint64) 1024 / sizeof(RtscanState *));

	if (memory->totals)
		rtscan_fold_cells(memory->totals);
	memory->kind = count == 0 ? NOTHING : count <= limit ? CELLS : TABLE;
	if (memory->kind == CELLS)
		clear_array(groups, memory, count);
	else if (memory->kind == TABLE)
		clear_table(groups, memory);
	if (memory->totals)
		size_totals(memory, count, rows);
}

/*
 * Put a digit before other digits, which have "count" combinations.  Return the number of combinations of all digits;
 * 0 if this number has too many bits, or if "count" is 0.
 */
static uint64
place_digit(Digit *digit, uint64 count)
{
	if (count == 0 || digit->null >= PG_INT64_MAX / count)
		return 0;
	digit->stride = count;
	return count * (digit->null + 1);
}

/* ---------------------------------------------------------------- segments */

/*
 * Set the digit of a column to the range of its integers in the current segment.  Return false if the range is not
 * known, or has 2^64 integers.
 */
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
	/* If all rows are NULL, the least is above the greatest. */
	digit->null = digit->least > greatest ? 0 : (uint64) greatest - (uint64) digit->least + 1;
	return digit->null != 0 || digit->least > greatest;
}

/* Are the integers of a column in the range of its digit, and do they mean the same as in the segment before? */
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

/*
 * Do combinations of columns mean the same in the batch's segment as those that are remembered?  False if the segment
 * has more than MORE_ROWS times as many rows.
 */
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
		count = enter_column(&groups->columns[i], batch) ? place_digit(&groups->columns[i].digit, count) : 0;
	groups->prefers_expressions = groups->nexpressions > 0 &&
		(count == 0 || count > Max(groups->rows / ROWS_A_COMBINATION, MIN_CELLS));
	clear_memory(groups, &groups->by_columns, count, groups->rows);
}

/* ---------------------------------------------------------------- combinations */

/* Add the digit of a column that has codes to the combinations of n rows. */
RTSCAN_MULTIVERSION static void
add_codes(uint64 *combinations, const uint32 *codes, uint32 n, uint64 stride)
{
	for (uint32 i = 0; i < n; i++)
		combinations[i] += codes[i] * stride;
}

/* Add the digit of integers to the combinations of n rows. */
RTSCAN_MULTIVERSION static void
add_integers(uint64 *combinations, const int64 *integers, const bool *isnull, uint32 n, const Digit *digit)
{
	for (uint32 i = 0; i < n; i++)
		combinations[i] += (isnull[i] ? digit->null : (uint64) integers[i] - (uint64) digit->least) * digit->stride;
}

/* Find the combinations of columns for all rows of the batch. */
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
			elog(ERROR, "column %d of the index has neither codes nor integers", column->column + 1);
	}
}

/* The same as add_codes() for cells, whose numbers have 32 bits. */
RTSCAN_MULTIVERSION static void
add_to_cells(uint32 *cells, const uint32 *codes, uint32 n, uint32 stride)
{
	for (uint32 i = 0; i < n; i++)
		cells[i] += codes[i] * stride;
}

/* The same as add_integers() for cells. */
RTSCAN_MULTIVERSION static void
add_integers_to_cells(uint32 *cells, const int64 *integers, const bool *isnull, uint32 n, const Digit *digit)
{
	uint32		least = (uint32) digit->least;
	uint32		null = (uint32) digit->null;
	uint32		stride = (uint32) digit->stride;

	for (uint32 i = 0; i < n; i++)
		cells[i] += (isnull[i] ? null : (uint32) integers[i] - least) * stride;
}

/* Find the cells, by combinations of columns, for all rows of the batch. */
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

/*
 * Does the range of a key include its values in the batch, at the same scale?  If not, widen the range to include them.
 * The range becomes at least twice as wide, so that it seldom has to be widened again.  If "first" is true, or if the
 * scale has changed, set the range to the values of the batch.
 */
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

/* Forget all groups by combinations of keys, and prepare for the keys' present ranges. */
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

/* Find the combinations of keys, or the cells, for n rows. */
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

/* Calculate the keys of the batch, and find their combinations.  False if that is not possible. */
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

/*
 * Return the group of a row from the hash table, or look it up.  If the table has more groups than fit into work_mem,
 * or than a table with 32-bit hashes should have, the table is cleared first.
 */
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

/* Find the combinations of a batch, and return where the groups of its rows are remembered. */
static Memory *
enter_batch(RtscanRowGroups *groups, RtscanBatch *batch)
{
	const RtscanSegmentScan *segment = rtscan_cursor_segment(batch->cursor);

	if (segment == NULL || segment != groups->segment)
		begin_segment(groups, batch);
	if (groups->prefers_expressions && find_expressions(groups, batch))
		return &groups->by_expressions;
	if (groups->by_columns.kind == CELLS)
		find_cells(groups, batch);
	else if (groups->by_columns.kind == TABLE)
		find_combinations(groups, batch);
	return &groups->by_columns;
}

/* Return where the groups of a batch's rows are remembered.  Find combinations unless the batch is the current one. */
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
