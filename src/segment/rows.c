/* SPDX-License-Identifier: PostgreSQL */
/*
 * rows.c
 *		Collect rows in memory.
 */
#include "segment/rows.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "settings.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#define FIRST_CAPACITY	1024	/* capacity when the first row is added, a multiple of 64 */

/* The least limit of a segment's rows.  The rows that a heap page can hold must fit, however little memory there is. */
#define MIN_LIMIT		Max(MaxHeapTuplesPerPage, 1024)

RtscanRows *
rtscan_rows_create(const RtscanSchema *schema)
{
	RtscanRows *rows = palloc0(sizeof(RtscanRows));

	rows->context = CurrentMemoryContext;
	rows->values = AllocSetContextCreate(CurrentMemoryContext, "rtscan values",
										 ALLOCSET_DEFAULT_SIZES);
	rows->schema = schema;
	rows->columns = palloc0(schema->ncolumns * sizeof(RtscanColumnRows));
	rtscan_rows_reset(rows);
	return rows;
}

void
rtscan_rows_reset(RtscanRows *rows)
{
	rows->rows = 0;
	MemoryContextReset(rows->values);
	for (int i = 0; i < rows->schema->ncolumns; i++)
	{
		RtscanColumnRows *column = &rows->columns[i];

		column->null_count = 0;
		column->value_bytes = 0;
		column->shared = false;
		column->lost = false;
		if (column->nulls)
			memset(column->nulls, 0, rows->capacity / 8);
	}
}

void
rtscan_rows_release(RtscanRows *rows)
{
	rtscan_rows_reset(rows);
	if (rows->capacity == 0)
		return;
	pfree(rows->tids);
	rows->tids = NULL;
	for (int i = 0; i < rows->schema->ncolumns; i++)
	{
		pfree(rows->columns[i].values);
		pfree(rows->columns[i].nulls);
		rows->columns[i].values = NULL;
		rows->columns[i].nulls = NULL;
	}
	rows->capacity = 0;
}

static void *
grow_array(RtscanRows *rows, void *array, Size bytes)
{
	return array ? repalloc_huge(array, bytes) : MemoryContextAllocHuge(rows->context, bytes);
}

/* Make room for "new" rows, a multiple of 64. */
static void
grow(RtscanRows *rows, Size new)
{
	Size		old = rows->capacity;

	rows->tids = grow_array(rows, rows->tids, new * sizeof(ItemPointerData));
	for (int i = 0; i < rows->schema->ncolumns; i++)
	{
		RtscanColumnRows *column = &rows->columns[i];

		column->values = grow_array(rows, column->values, new * sizeof(uint64));
		column->nulls = grow_array(rows, column->nulls, new / 8);
		memset((char *) column->nulls + old / 8, 0, (new - old) / 8);
	}
	rows->capacity = new;
}

/* Return a value as it is stored in RtscanColumnRows. */
static inline uint64
keep_value(RtscanRows *rows, int i, Datum value)
{
	const RtscanColumn *column = &rows->schema->columns[i];
	MemoryContext old;
	uint64		kept;

	if (rtscan_key_tells_image(column->key_kind))
		return rtscan_key_encode(column->key_kind, value);
	if (column->typbyval)
		return (uint64) value;
	rows->columns[i].value_bytes += MAXALIGN(rtscan_value_size(column, value));
	old = MemoryContextSwitchTo(rows->values);
	kept = (uint64) datumCopy(value, false, column->typlen);
	MemoryContextSwitchTo(old);
	return kept;
}

static inline void
set_value(RtscanColumnRows *column, uint32 row, uint64 value, bool isnull)
{
	column->values[row] = value;
	if (isnull)
	{
		column->nulls[row / 64] |= UINT64CONST(1) << (row % 64);
		column->null_count++;
	}
}

void
rtscan_rows_add(RtscanRows *rows, ItemPointer tid, const Datum *values, const bool *isnull)
{
	uint32		row = rows->rows;

	if (row == rows->capacity)
		grow(rows, Max(FIRST_CAPACITY, (Size) rows->capacity * 2));
	rows->tids[row] = *tid;
	for (int i = 0; i < rows->schema->ncolumns; i++)
		set_value(&rows->columns[i], row, isnull[i] ? 0 : keep_value(rows, i, values[i]), isnull[i]);
	rows->rows++;
}

