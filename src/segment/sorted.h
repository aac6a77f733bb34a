/* SPDX-License-Identifier: PostgreSQL */
/*
 * sorted.h
 *		A column of a segment that has been sorted.
 *
 * Values stay in row order, and only the numbers of rows are sorted.  So a column takes 12 bytes a row.
 */
#ifndef RTSCAN_SORTED_H
#define RTSCAN_SORTED_H

#include "rtscan.h"

#include "bits/bits.h"
#include "row/keys.h"
#include "row/schema.h"
#include "segment/rows.h"

/* A sorted column of a segment. */
typedef struct RtscanSortedColumn
{
	const RtscanColumn *type;	/* the column */
	RtscanColumnRows *source;	/* its values by row; by comparison: the number of each row's image */
	Datum	   *image_values;	/* by comparison: values by number of the image; by keys: NULL */
	uint32		rows;			/* number of rows */
	uint32		nonnull;		/* number of rows that are not NULL */
	uint32		distinct;		/* number of distinct values */
	bool		heap_order;		/* the rank of each row is its row number */
	bool		identical;		/* equal values have the same image */
	bool		has_images;		/* some rows have images that differ from the image of the first row with an equal
								 * value, and none is lost (rtscan_take_images()) */
	uint32	   *order;			/* the row of each rank: NULLs from "nonnull" on, rows with equal values in row order */
	uint64	   *starts;			/* a bit for each rank: its value differs from the value at the rank before */
} RtscanSortedColumn;

/* Is a rank the first rank of a value? */
static inline bool
rtscan_starts_value(const RtscanSortedColumn *column, uint32 rank)
{
	return rtscan_bit_is_set(column->starts, rank);
}

/* Note that a rank is the first rank of a value. */
static inline void
rtscan_start_value(const RtscanSortedColumn *column, uint32 rank)
{
	column->starts[rank / 64] |= UINT64CONST(1) << (rank % 64);
}

/* Return the key of a row that is not NULL, of a column that has keys. */
static inline uint64
rtscan_row_key(const RtscanSortedColumn *column, uint32 row)
{
	uint64		value = column->source->values[row];
	RtscanKeyKind kind = column->type->key_kind;

	return rtscan_key_tells_image(kind) ? value : rtscan_key_encode(kind, (Datum) value);
}

/* Return the value that begins at a rank: a key if the column has keys, else a Datum. */
static inline uint64
rtscan_value_at(const RtscanSortedColumn *column, uint32 rank)
{
	uint32		row = column->order[rank];

	return column->image_values ? (uint64) column->image_values[column->source->values[row]]
		: rtscan_row_key(column, row);
}

#endif							/* RTSCAN_SORTED_H */
