/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_groups_digits.c
 *		Find the combinations of columns, or of determinants, of a batch's rows.
 */
#include "run/group/row_groups_parts.h"

#include "bits/multiversion.h"
#include "common/int.h"

/* ---------------------------------------------------------------- digits */

uint64
rtscan_place_digit(RtscanDigit *digit, uint64 count)
{
	if (count == 0 || digit->null >= PG_INT64_MAX / count)
		return 0;
	digit->stride = count;
	return count * (digit->null + 1);
}

bool
rtscan_enter_key_column(RtscanKeyColumn *column, RtscanBatch *batch)
{
	RtscanDigit *digit = &column->digit;
	uint32		codes;
	int64		greatest;

	if (column->composite)
		rtscan_number_composite(column->composite);
	codes = column->composite ? column->composite->count : rtscan_batch_code_count(batch, column->column);
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

bool
rtscan_key_column_fits(const RtscanKeyColumn *column, RtscanBatch *batch)
{
	const RtscanDigit *digit = &column->digit;
	RtscanKeyColumn entered = *column;

	if (column->composite)
		return column->composite->loads == column->composite->dimension->loads;
	if (column->coded || !rtscan_enter_key_column(&entered, batch) || entered.coded)
		return false;
	return entered.digit.null == 0 ||
		(entered.scale == column->scale && entered.digit.least >= digit->least &&
		 entered.digit.null <= digit->null &&
		 (uint64) entered.digit.least - (uint64) digit->least <= digit->null - entered.digit.null);
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
add_integers(uint64 *combinations, const int64 *integers, const bool *isnull, uint32 n, const RtscanDigit *digit)
{
	for (uint32 i = 0; i < n; i++)
		combinations[i] += (isnull[i] ? digit->null : (uint64) integers[i] - (uint64) digit->least) * digit->stride;
}

/* Load the codes of a column, or the numbers of a composite. */
static void
load_codes(RtscanBatch *batch, const RtscanKeyColumn *column, uint32 *codes)
{
	if (column->composite)
		rtscan_composite_codes(batch->attributes, column->composite, codes);
	else
		rtscan_load_codes(batch, column->column, codes);
}

/* Load the integers of a column that has no codes. */
static void
load_integers(RtscanRowGroups *groups, RtscanBatch *batch, int column)
{
	int			scale;

	if (!rtscan_load_integers(batch, column, groups->integers, groups->isnull, &scale))
		elog(ERROR, "column %d of the index has neither codes nor integers", column + 1);
}

void
rtscan_find_combinations(RtscanRowGroups *groups, RtscanBatch *batch)
{
	memset(groups->combinations, 0, batch->n * sizeof(uint64));
	for (int i = 0; i < groups->ncolumns; i++)
	{
		const RtscanKeyColumn *column = &groups->columns[i];

		if (column->coded)
		{
			load_codes(batch, column, groups->codes);
			add_codes(groups->combinations, groups->codes, batch->n, column->digit.stride);
		}
		else
		{
			load_integers(groups, batch, column->column);
			add_integers(groups->combinations, groups->integers, groups->isnull, batch->n, &column->digit);
		}
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
add_integers_to_cells(uint32 *cells, const int64 *integers, const bool *isnull, uint32 n, const RtscanDigit *digit)
{
	uint32		least = (uint32) digit->least;
	uint32		null = (uint32) digit->null;
	uint32		stride = (uint32) digit->stride;

	for (uint32 i = 0; i < n; i++)
		cells[i] += (isnull[i] ? null : (uint32) integers[i] - least) * stride;
}

void
rtscan_find_cells(RtscanRowGroups *groups, RtscanBatch *batch)
{
	if (groups->ncolumns == 0)
		memset(groups->cell_of, 0, batch->n * sizeof(uint32));
	for (int i = 0; i < groups->ncolumns; i++)
	{
		const RtscanKeyColumn *column = &groups->columns[i];
		const RtscanDigit *digit = &column->digit;
		uint32	   *codes = i == 0 ? groups->cell_of : groups->codes;

		if (column->coded)
			load_codes(batch, column, codes);
		else
			rtscan_load_offsets(batch, column->column, digit->least, digit->null, codes);
		/* The first digit's stride is 1. */
		if (i > 0)
			add_to_cells(groups->cell_of, codes, batch->n, digit->stride);
	}
}

/* ---------------------------------------------------------------- determinants */

bool
rtscan_enter_determinant_columns(RtscanRowGroups *groups, RtscanBatch *batch)
{
	for (int i = 0; i < groups->ndeterminants; i++)
	{
		RtscanKeyDeterminant *determinant = &groups->determinants[i];
		bool		has_codes = groups->segment || determinant->column.composite;

		if (determinant->arithmetic)
			continue;
		if (has_codes && groups->by_determinants.kind != RTSCAN_REMEMBER_NOTHING &&
			rtscan_key_column_fits(&determinant->column, batch))
			continue;
		groups->by_determinants.kind = RTSCAN_REMEMBER_NOTHING;
		if (!has_codes || !rtscan_enter_key_column(&determinant->column, batch))
			return false;
	}
	return true;
}

/* Is a determinant a column whose range in the current segment is known?  Extends *least and *greatest to the range. */
static bool
has_range(const RtscanKeyDeterminant *key, RtscanBatch *batch, int64 *least, int64 *greatest)
{
	int			column = key->column.column;
	int64		smallest,
				largest;
	int			scale;

	if (column < 0 || column >= batch->schema->ncolumns || rtscan_cursor_segment(batch->cursor) == NULL ||
		(!rtscan_cursor_range(batch->cursor, column, &smallest, &largest, &scale) &&
		 !rtscan_cursor_range_of_codes(batch->cursor, column, &smallest, &largest, &scale)) ||
		scale != key->vector->scale)
		return false;
	*least = Min(*least, smallest);
	*greatest = Max(*greatest, largest);
	return true;
}

/* Find the least and the greatest of a vector's n integers that are not NULL; returns false if all are. */
static bool
find_bounds(const RtscanVector *vector, uint32 n, int64 *least, int64 *greatest)
{
	if (!vector->has_nulls)
	{
		rtscan_find_bounds(vector, n, least, greatest);
		return true;
	}
	*least = PG_INT64_MAX;
	*greatest = PG_INT64_MIN;
	for (uint32 i = 0; i < n; i++)
		if (!vector->isnull[i])
		{
			*least = Min(*least, vector->digits[i]);
			*greatest = Max(*greatest, vector->digits[i]);
		}
	return *least <= *greatest;
}

/*
 * Does the range of a determinant include its integers in the batch, at the same scale?  If not, widen the range to
 * include them: to the range of a column in the segment, or at least to twice its width, so that it seldom has to be
 * widened again.  If "first" is true, or if the scale has changed, the range begins anew.
 */
static bool
has_values(RtscanKeyDeterminant *key, RtscanBatch *batch, bool first)
{
	bool		begins = first || key->vector->scale != key->scale;
	int64		least,
				greatest,
				width;

	if (!find_bounds(key->vector, batch->n, &least, &greatest))
	{
		if (!begins)
			return true;
		least = greatest = 0;
	}
	if (!begins && least >= key->least && greatest <= key->greatest)
		return true;
	if (begins)
	{
		key->least = least;
		key->greatest = greatest;
	}
	if (!has_range(key, batch, &least, &greatest) && !begins &&
		!pg_sub_s64_overflow(key->greatest, key->least, &width))
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

/* Set the digits of determinants to their ranges, and return the number of combinations; 0 if it is too large. */
static uint64
place_determinants(RtscanRowGroups *groups)
{
	uint64		count = 1;

	for (int i = 0; i < groups->ndeterminants; i++)
	{
		RtscanKeyDeterminant *determinant = &groups->determinants[i];

		if (determinant->arithmetic == NULL)
		{
			determinant->digit = determinant->column.digit;
			count = rtscan_place_digit(&determinant->digit, count);
			continue;
		}
		determinant->digit.least = determinant->least;
		determinant->digit.null = (uint64) determinant->greatest - (uint64) determinant->least + 1;
		count = determinant->digit.null == 0 ? 0 : rtscan_place_digit(&determinant->digit, count);
	}
	return count;
}

/* Combine columns from now on, and fold the cells, whose digits were "before". */
static void
leave_dense(RtscanRowGroups *groups, const RtscanDigit *before)
{
	for (int i = 0; i < groups->ndeterminants; i++)
		groups->determinants[i].digit = before[i];
	rtscan_fold_cells(groups->by_determinants.totals);
	groups->by_determinants.kind = RTSCAN_REMEMBER_NOTHING;
	groups->is_dense = false;
	groups->is_sparse = true;
	groups->prefers_determinants = false;
}

/*
 * Prepare for the present ranges of determinants.  Groups by combinations are forgotten, unless cells can do without
 * groups.  If they cannot, but the keys are columns, combinations of columns are better.
 */
static void
enter_determinants(RtscanRowGroups *groups, uint64 rows)
{
	RtscanDigit *before;
	uint64		count;

	if (groups->kinds == NULL)
	{
		count = place_determinants(groups);
		rtscan_clear_group_memory(groups, &groups->by_determinants, count, rows);
		return;
	}
	before = palloc(groups->ndeterminants * sizeof(RtscanDigit));
	for (int i = 0; i < groups->ndeterminants; i++)
		before[i] = groups->determinants[i].digit;
	count = place_determinants(groups);
	if (!rtscan_enter_dense(groups, before, count, rows))
		leave_dense(groups, before);
	pfree(before);
}

/* Add the digit of a determinant that is a column to the combinations, or the cells, of the batch's rows. */
static void
combine_column(RtscanRowGroups *groups, RtscanBatch *batch, const RtscanKeyDeterminant *determinant, bool in_cells)
{
	const RtscanDigit *digit = &determinant->digit;
	int			column = determinant->column.column;

	if (!determinant->column.coded && !in_cells)
	{
		load_integers(groups, batch, column);
		add_integers(groups->combinations, groups->integers, groups->isnull, batch->n, digit);
		return;
	}
	if (determinant->column.coded)
		load_codes(batch, &determinant->column, groups->codes);
	else
		rtscan_load_offsets(batch, column, digit->least, digit->null, groups->codes);
	if (in_cells)
		add_to_cells(groups->cell_of, groups->codes, batch->n, digit->stride);
	else
		add_codes(groups->combinations, groups->codes, batch->n, digit->stride);
}

/* Find the combinations of determinants, or the cells, for the rows of the batch. */
static void
combine_determinants(RtscanRowGroups *groups, RtscanBatch *batch)
{
	bool		in_cells = groups->by_determinants.kind == RTSCAN_REMEMBER_CELLS;

	if (in_cells)
		memset(groups->cell_of, 0, batch->n * sizeof(uint32));
	else
		memset(groups->combinations, 0, batch->n * sizeof(uint64));
	for (int i = 0; i < groups->ndeterminants; i++)
	{
		const RtscanKeyDeterminant *key = &groups->determinants[i];

		if (key->arithmetic == NULL)
			combine_column(groups, batch, key, in_cells);
		else if (in_cells)
			add_integers_to_cells(groups->cell_of, key->vector->digits, key->vector->isnull, batch->n, &key->digit);
		else
			add_integers(groups->combinations, key->vector->digits, key->vector->isnull, batch->n, &key->digit);
	}
	/* Cells outside of the window get numbers above those in it. */
	for (uint32 i = 0; groups->window > 0 && i < batch->n; i++)
		groups->cell_of[i] -= groups->window;
}

bool
rtscan_find_determinants(RtscanRowGroups *groups, RtscanBatch *batch)
{
	bool		first = groups->by_determinants.kind == RTSCAN_REMEMBER_NOTHING;
	bool		known = !first;

	for (int i = 0; i < groups->ndeterminants; i++)
	{
		RtscanKeyDeterminant *determinant = &groups->determinants[i];

		determinant->vector = determinant->arithmetic ? rtscan_calculate(determinant->arithmetic, batch) : NULL;
		if (determinant->arithmetic && determinant->vector == NULL)
			return false;
	}
	for (int i = 0; i < groups->ndeterminants; i++)
		if (groups->determinants[i].arithmetic)
			known &= has_values(&groups->determinants[i], batch, first);
	if (!known)
		enter_determinants(groups, rtscan_cursor_segment_rows(batch->cursor));
	if (groups->by_determinants.kind == RTSCAN_REMEMBER_NOTHING)
		return false;
	combine_determinants(groups, batch);
	return true;
}