void
rtscan_rows_set(RtscanRows *rows, uint32 row, int i, uint64 value, bool isnull)
{
	set_value(&rows->columns[i], row, value, isnull);
}

/* ---------------------------------------------------------------- columns that are loaded */

RtscanRows *
rtscan_rows_create_loaded(const RtscanSchema *schema, uint32 n, RtscanColumnLoader load, void *arg)
{
	RtscanRows *rows = rtscan_rows_create(schema);

	rows->rows = n;
	rows->tids = palloc_extended((Size) Max(n, 1) * sizeof(ItemPointerData), MCXT_ALLOC_HUGE);
	rows->load = load;
	rows->load_arg = arg;
	return rows;
}

void
rtscan_rows_load(RtscanRows *rows, int i)
{
	if (rows->load)
		rows->load(rows, i, rows->load_arg);
}

void
rtscan_rows_forget_tids(RtscanRows *rows)
{
	if (rows->load == NULL)
		return;
	pfree(rows->tids);
	rows->tids = NULL;
}

void
rtscan_rows_unload(RtscanRows *rows, int i)
{
	if (rows->load)
		memset(&rows->columns[i], 0, sizeof(RtscanColumnRows));
}

void
rtscan_rows_make_room(RtscanRows *rows, int i)
{
	RtscanColumnRows *column = &rows->columns[i];
	Size		capacity = TYPEALIGN(64, (Size) Max(rows->rows, 1));

	column->values = palloc_extended(capacity * sizeof(uint64), MCXT_ALLOC_HUGE);
	column->nulls = palloc0(capacity / 8);
}

/* ---------------------------------------------------------------- order of TIDs */

static void
set_null(RtscanColumnRows *column, uint32 row, bool null)
{
	uint64		bit = UINT64CONST(1) << (row % 64);

	column->nulls[row / 64] = null ? column->nulls[row / 64] | bit : column->nulls[row / 64] & ~bit;
}

static void
swap_rows(RtscanRows *rows, uint32 a, uint32 b)
{
	ItemPointerData tid = rows->tids[a];

	rows->tids[a] = rows->tids[b];
	rows->tids[b] = tid;
	for (int i = 0; i < rows->schema->ncolumns; i++)
	{
		RtscanColumnRows *column = &rows->columns[i];
		uint64		value = column->values[a];
		bool		null = rtscan_row_is_null(column, a);

		column->values[a] = column->values[b];
		column->values[b] = value;
		set_null(column, a, rtscan_row_is_null(column, b));
		set_null(column, b, null);
	}
}

/* Insertion sort, since most rows are in order already: all except those of heap blocks with HOT chains. */
void
rtscan_rows_sort_tids(RtscanRows *rows, uint32 first)
{
	for (uint32 i = first + 1; i < rows->rows; i++)
		for (uint32 k = i; k > first && ItemPointerCompare(&rows->tids[k - 1], &rows->tids[k]) > 0; k--)
			swap_rows(rows, k - 1, k);
}

/* ---------------------------------------------------------------- memory */

double
rtscan_rows_bytes(int ncolumns)
{
	return sizeof(ItemPointerData) + ncolumns * RTSCAN_VALUE_BYTES + RTSCAN_SORT_BYTES;
}

double
rtscan_loaded_rows_bytes(void)
{
	return Max(sizeof(ItemPointerData), RTSCAN_VALUE_BYTES + RTSCAN_SORT_BYTES);
}

uint32
rtscan_rows_that_fit(double row_bytes, int memory_kb)
{
	uint32		limit = (uint32) Min(memory_kb * 1024.0 / row_bytes, rtscan_debug_segment_rows);

	if (limit >= RTSCAN_CHUNK_ROWS)
		limit -= limit % RTSCAN_CHUNK_ROWS;
	return Max(limit, MIN_LIMIT);
}

Size
rtscan_rows_value_memory(const RtscanRows *rows)
{
	return MemoryContextMemAllocated(rows->values, false);
}
