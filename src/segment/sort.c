/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.c
 *		Sort a column by its keys (sort_keys.c) or by its comparison function (sort_images.c).
 *
 * Both sorts are stable, so that ranks are unique and reproducible.
 */
#include "segment/sort.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/sort_parts.h"
#include "utils/datum.h"

/* ---------------------------------------------------------------- images */

/* Return the value of a row that is not NULL. */
static Datum
value_of_row(const RtscanSortedColumn *column, uint32 row)
{
	uint64		value = column->source->values[row];

	return column->image_values ? column->image_values[value] : (Datum) value;
}

/* Return the value that begins at a rank, as it can be read from the dictionary. */
static Datum
dictionary_value(const RtscanSortedColumn *column, uint32 rank)
{
	uint64		value = rtscan_value_at(column, rank);

	return column->image_values ? (Datum) value : rtscan_key_decode(column->type->key_kind, value);
}

static void
set_null(RtscanColumnRows *rows, uint32 row)
{
	rows->nulls[row / 64] |= UINT64CONST(1) << (row % 64);
	rows->null_count++;
}

RtscanColumnRows *
rtscan_take_images(RtscanSortedColumn *column)
{
	const RtscanColumn *type = column->type;
	Datum		value = 0;

	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		uint32		row = column->order[rank];
		Datum		image = value_of_row(column, row);

		if (rank % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (rtscan_starts_value(column, rank))
			value = dictionary_value(column, rank);
		column->source->values[row] = (uint64) image;
		if (datum_image_eq(value, image, type->typbyval, type->typlen))
			set_null(column->source, row);
	}
	return column->source;
}

/* Does the key of each value tell its image?  Asked for floats. */
static bool
keys_tell_images(const RtscanSortedColumn *column)
{
	const RtscanColumn *type = column->type;

	for (uint32 i = 0; i < column->nonnull; i++)
	{
		uint32		row = column->order[i];

		if (!datum_image_eq((Datum) column->source->values[row],
							rtscan_key_decode(type->key_kind, rtscan_row_key(column, row)),
							type->typbyval, type->typlen))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- sorting a column */

void
rtscan_reset_order(RtscanSortedColumn *column)
{
	const RtscanColumnRows *source = column->source;
	uint32		value_at = 0,
				null_at = column->nonnull;

	memset(column->starts, 0, (column->rows / 64 + 1) * sizeof(uint64));
	for (uint32 row = 0; row < column->rows; row++)
	{
		if (rtscan_row_is_null(source, row))
			column->order[null_at++] = row;
		else
			column->order[value_at++] = row;
	}
}

static bool
is_heap_order(const RtscanSortedColumn *column)
{
	for (uint32 rank = 0; rank < column->rows; rank++)
		if (column->order[rank] != rank)
			return false;
	return true;
}

static RtscanSortedColumn *
create_column(const RtscanRows *rows, int i)
{
	RtscanSortedColumn *column = palloc0(sizeof(RtscanSortedColumn));

	column->type = &rows->schema->columns[i];
	column->source = &rows->columns[i];
	column->rows = rows->rows;
	column->nonnull = rows->rows - column->source->null_count;
	column->identical = !column->source->lost;
	column->order = palloc_extended(Max(column->rows, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	column->starts = palloc((column->rows / 64 + 1) * sizeof(uint64));
	return column;
}

RtscanSortedColumn *
rtscan_sort_column(Relation index, RtscanRows *rows, int i)
{
	RtscanSortedColumn *column = create_column(rows, i);
	RtscanKeyKind kind = column->type->key_kind;

	rtscan_reset_order(column);
	if (kind == RTSCAN_KEY_NONE)
		rtscan_sort_images(column, index, i);
	else
	{
		if (column->identical && !rtscan_key_tells_image(kind))
			column->identical = keys_tell_images(column);
		rtscan_sort_keys(column);
	}
	column->distinct = (uint32) pg_popcount((const char *) column->starts, (column->rows / 64 + 1) * sizeof(uint64));
	column->heap_order = is_heap_order(column);
	column->has_images = !column->identical && !column->source->lost;
	return column;
}
